"""Bootstrap intervals and the sign-flip test, with cases by hand."""

import numpy as np
import pytest

from nt2vr.evaluation.intervals import (
    EXACT_UP_TO,
    NORMAL_FROM,
    Interval,
    intervals_of_means,
    sign_flip_p,
    units_of,
)
from nt2vr.evaluation.queries import JudgedQuery, row_array


def interval(values: list[float], units: list[int] | None = None) -> Interval | None:
    """Return the interval of a mean over queries, each its own unit by default."""
    numbers = np.array(units or range(len(values)), np.int64)
    (computed,) = intervals_of_means(np.array(values, np.float64)[:, None], numbers)
    return computed


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        # Means 0, 1/2 and 1 with probability 1/4, 1/2 and 1/4.
        ([0, 1], 0, 1),
        # Only threes: 1/27, more than 2.5 %.
        ([0, 0, 3], 0, 3),
        # Four: 1/256; three or more: 13/256.
        ([0, 0, 0, 4], 0, 3),
        # The same, upside down.
        ([1, 1, 1, -3], -2, 1),
    ],
)
def test_intervals_of_a_few_queries_by_hand(values: list[float], low: float, high: float) -> None:
    assert interval(values) == Interval(low, high)


def test_a_large_interval_is_two_standard_errors_wide() -> None:
    # The standard error is 50 / 40.
    values = np.tile([0.0, 100.0], 800)
    computed = interval(values.tolist())
    assert computed is not None
    half = 1.96 * 50 / 40
    assert computed.low == pytest.approx(50 - half, abs=0.2)
    assert computed.high == pytest.approx(50 + half, abs=0.2)
    assert computed.half == pytest.approx(half, abs=0.2)


def test_queries_of_one_unit_are_one_observation() -> None:
    """Twenty captions of a video say as much as one: taken for twenty, they would narrow the interval by 4.5."""
    videos = [0.0, 100.0] * 20
    captions = np.repeat(videos, 20).tolist()
    units = np.repeat(np.arange(40), 20).tolist()
    of_videos = interval(videos)
    assert interval(captions, units) == of_videos
    as_units = interval(captions)
    assert of_videos is not None
    assert as_units is not None
    assert as_units.half < of_videos.half / 4


def test_queries_of_the_same_videos_are_one_weighted_unit() -> None:
    relevant = ([3], [1, 2], [3], [2, 1], [1])
    queries = [JudgedQuery("composed", "", row_array(rows)) for rows in relevant]
    assert units_of(queries).tolist() == [0, 1, 0, 1, 2]
    # of two units, one of three queries and one of a single: the means are 0, 30 / 4 and 30
    assert interval([0, 0, 0, 30], [7, 7, 7, 9]) == Interval(0, 30)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        # Only all plus and all minus sum to 3.
        ([1, 1, 1], 2 / 8),
        ([2, 1], 2 / 4),
        # The sums are 2, -2, 4 and -4.
        ([3, -1], 1.0),
        # Two queries are alike, and one whose sign says nothing.
        ([5, 0, 0], 1.0),
        ([0, 0], 1.0),
        ([1] * 10, 2 / 2**10),
        # Rounding makes the sum 5e-17 instead of 0.
        ([0.1, 0.2, -0.3], 1.0),
    ],
)
def test_the_sign_flip_test_of_a_few_queries_by_hand(differences: list[float], p: float) -> None:
    assert sign_flip_p(np.array(differences, np.float64), np.arange(len(differences))) == p


def test_random_signs_agree_with_all_signs() -> None:
    rng = np.random.default_rng(3)
    # One more than are tried in full.
    differences = np.append(rng.normal(0.5, 1, EXACT_UP_TO), 1e-6)
    exact = sign_flip_p(differences[:-1], np.arange(EXACT_UP_TO))
    sampled = sign_flip_p(differences, np.arange(EXACT_UP_TO + 1))
    assert sampled == pytest.approx(exact, abs=0.04)
    # NumPy's numbers compare to its Booleans, which a report's JSON cannot hold.
    assert type(sampled) is float
    assert sign_flip_p(np.ones(100), np.arange(100)) == 1 / 1001


def test_very_many_signs_are_normal_as_random_ones_show() -> None:
    differences = np.random.default_rng(4).normal(0.03, 1, NORMAL_FROM + 1)
    units = np.arange(NORMAL_FROM + 1)
    normal = sign_flip_p(differences, units)
    random_signs = sign_flip_p(differences[:-1], units[:-1])
    assert normal == pytest.approx(random_signs, abs=0.05)


def test_one_more_plus_than_minus_in_2001_is_chance() -> None:
    signs = np.repeat([1.0, -1.0], [1001, 1000])
    assert sign_flip_p(signs, np.arange(2001)) == pytest.approx(0.982, abs=0.001)
