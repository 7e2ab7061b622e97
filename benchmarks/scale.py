"""Milvus beside exact search and FAISS, on the clustered vectors of `benchmarks.index`.

    python -m benchmarks.scale --size 100000 exact faiss milvus.db milvus.db,flat http://127.0.0.1:19530

"Added" includes the building of the index; "filtered" searches one of two libraries of equal size in a collection;
"after deletions" is without a tenth of the vectors. Memory is by how much the peak of this process rose: a server's
is not in it, and only the first place of a call is comparable.
"""

import resource
from collections.abc import Callable
from uuid import uuid4

import numpy as np

from benchmarks.harness import arguments, timed, write_head, write_row
from benchmarks.index import DIM, NEAR, NUM_QUERIES, Clusters, Rows, Vectors, recall
from nt2vr.search.index import ExactIndex, FaissIndex, Index, Milvus, MilvusIndex
from nt2vr.search.index.milvus import Row

K = 10
REMOVED = 10  # one in so many


def local(ids: Rows, vectors: Vectors) -> ExactIndex:
    """Return exact search over vectors."""
    index = ExactIndex(DIM)
    index.add(ids, vectors)
    return index


def peak_kb() -> int:
    """Return the peak of this process's memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def filler(place: str) -> Callable[[Rows, Vectors], Index]:
    """Return what fills an index of a kind."""
    if place == "exact":
        return local
    if place == "faiss":

        def fill(ids: Rows, vectors: Vectors) -> Index:
            index = FaissIndex(DIM)
            index.add(ids, vectors)
            return index

        return fill
    milvus, tower = Milvus(place), f"scale_{uuid4().hex}"

    def send(ids: Rows, vectors: Vectors) -> Index:
        rows = dict.fromkeys(ids.tolist(), Row("", 0.0, 0.0))
        index = MilvusIndex(milvus, tower, uuid4().hex, local(ids, vectors), rows)
        index.add(ids, vectors)
        index.measure(vectors[:1])  # waits for the index
        return index

    return send


def times_ms(index: Index, queries: Vectors) -> list[str]:
    """Return the median and the 95th percentile of single searches."""
    times = [1000 * timed(lambda: index.search(query[None], K))[0] for query in queries]  # noqa: B023
    return [f"{value:.2f}" for value in np.percentile(times, [50, 95])]


def measure(place: str, size: int) -> None:
    """Print the row of one index."""
    clusters, ids = Clusters.of(size), np.arange(size)
    vectors = np.concatenate(list(clusters.chunks(size)))
    vectors.flags.writeable = False
    queries = clusters.draw(NUM_QUERIES, NEAR, 2**32 - 1)
    exact, fill, before = local(ids, vectors), filler(place), peak_kb()
    added_s, index = timed(lambda: fill(ids, vectors))
    grown = (peak_kb() - before) / 1e3
    row = [f"{added_s:.1f}", f"{grown:.0f}", *times_ms(index, queries), f"{recall(index, exact, queries):.3f}"]
    filtered = after = ["–", "–"]
    if place != "exact":
        left = ids % REMOVED > 0
        index.remove(ids[~left])  # type: ignore[attr-defined]
        rest = local(ids[left], vectors[left])
        if hasattr(index, "place"):  # Milvus
            index._local = rest  # type: ignore[attr-defined]  # as the next update would open it
        after = [times_ms(index, queries)[0], f"{recall(index, rest, queries):.3f}"]
    if place not in ("exact", "faiss"):
        other = fill(ids + size, vectors)
        filtered = times_ms(other, queries)
        if notice := getattr(index, "notice", "") or getattr(other, "notice", ""):
            raise SystemExit(notice)
    write_row(place, f"{size:,}", *row, *filtered, *after)


def main() -> None:
    """Print one row per index."""
    parser = arguments("scale", __doc__)
    parser.add_argument("places", nargs="+", help="exact, faiss, or addresses of Milvus as for --index")
    parser.add_argument("--size", type=int, default=10_000, help="number of vectors (default: %(default)s)")
    options = parser.parse_args()
    speeds = "p50, ms", "p95, ms", "recall@10", "filtered p50, ms", "p95, ms"
    write_head("index", "vectors", "added, s", "memory, MB", *speeds, "after deletions p50, ms", "recall@10")
    for place in options.places:
        measure(place, options.size)


if __name__ == "__main__":
    main()
