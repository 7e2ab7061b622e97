"""Two systems of a report compared: query by query, and by negation word."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, quoted
from nt2vr.evaluation.benchmark import JudgedQuery
from nt2vr.evaluation.intervals import Interval, intervals_of_means, sign_flip_p
from nt2vr.evaluation.measures import FIRST_PAGE
from nt2vr.evaluation.report import Report
from nt2vr.search.answers import Verdict

IMPROVED, WORSENED = "improved", "worsened"
SIGNIFICANT = 0.05
SMALLEST = 10  # queries of a group that is shown on its own


@dataclass(frozen=True)
class Filter:
    """Queries to list; an empty value includes all.

    Attributes:
        text: words that the query has, in any order and case; parts of words count.
        change: "improved" or "worsened": only where `second` is better, or worse, than `first`.
        fails_everywhere: include only queries without a relevant video on any system's first page; for negated
            queries, those with the wrong video on all first pages.
        places: positions of queries; None includes all.
    """

    kind: str = ""
    cue: str = ""
    text: str = ""
    change: str = ""
    fails_everywhere: bool = False
    places: Collection[int] | None = None

    def fits(self, query: JudgedQuery) -> bool:
        """Return whether a query has the kind, the cue and the words."""
        text = query.text.lower()
        has_kind, has_cue = self.kind in ("", query.kind), self.cue in ("", query.cue)
        return has_kind and has_cue and all(word in text for word in self.text.lower().split())


ALL = Filter()


def places_by_difference(report: Report, first: str, second: str, only: Filter = ALL) -> list[int]:
    """Return positions of queries, from those where `second` beats `first` most to those where it loses most.

        difference = log(rank of first) - log(rank of second)

    Rank 1 instead of 10 counts as much as 10 instead of 100. For negated queries, whose video is wrong, the sign is
    reversed. A ConfigError refuses systems that the report does not have.
    """
    ranks = {result.system: result.measured.ranks for result in report.results}
    for name in (first, second):
        _check_system(report, name)
    negated = np.array([query.kind == "negated" for query in report.queries])
    gains = np.log(ranks[first]) - np.log(ranks[second])
    gains[negated] *= -1
    listed = np.array([only.fits(query) for query in report.queries])
    if only.change:
        listed &= gains > 0 if only.change == IMPROVED else gains < 0
    if only.fails_everywhere:
        shown = np.stack(list(ranks.values())) <= FIRST_PAGE  # (S, Q)
        listed &= np.where(negated, shown.all(axis=0), ~shown.any(axis=0))
    if only.places is not None:
        listed &= np.isin(np.arange(len(listed)), list(only.places))
    return [int(place) for place in np.argsort(-gains, kind="stable") if listed[place]]


def _check_system(report: Report, name: str) -> None:
    if name not in (names := [result.system for result in report.results]):
        raise ConfigError(f"The report has no system {quoted(name)}. Choose one of: {', '.join(names)}.")


def first_videos(report: Report, place: int, system: str) -> list[tuple[str, Verdict | None]]:
    """Return the ids of the first videos of a system for a query, with their verdicts; [] where they are unknown.

    The video of a negated query's original caption violates, since it no longer matches.
    """
    first = next(result.measured.first for result in report.results if result.system == system)
    if not len(first):
        return []
    query, negated = report.queries[place], report.queries[place].kind == "negated"
    right = frozenset(() if negated else query.relevant.tolist())
    wrong = frozenset((query.relevant if negated else query.violating).tolist())
    return [
        (report.video_ids[row], "right" if row in right else "violation" if row in wrong else None)
        for row in first[place].tolist()
        if row >= 0
    ]


@dataclass(frozen=True)
class Figure:
    """A mean with its interval; None where all values are equal."""

    value: float
    interval: Interval | None


@dataclass(frozen=True)
class Group:
    """Two systems on the same queries.

    Attributes:
        name: negation word that the queries share; "" if they have none, or for joined groups.
        num_units: number of independent units, see `intervals`.
        difference: second minus first, per query.
        p: of the sign-flip test.
        num_joined: number of small groups that this one joins; 0 for a single one.
    """

    name: str
    num_queries: int
    num_units: int
    first: Figure
    second: Figure
    difference: Figure
    p: float
    num_joined: int = 0

    @property
    def is_noise(self) -> bool:
        """Whether chance may explain the difference: by its interval, or by the test, which also holds for few."""
        interval = self.difference.interval
        return self.p >= SIGNIFICANT or (interval is not None and interval.has_zero())


@lru_cache(16)
def break_down(report: Report, first: str, second: str, key: str) -> tuple[Group, ...]:
    """Compare two systems by one metric, such as "composed/hard_pairs": on all queries, then per negation word.

    The largest group comes first; words with fewer than SMALLEST queries are joined. A ConfigError refuses systems and
    metrics that the report does not have.
    """
    found = []
    for name in (first, second):
        _check_system(report, name)
        if key not in report.values[name]:
            raise ConfigError(f"{name} has no {quoted(key)}. Choose one of: {', '.join(report.values[name])}.")
        found.append(report.values[name][key])
    places, *rows = np.intersect1d(found[0].places, found[1].places, return_indices=True)
    if not len(places):
        raise ConfigError(f"{first} and {second} have no query in common for {key}. Choose others.")
    before, after = (each.values[row] for each, row in zip(found, rows, strict=True))
    table, units = np.stack([before, after, after - before], axis=1), report.units[places]
    return tuple(_groups(table, units, [report.queries[place].cue for place in places.tolist()]))


def _groups(table: NDArray[np.float64], units: NDArray[np.int64], cues: Sequence[str]) -> Iterator[Group]:
    yield _group("", table, units)
    rows_of: defaultdict[str, list[int]] = defaultdict(list)
    for row, cue in enumerate(cues):
        rows_of[cue].append(row)
    if rows_of.keys() == {""}:
        return
    small = [name for name, rows in rows_of.items() if len(rows) < SMALLEST]
    joined = sorted(row for name in small for row in rows_of.pop(name)) if len(small) > 1 else []
    for name in sorted(rows_of, key=lambda name: (name == "", -len(rows_of[name]), name)):
        yield _group(name, table[rows_of[name]], units[rows_of[name]])
    if joined:
        yield _group("", table[joined], units[joined], len(small))


def _group(name: str, table: NDArray[np.float64], units: NDArray[np.int64], num_joined: int = 0) -> Group:
    means, intervals = table.mean(axis=0).tolist(), intervals_of_means(table, units)
    first, second, difference = (Figure(*each) for each in zip(means, intervals, strict=True))
    p = sign_flip_p(table[:, 2], units)
    return Group(name, len(table), len(np.unique(units)), first, second, difference, p, num_joined)
