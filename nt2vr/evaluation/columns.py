"""How a measure is shown: header, decimals, direction and meaning, in groups as reports have them."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from nt2vr.evaluation.measures import FIRST_PAGE
from nt2vr.evaluation.metric_names import (
    CHOICE_ACCURACY,
    CLASS_ACCURACY,
    CLASS_DENIED,
    DELTA,
    HARD_PAIRS,
    KS,
    MEAN_RANK,
    MEDIAN_RANK,
    MIR,
    NOT_AUC,
    PAIR_ACCURACY,
    PICTURE_ACCURACY,
    PICTURE_AVERAGE_PRECISION,
    TOP_5,
    delta,
    recall,
    violations,
)

EMPTY = "–"
HARD_PAIRS_MEANING = (
    "Hard pairs: percentage of pairs in which a relevant video scores above one that also shows the unwanted part. A "
    "system that ignores negation is at chance, about 50."
)
VIOLATIONS_MEANING = (
    "Violations@10: percentage of the top ten that show the unwanted part; lower is better."
)
DELTA_MEANING = (
    "Δ: how much lower negated captions rank the video of the original; a system that rejects every negated caption "
    "gains here, too."
)
CLASS_DELTA_MEANING = (
    "Δ of classes: top-1 less negated top-1, which is how often the class that is shown comes first among sentences "
    "that deny one class each, as “this is not a photo of a cat”: there it should come last."
)


@dataclass(frozen=True)
class Column:
    """How a measure is shown: its key in a report's metrics, header, number of decimals, direction and meaning."""

    key: str
    head: str
    decimals: int = 1
    lower_is_better: bool = False
    meaning: str = ""

    def text(self, value: float | None) -> str:
        """Format a value; None means not measured."""
        if value is None:
            return EMPTY
        return f"{value:.{self.decimals}f}"


Columns = tuple[Column, ...]


class ColumnGroup(NamedTuple):
    head: str
    columns: Columns

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(column.key for column in self.columns)

    @property
    def names(self) -> list[str]:
        """Names of the columns that tell them from those of other groups, such as "Composed R@1"."""
        return [f"{self.head} {column.head}".strip() for column in self.columns]


# The groups of one table.
TableGroups = tuple[ColumnGroup, ...]


def _retrieval(kind: str) -> Columns:
    return (*_recalls(kind), Column(f"{kind}/{MIR}", MIR, 3))


def _recalls(kind: str) -> list[Column]:
    return [Column(f"{kind}/{name}", name) for name in map(recall, KS)]


def _retrieval_lost(kind: str) -> Columns:
    return tuple(
        replace(
            column,
            key=f"{kind}/{delta(column.head)}",
            head=f"Δ{column.head}",
            meaning=DELTA_MEANING,
        )
        for column in _retrieval(kind)
    )


def _honest(kind: str) -> Columns:
    name = violations(FIRST_PAGE)
    violated = Column(
        key=f"{kind}/{name}",
        head=name,
        meaning=VIOLATIONS_MEANING,
        lower_is_better=True,
    )
    return (Column(f"{kind}/{HARD_PAIRS}", "hard pairs", meaning=HARD_PAIRS_MEANING), violated)


def _ranked(head: str, kind: str) -> ColumnGroup:
    columns = _recalls(kind)
    columns += [
        Column(f"{kind}/{name}", name, lower_is_better=True) for name in (MEDIAN_RANK, MEAN_RANK)
    ]
    return ColumnGroup(head, tuple(columns))


# Table 2 of the nT2VR paper.
PAPER = (
    ColumnGroup("Original", _retrieval("original")),
    ColumnGroup("Negated", _retrieval_lost("negated")),
    ColumnGroup("Composed", _retrieval("composed")),
)
BOTH_WAYS = (_ranked("Text to video", "original"), _ranked("Video to text", "video"))
HONEST = (
    ColumnGroup("A and not B", _honest("composed")),
    # R@1 and MIR, of R@1, R@5, R@10 and MIR.
    ColumnGroup("A without N", (*_retrieval("without")[::3], *_honest("without"))),
    # Its hard pairs are an AUC.
    ColumnGroup("not B", (Column(NOT_AUC, "AUC", 3), *_honest("not")[1:])),
)
PICTURES = (Column(PICTURE_ACCURACY, "accuracy"), Column(PICTURE_AVERAGE_PRECISION, "AP"))
CLASSES = (
    Column(CLASS_ACCURACY, "top-1"),
    Column(f"class/{TOP_5}", "top-5"),
    Column(CLASS_DENIED, "negated top-1"),
    Column(f"class/{DELTA}", "Δ", meaning=CLASS_DELTA_MEANING),
)
OTHERS = (
    ColumnGroup("NegBench retrieval", _retrieval("retrieval")),
    ColumnGroup("Multiple choice", (Column(CHOICE_ACCURACY, "all"),)),
    ColumnGroup("Caption and foil", (Column(PAIR_ACCURACY, "accuracy"),)),
    ColumnGroup("Picture and foil", PICTURES),
    ColumnGroup("Classes", CLASSES),
)
GROUPS = PAPER + HONEST + OTHERS
