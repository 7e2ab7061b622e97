"""The Python interface, for notebooks: the app's search, models and evaluation without its page.

`import nt2vr` exposes these functions and classes. Importing this module does not import torch.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.evaluation.covr.report import evaluate_covr as measure_covr
from nt2vr.evaluation.covr.sources import CovrData
from nt2vr.evaluation.protocol import evaluate as evaluate_systems
from nt2vr.evaluation.protocol import with_controls
from nt2vr.evaluation.reports.archive import Archive
from nt2vr.evaluation.reports.report import Report
from nt2vr.evaluation.reports.tables import markdown, write_tables
from nt2vr.evaluation.result_store import ResultStore
from nt2vr.evaluation.sources import Data, load_benchmark
from nt2vr.language.query import Query
from nt2vr.language.query import understand as understand_tagged
from nt2vr.language.tagger import Tagger, load_tagger
from nt2vr.library.libraries import Libraries
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video, load_gallery
from nt2vr.models.card import CARD
from nt2vr.models.catalog import Catalog
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, ShouldStop, never, silent
from nt2vr.search.answers import Answer
from nt2vr.search.galleries import Galleries
from nt2vr.search.references import Reference
from nt2vr.search.strategies import DEFAULT_ALPHA
from nt2vr.search.systems import System
from nt2vr.search.why import Why, explain
from nt2vr.settings import Settings, prepare_environment
from nt2vr.world.edits.edits import judge_video
from nt2vr.world.synonyms import synonyms

Image = NDArray[np.uint8]
Systems = str | System | Sequence[str | System]


def understand(text: str, editing: bool = False) -> Query:
    """Split a sentence into its wanted and unwanted parts.

    Args:
        text: the sentence.
        editing: read the words of editing too, as next to a reference picture: "replace the dog by a cat".

    Raises:
        QueryError: if the sentence is too long.
    """
    return understand_tagged(text, _tagger(), editing)


@cache
def _tagger() -> Tagger:
    return load_tagger()


def open_catalog(settings: Settings) -> Catalog:
    """Open the catalog of shipped, downloaded and imported models, and of training runs' checkpoints."""
    folders = [settings.assets / "models", settings.data_dir / "models"]
    return Catalog(folders, settings.device, settings.data_dir / "runs")


def load_model(name_or_folder: str | Path, data_dir: str | Path | None = None, device: str | None = None) -> Encoder:
    """Load a model.

    Args:
        name_or_folder: its name in the app, in any letter case ("CLIP-neg"), or a checkpoint folder.
        data_dir: the app's data folder; default NT2VR_DATA, or ~/.cache/nt2vr.
        device: "auto", "cpu", "cuda" or "mps"; default NT2VR_DEVICE, or "auto", the fastest here.

    Raises:
        ConfigError: if there is no such model.
        CheckpointError: if it cannot be loaded.
    """
    prepare_environment()
    settings = Settings.read(data_dir, device)
    folder = Path(name_or_folder).expanduser()
    if (folder / CARD).is_file():
        return read_checkpoint(folder, settings.device)
    models, name = open_catalog(settings), str(name_or_folder)
    return models.load(next((known for known in models.names() if known.casefold() == name.casefold()), name))


def open_searcher(
    data_dir: str | Path | None = None, device: str | None = None, library: str = ""
) -> "GallerySearcher":
    """Open a gallery for searches.

    Args:
        data_dir: as for `load_model`.
        device: as for `load_model`.
        library: name or id of a library; default: the built-in gallery.

    Raises:
        ConfigError: if there is no such library, or the cache in `data_dir` cannot be used.
    """
    prepare_environment()
    return GallerySearcher(Settings.read(data_dir, device), library)


class GallerySearcher:
    """Searches a gallery; close it, or use it in a `with`, to end its decoder processes."""

    def __init__(self, settings: Settings, library: str = "") -> None:
        """Load nothing yet."""
        self._cache = Cache.of(settings.data_dir)
        self._decoder = Decoder()
        gallery = load_gallery(settings.assets / "gallery" / "gallery.jsonl")
        galleries = Galleries(
            open_catalog(settings),
            gallery,
            self._decoder,
            self._cache,
            judge_video,
            synonyms(),
            Libraries(settings.data_dir / "libraries"),
        )
        try:
            self._searcher = galleries.searcher(library)
        except Nt2vrError:
            self.close()
            raise

    @property
    def system_names(self) -> list[str]:
        """Names of the available systems: each model with each strategy."""
        return self._searcher.system_names()

    def search(
        self,
        query: str | Query,
        systems: Systems,
        k: int = 8,
        image: str | Path | Image | None = None,
        alpha: float = DEFAULT_ALPHA,
        literal: Collection[str] = (),
        references: Sequence[Reference] = (),
    ) -> Answer:
        """Rank the gallery's videos with each system; adjacent windows of a long video are one hit with `moments`.

        Args:
            query: a sentence, or one that `understand` has split.
            systems: one or more, or their names: "CLIP", "CLIP-neg", "CLIP boolean α 0.5".
            k: number of hits per system.
            image: reference picture, a file or (H, W, 3) uint8 RGB; the query says what should be different.
            alpha: weight of the unwanted part in `boolean` systems that do not set their own.
            literal: words to ask for as typed; others that a model does not know are read as the answer's `read_as`.
            references: further pictures, or clips of the gallery, wanted or not; `image` is one of weight 0.5.

        Raises:
            QueryError: if there is nothing to search for.
            ConfigError: if a system, k, alpha or an array cannot be used.
            MediaError: if the picture cannot be read.
            NotIndexedError: if the library is not indexed by one of the systems' models; see `nt2vr library update`.
        """
        editing = image is not None or bool(references)
        parsed = understand(query, editing) if isinstance(query, str) else query
        names = [system if isinstance(system, str) else system.name for system in _as_sequence(systems)]
        strengths = {"boolean": alpha}
        return self._searcher.search(
            parsed, names, k, self._picture(image), strengths=strengths, literal=literal, references=references
        )

    def _picture(self, image: str | Path | Image | None) -> Image | None:
        if isinstance(image, str | Path):
            return self._decoder.picture(Path(image).expanduser())
        if image is not None and (image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3):
            raise ConfigError(f"A picture must be (H, W, 3) uint8, not {image.shape} {image.dtype}. Convert it.")
        return image

    def explain(self, answer: Answer, video_id: str) -> tuple[Why, ...]:
        """Say why a clip has its scores in an answer, per system: by its frames, the query's parts, and its words.

        Raises:
            ConfigError: if a model of the answer is gone.
        """
        return explain(answer, video_id, self._searcher.live.encoder)

    def video(self, video_id: str) -> Video:
        """Return a video of the gallery: its file and captions.

        Raises:
            ConfigError: if there is no such video.
        """
        return self._searcher.video(video_id)

    def close(self) -> None:
        """End the decoder processes and close the cache."""
        self._decoder.close()
        self._cache.close()

    def __enter__(self) -> "GallerySearcher":
        """Return the searcher."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the searcher."""
        self.close()


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Finished evaluation: the report and its tables, which a notebook shows."""

    report: Report

    @property
    def metrics(self) -> dict[str, dict[str, float]]:
        """Measures by system, then by name: `metrics["CLIP"]["original/R@1"]`."""
        return self.report.metrics

    @property
    def table(self) -> str:
        """The paper's table and the further measures, as Markdown."""
        return markdown(self.report)

    def save(self, folder: str | Path) -> None:
        """Write the report folder, with the tables as Markdown, CSV and LaTeX.

        Raises:
            ConfigError: if the folder cannot be written to.
        """
        self.report.save(Path(folder).expanduser())
        write_tables(self.report, Path(folder).expanduser())

    def _repr_markdown_(self) -> str:
        return self.table


def evaluate(
    data: str | Data,
    systems: Systems,
    data_dir: str | Path | None = None,
    device: str | None = None,
    progress: Progress = silent,
    should_stop: ShouldStop = never,
) -> Evaluation:
    """Evaluate systems, and the zero-shot base and `drop` as controls, on a benchmark; results are cached.

    Args:
        data: "world", "gallery", "library:NAME", the path of a dataset or benchmark file, or, without any video,
            "words:PATH" of captions ("words1:PATH": one caption per video); `Data` also sets split, seed and queries.
        systems: as for `GallerySearcher.search`.
        data_dir: as for `load_model`.
        device: as for `load_model`.
        progress: called with the steps done, the total, and what is being done.
        should_stop: polled between steps.

    Raises:
        Nt2vrError: if the data, a system or the cache cannot be used.
        InterruptedError: if `should_stop` returned True.
    """
    prepare_environment()
    settings = Settings.read(data_dir, device)
    models, folder = open_catalog(settings), settings.data_dir / "evaluation"
    names = models.names()
    chosen = [System.named(each, names) if isinstance(each, str) else each for each in _as_sequence(systems)]
    with Decoder() as decoder, Cache.of(settings.data_dir) as embeddings:
        benchmark = load_benchmark(
            data if isinstance(data, Data) else Data(data),
            folder,
            decoder,
            embeddings,
            progress,
            should_stop,
            settings.assets,
            Libraries(settings.data_dir / "libraries"),
        )
        report = evaluate_systems(
            benchmark, with_controls(chosen, models), models, ResultStore(folder), progress, should_stop
        )
    return Evaluation(report)


def evaluate_covr(
    model: str | Path,
    data: CovrData,
    data_dir: str | Path | None = None,
    device: str | None = None,
    progress: Progress = silent,
) -> Evaluation:
    """Evaluate covr, retrieval by a picture plus a text; the Evaluate tab lists the report.

    Args:
        model: as for `load_model`.
        data_dir: as for `load_model`.
        device: as for `load_model`.
        progress: called while clips are embedded.

    Raises:
        ConfigError: if there is no such model.
        CheckpointError: if it cannot be loaded.
        DatasetError: if the data cannot be read.
    """
    encoder, settings = load_model(model, data_dir, device), Settings.read(data_dir, device)
    folder = settings.data_dir / "evaluation"
    with Decoder() as decoder, Cache.of(settings.data_dir) as cache:
        report = measure_covr(data, encoder, folder, decoder, cache, progress)
    Archive(folder / "reports").add(report)
    return Evaluation(report)


def _as_sequence(systems: Systems) -> Sequence[str | System]:
    return [systems] if isinstance(systems, str | System) else systems
