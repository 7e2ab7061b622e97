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
from nt2vr.evaluation.measures import Values

SIGNIFICANT = 0.05
Pair = tuple[str, str]


class Difference(NamedTuple):
    """One measure of two systems, over the queries that both have a value for."""

    measure: str  # its key, "composed/hard_pairs"
    num_queries: int
    first: float  # mean of the first system
    second: float  # mean of the second system
    difference: float  # mean of second minus first, query by query
    interval: Interval | None  # of the difference, 95 %; None where all queries differ by as much
    p: float  # of the sign-flip test

    @property
    def is_noise(self) -> bool:
        return is_noise(self.interval, self.p)


def is_noise(interval: Interval | None, p: float) -> bool:
    """Whether chance may explain a difference: by its interval, or by the test, which also holds for few queries."""
    includes_zero = interval is not None and interval.low <= 0 <= interval.high
    return p >= SIGNIFICANT or includes_zero


def p_text(p: float) -> str:
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".", 1)


def verdict_text(
    difference: float, interval: Interval | None, p: float, lower_is_better: bool
) -> str:
    """Say whether the second system is better, and how sure that is: "within noise, p = .312"."""
    if is_noise(interval, p):
        return f"within noise, {p_text(p)}"
    is_better = (difference > 0) != lower_is_better
    return f"{'better' if is_better else 'worse'}, {p_text(p)}"


def paired_differences(
    values: Mapping[str, Mapping[str, Values]], pairs: Sequence[Pair], units: Units
) -> dict[Pair, tuple[Difference, ...]]:
    """Compare pairs of systems by every measure that both have per query.

    Args:
        values: per-query values by system and measure.
        units: of the queries, as of `units_of`.
    """
    joined = {pair: _joined(values[pair[0]], values[pair[1]]) for pair in pairs}

    # All pairs at once: differences over the same queries share their resamples.
    changes: dict[str, dict[str, Values]] = {}
    for number, pair in enumerate(pairs):
        changes[str(number)] = {
            measure: Values(both.places, both.second - both.first)
            for measure, both in joined[pair].items()
        }
    intervals = intervals_of(changes, units)

    compared: dict[Pair, tuple[Difference, ...]] = {}
    for number, pair in enumerate(pairs):
        differences = []
        for measure, both in joined[pair].items():
            change = changes[str(number)][measure].values
            difference = Difference(
                measure=measure,
                num_queries=len(both.places),
                first=float(both.first.mean()),
                second=float(both.second.mean()),
                difference=float(change.mean()),
                interval=intervals[str(number)].get(measure),
                p=sign_flip_p(change, units[both.places]),
            )
            differences.append(difference)
        compared[pair] = tuple(differences)
    return compared


class _Both(NamedTuple):
    places: Units  # (N,), positions of the queries that both have a value for
    first: np.ndarray  # (N,)
    second: np.ndarray  # (N,)


def _joined(first: Mapping[str, Values], second: Mapping[str, Values]) -> dict[str, _Both]:
    """Match the values of two systems, query by query; figures that are not means are left out."""
    joined: dict[str, _Both] = {}
    for measure, one in first.items():
        other = second.get(measure)
        if other is None or one.statistic is not None:
            continue
        places, rows, other_rows = np.intersect1d(one.places, other.places, return_indices=True)
        if len(places):
            joined[measure] = _Both(places, one.values[rows], other.values[other_rows])
    return joined
