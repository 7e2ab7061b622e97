"""Bootstrap intervals of a mean over queries, and paired tests of two systems.

Both resample units. Queries with the same relevant videos, such as the 20 captions of one video or two wordings of
"A and not B", succeed and fail together, so they are one unit: resampled one by one, 20 captions would count as 20
independent observations, and intervals would be too narrow. Composed queries whose relevant videos merely overlap are
units of their own. The gallery is not resampled: an interval says how much a figure depends on the choice of queries.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from nt2vr.evaluation.benchmark import JudgedQuery
from nt2vr.evaluation.measures import Values

LEVEL = 95  # percent
RESAMPLES = 1000
SEED = 1
CHUNK = 2_000_000  # weights in memory at a time: 16 MB
EXACT_UP_TO = 12  # units whose 4,096 combinations of signs are all tried
NORMAL_FROM = 1000  # units from which the sum of their signs is taken as normal
Array = NDArray[np.float64]
Units = NDArray[np.int64]  # (Q,), number of each query's unit


@dataclass(frozen=True)
class Interval:
    """Where a figure lies in 95 % of the resamples."""

    low: float
    high: float

    @property
    def half(self) -> float:
        """Half of its width, the number after ±."""
        return (self.high - self.low) / 2

    def has_zero(self) -> bool:
        """Return whether a difference may as well be none."""
        return self.low <= 0 <= self.high


def units_of(queries: Sequence[JudgedQuery]) -> Units:
    """Number the queries' units: equal for queries with the same relevant videos."""
    numbers: dict[bytes, int] = {}
    keys = (np.sort(np.asarray(query.relevant, np.int32)).tobytes() for query in queries)
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def intervals_of_means(values: Array, units: Units) -> list[Interval | None]:
    """Resample units with replacement, 1,000 times, and return the middle 95 % of the means of each column.

        mean = sum of the drawn units' values / number of their queries

    Args:
        values: (N, M), one column per figure.
        units: (N,), the unit of each row.

    Returns:
        M intervals; None for a column whose values are all equal, which no resampling tells apart from certainty.
    """
    sums, counts = _by_unit(values, units)
    rng, count, means = np.random.default_rng(SEED), len(counts), list[Array]()
    rows = max(1, CHUNK // count)
    for start in range(0, RESAMPLES, rows):
        drawn = rng.integers(0, count, (min(rows, RESAMPLES - start), count))
        weights = np.stack([np.bincount(row, minlength=count) for row in drawn]).astype(np.float64)
        means.append((weights @ sums) / (weights @ counts)[:, None])
    lows, highs = np.percentile(np.concatenate(means), [(100 - LEVEL) / 2, (100 + LEVEL) / 2], axis=0)
    is_constant = (values == values[:1]).all(axis=0)
    return [
        None if constant else Interval(float(low), float(high))
        for constant, low, high in zip(is_constant, lows, highs, strict=True)
    ]


def intervals_of(values: Mapping[str, Mapping[str, Values]], units: Units) -> dict[str, dict[str, Interval]]:
    """Return the intervals of metrics of several systems; figures over the same queries share their resamples."""
    alike: dict[bytes, list[tuple[str, str]]] = {}
    for system, of_metric in values.items():
        for key, each in of_metric.items():
            if each.statistic is not None:
                continue
            alike.setdefault(each.places.tobytes(), []).append((system, key))
    found: dict[str, dict[str, Interval]] = {system: {} for system in values}
    for figures in alike.values():
        columns = [values[system][key] for system, key in figures]
        table = np.stack([column.values for column in columns], axis=1)
        intervals = intervals_of_means(table, units[columns[0].places])
        for (system, key), interval in zip(figures, intervals, strict=True):
            if interval is not None:
                found[system][key] = interval
    return found


def sign_flip_p(differences: Array, units: Units) -> float:
    """Probability of so large a mean difference, in either direction, if the systems were interchangeable.

    Then the sign of each unit's sum of differences would be a matter of chance. All combinations of signs are tried
    if there are few, otherwise 1,000 random ones; the sum of very many signs is normal.
    """
    sums, _ = _by_unit(differences[:, None], units)
    sums = sums[sums != 0]
    if not len(sums):
        return 1.0
    if len(sums) > NORMAL_FROM:
        return erfc(abs(float(sums.sum())) / sqrt(2 * float(sums @ sums)))
    is_exact = len(sums) <= EXACT_UP_TO
    if is_exact:
        signs = np.array(list(product((-1, 1), repeat=len(sums))), np.float64)
    else:
        signs = np.random.default_rng(SEED).choice((-1.0, 1.0), (RESAMPLES, len(sums)))
    slack = 1e-9 * float(np.abs(sums).sum())  # rounding must not tell equal sums apart
    as_large = np.abs(signs @ sums) >= abs(float(sums.sum())) - slack
    # the observed signs are one of the combinations
    return float(as_large.mean()) if is_exact else (1 + int(as_large.sum())) / (1 + RESAMPLES)


def _by_unit(values: Array, units: Units) -> tuple[Array, Array]:
    """Add up the values of each unit, (C, M), and count its queries, (C,)."""
    _, places = np.unique(units, return_inverse=True)
    counts = np.bincount(places).astype(np.float64)
    columns = [np.bincount(places, column) for column in np.asarray(values, np.float64).T]
    return np.stack(columns, axis=1), counts
