"""Query time of each index by number of vectors: `python -m benchmarks.index [LARGEST]`."""

import argparse
import os
import sys
import time

import numpy as np
from numpy.typing import NDArray

from nt2vr.search.index import INDEXES

DIM = 512
SIZES = (1_000, 10_000, 100_000, 1_000_000)
NUM_QUERIES = 25
K = 12


def p50_ms(backend: str, vectors: NDArray[np.float32], queries: NDArray[np.float32]) -> float:
    """Return the median time of a single query, without the first, which warms up."""
    index = INDEXES[backend](DIM)
    index.add(vectors)
    times_s = []
    for query in queries:
        start_s = time.perf_counter()
        index.search(query[None], K)
        times_s.append(time.perf_counter() - start_s)
    return 1000 * float(np.median(times_s[1:]))


def main() -> None:
    """Print one table row per size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("largest", nargs="?", type=int, default=SIZES[-1])
    largest = parser.parse_args().largest
    rng = np.random.default_rng(0)
    queries = rng.standard_normal((NUM_QUERIES, DIM), np.float32)
    sys.stdout.write(
        f"| vectors of {DIM} | {' | '.join(f'{name}, p50 ms' for name in INDEXES)} |\n|--:|{'--:|' * len(INDEXES)}\n"
    )
    for size in (size for size in SIZES if size <= largest):
        if 2.2 * size * DIM * 4 > os.sysconf("SC_AVPHYS_PAGES") * os.sysconf(
            "SC_PAGE_SIZE"
        ):  # these and the index's copy
            sys.stdout.write(f"| {size:,} | skipped: too little free memory |\n")
            continue
        vectors = rng.standard_normal((size, DIM), np.float32)
        times = " | ".join(f"{p50_ms(backend, vectors, queries):.2f}" for backend in INDEXES)
        sys.stdout.write(f"| {size:,} | {times} |\n")


if __name__ == "__main__":
    main()
