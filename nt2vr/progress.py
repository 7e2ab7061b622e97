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
MIN_RATE_S = 1.0  # before a rate is shown
# called between steps: steps done, in total (0: not known yet), what is being done; an
# InterruptedError stops the work
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
    return f"{100 * min(done / total, 1):.1f}" if total else "0"


def duration_text(seconds: float) -> str:
    """Write an estimated duration, no more precisely than it can be known: 40 s, 5 min, 2.5 h."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


def tracked(items: Iterable[T], total: int, doing: str, progress: Progress = silent) -> Iterator[T]:
    """Yield items, reporting each when the consumer asks for the next."""
    for done, item in enumerate(items, start=1):
        yield item
        progress(done, total, doing)


def hides_bars() -> bool | None:
    """Return the `disable` of tqdm: bars are shown in notebooks, elsewhere only on a terminal."""
    return False if "ipykernel" in sys.modules else None


@contextmanager
def progress_bar(also: Progress = silent) -> Iterator[Progress]:
    """Yield a callable that passes progress on to `also`, and shows it on one bar where stderr is a terminal."""
    from tqdm import tqdm  # noqa: PLC0415  the decoder's children import this module, and need no bar

    with tqdm(disable=hides_bars()) as bar:

        def show(done: int, total: int, doing: str) -> None:
            bar.set_description(printable(doing), refresh=False)
            bar.total, bar.n = total or None, done
            bar.refresh()
            also(done, total, doing)

        yield show


@dataclass(frozen=True)
class Job(Generic[T]):
    number: int
    subject: str  # what it works on, for the page: a library or evaluation data
    models: tuple[str, ...] = ()  # the models or systems it works with, for the page
    key: str = ""  # id of the subject, if it has one
    state: State = "waiting"
    doing: str = ""
    current: str = ""  # the file at hand, if known
    done: int = 0
    total: int = 0  # all units of this step; 0 if unknown
    per_second: float = 0.0  # rate of this step; 0 if unknown
    remaining_s: float | None = None  # estimate for this step; None if unknown
    error: str = ""  # reason of a failure, for the page
    result: T | None = None
    # of the page that started it, and may cancel it; "" if none did. Equal jobs of two pages are
    # equal.
    session: str = field(default="", compare=False, repr=False)

    @property
    def is_under_way(self) -> bool:
        return self.state in ("waiting", "running", "stopping")


class Runner(Generic[T]):
    """Runs one background job at a time, in a thread; further jobs wait if it `queues`, and are refused otherwise."""

    def __init__(self, name: str, queues: bool = False) -> None:
        self._name, self._queues = name, queues
        self._lock, self._stop = RLock(), Event()
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
        """Start or queue a job; return the future of its end, or that of an equal job that still waits."""
        with self._lock:
            number = max(self._jobs, default=0) + 1
            job = Job[T](number, subject, tuple(models), key, session=session)
            under_way = [self._jobs[number] for number in self._ends]
            for other in under_way:
                if replace(other, number=number) == job:
                    if other.session != session:
                        # Neither page may cancel what the other waits for, too.
                        self._jobs[other.number] = replace(other, session="")
                    return self._ends[other.number]
            if under_way and not self._queues:
                subject = under_way[0].subject
                raise ConfigError(
                    f"Another {self._name} is running ({subject}). Wait for it or cancel it."
                )
            self._jobs[number], self._ends[number] = job, Future[Job[T]]()
            kept = (
                self._ends.keys() | {each.key: each.number for each in self._jobs.values()}.values()
            )
            self._jobs = {each: self._jobs[each] for each in sorted(kept)}
            self._waiting.put((number, work))
            if not self._is_started:
                self._is_started = True
                Thread(target=self._work, name=self._name, daemon=True).start()
            return self._ends[number]

    def cancel(self, number: int) -> None:
        """Stop a running job soon, or take a waiting one from the queue; finished steps stay stored."""
        with self._lock:
            state = self._jobs[number].state if number in self._jobs else ""
            if state == "running":
                self._jobs[number] = replace(self._jobs[number], state="stopping")
                self._stop.set()
            elif state == "waiting":
                self._finish(replace(self._jobs[number], state="stopped"))

    def _work(self) -> None:
        while True:
            number, work = self._waiting.get()
            with self._lock:
                if number not in self._ends:  # cancelled
                    continue
                self._stop.clear()
                self._jobs[number] = replace(self._jobs[number], state="running", doing="preparing")
            changes: dict[str, Any] = {"state": "finished"}
            try:
                changes["result"] = work(stoppable(self._progress(number), self._stop.is_set))
            except InterruptedError:
                changes = {"state": "stopped"}
            except Nt2vrError as error:
                changes = {"state": "failed", "error": str(error)}
            except Exception:  # any error ends the job, never the app
                logger.exception("The %s of %s failed.", self._name, self._jobs[number].subject)
                changes = {
                    "state": "failed",
                    "error": "Something went wrong; see the log for details.",
                }
            self._finish(replace(self._jobs[number], **changes))

    def _finish(self, job: Job[T]) -> None:
        with self._lock:
            self._jobs[job.number] = job
            self._ends.pop(job.number).set_result(job)

    def _progress(self, number: int) -> Progress:
        """Report a job's steps, with rate and remaining time at the step's own pace."""
        step, since_s, first = "", 0.0, 0

        def report(done: int, total: int, doing: str) -> None:
            nonlocal step, since_s, first
            doing, _, current = doing.partition(": ")
            now_s = time.monotonic()
            if doing != step:
                step, since_s, first = doing, now_s, done
            took_s, made = now_s - since_s, done - first
            rate = made / took_s if took_s >= MIN_RATE_S and made > 0 else 0.0
            left_s = (total - done) / rate if rate and total else None
            with self._lock:
                job = replace(
                    self._jobs[number], doing=doing, current=current, done=done, total=total
                )
                self._jobs[number] = replace(job, per_second=rate, remaining_s=left_s)

        return report
