"""Progress and cancellation, and background jobs for the page; light, since the decoder's children import it."""

import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from queue import SimpleQueue
from threading import Event, RLock, Thread
from typing import Any, Generic, Literal, TypeVar

from nt2vr.errors import ConfigError, Nt2vrError, printable

logger = logging.getLogger(__name__)
T = TypeVar("T")
State = Literal["waiting", "running", "stopping", "finished", "stopped", "failed"]
# Seconds before a rate is shown.
MIN_RATE_S = 1.0
FAILED = "Something went wrong; see the log for details."
# Called between steps: steps done, in total (0: not known yet), what is being done; an
# InterruptedError stops the work.
Progress = Callable[[int, int, str], None]
ShouldStop = Callable[[], bool]
Work = Callable[[Progress], T]


def silent(done: int, total: int, doing: str) -> None:
    """Report to nobody."""


def stoppable(progress: Progress, should_stop: ShouldStop) -> Progress:
    """Return a callable that passes progress on, and stops the work once `should_stop` returns True."""

    def report(done: int, total: int, doing: str) -> None:
        if should_stop():
            raise InterruptedError
        progress(done, total, doing)

    return report


def percent_text(done: float, total: float) -> str:
    """Write the share that is done, 0 to 100, for the width of a bar."""
    if total:
        return f"{100 * min(done / total, 1):.1f}"
    return "0"


def duration_text(seconds: float) -> str:
    """Write an estimated duration, no more precisely than it can be known: 40 s, 5 min, 2.5 h."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def tracked(items: Iterable[T], total: int, doing: str, progress: Progress = silent) -> Iterator[T]:
    """Yield items, reporting each when the consumer asks for the next."""
    for done, item in enumerate(items, start=1):
        yield item
        progress(done, total, doing)


def hides_bars() -> bool | None:
    """Return the `disable` of tqdm: bars appear in notebooks, elsewhere only on a terminal."""
    if "ipykernel" in sys.modules:
        return False
    return None


@contextmanager
def progress_bar(also: Progress = silent) -> Iterator[Progress]:
    """Yield a callable that shows progress on one bar where stderr is a terminal.

    It passes the progress on to `also`.
    """
    from tqdm import tqdm  # noqa: PLC0415  the decoder's children import this module, and need no bar

    with tqdm(disable=hides_bars()) as bar:

        def show(done: int, total: int, doing: str) -> None:
            bar.set_description(printable(doing), refresh=False)
            bar.total = total or None
            bar.n = done
            bar.refresh()
            also(done, total, doing)

        yield show


@dataclass(frozen=True)
class Job(Generic[T]):
    """A job as the page shows it.

    Attributes:
        subject: what it works on: a library, or evaluation data.
        models: the models or systems it works with.
        key: id of the subject, if it has one.
        doing: what it does in this step.
        current: the file at hand, if known.
        total: all units of this step; 0 if unknown.
        per_second: rate of this step; 0 if unknown.
        remaining_s: estimate for this step; None if unknown.
        error: reason of a failure.
        session: of the page that started it, and may cancel it; "" if none did. It does not count
            when jobs are compared.
    """

    number: int
    subject: str
    models: tuple[str, ...] = ()
    key: str = ""
    state: State = "waiting"
    doing: str = ""
    current: str = ""
    done: int = 0
    total: int = 0
    per_second: float = 0.0
    remaining_s: float | None = None
    error: str = ""
    result: T | None = None
    session: str = field(default="", compare=False, repr=False)

    @property
    def is_under_way(self) -> bool:
        """Whether it has not ended."""
        return self.state in ("waiting", "running", "stopping")


class Runner(Generic[T]):
    """Runs one background job at a time, in a thread.

    Further jobs wait if it `queues`, and are refused otherwise.
    """

    def __init__(self, name: str, queues: bool = False) -> None:
        self._name = name
        self._queues = queues
        self._lock = RLock()
        self._stop = Event()
        self._jobs: dict[int, Job[T]] = {}
        self._waiting: SimpleQueue[tuple[int, Work[T]]] = SimpleQueue()
        self._ends: dict[int, Future[Job[T]]] = {}
        self._is_started = False

    @property
    def jobs(self) -> list[Job[T]]:
        """The jobs that run or wait, and the last one per key, oldest first."""
        with self._lock:
            return list(self._jobs.values())

    def run(
        self,
        work: Work[T],
        subject: str,
        models: Iterable[str] = (),
        key: str = "",
        session: str = "",
    ) -> Future[Job[T]]:
        """Start or queue a job, and return the future of its end.

        An equal job that still waits is not queued again: its future is returned.
        """
        with self._lock:
            number = max(self._jobs, default=0) + 1
            job = Job[T](number, subject, tuple(models), key, session=session)
            under_way = [self._jobs[number] for number in self._ends]
            for earlier in under_way:
                if replace(earlier, number=number) == job:
                    if earlier.session != session:
                        # Neither page may cancel what the other waits for, too.
                        self._change(earlier.number, session="")
                    return self._ends[earlier.number]
            if under_way and not self._queues:
                raise ConfigError(
                    f"Another {self._name} is running ({under_way[0].subject}). "
                    "Wait for it or cancel it."
                )
            self._jobs[number] = job
            self._ends[number] = Future()
            self._forget_old_jobs()
            self._waiting.put((number, work))
            if not self._is_started:
                self._is_started = True
                Thread(target=self._work, name=self._name, daemon=True).start()
            return self._ends[number]

    def _forget_old_jobs(self) -> None:
        """Leave the jobs that have not ended, and the last one of each key."""
        last_of_key = {job.key: job.number for job in self._jobs.values()}
        remaining = {*self._ends, *last_of_key.values()}
        self._jobs = {number: self._jobs[number] for number in sorted(remaining)}

    def cancel(self, number: int) -> None:
        """Stop a running job soon, or take a waiting one from the queue; finished steps stay."""
        with self._lock:
            job = self._jobs.get(number)
            if job is None:
                return
            if job.state == "running":
                self._change(number, state="stopping")
                self._stop.set()
            elif job.state == "waiting":
                self._finish(number, state="stopped")

    def _work(self) -> None:
        while True:
            number, work = self._waiting.get()
            with self._lock:
                was_cancelled = number not in self._ends
                if was_cancelled:
                    continue
                self._stop.clear()
                self._change(number, state="running", doing="preparing")
            try:
                result = work(stoppable(self._progress(number), self._stop.is_set))
            except InterruptedError:
                self._finish(number, state="stopped")
            except Nt2vrError as error:
                self._finish(number, state="failed", error=str(error))
            # Any error ends the job, never the app.
            except Exception:
                logger.exception("The %s of %s failed.", self._name, self._jobs[number].subject)
                self._finish(number, state="failed", error=FAILED)
            else:
                self._finish(number, state="finished", result=result)

    def _change(self, number: int, **changes: Any) -> None:
        with self._lock:
            self._jobs[number] = replace(self._jobs[number], **changes)

    def _finish(self, number: int, **changes: Any) -> None:
        with self._lock:
            self._change(number, **changes)
            self._ends.pop(number).set_result(self._jobs[number])

    def _progress(self, number: int) -> Progress:
        """Report a job's steps, with rate and remaining time at the step's own pace."""
        step = ""
        started_s = 0.0
        done_at_start = 0

        def report(done: int, total: int, doing: str) -> None:
            nonlocal step, started_s, done_at_start
            doing, _, current = doing.partition(": ")
            now_s = time.monotonic()
            if doing != step:
                step = doing
                started_s = now_s
                done_at_start = done

            elapsed_s = now_s - started_s
            rate = 0.0
            if elapsed_s >= MIN_RATE_S and done > done_at_start:
                rate = (done - done_at_start) / elapsed_s
            self._change(
                number,
                doing=doing,
                current=current,
                done=done,
                total=total,
                per_second=rate,
                remaining_s=(total - done) / rate if rate and total else None,
            )

        return report
