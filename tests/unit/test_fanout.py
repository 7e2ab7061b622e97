"""The simulation of a search over shards, compared with a slow twin and with what is known exactly."""

from statistics import NormalDist

import numpy as np
import pytest

from benchmarks.fanout import Z95, lognormal, slowest


def test_queues_are_as_one_query_after_the_other() -> None:
    rng, shards, replicas = np.random.default_rng(0), 3, 2
    arrivals = np.cumsum(rng.exponential(1.0, 101))
    drawn = lognormal(1.0, 4.0, seed=5)
    free, expected = np.zeros((shards, replicas)), np.zeros(101)
    for shard in range(shards):
        for replica in range(replicas):
            own = range(replica, 101, replicas)
            for query, service in zip(own, drawn(len(own)), strict=True):
                free[shard, replica] = max(free[shard, replica], arrivals[query]) + service
                expected[query] = max(expected[query], free[shard, replica] - arrivals[query])
    np.testing.assert_allclose(slowest(arrivals, shards, replicas, lognormal(1.0, 4.0, seed=5)), expected)


@pytest.mark.parametrize("shards", [1, 8])
def test_without_queues_all_shards_are_within_a_time_that_each_is_within_more_often(shards: int) -> None:
    far_apart = np.arange(100_000, dtype=np.float64) * 1e6
    p99 = np.percentile(slowest(far_apart, shards, 1, lognormal(4.0, 12.0)), 99)
    exact = 4.0 * np.exp(NormalDist().inv_cdf(0.99 ** (1 / shards)) * np.log(3.0) / Z95)
    assert p99 == pytest.approx(exact, rel=0.03)


def test_a_busy_queue_waits_as_long_as_theory_says() -> None:
    rng = np.random.default_rng(0)
    arrivals = np.cumsum(rng.exponential(1.0, 400_000))
    times = slowest(arrivals, 1, 1, lambda count: np.full(count, 0.5))
    assert times.mean() == pytest.approx(0.5 + 0.5 * 0.5 / (2 * 0.5), rel=0.02)  # Pollaczek and Khinchine, M/D/1
