"""Python API for notebooks, as exposed by `import nt2vr`: search, models and evaluation without the page or torch."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nt2vr.evaluation.covr import CovrData as CovrData
from nt2vr.evaluation.protocol import with_controls
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.sources import Data as Data
from nt2vr.evaluation.tables import markdown, tables_of, write_tables
from nt2vr.files import expanded
from nt2vr.models.card import CARD
from nt2vr.models.card import Card as Card
from nt2vr.models.encoder import Encoder as Encoder
from nt2vr.negation.parse.query import Query as Query
from nt2vr.negation.parse.query import understand as understand_tagged
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.notebook import data_frame, joined, table
from nt2vr.progress import Progress, ShouldStop, silent, stoppable
from nt2vr.python.model import Model as Model
from nt2vr.python.searcher import GallerySearcher as GallerySearcher
from nt2vr.python.searcher import Systems, named_systems
from nt2vr.search.answers import Answer as Answer
from nt2vr.search.match import Match as Match
from nt2vr.search.references import Reference as Reference
from nt2vr.search.strategies import STRATEGIES, Vector
from nt2vr.search.strategies import Parts as Parts
from nt2vr.search.systems import System as System
from nt2vr.services import Services
from nt2vr.settings import Settings, prepare_environment


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A finished evaluation; notebooks display its tables."""

    report: Report

    @property
    def metrics(self) -> dict[str, dict[str, float]]:
        """Measures by system and name: `metrics["CLIP"]["original/R@1"]`."""
        return self.report.metrics

    @property
    def remarks(self) -> list[str]:
        """What is to be known of the data: videos left out, the split that was taken."""
        return list(self.report.source.get("remarks", []))

    @property
    def table(self) -> str:
        """The paper's table and the further measures, as Markdown."""
        return markdown(self.report)

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with one row per system and measure: system, measure, value."""
        rows = [(system, name, value) for system, found in self.metrics.items() for name, value in found.items()]
        return data_frame(rows, ("system", "measure", "value"))

    def save(self, folder: str | Path) -> None:
        """Write the report folder, with the tables as Markdown, CSV and LaTeX."""
        self.report.save(expanded(folder))
        write_tables(self.report, expanded(folder))

    def _repr_html_(self) -> str:
        parts = [table(heads, rows) for heads, *rows in (each.texts() for each in tables_of(self.report))]
        return joined([table((), (), self.report.name), *parts, *(table((), (), each) for each in self.remarks)])


def understand(text: str, editing: bool = False) -> Query:
    """Split a sentence into its wanted and unwanted parts.

    With `editing`, edits are understood as well, as next to a reference picture: "replace the dog by a cat".
    """
    return understand_tagged(text, load_tagger(), editing)


def register_strategy(name: str, function: Callable[[Parts], Vector | None]) -> None:
    """Add a strategy for this process: "CLIP mine" then searches with it, as `evaluate` does.

    Args:
        name: lower-case; a built-in strategy's name is refused, an own one's is replaced.
        function: turns a query's `Parts` (unit vectors) into one vector, or None if there is nothing to search for.
    """
    STRATEGIES.register(name, function)


def load_model(name_or_folder: str | Path, data_dir: str | Path | None = None, device: str | None = None) -> Model:
    """Load a model.

    Args:
        name_or_folder: its name in the app, in any letter case ("CLIP-neg"), or its folder.
        data_dir: the app's data folder; default NT2VR_DATA, or ~/.cache/nt2vr.
        device: "auto", "cpu", "cuda" or "mps"; default NT2VR_DEVICE, or "auto", the fastest one.
    """
    settings = _settings(data_dir, device)
    folder, models = expanded(name_or_folder), Services(settings).models
    return Model(models.read(folder) if (folder / CARD).is_file() else models.load(str(name_or_folder)))


def open_searcher(
    data_dir: str | Path | None = None, device: str | None = None, library: str = "", index: str = ""
) -> GallerySearcher:
    """Open a library by name or id, or the built-in gallery; `data_dir` and `device` as for `load_model`.

    Args:
        index: "exact", "faiss", or Milvus for libraries: an address as for `--index`; default: that of
            NT2VR_INDEX, or exact, and approximate from 200,000 clips.
    """
    return GallerySearcher(_settings(data_dir, device, index), library)


def evaluate(
    data: str | Path | Data,
    systems: Systems,
    data_dir: str | Path | None = None,
    device: str | None = None,
    progress: Progress = silent,
    should_stop: ShouldStop = lambda: False,
) -> Evaluation:
    """Evaluate systems, and the zero-shot base and `drop` as controls, on a benchmark; results are cached.

    Args:
        data: "world", "gallery", "library:NAME", the path of a dataset or benchmark file, or, without any video,
            "words:PATH" of captions, or "classes:PATH" with a folder per class;
            `Data` also sets split, seed, queries and prompts.
        systems: as for `GallerySearcher.search`; `data_dir` and `device` as for `load_model`.
        progress: called with the number of steps done, their total, and a description.
        should_stop: polled between steps.

    Raises:
        Nt2vrError: if the data, a system or the cache cannot be used.
        InterruptedError: if `should_stop` returned True.
    """
    with closing(Services(_settings(data_dir, device))) as services:
        listed = named_systems(systems, services.models)
        names = services.models.names()
        controlled = with_controls([System.named(each, names) for each in listed], services.models)
        data = data if isinstance(data, Data) else Data(str(data))
        return Evaluation(services.evaluations.evaluate(data, controlled, stoppable(progress, should_stop)))


def evaluate_covr(
    model: str | Path,
    data: CovrData,
    data_dir: str | Path | None = None,
    device: str | None = None,
    progress: Progress = silent,
) -> Evaluation:
    """Evaluate covr, retrieval by a picture plus a text; the Evaluate tab lists the report."""
    encoder = load_model(model, data_dir, device).encoder
    with closing(Services(_settings(data_dir, device))) as services:
        report = services.evaluations.evaluate_covr(data, encoder, progress)
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
    """Write what the test server of CIRR takes, see `write_submission`."""
    encoder = load_model(model, data_dir, device).encoder
    with closing(Services(_settings(data_dir, device))) as services:
        return services.evaluations.submit_covr(data, encoder, system, expanded(file), progress)


def _settings(data_dir: str | Path | None, device: str | None, index: str = "") -> Settings:
    prepare_environment()
    return Settings.read(data_dir, device, index=index)
