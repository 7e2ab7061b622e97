"""Two systems of a report compared: query by query, and by negation word."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nt2vr.errors import ConfigError, quoted
from nt2vr.evaluation.differences import common_values, is_noise
from nt2vr.evaluation.intervals import (
    Interval,
    Units,
    intervals_of_means,
    sign_flip_p,
)
from nt2vr.evaluation.measures import FIRST_PAGE, Array, Values
from nt2vr.evaluation.queries import JudgedQuery, Mask, kinds_of
from nt2vr.evaluation.report import Report
from nt2vr.search.judge import Verdict

IMPROVED = "improved"
WORSENED = "worsened"
# Queries of a group that is shown on its own.
SMALLEST = 10


def positions_by_difference(
    report: Report,
    first: str,
    second: str,
    kind: str = "",
    cue: str = "",
    text: str = "",
    change: str = "",
    fails_everywhere: bool = False,
    positions: Collection[int] | None = None,
) -> list[int]:
    """Order queries from those where `second` beats `first` most to those where it loses most.

        difference = log(rank of first) - log(rank of second)

    Rank 1 instead of 10 counts as much as 10 instead of 100. For negated queries, whose video is
    wrong, the sign is reversed. A ConfigError refuses systems that the report does not have.

    Args:
        text: words, or parts of words, that the query has, in any order and case.
        change: IMPROVED or WORSENED, by `second`; "" for all.
        fails_everywhere: only queries that no system's first page answers; negated ones that all
            get wrong.
        positions: of queries to list; None lists all.

    Returns:
        Positions of the queries.
    """
    for name in (first, second):
        report.check_system(name)
    gains = _gains(report, first, second)
    words = text.lower().split()
    is_listed = np.array([_fits(query, kind, cue, words) for query in report.queries])
    if change == IMPROVED:
        is_listed &= gains > 0
    if change == WORSENED:
        is_listed &= gains < 0
    if fails_everywhere:
        is_listed &= _fails_everywhere(report)
    if positions is not None:
        is_listed &= np.isin(np.arange(len(is_listed)), list(positions))

    order = np.argsort(-gains, kind="stable")
    listed: list[int] = order[is_listed[order]].tolist()
    return listed


def _gains(report: Report, first: str, second: str) -> Array:
    """Return by how much the second system beats the first, query by query: (Q,)."""
    gains = np.log(report.measured[first].ranks) - np.log(report.measured[second].ranks)
    # Negated queries must not find the videos of their original captions.
    gains[_is_negated(report)] *= -1
    return gains


def _is_negated(report: Report) -> Mask:
    """Return which queries deny what the videos of their original captions show: (Q,)."""
    is_negated: Mask = kinds_of(report.queries) == "negated"
    return is_negated


def _fails_everywhere(report: Report) -> Mask:
    """Return whether each query fails under all systems."""
    ranks = np.stack([measured.ranks for measured in report.measured.values()])  # (S, Q)
    is_on_page = ranks <= FIRST_PAGE
    return np.where(_is_negated(report), is_on_page.all(axis=0), ~is_on_page.any(axis=0))


def _fits(query: JudgedQuery, kind: str, cue: str, words: Sequence[str]) -> bool:
    if kind not in ("", query.kind) or cue not in ("", query.cue):
        return False
    return all(word in query.text.lower() for word in words)


def first_videos(report: Report, position: int, system: str) -> list[tuple[str, Verdict | None]]:
    """Return the ids of a system's first videos for a query, with verdicts; [] if they are unknown.

    The video of a negated query's original caption violates, since it no longer matches.
    """
    first = report.measured[system].first
    if not len(first):
        return []
    query = report.queries[position]
    right = query.relevant.tolist()
    violating = query.violating.tolist()
    if query.kind == "negated":
        violating = right
        right = []

    videos = []
    for row in first[position].tolist():
        if row < 0:
            continue
        verdict: Verdict | None = None
        if row in right:
            verdict = "right"
        elif row in violating:
            verdict = "violation"
        videos.append((report.video_ids[row], verdict))
    return videos


class CueGroup(NamedTuple):
    """Two systems compared on the queries that share a negation word.

    Attributes:
        name: the word; "" for queries without one, or for joined groups.
        means: of the first system, of the second, and of second minus first per query.
        intervals: of these means; None where all values are equal.
        p: of the sign-flip test.
        num_joined: number of small groups that this one joins; 0 for a single one.
    """

    name: str
    num_queries: int
    means: Sequence[float]
    intervals: Sequence[Interval | None]
    p: float
    num_joined: int = 0

    @property
    def is_noise(self) -> bool:
        """Whether chance may explain the difference."""
        return is_noise(self.intervals[2], self.p)


@lru_cache(16)
def break_down(report: Report, first: str, second: str, key: str) -> tuple[CueGroup, ...]:
    """Compare two systems by a metric such as "composed/hard_pairs", on all and per negation word.

    All queries come first, then the largest group; words with fewer than SMALLEST queries are
    joined. A ConfigError refuses systems and metrics that the report does not have.
    """
    common = common_values(_values_of(report, first, key), _values_of(report, second, key))
    positions = common.positions
    if not len(positions):
        raise ConfigError(f"{first} and {second} have no query in common for {key}. Choose others.")

    table = np.stack([common.first, common.second, common.change], axis=1)  # (N, 3)
    cues = [report.queries[position].cue for position in positions.tolist()]
    return tuple(_groups(table, report.units[positions], cues))


def _values_of(report: Report, system: str, key: str) -> Values:
    report.check_system(system)
    by_metric = report.values[system]
    if key not in by_metric:
        raise ConfigError(f"{system} has no {quoted(key)}. Choose one of: {', '.join(by_metric)}.")
    return by_metric[key]


def _groups(table: Array, units: Units, cues: Sequence[str]) -> Iterator[CueGroup]:
    yield _group("", table, units)
    rows_of = defaultdict(list)
    for row, cue in enumerate(cues):
        rows_of[cue].append(row)
    if rows_of.keys() == {""}:
        return

    small = [name for name, rows in rows_of.items() if len(rows) < SMALLEST]
    joined_rows = []
    if len(small) > 1:
        for name in small:
            joined_rows += rows_of.pop(name)
        joined_rows.sort()

    def sort_key(name: str) -> tuple[bool, int, str]:
        """Sort by size; queries without a negation word come last."""
        return name == "", -len(rows_of[name]), name

    for name in sorted(rows_of, key=sort_key):
        rows = rows_of[name]
        yield _group(name, table[rows], units[rows])
    if joined_rows:
        yield _group("", table=table[joined_rows], units=units[joined_rows], num_joined=len(small))


def _group(name: str, table: Array, units: Units, num_joined: int = 0) -> CueGroup:
    return CueGroup(
        name=name,
        num_queries=len(table),
        means=table.mean(axis=0).tolist(),
        intervals=intervals_of_means(table, units),
        p=sign_flip_p(table[:, 2], units),
        num_joined=num_joined,
    )
