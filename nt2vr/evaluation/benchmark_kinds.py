"""Kinds of benchmarks that extensions add, whose data are named by a prefix, such as "mine:FILE"."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from nt2vr.evaluation.benchmark import Benchmark, Media
from nt2vr.evaluation.report import Presentation, Report
from nt2vr.extension import loaded
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress
from nt2vr.search.strategies import System


@dataclass(frozen=True)
class Places:
    """What benchmarks read with, and where they keep what they draw.

    Attributes:
        folder: keeps embeddings of the built-in world.
        cache: keeps embeddings of files.
    """

    folder: Path
    decoder: Decoder
    cache: Cache


class ModelBenchmark(Benchmark[Media]):
    """A benchmark on which a model is measured in every way that it can answer."""

    @abstractmethod
    def systems_of(self, encoder: Encoder) -> list[System]:
        """Return the systems of a model, controls included."""


class ModelData(ABC):
    """Selection of the data of a `ModelBenchmark`."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What is evaluated, for the list of reports while the evaluation runs."""

    @property
    @abstractmethod
    def is_path(self) -> bool:
        """Whether it names a file or folder of this machine, rather than shipped data."""

    @abstractmethod
    def load(self, encoder: Encoder, places: Places, progress: Progress) -> ModelBenchmark[Any]:
        """Load the benchmark for a model; an Nt2vrError says what cannot be used."""


class BenchmarkKind(ABC):
    """A kind of benchmark, as an extension names it by its prefix.

    The Evaluate tab lists all kinds as the page is built, so that a kind's module imports its
    benchmark only in methods.

    Attributes:
        path_help: what a path after the prefix may be, to complete "the path of …".
        choices: label on the Evaluate tab of each shipped data, by its name after the prefix.
        sized: those of them of which a number of queries per kind can be chosen.
        presentation: shows the reports. Stored ones are recognised by its `fits`.
    """

    path_help: ClassVar[str]
    choices: ClassVar[Mapping[str, str]]
    sized: ClassVar[Sequence[str]] = ()
    presentation: ClassVar[Presentation]

    @abstractmethod
    def select(self, name: str, split: str, per_kind: int = 0) -> ModelData:
        """Select data; a ConfigError refuses what there is not.

        Args:
            name: what stands after the prefix.
            per_kind: queries per kind, of sized data; 0 for its default.
        """

    def old_reports(self, folder: Path) -> Mapping[Path, Callable[[Path], Report]]:
        """Return what reads each report that earlier versions stored elsewhere in the folder of evaluations, by file.

        It raises a ConfigError for a damaged one.
        """
        return {}


@cache
def benchmark_kinds() -> Mapping[str, BenchmarkKind]:
    """Return the kinds that extensions add, by prefix, such as "mine:"."""
    kinds = loaded(lambda extension: extension.benchmarks)
    return {f"{name}:": kind for name, kind in kinds.items()}


def prefix_of(name: str) -> str:
    """Return the prefix by which a kind of benchmark knows the data of this name; "" for other data."""
    for prefix in benchmark_kinds():
        if name.startswith(prefix):
            return prefix
    return ""


def shipped_data() -> list[tuple[str, str]]:
    """List the shipped data of all kinds: labels and names."""
    shipped = []
    for prefix, kind in benchmark_kinds().items():
        for name, label in kind.choices.items():
            shipped.append((label, f"{prefix}{name}"))
    return shipped


def select_data(name: str, split: str, per_kind: int = 0) -> ModelData:
    """Select data by a name that has a prefix; see `BenchmarkKind.select`."""
    prefix = prefix_of(name)
    return benchmark_kinds()[prefix].select(name.removeprefix(prefix), split, per_kind)
