"""Judged queries: what is asked of a benchmark, and which of its videos are right."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Kinds that rank texts for a video.
QUESTIONS = frozenset({"choice", "pair", "class", "negated class"})
# For readers.
KIND_NAMES = {
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
Mask = NDArray[np.bool_]  # (Q, V) or (n,)
CUE = re.compile(
    r"\b(?:no one|nobody|nothing|none|never|neither|nor|without|cannot|not|no|except|rather than|instead of)\b"
    r"|n['\u2019]t\b",
    re.I,
)


def row_array(numbers: Iterable[int]) -> Rows:
    return np.array(list(numbers), np.int32)


def row_numbers(names: Iterable[str]) -> dict[str, int]:
    """Number names from 0 in the order in which they first come; equal names share a number."""
    return {name: row for row, name in enumerate(dict.fromkeys(names))}


def cue_of(text: str) -> str:
    """Return a sentence's first negation word in lower case, "n't" for "doesn't"; "" if it has none."""
    match = CUE.search(text)
    if match is None:
        return ""
    return match[0].lower().replace("\u2019", "'")


def _no_rows() -> Rows:
    return row_array(())


@dataclass(frozen=True, eq=False)
class JudgedQuery:
    """A query with its ground truth.

    Attributes:
        kind: "original" (a caption), "negated" (a caption with one thing denied), "composed" (A and
            not B), "without" (A without a thing), "not" (not B, nothing wanted), "retrieval" (a
            true caption with a negation) or "picture" (a sentence with a right video and a `hard`,
            wrong one); the others are QUESTIONS, or kinds of change.
        text: of a question, its right answer.
        relevant: of a negated query, the video of its caption, which is no longer relevant.
        hard: they show the wanted and the unwanted part, if any.
        violating: they show the unwanted part.
        wanted: "" if nothing is wanted; None if the parts are unknown.
        original: position of the caption of a negated query.
        cue: its first negation word.
        others: rows of wrong answers among the benchmark's texts.
        group: names of subsets whose scores are reported separately, with "; " between them.
        instead: where a video stands for other captions in this query, its row to that of what
            `TextBenchmark.embed` returns, or to NO_CAPTION.
        query_id: in its file, such as "video7020#enc#0", for embeddings from elsewhere.
        picture: its reference: a `scene` of the built-in world, or the `path` of a file; empty for
            texts alone.
    """

    kind: str
    text: str
    relevant: Rows
    hard: Rows = field(default_factory=_no_rows)
    violating: Rows = field(default_factory=_no_rows)
    wanted: str | None = None
    unwanted: tuple[str, ...] = ()
    original: int | None = None
    cue: str = ""
    others: Rows = field(default_factory=_no_rows)
    group: str = ""
    instead: Mapping[int, int] = field(default_factory=dict)
    query_id: str = ""
    picture: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_question(self) -> bool:
        return self.kind in QUESTIONS


JudgedQueries = Sequence[JudgedQuery]


def kinds_of(queries: JudgedQueries) -> NDArray[np.str_]:
    """Return the kind of each query: (Q,)."""
    return np.array([query.kind for query in queries], np.str_)


def renumbered(queries: Mapping[int, JudgedQuery]) -> JudgedQueries:
    """Renumber the originals of queries, given by their former positions.

    A query goes if its original is gone.
    """
    remaining: list[JudgedQuery] = []
    new_position: dict[int | None, int | None] = {None: None}
    for position, query in queries.items():
        if query.original in new_position:
            new_position[position] = len(remaining)
            remaining.append(replace(query, original=new_position[query.original]))
    return tuple(remaining)


def mask(rows_of_queries: Sequence[Rows | Sequence[int]], count: int) -> Mask:
    """Convert lists of row numbers to a Boolean array (len(rows_of_queries), count)."""
    table = np.zeros((len(rows_of_queries), count), bool)
    for of_query, rows in zip(table, rows_of_queries, strict=True):
        of_query[np.asarray(rows, np.int32)] = True
    return table
