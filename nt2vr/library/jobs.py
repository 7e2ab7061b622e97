"""Background library updates for the app: one at a time, in order of request."""

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from threading import Event, Lock, Thread
from typing import Any, Literal

from nt2vr.errors import Nt2vrError
from nt2vr.library.libraries import Libraries
from nt2vr.library.update import Updated, update_library
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.models.encoder import Encoder

logger = logging.getLogger(__name__)

State = Literal["waiting", "running", "stopping", "finished", "stopped", "failed"]
MIN_RATE_S = 1.0  # before a rate is shown


@dataclass(frozen=True)
class IndexJob:
    """Immutable snapshot of an update.

    Attributes:
        number: counts updates since the app started.
        library_id: the library.
        library: its name.
        model: the encoder's name; empty for an update without embeddings.
        state: current state.
        doing: current step, in words.
        current: the file at hand, if known.
        done: finished units of this step.
        total: all units of this step; 0 if unknown.
        per_second: rate of this step; 0 if unknown.
        remaining_s: estimate for this step; None if unknown.
        error: reason of a failure, for the page.
        updated: what it did, once finished.
    """

    number: int
    library_id: str
    library: str
    model: str
    state: State = "waiting"
    doing: str = ""
    current: str = ""
    done: int = 0
    total: int = 0
    per_second: float = 0.0
    remaining_s: float | None = None
    error: str = ""
    updated: Updated | None = None

    @property
    def is_under_way(self) -> bool:
        """Return whether it waits or runs."""
        return self.state in ("waiting", "running", "stopping")


class IndexJobs:
    """Runs updates of libraries in one thread.

    Args:
        libraries: all libraries.
        load: loads an encoder by the name of its model.
        decoder: decodes files.
        cache: stores frames.
    """

    def __init__(self, libraries: Libraries, load: Callable[[str], Encoder], decoder: Decoder, cache: Cache) -> None:
        """Prepare without starting anything."""
        self._libraries, self._load, self._decoder, self._cache = libraries, load, decoder, cache
        self._lock, self._stop = Lock(), Event()
        self._jobs: dict[int, IndexJob] = {}
        self._ended: dict[int, Future[IndexJob]] = {}
        self._thread: Thread | None = None

    @property
    def jobs(self) -> list[IndexJob]:
        """All under way, the running one first, then the latest that ended per library."""
        with self._lock:
            jobs = list(self._jobs.values())
        under_way = [job for job in jobs if job.is_under_way]
        latest = {job.library_id: job for job in jobs if not job.is_under_way}
        return [*under_way, *sorted(latest.values(), key=lambda job: -job.number)]

    def of(self, library_id: str) -> IndexJob | None:
        """Return the library's latest update."""
        with self._lock:
            return next((job for job in reversed(self._jobs.values()) if job.library_id == library_id), None)

    def start(self, library_id: str, model: str) -> Future[IndexJob]:
        """Queue an update of a library under a model ("": no embeddings); a waiting equal one is returned instead.

        Raises:
            ConfigError: if there is no such library.
        """
        info = self._libraries.find(library_id)
        with self._lock:
            for job in self._jobs.values():
                if (job.library_id, job.model, job.state) == (info.id, model, "waiting"):
                    return self._ended[job.number]
            number = max(self._jobs, default=0) + 1
            self._jobs[number] = IndexJob(number, info.id, info.name, model)
            ended: Future[IndexJob] = Future()
            self._ended[number] = ended
            if self._thread is None:
                self._thread = Thread(target=self._run, name="indexing", daemon=True)
                self._thread.start()
        return ended

    def cancel(self, number: int) -> None:
        """Stop an update soon, or take it from the queue; what is indexed stays."""
        with self._lock:
            job = self._jobs.get(number)
            if job is None or not job.is_under_way:
                return
            if job.state == "waiting":
                self._jobs[number] = replace(job, state="stopped")
                self._ended[number].set_result(self._jobs[number])
            else:
                self._jobs[number] = replace(job, state="stopping")
                self._stop.set()

    def _run(self) -> None:
        """Run the waiting jobs until there are none."""
        while True:
            with self._lock:
                job = next((job for job in self._jobs.values() if job.state == "waiting"), None)
                if job is None:
                    self._thread = None
                    return
                self._stop.clear()
                self._jobs[job.number] = job = replace(job, state="running", doing="loading the model")
            self._ended[job.number].set_result(self._update(job))

    def _update(self, job: IndexJob) -> IndexJob:
        """Run one job; any error ends the job, never the app."""
        progress = _Rate(lambda **changes: self._change(job.number, **changes))
        try:
            encoder = self._load(job.model) if job.model else None
            updated = update_library(
                self._libraries, job.library_id, encoder, self._decoder, self._cache, progress, self._stop.is_set
            )
            return self._change(job.number, state="finished", updated=updated)
        except InterruptedError:
            return self._change(job.number, state="stopped")
        except Nt2vrError as error:
            return self._change(job.number, state="failed", error=str(error))
        except Exception:
            logger.exception("The update of %s failed.", job.library)
            return self._change(job.number, state="failed", error="Something went wrong; see the log for details.")

    def _change(self, number: int, **changes: Any) -> IndexJob:
        with self._lock:
            self._jobs[number] = replace(self._jobs[number], **changes)
            return self._jobs[number]


class _Rate:
    """Adds rate and remaining time to a progress report, by the step's own pace."""

    def __init__(self, change: Callable[..., object]) -> None:
        self._change = change
        self._doing, self._since_s, self._first = "", 0.0, 0

    def __call__(self, done: int, total: int, doing: str) -> None:
        doing, _, current = doing.partition(": ")
        now_s = time.monotonic()
        if doing != self._doing:
            self._doing, self._since_s, self._first = doing, now_s, done
        took_s, made = now_s - self._since_s, done - self._first
        rate = made / took_s if took_s >= MIN_RATE_S and made > 0 else 0.0
        remaining_s = (total - done) / rate if rate and total else None
        self._change(doing=doing, current=current, done=done, total=total, per_second=rate, remaining_s=remaining_s)
