"""Approximate search with FAISS (IVF): only the nearest clusters are compared."""

from pathlib import Path
from typing import Any, Self

import numpy as np

from nt2vr.files import atomic_write, stored_json, write_json
from nt2vr.media.store import read_cached
from nt2vr.models.encoder import Vectors
from nt2vr.search.index.exact import (
    ExactIndex,
    Ids,
    ScoredIds,
    best_first,
    best_ids,
    recall_of,
)

# Recall on the sample from which no more clusters are searched.
AIM = 0.98
# Share of the clusters that are searched at most: more would be as slow as exact search.
MAX_PROBED = 1 / 8
# Queries on which recall is measured.
SAMPLE = 100
# Clusters that are searched at least: the best 100 lie in more clusters than the best 10.
MIN_PROBES = 8
# Length of the noise that is added to unit vectors to make queries of them.
NOISE = 1.0
# Vectors per cluster that clustering looks at.
CLUSTER_POINTS = 64
ITERATIONS = 10
# Fewer vectors are one cluster.
MIN_CLUSTERED = 1000


class FaissIndex:
    """An inverted file of FAISS, with the vectors as they are; see `Index`.

    The same steps give the same index.
    """

    def __init__(self, dim: int, sample: Vectors | None = None) -> None:
        """Make an empty index of vectors (D,).

        Args:
            sample: queries (Q, D) that the recall is measured with; None takes vectors with noise.
        """
        self._dim = dim
        self._sample = sample
        self._index: Any = _clusters(dim, 1)
        self._index.train(np.zeros((1, dim), np.float32))
        self.recall = 1.0

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def add(self, ids: Ids, vectors: Vectors) -> None:
        """Add (N, D) vectors under new ids (N,); the first make the clusters of all."""
        vectors = np.ascontiguousarray(vectors, np.float32)
        is_first = not len(self) and len(ids) > 0
        if is_first:
            num_clusters = 1
            if len(ids) >= MIN_CLUSTERED:
                num_clusters = int(2 * np.sqrt(len(ids)))
            self._index = _clusters(self._dim, num_clusters)
            self._index.train(vectors)
        self._index.add_with_ids(vectors, ids)
        if is_first:
            self._tune(ids, vectors)

    def _tune(self, ids: Ids, vectors: Vectors) -> None:
        """Double the number of clusters that are searched until the recall is AIM."""
        queries = _noisy_sample(vectors) if self._sample is None else self._sample
        # Vectors that can be written to would be copied.
        read_only = vectors.view()
        read_only.flags.writeable = False
        exact = ExactIndex(self._dim)
        exact.add(ids, read_only)
        best = best_ids(exact, queries)
        while True:
            self.recall = recall_of(self, queries, best)
            if self.recall >= AIM or self._index.nprobe >= MAX_PROBED * self._index.nlist:
                return
            self._index.nprobe *= 2

    def search(self, queries: Vectors, k: int) -> ScoredIds:
        """Return scores and ids, each (Q, min(k, len)), best first; of equals, the lower id."""
        import faiss  # noqa: PLC0415  13 MB that few servers need

        k = min(k, len(self))
        if not k:
            return np.empty((len(queries), 0), np.float32), np.empty((len(queries), 0), np.int64)

        queries = np.ascontiguousarray(queries, np.float32)
        num_probes = self._index.nprobe
        while True:
            settings = faiss.SearchParametersIVF(nprobe=num_probes)  # type: ignore[call-arg]  # of SWIG
            scores, ids = self._index.search(queries, k, params=settings)
            # An id of -1 means that the clusters have fewer than k vectors.
            if ids.min() >= 0:
                return best_first(scores, ids)
            num_probes *= 2

    def save(self, path: Path, clips: str) -> None:
        """Write the index to a file, and next to it its recall and which clips it has."""
        import faiss  # noqa: PLC0415  13 MB that few servers need

        try:
            with atomic_write(path) as partial:
                faiss.write_index(self._index, str(partial))
        except RuntimeError as error:
            # FAISS names no reason.
            raise OSError(str(error)) from error
        facts = {"recall": self.recall, "clips": clips, "bytes": path.stat().st_size}
        write_json(path.with_suffix(".json"), facts)

    @classmethod
    def load(cls, path: Path, clips: str) -> Self | None:
        """Read a saved index; None if there is none, it has other clips, or it is damaged."""
        return read_cached(path, lambda path: cls._read(path, clips))

    @classmethod
    def _read(cls, path: Path, clips: str) -> Self | None:
        import faiss  # noqa: PLC0415  13 MB that few servers need

        facts = stored_json(path.with_suffix(".json"))
        if facts.get("clips") != clips:
            return None
        if path.stat().st_size != facts["bytes"]:
            raise ValueError(f"{path} has another size than when it was written.")
        stored = faiss.read_index(str(path))
        index = cls(stored.d)
        index._index = stored
        index.recall = float(facts["recall"])
        return index


def _noisy_sample(vectors: Vectors) -> Vectors:
    """Make queries of some vectors by adding noise, the same each time."""
    rng = np.random.default_rng(0)
    rows = rng.choice(len(vectors), min(SAMPLE, len(vectors)), replace=False)
    queries = vectors[np.sort(rows)]
    noise = rng.standard_normal(queries.shape, np.float32)
    noisy = queries + noise * np.float32(NOISE / np.sqrt(queries.shape[1]))
    return noisy


def _clusters(dim: int, number: int) -> Any:
    import faiss  # noqa: PLC0415  13 MB that few servers need

    index: Any = faiss.index_factory(dim, f"IVF{number},Flat", faiss.METRIC_INNER_PRODUCT)
    index.cp.niter = ITERATIONS
    index.cp.max_points_per_centroid = CLUSTER_POINTS
    index.cp.min_points_per_centroid = 1
    index.nprobe = min(MIN_PROBES, number)
    return index
