"""Background evaluations for the app: one at a time, sharing the loaded models."""

from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

from nt2vr.errors import ConfigError
from nt2vr.evaluation.archive import Archive
from nt2vr.evaluation.benchmark import Benchmark
from nt2vr.evaluation.covr import CovrData, benchmark_for, covr_report, write_submission
from nt2vr.evaluation.protocol import ResultStore, evaluate, with_controls
from nt2vr.evaluation.ready import unpack
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.sources import FRAMES, GALLERY, Data, load_benchmark
from nt2vr.library.libraries import Libraries
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.models.catalog import Catalog
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Job, Progress, Runner, silent
from nt2vr.search.systems import System
from nt2vr.world import WORLD

READY_MARK = ".ready"  # beside the folder of reports
MAX_SYSTEMS = 32  # of one evaluation, without controls: each takes memory, time and space in the report


class Evaluations:
    """Runs evaluations and archives their reports.

    Args:
        folder: for clips of the built-in world, per-query results and, in reports/, reports.
    """

    def __init__(
        self, models: Catalog, decoder: Decoder, cache: Cache, folder: Path, libraries: Libraries | None = None
    ) -> None:
        self._runner = Runner[str]("evaluation")
        self.archive = Archive(folder / "reports")
        self._models, self._decoder, self._cache = models, decoder, cache
        self._folder, self._libraries = folder, libraries
        self._built: dict[Data, Benchmark] = {}

    @property
    def job(self) -> Job[str] | None:
        """The running evaluation, otherwise the last one; its result is the id of the report."""
        return next(reversed(self._runner.jobs), None)

    def cancel(self) -> None:
        """Stop the running evaluation soon; results of finished models stay stored."""
        if self.job is not None:
            self._runner.cancel(self.job.number)

    def start_covr(self, data: CovrData, model: str) -> Future[Job[str]]:
        """Start an evaluation of pictures plus texts by a model; errors as of `start`."""
        self._models.find(model)

        def work(progress: Progress) -> str:
            progress(0, 0, f"loading {model}")
            encoder = self._models.load(model)
            return self.archive.add(self.evaluate_covr(data, encoder, progress))

        return self._runner.run(work, f"{data.name}, {data.split}, picture plus text", [model])

    def start(self, data: Data, systems: Sequence[str]) -> Future[Job[str]]:
        """Start an evaluation of systems and their controls; a ConfigError says why it is refused."""
        if not data.name:
            raise ConfigError("No data is chosen. Choose the built-in world or the gallery, or name a path.")
        if not systems:
            raise ConfigError("No system is chosen. Choose at least one; controls are added automatically.")
        if (count := len(set(systems))) > MAX_SYSTEMS:
            raise ConfigError(f"Cannot evaluate {count:,} systems at once: choose at most {MAX_SYSTEMS}.")
        names = self._models.names()
        chosen = with_controls([System.named(name, names) for name in systems], self._models)

        def work(progress: Progress) -> str:
            report = self.evaluate(data, chosen, progress)
            progress(0, 0, "writing the report")
            return self.archive.add(report)

        return self._runner.run(work, data.name, [system.name for system in chosen])

    def add_ready(self) -> None:
        """Add the report that comes with the app where there is none, once: who deletes it does not get it again."""
        mark = self._folder / READY_MARK
        if mark.exists() or self.archive.entries() or (self.job is not None and self.job.is_under_way):
            return

        def work(progress: Progress) -> str:
            progress(0, 0, "drawing its queries")
            self._folder.mkdir(parents=True, exist_ok=True)
            mark.touch()
            benchmark = self._benchmark(Data(GALLERY), FRAMES, progress)
            return self.archive.add(unpack(benchmark))

        self._runner.run(work, "The report that comes with the app")

    def evaluate(self, data: Data, systems: Sequence[System], progress: Progress) -> Report:
        """Evaluate systems in this thread, and return the report without archiving it.

        Built-in benchmarks are cached: the world's 10,000 queries take 5 s.
        """
        reads = frozenset(self._models.card(system.model).features for system in systems)
        benchmark = self._benchmark(data, reads, progress)
        return evaluate(benchmark, systems, self._models, ResultStore(self._folder), progress)

    def _benchmark(self, data: Data, reads: frozenset[str], progress: Progress) -> Benchmark:
        benchmark = self._built.get(data) if reads == FRAMES else None
        if benchmark is None:
            progress(0, 0, "reading the data")
            places = (self._folder, self._decoder, self._cache, progress, self._libraries)
            benchmark = load_benchmark(data, *places, reads)
        if data.name in (WORLD, GALLERY):
            self._built[data] = benchmark
        return benchmark

    def evaluate_covr(self, data: CovrData, encoder: Encoder, progress: Progress) -> Report:
        """Evaluate pictures plus texts in this thread, and return the report without archiving it."""
        benchmark = benchmark_for(encoder, data, self._folder, self._decoder, self._cache, progress)
        return covr_report(benchmark, encoder, progress)

    def submit_covr(
        self, data: CovrData, encoder: Encoder, system: str, file: Path, progress: Progress = silent
    ) -> list[Path]:
        """Write predictions for a dataset's test server in this thread."""
        if data.name == WORLD:
            raise ConfigError("The built-in world has no test server. Name the folder of CIRR.")
        benchmark = benchmark_for(encoder, data, self._folder, self._decoder, self._cache, progress)
        return write_submission(benchmark, encoder, system, file, progress)
