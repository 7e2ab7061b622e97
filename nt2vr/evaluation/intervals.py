"""How sure a figure is: confidence intervals by resampling queries, and a test of a difference."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import erfc, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.evaluation.measures import Values
from nt2vr.evaluation.queries import JudgedQuery

LEVEL = 95  # percent
RESAMPLES = 1000
SEED = 1  # of the resamples
CHUNK = 2_000_000  # weights in memory at a time: 16 MB
EXACT_UP_TO = 12  # units whose 4,096 combinations of signs are all tried
NORMAL_FROM = 1000  # units from which the sum of their signs is taken as normal
Array = NDArray[np.float64]
Units = NDArray[np.int64]  # (Q,), number of each query's unit


class Interval(NamedTuple):
    """Where a figure lies in 95 % of the resamples."""

    low: float
    high: float

    @property
    def half(self) -> float:
        """Half of its width, the number after ±."""
        return (self.high - self.low) / 2


def units_of(queries: Sequence[JudgedQuery]) -> Units:
    """Number the queries' units, which intervals and tests resample: equal for the same relevant videos.

    The 20 captions of one video succeed and fail together; resampled one by one, intervals would be
    too narrow. The gallery is not resampled: an interval says how much a figure depends on the
    choice of queries.
    """
    numbers: dict[bytes, int] = {}
    keys = (np.sort(np.asarray(query.relevant, np.int32)).tobytes() for query in queries)
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def intervals_of_means(values: Array, units: Units) -> list[Interval | None]:
    """Resample units (N,) with replacement, 1,000 times, and return the middle 95 % of the means of each of M columns.

        mean = sum of the drawn units' values / number of their queries

    There is None for a column whose values are all equal, which no resampling tells apart from
    certainty.
    """
    sums, counts = _by_unit(values, units)
    rng, count, means = np.random.default_rng(SEED), len(counts), list[Array]()
    rows = max(1, CHUNK // count)
    for start in range(0, RESAMPLES, rows):
        drawn = rng.integers(0, count, (min(rows, RESAMPLES - start), count))
        weights = np.stack([np.bincount(row, minlength=count) for row in drawn]).astype(np.float64)
        means.append((weights @ sums) / (weights @ counts)[:, None])
    ends = np.percentile(
        np.concatenate(means), [(100 - LEVEL) / 2, (100 + LEVEL) / 2], axis=0
    ).T.tolist()
    varies = (values != values[:1]).any(axis=0)
    return [Interval(*pair) if some else None for pair, some in zip(ends, varies, strict=True)]


def intervals_of(
    values: Mapping[str, Mapping[str, Values]], units: Units
) -> dict[str, dict[str, Interval]]:
    """Return the intervals of metrics of several systems; figures over the same queries share their resamples."""
    alike: dict[bytes, list[tuple[str, str, Values]]] = {}
    for system, of_metric in values.items():
        for key, each in of_metric.items():
            if each.statistic is None:
                alike.setdefault(each.places.tobytes(), []).append((system, key, each))
    found: dict[str, dict[str, Interval]] = {system: {} for system in values}
    for figures in alike.values():
        table = np.stack([each.values for *_, each in figures], axis=1)
        intervals = intervals_of_means(table, units[figures[0][2].places])
        for (system, key, _), interval in zip(figures, intervals, strict=True):
            if interval is not None:
                found[system][key] = interval
    return found


def sign_flip_p(differences: Array, units: Units) -> float:
    """Probability of so large a mean difference, in either direction, if the systems were interchangeable.

    Then the sign of each unit's sum of differences would be a matter of chance. All combinations of
    signs are tried if there are few, otherwise 1,000 random ones; the sum of very many signs is
    normal.
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
