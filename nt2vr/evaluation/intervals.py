"""How sure a figure is: confidence intervals by resampling queries, and a test of a difference."""

from collections import defaultdict
from collections.abc import Mapping
from itertools import product
from math import erfc, sqrt
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from nt2vr.evaluation.measures import Array, MetricValues, Values
from nt2vr.evaluation.queries import JudgedQueries

# Percent of the resamples that an interval has.
LEVEL = 95
# At its ends.
PERCENTILES = ((100 - LEVEL) / 2, (100 + LEVEL) / 2)
RESAMPLES = 1000
SEED = 1
# Weights in memory at a time: 16 MB.
CHUNK = 2_000_000
# Units whose 4,096 combinations of signs are all tried.
EXACT_UP_TO = 12
# Units from which the sum of their signs is taken as normal.
NORMAL_FROM = 1000

Units = NDArray[np.int64]  # (Q,), number of each query's unit
# A system, or a pair of them.
Key = TypeVar("Key")


class Interval(NamedTuple):
    """Where a figure lies in 95 % of the resamples."""

    low: float
    high: float

    @property
    def half(self) -> float:
        """Half of its width, the number after ±."""
        return (self.high - self.low) / 2


def units_of(queries: JudgedQueries) -> Units:
    """Number the queries' units, which intervals and tests resample: equal for the same relevant videos.

    The 20 captions of one video succeed and fail together; resampled one by one, intervals would be
    too narrow. The gallery is not resampled: an interval says how much a figure depends on the
    choice of queries.
    """
    numbers: dict[bytes, int] = {}
    units = []
    for query in queries:
        videos = np.sort(np.asarray(query.relevant, np.int32)).tobytes()
        units.append(numbers.setdefault(videos, len(numbers)))
    return np.array(units, np.int64)


def intervals_of_means(values: Array, units: Units) -> list[Interval | None]:
    """Return the middle 95 % of the means of each of M columns when units are resampled.

        mean = sum of the drawn units' values / number of their queries

    Units are drawn with replacement, 1,000 times. There is None for a column whose values are all
    equal, which no resampling tells apart from certainty.

    Args:
        values: (N, M).
        units: (N,).
    """
    sums, counts = _by_unit(values, units)
    means = _resampled_means(sums, counts)
    ends = np.percentile(means, PERCENTILES, axis=0).T.tolist()  # (M, 2)
    varies = (values != values[:1]).any(axis=0)
    intervals: list[Interval | None] = []
    for column, low_and_high in enumerate(ends):
        if varies[column]:
            intervals.append(Interval(*low_and_high))
        else:
            intervals.append(None)
    return intervals


def _resampled_means(sums: Array, counts: Array) -> Array:
    """Return the means of each resample, (RESAMPLES, M), of units' sums (C, M) and counts (C,)."""
    num_units = len(counts)
    generator = np.random.default_rng(SEED)
    means = []
    rows_at_a_time = max(1, CHUNK // num_units)
    for start in range(0, RESAMPLES, rows_at_a_time):
        num_rows = min(rows_at_a_time, RESAMPLES - start)
        weights = _draw_weights(generator, num_rows, num_units)
        num_queries = weights @ counts
        means.append(weights @ sums / num_queries[:, None])
    return np.concatenate(means)


def _draw_weights(generator: np.random.Generator, num_rows: int, num_units: int) -> Array:
    """Return how often each unit is drawn in each of some resamples: (rows, C)."""
    draws = generator.integers(0, num_units, (num_rows, num_units))
    weights = np.empty(draws.shape)
    for row, draw in enumerate(draws):
        weights[row] = np.bincount(draw, minlength=num_units)
    return weights


def intervals_of(
    metrics: Mapping[Key, MetricValues], units: Units
) -> dict[Key, dict[str, Interval]]:
    """Return the intervals of several systems' metrics, by system and name.

    Metrics of the same queries share their resamples.
    """
    same_queries: defaultdict[bytes, dict[tuple[Key, str], Values]] = defaultdict(dict)
    for system, of_system in metrics.items():
        for name, metric in of_system.items():
            if metric.statistic is None:
                same_queries[metric.positions.tobytes()][system, name] = metric

    intervals: dict[Key, dict[str, Interval]] = {system: {} for system in metrics}
    for group in same_queries.values():
        table = np.stack([metric.values for metric in group.values()], axis=1)
        any_metric = next(iter(group.values()))
        of_group = intervals_of_means(table, units[any_metric.positions])
        for (system, name), interval in zip(group, of_group, strict=True):
            if interval is not None:
                intervals[system][name] = interval
    return intervals


def sign_flip_p(differences: Array, units: Units) -> float:
    """Probability of so large a mean difference, in either direction, if systems were interchangeable.

    Then the sign of each unit's sum of differences would be a matter of chance. All combinations of
    signs are tried if there are few, otherwise 1,000 random ones; the sum of very many signs is
    normal.
    """
    sums, _ = _by_unit(differences[:, None], units)
    sums = sums[sums != 0]
    if not len(sums):
        return 1.0

    observed = abs(float(sums.sum()))
    if len(sums) > NORMAL_FROM:
        return erfc(observed / sqrt(2 * float(sums @ sums)))

    # Rounding must not make equal sums differ.
    threshold = observed - 1e-9 * float(np.abs(sums).sum())
    both_signs = (-1.0, 1.0)
    if len(sums) <= EXACT_UP_TO:
        signs = np.array(list(product(both_signs, repeat=len(sums))))
        num_observed = 0
    else:
        generator = np.random.default_rng(SEED)
        signs = generator.choice(both_signs, (RESAMPLES, len(sums)))
        # The observed signs are one more combination.
        num_observed = 1
    is_as_large = np.abs(signs @ sums) >= threshold
    num_as_large = int(is_as_large.sum())
    return (num_observed + num_as_large) / (num_observed + len(signs))


def _by_unit(values: Array, units: Units) -> tuple[Array, Array]:
    """Add up the values of each unit, (C, M), and count its queries, (C,)."""
    _, unit_rows = np.unique(units, return_inverse=True)
    counts = np.bincount(unit_rows).astype(np.float64)
    sums = [np.bincount(unit_rows, weights=column) for column in values.T]
    return np.stack(sums, axis=1), counts
