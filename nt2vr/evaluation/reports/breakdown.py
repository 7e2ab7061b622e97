"""Where two systems differ: a metric by cue, unwanted part and concept, with tests."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, quoted
from nt2vr.evaluation.intervals import Interval, intervals_of_means, sign_flip_p
from nt2vr.evaluation.reports.facets import facets_of
from nt2vr.evaluation.reports.report import Report

SIGNIFICANT = 0.05
SMALLEST = 10  # queries of a group that is shown on its own
MOST = 12  # groups per facet


@dataclass(frozen=True)
class Figure:
    """A mean with its interval; None where all values are equal."""

    value: float
    interval: Interval | None


@dataclass(frozen=True)
class Group:
    """Two systems on the same queries."""

    name: str  # cue, kind of part or concept that the queries share; "" if they have none, or for joined groups
    num_queries: int
    num_units: int  # number of their units, see `intervals`
    first: Figure
    second: Figure
    difference: Figure  # second minus first, per query
    p: float  # of the sign-flip test
    num_joined: int = 0  # number of the small groups that this one joins; 0 if it is a single one

    @property
    def is_noise(self) -> bool:
        """Return whether the difference may as well be none: by its interval, or by the test, which holds for few."""
        interval = self.difference.interval
        return self.p >= SIGNIFICANT or (interval is not None and interval.has_zero())


@dataclass(frozen=True)
class Breakdown:
    """A metric of two systems: of all its queries, and of groups of them by facet."""

    key: str
    all: Group
    by_cue: tuple[Group, ...]
    by_part: tuple[Group, ...]
    by_concept: tuple[Group, ...]


@lru_cache(16)
def break_down(report: Report, first: str, second: str, key: str) -> Breakdown:
    """Compare two systems by one metric; remembered for the reports in use.

    Groups of less than 10 queries, and of concepts all but the 12 largest, are joined to one. A query with several
    concepts is in several groups. A ConfigError refuses systems and metrics that the report does not have.

    Args:
        key: of the metric, such as "composed/hard_pairs".
    """
    table, places = _paired(report, first, second, key)
    units = report.units[places]
    facets = facets_of(report)
    of_query = [facets[place] for place in places]

    def group(name: str, rows: NDArray[np.int64], num_joined: int = 0) -> Group:
        return _group(name, table[rows], units[rows], num_joined)

    def by(labels: Sequence[Sequence[str]]) -> tuple[Group, ...]:
        return tuple(group(*each) for each in _joined(labels))

    return Breakdown(
        key,
        group("", np.arange(len(places))),
        by([(each.cue,) for each in of_query]),
        by([(each.part,) for each in of_query]),
        by([each.concepts for each in of_query]),
    )


def _paired(report: Report, first: str, second: str, key: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return both systems' values of the queries that count for both, and their difference, (N, 3); and the places."""
    found = []
    for name in (first, second):
        if name not in report.values:
            raise ConfigError(f"The report has no system {quoted(name)}. Choose one of: {', '.join(report.values)}.")
        if key not in report.values[name]:
            raise ConfigError(f"{name} has no {quoted(key)}. Choose one of: {', '.join(report.values[name])}.")
        found.append(report.values[name][key])
    places, *rows = np.intersect1d(found[0].places, found[1].places, return_indices=True)
    if not len(places):
        raise ConfigError(f"{first} and {second} have no query in common for {key}. Choose others.")
    before, after = (each.values[row] for each, row in zip(found, rows, strict=True))
    return np.stack([before, after, after - before], axis=1), places


def _joined(labels: Sequence[Sequence[str]]) -> list[tuple[str, NDArray[np.int64], int]]:
    """Group rows by their labels, the largest group first; small groups are joined.

    Returns:
        Name, rows and number of joined groups; nothing if no row has a label.
    """
    rows_of: dict[str, list[int]] = defaultdict(list)
    for row, some in enumerate(labels):
        for label in dict.fromkeys(some or ("",)):
            rows_of[label].append(row)
    if not rows_of.keys() - {""}:
        return []
    names = sorted(rows_of, key=lambda name: (name == "", -len(rows_of[name]), name))
    large = [name for name in names if len(rows_of[name]) >= SMALLEST][:MOST]
    groups = [(name, np.array(rows_of[name]), 0) for name in large]
    if small := [name for name in names if name not in large]:
        rows = np.array(sorted({row for name in small for row in rows_of[name]}))
        groups.append((small[0], rows, 0) if len(small) == 1 else ("", rows, len(small)))
    return groups


def _group(name: str, table: NDArray[np.float64], units: NDArray[np.int64], num_joined: int) -> Group:
    means, intervals = table.mean(axis=0).tolist(), intervals_of_means(table, units)
    first, second, difference = (Figure(*each) for each in zip(means, intervals, strict=True))
    p = sign_flip_p(table[:, 2], units)
    return Group(name, len(table), len(np.unique(units)), first, second, difference, p, num_joined)
