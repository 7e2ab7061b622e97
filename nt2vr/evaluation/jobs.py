"""Background evaluations for the app, one at a time."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path

from nt2vr.errors import ConfigError, reason_of, warn_once
from nt2vr.evaluation.archive import Archive
from nt2vr.evaluation.benchmark_kinds import ModelData, Places
from nt2vr.evaluation.protocol import ResultStore, evaluate, with_controls
from nt2vr.evaluation.ready_report import ready_report
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.sources import FRAMES, GALLERY, Data, Inputs, load_benchmark
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.library.libraries import Libraries
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.models.catalog import Catalog
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Job, Progress, Runner
from nt2vr.search.strategies import System
from nt2vr.world import WORLD

# Beside the folder of reports.
READY_MARK = ".ready"
# Of one evaluation, without controls: each takes memory, time and space in the report.
MAX_SYSTEMS = 32


class Evaluations:
    """Runs evaluations; its folder has clips of the built-in world, per-query results and, in reports/, reports."""

    def __init__(
        self,
        models: Catalog,
        decoder: Decoder,
        cache: Cache,
        folder: Path,
        libraries: Libraries | None = None,
    ) -> None:
        self._runner = Runner[str]("evaluation")
        self.archive = Archive(folder / "reports")
        self.places = Places(folder, decoder, cache)
        self._models = models
        self._libraries = libraries
        self._built: dict[Data, TextBenchmark] = {}

    @property
    def job(self) -> Job[str] | None:
        """The running evaluation, otherwise the last one; its result is the id of the report."""
        return next(reversed(self._runner.jobs), None)

    def cancel(self, number: int) -> None:
        """Stop a running evaluation soon; results of finished models stay stored."""
        self._runner.cancel(number)

    def start(
        self, data: Data | ModelData, systems: Sequence[str], session: str = ""
    ) -> Future[Job[str]]:
        """Start an evaluation; a ConfigError says why it is refused.

        Args:
            systems: names of systems, which are evaluated with their controls; for a `ModelData`,
                that of one model.
        """
        if isinstance(data, ModelData):
            (model,) = systems
            return self._start_model(data, model, session)
        if not data.name:
            raise ConfigError(
                "No data is chosen. Choose the built-in world or the gallery, or name a path."
            )
        if not systems:
            raise ConfigError(
                "No system is chosen. Choose at least one; controls are added automatically."
            )
        count = len(set(systems))
        if count > MAX_SYSTEMS:
            raise ConfigError(
                f"Cannot evaluate {count:,} systems at once: choose at most {MAX_SYSTEMS}."
            )
        names = self._models.names()
        requested = [System.named(name, names) for name in systems]
        measured = [system.name for system in with_controls(requested, self._models)]
        return self._run(
            lambda progress: self.evaluate(data, requested, progress),
            title=data.name,
            measured=measured,
            session=session,
        )

    def _start_model(self, data: ModelData, model: str, session: str) -> Future[Job[str]]:
        self._models.find(model)

        def measure(progress: Progress) -> Report:
            progress(0, 0, f"loading {model}")
            return self.evaluate_model(data, self._models.load(model), progress)

        return self._run(measure, data.title, measured=[model], session=session)

    def _run(
        self,
        measure: Callable[[Progress], Report],
        title: str,
        measured: Sequence[str],
        session: str,
    ) -> Future[Job[str]]:
        """Measure in the background, and archive the report, whose id is the job's result."""

        def work(progress: Progress) -> str:
            report = measure(progress)
            progress(0, 0, "writing the report")
            return self.archive.add(report)

        return self._runner.run(work, title, measured, session=session)

    def add_ready(self) -> None:
        """Add the report that comes with the app where there is none, once: who deletes it does not get it again."""
        folder = self.places.folder
        mark = folder / READY_MARK
        if mark.exists() or self.archive.entries():
            return

        try:
            folder.mkdir(parents=True, exist_ok=True)
            mark.touch()
            self.archive.add(ready_report())
        # The disk is full, or the folder is read-only.
        except (ConfigError, OSError) as error:
            warn_once(f"The report that comes with the app cannot be shown: {reason_of(error)}")

    def evaluate(self, data: Data, requested: Sequence[System], progress: Progress) -> Report:
        """Evaluate systems and their controls in this thread, and return the report without archiving it."""
        systems = with_controls(requested, self._models)
        cards = [self._models.card(system.model) for system in systems]
        inputs = frozenset(card.capabilities.video_input for card in cards)
        benchmark = self._benchmark(data, inputs, progress)
        return evaluate(
            benchmark,
            systems,
            models=self._models,
            store=ResultStore(self.places.folder),
            progress=progress,
            named=list(dict.fromkeys(requested)),
        )

    def _benchmark(self, data: Data, inputs: Inputs, progress: Progress) -> TextBenchmark:
        if inputs == FRAMES and data in self._built:
            return self._built[data]
        progress(0, 0, "reading the data")
        benchmark = load_benchmark(
            data, places=self.places, progress=progress, libraries=self._libraries, inputs=inputs
        )
        # The world's 10,000 queries take 5 s.
        if data.name in (WORLD, GALLERY):
            self._built[data] = benchmark
        return benchmark

    def evaluate_model(self, data: ModelData, encoder: Encoder, progress: Progress) -> Report:
        """Evaluate every way in which a model can answer, in this thread; return the report without archiving it."""
        benchmark = data.load(encoder, self.places, progress)
        results = benchmark.measure(encoder, benchmark.systems_of(encoder), progress=progress)
        return benchmark.report(results)
