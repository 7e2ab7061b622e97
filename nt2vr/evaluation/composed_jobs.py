"""Evaluations of composed retrieval: by name, and behind the page, one at a time."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, Literal

from nt2vr.datasets.composed import load_composed
from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.evaluation.composed import ComposedBenchmark, ask, editing_parser
from nt2vr.evaluation.composed_files import composed_files
from nt2vr.evaluation.composed_report import ComposedArchive, ComposedReport
from nt2vr.evaluation.composed_world import PER_KIND, composed_world
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, ShouldStop, never, silent

logger = logging.getLogger(__name__)
WORLD = "world"
State = Literal["running", "stopping", "finished", "stopped", "failed"]


@dataclass(frozen=True)
class ComposedData:
    """What composed retrieval is evaluated on.

    Attributes:
        name: "world", or the folder of a dataset: WebVid-CoVR, CIRR, FashionIQ or CIRCO.
        split: "test" or "validation" scenes, or a dataset's split.
        per_kind: queries per kind of change in the built-in world; 0 for its default.

    Raises:
        ConfigError: if there is no such split of the built-in world, or too many queries are asked for.
    """

    name: str = WORLD
    split: str = "test"
    per_kind: int = 0

    def __post_init__(self) -> None:
        """Check the values."""
        if self.name != WORLD:
            return
        if self.split not in PER_KIND:
            raise ConfigError(f"The built-in world has the splits {' and '.join(PER_KIND)}.")
        if not 0 <= self.per_kind <= PER_KIND["test"]:
            raise ConfigError(f"{self.per_kind} queries per kind of change: choose 1 to {PER_KIND['test']}.")


def evaluate_data(
    data: ComposedData, encoder: Encoder, folder: Path, decoder: Decoder, cache: Cache,
    progress: Progress = silent, should_stop: ShouldStop = never,
) -> ComposedReport:  # fmt: skip
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
    benchmark = _benchmark(data, folder, decoder, cache)
    asked = ask(benchmark, encoder, editing_parser(), progress=progress, should_stop=should_stop)
    return ComposedReport.of(benchmark, asked, encoder)


def _benchmark(data: ComposedData, folder: Path, decoder: Decoder, cache: Cache) -> ComposedBenchmark:
    if data.name == WORLD:
        return composed_world(folder, data.split, data.per_kind)  # type: ignore[arg-type]  # checked
    return composed_files(load_composed(Path(data.name), data.split), decoder, cache)


@dataclass(frozen=True)
class ComposedJob:
    """Snapshot of an evaluation; `report_id` once it has finished."""

    data: ComposedData
    model: str
    state: State = "running"
    doing: str = "preparing"
    done: int = 0
    total: int = 0
    report_id: str = ""
    error: str = ""

    @property
    def is_under_way(self) -> bool:
        """Whether its thread still runs."""
        return self.state in ("running", "stopping")


class ComposedEvaluations:
    """Runs evaluations and stores their reports.

    Args:
        encoder_of: returns a model by its name, shared with searches.
        folder: for clips of the built-in world, and reports.
        decoder: decodes files.
        cache: of their embeddings.
    """

    def __init__(self, encoder_of: Callable[[str], Encoder], folder: Path, decoder: Decoder, cache: Cache) -> None:
        """Start nothing."""
        self.archive = ComposedArchive(folder / "composed")
        self._encoder_of, self._folder, self._decoder, self._cache = encoder_of, folder, decoder, cache
        self.job: ComposedJob | None = None
        self._changing, self._stop = Lock(), Event()

    def start(self, data: ComposedData, model: str) -> Thread:
        """Start an evaluation in a thread.

        Raises:
            ConfigError: if another one is running.
        """
        with self._changing:
            if self.job is not None and self.job.is_under_way:
                raise ConfigError("Another evaluation of composed retrieval is running. Wait for it or cancel it.")
            self._stop.clear()
            self.job = ComposedJob(data, model)
        thread = Thread(target=self._run, args=(data, model), name="composed evaluation", daemon=True)
        thread.start()
        return thread

    def cancel(self) -> None:
        """Stop the running evaluation soon."""
        with self._changing:
            if self.job is not None and self.job.state == "running":
                self.job = replace(self.job, state="stopping")
                self._stop.set()

    def _run(self, data: ComposedData, model: str) -> None:
        """Run the job; any error ends the job, never the app."""
        try:
            encoder = self._encoder_of(model)
            report = evaluate_data(
                data, encoder, self._folder, self._decoder, self._cache, self._report, self._stop.is_set
            )
            self._change(state="finished", report_id=self.archive.add(report))
        except InterruptedError:
            self._change(state="stopped")
        except Nt2vrError as error:
            self._change(state="failed", error=str(error))
        except Exception:
            logger.exception("An evaluation of composed retrieval failed.")
            self._change(state="failed", error="Something went wrong; see the log for details.")

    def _report(self, done: int, total: int, what: str) -> None:
        self._change(doing=what, done=done, total=total)

    def _change(self, **changes: Any) -> None:
        with self._changing:
            assert self.job is not None  # `start` made it
            self.job = replace(self.job, **changes)
