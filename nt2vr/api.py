"""Python API for notebooks, as exposed by `import nt2vr`: search, models and evaluation without the page or torch."""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.evaluation.covr.sources import CovrData
from nt2vr.evaluation.protocol import with_controls
from nt2vr.evaluation.reports.formats import markdown, write_tables
from nt2vr.evaluation.reports.report import Report
from nt2vr.evaluation.sources import Data
from nt2vr.files import expanded
from nt2vr.language.query import Query
from nt2vr.language.query import understand as understand_tagged
from nt2vr.language.tagger import load_tagger
from nt2vr.media.gallery import Video
from nt2vr.models.card import CARD
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, ShouldStop, never, silent
from nt2vr.search.answers import Answer
from nt2vr.search.references import Reference
from nt2vr.search.strategies import DEFAULT_ALPHA
from nt2vr.search.systems import System
from nt2vr.search.why import Why, explain
from nt2vr.services import Services
from nt2vr.settings import Settings, prepare_environment

Image = NDArray[np.uint8]
Systems = str | System | Sequence[str | System]


def understand(text: str, editing: bool = False) -> Query:
    """Split a sentence into its wanted and unwanted parts.

    With `editing`, edits are understood as well, as next to a reference picture: "replace the dog by a cat".
    """
    return understand_tagged(text, load_tagger(), editing)


def load_model(name_or_folder: str | Path, data_dir: str | Path | None = None, device: str | None = None) -> Encoder:
    """Load a model.

    Args:
        name_or_folder: its name in the app, in any letter case ("CLIP-neg"), or its folder.
        data_dir: the app's data folder; default NT2VR_DATA, or ~/.cache/nt2vr.
        device: "auto", "cpu", "cuda" or "mps"; default NT2VR_DEVICE, or "auto", the fastest one.
    """
    prepare_environment()
    settings = Settings.read(data_dir, device)
    folder, models, name = expanded(name_or_folder), Services(settings).models, str(name_or_folder)
    if (folder / CARD).is_file():
        return models.read(folder)
    return models.load(next((known for known in models.names() if known.casefold() == name.casefold()), name))


def open_searcher(
    data_dir: str | Path | None = None, device: str | None = None, library: str = ""
) -> "GallerySearcher":
    """Open a library by name or id, or the built-in gallery; `data_dir` and `device` as for `load_model`."""
    prepare_environment()
    return GallerySearcher(Settings.read(data_dir, device), library)


class GallerySearcher(AbstractContextManager["GallerySearcher"]):
    """Searches a gallery; a `with` block or `close` ends its decoder processes."""

    def __init__(self, settings: Settings, library: str = "") -> None:
        """Load nothing yet."""
        self._services = Services(settings)
        try:
            self._searcher = self._services.galleries.searcher(library)
        except Nt2vrError:
            self.close()
            raise

    @property
    def system_names(self) -> list[str]:
        """Names of all systems: each model with each strategy."""
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
            query: a sentence, or one split by `understand`.
            systems: one or more, also by name: "CLIP", "CLIP-neg", "CLIP boolean α 0.5".
            k: number of hits per system.
            image: reference picture of weight 0.5, a file or (H, W, 3) uint8 RGB; the query says what to change.
            alpha: weight of the unwanted part in `boolean` systems that fix none.
            literal: words to take as typed; other words that a model does not know are substituted (`read_as`).
            references: further pictures, or clips of the gallery, wanted or not.

        Raises:
            QueryError: if there is nothing to search for.
            ConfigError: if an argument is invalid.
            MediaError: if the picture cannot be read.
            NotIndexedError: if a model has not indexed the library; see `nt2vr library update`.
        """
        names = [system if isinstance(system, str) else system.name for system in _as_sequence(systems)]
        if image is not None:
            references = [Reference((self._picture(image),)), *references]
        return self._searcher.search(query, names, k, references, {"boolean": alpha}, literal)

    def _picture(self, image: str | Path | Image) -> Image:
        if isinstance(image, str | Path):
            return self._services.decoder.picture(expanded(image))
        if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
            raise ConfigError(f"A picture must be (H, W, 3) uint8, not {image.shape} {image.dtype}. Convert it.")
        return image

    def explain(self, answer: Answer, video_id: str) -> tuple[Why, ...]:
        """Explain a clip's scores in an answer, per system: by its frames, the query's parts, and its words."""
        return explain(answer, video_id, self._searcher.live.encoder)

    def video(self, video_id: str) -> Video:
        """Return a video of the gallery: its file and captions."""
        return self._searcher.video(video_id)

    def close(self) -> None:
        """End the decoder processes and close the cache."""
        self._services.close()

    def __exit__(self, *error: object) -> None:
        """Close the searcher."""
        self.close()


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A finished evaluation; notebooks display its tables."""

    report: Report

    @property
    def metrics(self) -> dict[str, dict[str, float]]:
        """Measures by system and name: `metrics["CLIP"]["original/R@1"]`."""
        return self.report.metrics

    @property
    def table(self) -> str:
        """The paper's table and the further measures, as Markdown."""
        return markdown(self.report)

    def save(self, folder: str | Path) -> None:
        """Write the report folder, with the tables as Markdown, CSV and LaTeX."""
        self.report.save(expanded(folder))
        write_tables(self.report, expanded(folder))

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
        systems: as for `GallerySearcher.search`; `data_dir` and `device` as for `load_model`.
        progress: called with the number of steps done, their total, and a description.
        should_stop: polled between steps.

    Raises:
        Nt2vrError: if the data, a system or the cache cannot be used.
        InterruptedError: if `should_stop` returned True.
    """
    prepare_environment()
    with closing(Services(Settings.read(data_dir, device))) as services:
        names = services.models.names()
        chosen = [System.named(each, names) if isinstance(each, str) else each for each in _as_sequence(systems)]
        data = data if isinstance(data, Data) else Data(data)
        controlled = with_controls(chosen, services.models)
        return Evaluation(services.evaluations.evaluate(data, controlled, progress, should_stop))


def evaluate_covr(
    model: str | Path,
    data: CovrData,
    data_dir: str | Path | None = None,
    device: str | None = None,
    progress: Progress = silent,
) -> Evaluation:
    """Evaluate covr, retrieval by a picture plus a text; the Evaluate tab lists the report."""
    encoder = load_model(model, data_dir, device)
    with closing(Services(Settings.read(data_dir, device))) as services:
        report = services.evaluations.evaluate_covr(data, encoder, progress, never)
        services.evaluations.archive.add(report)
    return Evaluation(report)


def submit_covr(
    model: str | Path,
    data: CovrData,
    file: str | Path,
    system: str = "sum",
    data_dir: str | Path | None = None,
    device: str | None = None,
    progress: Progress = silent,
) -> list[Path]:
    """Write what the test server of CIRR or CIRCO takes, see `write_submission`."""
    encoder = load_model(model, data_dir, device)
    with closing(Services(Settings.read(data_dir, device))) as services:
        return services.evaluations.submit_covr(data, encoder, system, Path(file), progress)


def _as_sequence(systems: Systems) -> Sequence[str | System]:
    return [systems] if isinstance(systems, str | System) else systems
