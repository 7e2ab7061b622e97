"""Paired differences of two systems: by each measure, query by query, with intervals and tests."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from nt2vr.evaluation.intervals import (
    Interval,
    Units,
    intervals_of,
    sign_flip_p,
)
from nt2vr.evaluation.measures import Array, MetricValues, Positions, Values

SIGNIFICANT = 0.05
Pair = tuple[str, str]


class Difference(NamedTuple):
    """One measure of two systems, over the queries that both have a value for.

    Attributes:
        measure: its key, such as "composed/hard_pairs".
        first: mean of the first system.
        second: mean of the second system.
        difference: mean of second minus first, query by query.
        interval: of the difference, 95 %; None where all queries differ by as much.
        p: of the sign-flip test.
    """

    measure: str
    num_queries: int
    first: float
    second: float
    difference: float
    interval: Interval | None
    p: float

    @property
    def is_noise(self) -> bool:
        """Whether chance may explain the difference."""
        return is_noise(self.interval, self.p)


def is_noise(interval: Interval | None, p: float) -> bool:
    """Return whether chance may explain a difference.

    The interval decides, or the test, which also holds for few queries.
    """
    includes_zero = interval is not None and interval.low <= 0 <= interval.high
    return p >= SIGNIFICANT or includes_zero


def p_text(p: float) -> str:
    if p < 0.001:
        return "p < .001"
    return f"p = {p:.3f}".replace("0.", ".", 1)


def verdict_text(
    difference: float, interval: Interval | None, p: float, lower_is_better: bool
) -> str:
    """Say whether the second system is better, and how sure that is: "within noise, p = .312"."""
    if is_noise(interval, p):
        return f"within noise, {p_text(p)}"
    is_better = (difference > 0) != lower_is_better
    return f"{'better' if is_better else 'worse'}, {p_text(p)}"


def paired_differences(
    values: Mapping[str, MetricValues], pairs: Sequence[Pair], units: Units
) -> dict[Pair, tuple[Difference, ...]]:
    """Compare pairs of systems by every measure that both have per query.

    Args:
        values: per-query values by system and measure.
        units: of the queries, as of `units_of`.
    """
    common = {}
    for first, second in pairs:
        common[first, second] = _common_measures(values[first], values[second])

    # All pairs at once: differences over the same queries share their resamples.
    intervals = intervals_of({pair: _changes(common[pair]) for pair in common}, units)
    return {pair: _differences(common[pair], intervals[pair], units) for pair in common}


class CommonValues(NamedTuple):
    """Values of two systems for the queries that both have one for."""

    positions: Positions  # (N,)
    first: Array  # (N,)
    second: Array  # (N,)

    @property
    def change(self) -> Array:
        """What the second system gains, query by query: (N,)."""
        return self.second - self.first


def common_values(first: Values, second: Values) -> CommonValues:
    """Match the values of two systems, query by query."""
    positions, first_rows, second_rows = np.intersect1d(
        first.positions, second.positions, return_indices=True
    )
    return CommonValues(positions, first.values[first_rows], second.values[second_rows])


def _common_measures(first: MetricValues, second: MetricValues) -> dict[str, CommonValues]:
    """Match all measures of two systems; those that are not means are left out."""
    common = {}
    for measure, of_first in first.items():
        if measure not in second or of_first.statistic is not None:
            continue
        both = common_values(of_first, second[measure])
        if len(both.positions):
            common[measure] = both
    return common


def _changes(common: Mapping[str, CommonValues]) -> MetricValues:
    """Return what the second system gains by each measure."""
    return {measure: Values(both.positions, both.change) for measure, both in common.items()}


def _differences(
    common: Mapping[str, CommonValues], intervals: Mapping[str, Interval], units: Units
) -> tuple[Difference, ...]:
    return tuple(
        Difference(
            measure=measure,
            num_queries=len(both.positions),
            first=float(both.first.mean()),
            second=float(both.second.mean()),
            difference=float(both.change.mean()),
            interval=intervals.get(measure),
            p=sign_flip_p(both.change, units[both.positions]),
        )
        for measure, both in common.items()
    )
