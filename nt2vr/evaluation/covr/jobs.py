"""Evaluations of composed retrieval: by name, and behind the page, one at a time."""

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from nt2vr.evaluation.covr.protocol import embed_queries
from nt2vr.evaluation.covr.report import CovrArchive, CovrReport
from nt2vr.evaluation.covr.sources import CovrData, load_covr_benchmark
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Job, Progress, Runner, ShouldStop, never, silent


def evaluate_data(
    data: CovrData,
    encoder: Encoder,
    folder: Path,
    decoder: Decoder,
    cache: Cache,
    progress: Progress = silent,
    should_stop: ShouldStop = never,
) -> CovrReport:
    """Evaluate a model.

    Args:
        data: what to evaluate on.
        encoder: the model.
        folder: for clips of the built-in world.
        decoder: decodes files.
        cache: of their embeddings.
        progress: called while clips are embedded.
        should_stop: polled meanwhile.

    Raises:
        DatasetError: if the data cannot be read.
        InterruptedError: if `should_stop` returned True.
    """
    benchmark = load_covr_benchmark(data, folder, decoder, cache)
    asked = embed_queries(benchmark, encoder, progress=progress, should_stop=should_stop)
    return CovrReport.of(benchmark, asked, encoder)


class CovrEvaluations:
    """Runs evaluations and stores their reports.

    Args:
        encoder_of: returns a model by its name, shared with searches.
        folder: for clips of the built-in world, and reports.
        decoder: decodes files.
        cache: of their embeddings.
    """

    def __init__(self, encoder_of: Callable[[str], Encoder], folder: Path, decoder: Decoder, cache: Cache) -> None:
        """Start nothing."""
        self._runner = Runner[str]("evaluation")
        self.archive = CovrArchive(folder / "composed")
        self._encoder_of, self._folder, self._decoder, self._cache = encoder_of, folder, decoder, cache

    @property
    def job(self) -> Job[str] | None:
        """The running evaluation, otherwise the last one; its result is the id of the report."""
        return next(reversed(self._runner.jobs), None)

    def cancel(self) -> None:
        """Stop the running evaluation soon."""
        if self.job is not None:
            self._runner.cancel(self.job.number)

    def start(self, data: CovrData, model: str) -> Future[Job[str]]:
        """Start an evaluation; return a future of the finished job.

        Raises:
            ConfigError: if another one is running.
        """

        def work(progress: Progress, should_stop: ShouldStop) -> str:
            encoder = self._encoder_of(model)
            report = evaluate_data(data, encoder, self._folder, self._decoder, self._cache, progress, should_stop)
            return self.archive.add(report)

        return self._runner.run(work, f"{data.name}, {data.split}", [model])
