"""Judged queries: what is asked of a benchmark, and which of its videos are right."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

QUESTIONS = frozenset(
    {"choice", "pair", "class", "negated class"}
)  # kinds that rank texts for a video
KIND_NAMES = {  # of queries, for readers
    "original": "original",
    "negated": "negated",
    "composed": "A and not B",
    "without": "A without N",
    "not": "not B",
    "retrieval": "caption that denies",
    "choice": "multiple choice",
    "pair": "caption and foil",
    "picture": "picture and foil",
    "class": "class",
    "negated class": "not the class",
}
NO_CAPTION = -1
Rows = NDArray[np.int32]  # (n,), row numbers of a benchmark's videos
CUE = re.compile(
    r"\b(?:no one|nobody|nothing|none|never|neither|nor|without|cannot|not|no|except|rather than|instead of)\b"
    r"|n['\u2019]t\b",
    re.I,
)


def row_array(numbers: Iterable[int]) -> Rows:
    return np.array(list(numbers), np.int32)


def cue_of(text: str) -> str:
    """Return the first negation word of a sentence in lower case, "n't" for "doesn't"; "" if it has none."""
    match = CUE.search(text)
    return match[0].lower().replace("\u2019", "'") if match else ""


@dataclass(frozen=True, eq=False)
class JudgedQuery:
    """A query with its ground truth.

    Its kind is "original" (a caption), "negated" (a caption with one thing denied), "composed" (A
    and not B), "without" (A without a thing), "not" (not B, nothing wanted), "retrieval" (a true
    caption with a negation) or "picture" (a sentence with a right video and a `hard`, wrong one);
    the others are QUESTIONS, or kinds of change.
    """

    kind: str
    text: str  # of a question, its correct answer
    relevant: Rows  # of a negated query, the video of its caption, which is no longer relevant
    hard: Rows = field(
        default_factory=lambda: row_array(())
    )  # they show the wanted and the unwanted part, if any
    violating: Rows = field(default_factory=lambda: row_array(()))  # they show the unwanted part
    wanted: str | None = None  # "" if nothing is wanted; None if the parts are unknown
    unwanted: tuple[str, ...] = ()
    original: int | None = None  # position of the caption of a negated query
    cue: str = ""
    others: Rows = field(
        default_factory=lambda: row_array(())
    )  # places of wrong answers among the benchmark's texts
    group: str = ""  # names of subsets whose scores are reported separately, with "; " between them
    # where a video stands for other captions in this query, its row to that of what
    # `TextBenchmark.embed` returns
    instead: Mapping[int, int] = field(default_factory=dict)  # or to NO_CAPTION
    query_id: str = ""  # in its file, such as "video7020#enc#0", for embeddings from elsewhere
    # its reference: a `scene` of the built-in world, or the `path` of a file; empty for texts alone
    picture: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_question(self) -> bool:
        return self.kind in QUESTIONS


def renumbered(queries: Mapping[int, JudgedQuery]) -> tuple[JudgedQuery, ...]:
    """Renumber the originals of queries that are left, by their former positions; without one, a query goes, too."""
    found: list[JudgedQuery] = []
    new_place: dict[int | None, int | None] = {None: None}
    for place, query in queries.items():
        if query.original in new_place:
            new_place[place] = len(found)
            found.append(replace(query, original=new_place[query.original]))
    return tuple(found)


def mask(videos: Sequence[Rows | Sequence[int]], count: int) -> NDArray[np.bool_]:
    """Convert lists of row numbers to a Boolean array (len(videos), count)."""
    table = np.zeros((len(videos), count), bool)
    for row, some in zip(table, videos, strict=True):
        row[np.asarray(some, np.int32)] = True
    return table
