"""Queries of a picture plus a text, and their media under a model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nt2vr.evaluation.queries import JudgedQuery
from nt2vr.models.encoder import Vectors


@dataclass(frozen=True, eq=False)
class CovrQuery(JudgedQuery):
    """A query with a reference: its truth, and what it ranks, as rows of a benchmark.

    Of the inherited fields, `relevant` are the clips that count in R@k; `violating` those that show
    what was to be removed, which is empty for other changes.

    Attributes:
        reference: row of its picture among `EmbeddedMedia.references`.
        caption: full caption of a right clip; empty if unknown.
        left_out: rows that are not ranked: the reference itself.
        subset: rows to rank in a second measure, as in CIRR; empty for none.
        labels: further groups that it is reported in.
        matches: rows that count in mAP@k, where these are more; empty for `relevant`.
        ranked: rows that are ranked; None for all.
    """

    reference: int = 0
    caption: str = ""
    left_out: tuple[int, ...] = ()
    subset: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    matches: tuple[int, ...] = ()
    ranked: slice | None = None


CovrQueries = Sequence[CovrQuery]


class EmbeddedMedia(NamedTuple):
    """The references and clips of a benchmark under a model.

    Attributes:
        references: (R, D), one frame or picture each.
        clips: (V, D), or (V, F, D); see `TextBenchmark`.
        frames: embeds those of references, (R, F, D); None where each is one picture.
    """

    references: Vectors
    clips: Vectors
    frames: Callable[[], Vectors] | None = None
