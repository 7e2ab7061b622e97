"""Time of a search among many synthetic vectors, exact and with FAISS: `python -m benchmarks.index [LARGEST]`.

Vectors are clustered, one cluster per hundred: a random centre of length 1 plus noise of length
0.7, normalised. Queries are new members of random clusters, with as much noise (near) or twice as
much (far).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import arguments, timed, write_head, write_row
from nt2vr.search.index import ExactIndex, FaissIndex, Index

DIM = 512
SIZES = (10_000, 100_000, 1_000_000)
NUM_QUERIES = 101
# Vectors that a search returns: a page, or all that a ranking shows.
K = 10
RANKED = 1000
# Vectors drawn at once.
CHUNK = 65_536
PER_CLUSTER = 100
# Length of the noise; centres have length 1.
NEAR = 0.7
FAR = 1.4
Vectors = NDArray[np.float32]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Clusters:
    """Generator of vectors."""

    centres: Vectors

    @classmethod
    def of(cls, count: int) -> "Clusters":
        """Draw the centres for this many vectors."""
        rng = np.random.default_rng(0)
        centres = rng.standard_normal((max(1, count // PER_CLUSTER), DIM), np.float32)
        return cls(centres / np.linalg.norm(centres, axis=1, keepdims=True))

    def draw(self, count: int, noise: float, seed: int) -> Vectors:
        """Draw unit vectors (N, D)."""
        rng = np.random.default_rng(seed)
        vectors = rng.standard_normal((count, DIM), np.float32) * np.float32(noise / np.sqrt(DIM))
        vectors += self.centres[rng.integers(0, len(self.centres), count)]
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)

    def chunks(self, count: int) -> Iterator[Vectors]:
        """Draw many vectors, some at a time."""
        for start in range(0, count, CHUNK):
            yield self.draw(min(CHUNK, count - start), NEAR, start)


def p50_ms(search: Callable[[Vectors], object], queries: Vectors) -> float:
    """Return the median time of a single query, without the first, which warms up."""
    times_s = np.array([timed(partial(search, query))[0] for query in queries])
    return 1000 * float(np.median(times_s[1:]))


def recall(index: Index, exact: Index, queries: Vectors) -> float:
    """Return the share of the true 10 best that an index finds."""
    num_found = 0
    for query in queries:
        _, rows = index.search(query[None], K)
        _, best_rows = exact.search(query[None], K)
        num_found += len(np.intersect1d(rows, best_rows))
    return num_found / (K * len(queries))


def measure_indexes(largest: int) -> None:
    """Print one row per index and size."""
    speeds = (f"best {K}, p50 ms", f"best {RANKED:,}, p50 ms")
    write_head(f"vectors of {DIM}", "index", "built, s", *speeds, "recall@10, near", "far")
    for size in SIZES:
        if size > largest:
            break
        clusters = Clusters.of(size)
        vectors = np.concatenate(list(clusters.chunks(size)))
        vectors.flags.writeable = False
        near = clusters.draw(NUM_QUERIES, NEAR, -1 % 2**32)
        far = clusters.draw(NUM_QUERIES, FAR, -2 % 2**32)
        exact = ExactIndex(DIM)
        for index in (exact, FaissIndex(DIM)):
            built_s, _ = timed(partial(index.add, np.arange(size), vectors))
            write_row(
                f"{size:,}",
                type(index).__name__,
                f"{built_s:.1f}",
                f"{p50_ms(partial(best_of, index, K), near):.2f}",
                f"{p50_ms(partial(best_of, index, RANKED), near):.2f}",
                f"{recall(index, exact, near):.3f}",
                f"{recall(index, exact, far):.3f}",
            )


def best_of(index: Index, k: int, query: Vectors) -> object:
    """Search for one query (D,)."""
    return index.search(query[None], k)


def main() -> None:
    """Measure up to the largest size."""
    parser = arguments("index", __doc__)
    parser.add_argument("largest", nargs="?", type=int, default=SIZES[-1])
    measure_indexes(parser.parse_args().largest)


if __name__ == "__main__":
    main()
