"""What every benchmark has: queries over a set of clips, how systems are measured on them, and how that is shown."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from nt2vr.evaluation.queries import JudgedQueries
from nt2vr.evaluation.report import Presentation, Report, Result
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, silent
from nt2vr.search.strategies import System

# What a model makes of a benchmark's videos.
Media = TypeVar("Media")


@dataclass(frozen=True, eq=False)
class Benchmark(ABC, Generic[Media]):
    """Judged queries over a set of clips.

    Attributes:
        embed: embeds the clips; raises InterruptedError when it is stopped.
        source: origin as plain JSON data (seeds, files, hashes); equal sources have equal videos.
    """

    presentation: ClassVar[Presentation]

    name: str
    video_ids: tuple[str, ...]
    queries: JudgedQueries
    embed: Callable[[Encoder, Progress], Media]
    source: Mapping[str, Any]

    @property
    @abstractmethod
    def digest(self) -> str:
        """Hash of queries and videos: equal for equal benchmarks."""

    @property
    def title(self) -> str:
        """Name of a report on this benchmark."""
        return self.name

    @abstractmethod
    def measure(
        self,
        encoder: Encoder,
        systems: Sequence[System],
        media: Media | None = None,
        progress: Progress = silent,
    ) -> list[Result]:
        """Measure systems of one model, which share its embeddings; `media` are as of `embed`, embedded if None."""

    def report(
        self, results: Sequence[Result], notes: Sequence[str] = (), named: Sequence[str] = ()
    ) -> Report:
        """Return the report of some results; see `Report` for notes and named systems."""
        return Report(
            name=self.title,
            digest=self.digest,
            source=self.source,
            references={},
            video_ids=self.video_ids,
            texts=(),
            queries=self.queries,
            results=tuple(results),
            presentation=self.presentation,
            notes=tuple(notes),
            named=tuple(named),
        )
