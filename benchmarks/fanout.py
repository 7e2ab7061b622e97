"""Simulated latency of a search that is sent to all shards of an index: the slowest of them decides.

    python -m benchmarks.fanout --p50 4.3 --p95 11.7 --per-second 50 --shards 1 4 16 64 --replicas 1 2 3

Give the times of one shard as `benchmarks.scale` measured them on an idle machine, at its size; the figures above are
only an example. Service times are lognormal and independent, queries arrive at random (Poisson), each shard gives them
to its replicas in turn, and a replica answers one at a time. Network and merging are left out: what is printed is a
simulation, not a measurement, and a bound from below.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import arguments, write_head, write_row

Times = NDArray[np.float64]
Z95 = 1.6448536269514722  # 95th percentile of the standard normal distribution


def lognormal(p50: float, p95: float, seed: int = 0) -> Callable[[int], Times]:
    """Return what draws times with these percentiles."""
    rng, sigma = np.random.default_rng(seed), np.log(p95 / p50) / Z95
    return lambda count: rng.lognormal(np.log(p50), sigma, count)


def slowest(arrivals: Times, shards: int, replicas: int, draw: Callable[[int], Times]) -> Times:
    """Return how long each query waits for its last shard: (Q,), in the unit of the arrivals (Q,), ascending.

    Of the queries of a replica, with service times s_i: end_i = max(arrival_i, end_(i-1)) + s_i.
    """
    longest = np.zeros(len(arrivals))
    for _ in range(shards):
        for replica in range(replicas):
            own = arrivals[replica::replicas]
            service = draw(len(own))
            work = np.cumsum(service)
            ends = work + np.maximum.accumulate(own - (work - service))
            longest[replica::replicas] = np.maximum(longest[replica::replicas], ends - own)
    return longest


def main() -> None:
    """Print a row per number of shards and replicas."""
    parser = arguments("fanout", __doc__)
    parser.add_argument("--p50", type=float, required=True, help="median of one shard's searches, ms")
    parser.add_argument("--p95", type=float, required=True, help="95th percentile, ms")
    parser.add_argument("--per-second", type=float, required=True, help="searches that arrive per second")
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 4, 16, 64])
    parser.add_argument("--replicas", type=int, nargs="+", default=[1, 2, 3], help="of each shard")
    parser.add_argument("--queries", type=int, default=200_000, help="simulated per row (default: %(default)s)")
    options = parser.parse_args()
    if not 0 < options.p50 < options.p95 or not options.per_second > 0:
        parser.error("times and rates are positive, and the 95th percentile is above the median")
    if min(*options.shards, *options.replicas, options.queries) < 1:
        parser.error("there is at least one shard, replica and query")
    draw, rng = lognormal(options.p50, options.p95), np.random.default_rng(1)
    arrivals = np.cumsum(rng.exponential(1000 / options.per_second, options.queries))
    mean_ms = float(draw(options.queries).mean())
    write_head("shards × replicas", "busy", "p50, ms", "p95, ms", "p99, ms")
    for shards in options.shards:
        for replicas in options.replicas:
            busy = mean_ms * options.per_second / 1000 / replicas
            cells = ["overloaded", "–", "–"]
            if busy < 1:
                times = slowest(arrivals, shards, replicas, draw)
                cells = [f"{time:.1f}" for time in np.percentile(times, [50, 95, 99])]
            write_row(f"{shards} × {replicas}", f"{100 * busy:.0f} %", *cells)


if __name__ == "__main__":
    main()
