"""Two systems of a report compared: query by query, and by negation word."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, quoted
from nt2vr.evaluation.differences import is_noise
from nt2vr.evaluation.intervals import (
    Interval,
    intervals_of_means,
    sign_flip_p,
)
from nt2vr.evaluation.measures import FIRST_PAGE
from nt2vr.evaluation.queries import JudgedQuery
from nt2vr.evaluation.report import Report
from nt2vr.search.answers import Verdict

IMPROVED, WORSENED = "improved", "worsened"
SMALLEST = 10  # queries of a group that is shown on its own


def places_by_difference(
    report: Report,
    first: str,
    second: str,
    kind: str = "",
    cue: str = "",
    text: str = "",
    change: str = "",
    fails_everywhere: bool = False,
    places: Collection[int] | None = None,
) -> list[int]:
    """Return positions of queries, from those where `second` beats `first` most to those where it loses most.

        difference = log(rank of first) - log(rank of second)

    Rank 1 instead of 10 counts as much as 10 instead of 100. For negated queries, whose video is
    wrong, the sign is reversed. A ConfigError refuses systems that the report does not have.

    Args:
        text: words, or parts of words, that the query has, in any order and case.
        change: IMPROVED or WORSENED, by `second`; "" for all.
        fails_everywhere: only queries that no system's first page answers; negated ones that all
            get wrong.
        places: positions of queries to list; None lists all.
    """
    ranks = {result.system: result.measured.ranks for result in report.results}
    for name in (first, second):
        report.check_system(name)
    negated = np.array([query.kind == "negated" for query in report.queries])
    gains = np.log(ranks[first]) - np.log(ranks[second])
    gains[negated] *= -1
    listed = np.array([_fits(query, kind, cue, text.lower().split()) for query in report.queries])
    listed &= {IMPROVED: gains > 0, WORSENED: gains < 0}.get(change, True)
    if fails_everywhere:
        shown = np.stack(list(ranks.values())) <= FIRST_PAGE  # (S, Q)
        listed &= np.where(negated, shown.all(axis=0), ~shown.any(axis=0))
    if places is not None:
        listed &= np.isin(np.arange(len(listed)), list(places))
    return [int(place) for place in np.argsort(-gains, kind="stable") if listed[place]]


def _fits(query: JudgedQuery, kind: str, cue: str, words: Sequence[str]) -> bool:
    is_asked = kind in ("", query.kind) and cue in ("", query.cue)
    return is_asked and all(word in query.text.lower() for word in words)


def first_videos(report: Report, place: int, system: str) -> list[tuple[str, Verdict | None]]:
    """Return the ids of the first videos of a system for a query, with their verdicts; [] where they are unknown.

    The video of a negated query's original caption violates, since it no longer matches.
    """
    first = next(result.measured.first for result in report.results if result.system == system)
    query, negated = report.queries[place], report.queries[place].kind == "negated"
    right = frozenset(() if negated else query.relevant.tolist())
    wrong = frozenset((query.relevant if negated else query.violating).tolist())
    return [
        (report.video_ids[row], "right" if row in right else "violation" if row in wrong else None)
        for row in (first[place].tolist() if len(first) else ())
        if row >= 0
    ]


class Group(NamedTuple):
    name: str  # negation word that the queries share; "" if they have none, or for joined groups
    num_queries: int
    means: Sequence[float]  # of the first system, the second, and second minus first per query
    intervals: Sequence[Interval | None]  # of these means; None where all values are equal
    p: float  # of the sign-flip test
    num_joined: int = 0  # number of small groups that this one joins; 0 for a single one

    @property
    def is_noise(self) -> bool:
        return is_noise(self.intervals[2], self.p)


@lru_cache(16)
def break_down(report: Report, first: str, second: str, key: str) -> tuple[Group, ...]:
    """Compare two systems by one metric, such as "composed/hard_pairs": on all queries, then per negation word.

    The largest group comes first; words with fewer than SMALLEST queries are joined. A ConfigError
    refuses systems and metrics that the report does not have.
    """
    for name in (first, second):
        report.check_system(name)
        if key not in report.values[name]:
            raise ConfigError(
                f"{name} has no {quoted(key)}. Choose one of: {', '.join(report.values[name])}."
            )
    one, two = (report.values[name][key] for name in (first, second))
    places, *rows = np.intersect1d(one.places, two.places, return_indices=True)
    if not len(places):
        raise ConfigError(f"{first} and {second} have no query in common for {key}. Choose others.")
    before, after = one.values[rows[0]], two.values[rows[1]]
    table, units = np.stack([before, after, after - before], axis=1), report.units[places]
    return tuple(_groups(table, units, [report.queries[place].cue for place in places.tolist()]))


def _groups(
    table: NDArray[np.float64], units: NDArray[np.int64], cues: Sequence[str]
) -> Iterator[Group]:
    def group(name: str, rows: list[int], num_joined: int = 0) -> Group:
        some, own = table[rows], units[rows]
        p = sign_flip_p(some[:, 2], own)
        return Group(
            name,
            len(rows),
            some.mean(axis=0).tolist(),
            intervals_of_means(some, own),
            p,
            num_joined,
        )

    yield group("", list(range(len(table))))
    rows_of: defaultdict[str, list[int]] = defaultdict(list)
    for row, cue in enumerate(cues):
        rows_of[cue].append(row)
    if rows_of.keys() == {""}:
        return
    small = [name for name, rows in rows_of.items() if len(rows) < SMALLEST]
    joined = sorted(row for name in small for row in rows_of.pop(name)) if len(small) > 1 else []
    for name in sorted(rows_of, key=lambda name: (name == "", -len(rows_of[name]), name)):
        yield group(name, rows_of[name])
    if joined:
        yield group("", joined, len(small))
