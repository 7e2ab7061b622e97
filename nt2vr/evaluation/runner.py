"""Background runner for one evaluation at a time: progress, cancellation, outcome."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from threading import Event, Lock, Thread
from typing import Any, Literal

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.progress import Progress, ShouldStop

logger = logging.getLogger(__name__)

State = Literal["running", "stopping", "finished", "stopped", "failed"]
Work = Callable[[Progress, ShouldStop], str]  # returns the report's id; raises InterruptedError once it should stop


@dataclass(frozen=True)
class Job:
    """Immutable snapshot of an evaluation.

    Attributes:
        number: counts evaluations since the app started.
        data: name of the evaluation data.
        systems: names of the systems, including controls.
        state: current state.
        doing: current step, in words.
        done: finished units of this step.
        total: all units of this step; 0 if unknown.
        report_id: id of the finished report.
        error: reason of a failure.
    """

    number: int
    data: str
    systems: tuple[str, ...]
    state: State = "running"
    doing: str = "preparing"
    done: int = 0
    total: int = 0
    report_id: str = ""
    error: str = ""

    @property
    def is_under_way(self) -> bool:
        """Return whether its thread is still running."""
        return self.state in ("running", "stopping")


class Runner:
    """Runs evaluations, each in a thread of its own."""

    def __init__(self) -> None:
        """Start nothing."""
        self._job: Job | None = None
        self._changing, self._stop = Lock(), Event()

    @property
    def job(self) -> Job | None:
        """The running evaluation, otherwise the last one."""
        return self._job

    def run(self, data: str, systems: Sequence[str], work: Work) -> Future[Job]:
        """Start an evaluation, and return a future of the finished job.

        Raises:
            ConfigError: if another one is running.
        """
        with self._changing:
            if self._job is not None and self._job.is_under_way:
                raise ConfigError(f"Another evaluation is running ({self._job.data}). Wait for it or cancel it.")
            self._stop.clear()
            self._job = Job(self._job.number + 1 if self._job else 1, data, tuple(systems))
        ended: Future[Job] = Future()
        Thread(target=lambda: ended.set_result(self._end(work)), name="evaluation", daemon=True).start()
        return ended

    def cancel(self) -> None:
        """Stop the running evaluation soon; results of finished models stay stored."""
        with self._changing:
            if self._job is not None and self._job.state == "running":
                self._job = replace(self._job, state="stopping")
                self._stop.set()

    def _end(self, work: Work) -> Job:
        """Do the work; any error ends the job, never the app."""
        try:
            return self._change(report_id=work(self._report, self._stop.is_set), state="finished")
        except InterruptedError:
            return self._change(state="stopped")
        except Nt2vrError as error:
            return self._change(state="failed", error=str(error))
        except Exception:
            logger.exception("An evaluation failed.")
            return self._change(state="failed", error="Something went wrong; see the log for details.")

    def _report(self, done: int, total: int, what: str) -> None:
        self._change(doing=what, done=done, total=total)

    def _change(self, **changes: Any) -> Job:
        with self._changing:
            assert self._job is not None, "`run` made it"
            self._job = replace(self._job, **changes)
            return self._job
