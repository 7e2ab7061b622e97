"""Background evaluations for the app: one at a time, in a thread that shares the loaded models."""

import logging
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, Literal

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.evaluation.archive import Archive
from nt2vr.evaluation.benchmark import Benchmark
from nt2vr.evaluation.protocol import evaluate, with_controls
from nt2vr.evaluation.result_store import ResultStore
from nt2vr.evaluation.sources import GALLERY, WORLD, Data, load_benchmark
from nt2vr.library.libraries import Libraries
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.models.catalog import Catalog
from nt2vr.search.systems import System
from nt2vr.settings import ASSETS

logger = logging.getLogger(__name__)

BUILT_IN = (WORLD, GALLERY)
State = Literal["running", "stopping", "finished", "stopped", "failed"]


@dataclass(frozen=True)
class Job:
    """Immutable snapshot of an evaluation.

    Attributes:
        number: counts evaluations since the app started.
        data: evaluation data.
        systems: names of the systems, including controls.
        state: current state.
        doing: current step, in words.
        done: finished units of this step.
        total: all units of this step; 0 if unknown.
        report_id: id of the finished report.
        error: reason of a failure.
    """

    number: int
    data: Data
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


class Evaluations:
    """Runs evaluations and archives their reports.

    Args:
        models: catalog of models.
        decoder: decodes files.
        cache: stores embeddings of files.
        folder: for clips of the built-in world, per-query results and, in reports/, reports.
        assets: folder that contains the shipped gallery.
        libraries: further data to evaluate on.
    """

    def __init__(
        self, models: Catalog, decoder: Decoder, cache: Cache, folder: Path, assets: Path = ASSETS,
        libraries: Libraries | None = None,
    ) -> None:  # fmt: skip
        """Prepare without starting anything."""
        self.archive = Archive(folder / "reports")
        self._models, self._decoder, self._cache = models, decoder, cache
        self._folder, self._assets, self._libraries = folder, assets, libraries
        self._job: Job | None = None
        self._changing, self._stop = Lock(), Event()
        self._built: dict[Data, Benchmark] = {}

    @property
    def job(self) -> Job | None:
        """The running evaluation, otherwise the last one."""
        return self._job

    def start(self, data: Data, systems: Sequence[str]) -> Future[Job]:
        """Start an evaluation of systems and their controls.

        Returns:
            A future of the finished job.

        Raises:
            ConfigError: if another one is running, or no system or an unknown one is chosen.
        """
        if not systems:
            raise ConfigError("No system is chosen. Choose at least one; controls are added automatically.")
        names = self._models.names()
        chosen = with_controls([System.named(name, names) for name in systems], self._models)
        with self._changing:
            if self._job is not None and self._job.is_under_way:
                raise ConfigError(f"Another evaluation is running ({self._job.data.name}). Wait for it or cancel it.")
            self._stop.clear()
            number = self._job.number + 1 if self._job else 1
            self._job = Job(number, data, tuple(system.name for system in chosen))
        ended: Future[Job] = Future()
        Thread(target=self._run, args=(data, chosen, ended), name="evaluation", daemon=True).start()
        return ended

    def cancel(self) -> None:
        """Stop the running evaluation soon; results of finished models stay stored."""
        with self._changing:
            if self._job is not None and self._job.state == "running":
                self._job = replace(self._job, state="stopping")
                self._stop.set()

    def _run(self, data: Data, systems: Sequence[System], ended: Future[Job]) -> None:
        """Run the job; any error ends the job, never the app."""
        try:
            benchmark = self._benchmark(data)
            store = ResultStore(self._folder)
            report = evaluate(benchmark, systems, self._models, store, self._report, self._stop.is_set)
            self._report(0, 0, "writing the report")
            end = self._change(state="finished", report_id=self.archive.add(report))
        except InterruptedError:
            end = self._change(state="stopped")
        except Nt2vrError as error:
            end = self._change(state="failed", error=str(error))
        except Exception:
            logger.exception("An evaluation failed.")
            end = self._change(state="failed", error="Something went wrong; see the log for details.")
        ended.set_result(end)

    def _benchmark(self, data: Data) -> Benchmark:
        """Load a benchmark; built-in ones are cached: the world's 10,000 queries take 5 s."""
        if data in self._built:
            return self._built[data]
        self._report(0, 0, "reading the data")
        benchmark = load_benchmark(
            data, self._folder, self._decoder, self._cache, self._report, self._stop.is_set, self._assets,
            self._libraries,
        )  # fmt: skip
        if data.name in BUILT_IN:
            self._built[data] = benchmark
        return benchmark

    def _report(self, done: int, total: int, what: str) -> None:
        self._change(doing=what, done=done, total=total)

    def _change(self, **changes: Any) -> Job:
        with self._changing:
            assert self._job is not None  # `start` made it
            self._job = replace(self._job, **changes)
            return self._job
