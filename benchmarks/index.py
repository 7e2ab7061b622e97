"""Search among many made-up vectors, exact and with FAISS: `python -m benchmarks.index [LARGEST]`.

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
K, RANKED, CHUNK = 10, 1000, 65_536
PER_CLUSTER = 100
NEAR, FAR = 0.7, 1.4  # length of the noise; centres have length 1
Vectors = NDArray[np.float32]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Clusters:
    """Generator of vectors."""

    centres: Vectors

    @classmethod
    def of(cls, count: int) -> "Clusters":
        """Draw the centres for this many vectors."""
        centres = np.random.default_rng(0).standard_normal(
            (max(1, count // PER_CLUSTER), DIM), np.float32
        )
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
    found, best = (
        np.concatenate([each.search(query[None], K)[1] for query in queries])
        for each in (index, exact)
    )
    return sum(len(np.intersect1d(*rows)) for rows in zip(found, best, strict=True)) / best.size


def measure_indexes(largest: int) -> None:
    """Print one row per index and size."""
    speeds = f"best {K}, p50 ms", f"best {RANKED:,}, p50 ms"
    write_head(f"vectors of {DIM}", "index", "built, s", *speeds, "recall@10, near", "far")
    for size in (size for size in SIZES if size <= largest):
        clusters = Clusters.of(size)
        vectors = np.concatenate(list(clusters.chunks(size)))
        vectors.flags.writeable = False
        near, far = (
            clusters.draw(NUM_QUERIES, noise, -seed % 2**32)
            for seed, noise in ((1, NEAR), (2, FAR))
        )
        exact = ExactIndex(DIM)
        for index in (exact, FaissIndex(DIM)):
            built_s, _ = timed(lambda: index.add(np.arange(size), vectors))  # noqa: B023
            few = p50_ms(lambda query: index.search(query[None], K), near)  # noqa: B023
            many = p50_ms(lambda query: index.search(query[None], RANKED), near)  # noqa: B023
            shares = (f"{recall(index, exact, queries):.3f}" for queries in (near, far))
            write_row(
                f"{size:,}",
                type(index).__name__,
                f"{built_s:.1f}",
                f"{few:.2f}",
                f"{many:.2f}",
                *shares,
            )


def main() -> None:
    """Measure up to the largest size."""
    parser = arguments("index", __doc__)
    parser.add_argument("largest", nargs="?", type=int, default=SIZES[-1])
    measure_indexes(parser.parse_args().largest)


if __name__ == "__main__":
    main()
