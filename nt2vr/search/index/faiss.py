"""Approximate search with FAISS (IVF): only the nearest clusters are compared."""

from pathlib import Path
from typing import Any, Self

import faiss
import numpy as np
from numpy.typing import NDArray

from nt2vr.files import atomic_write, parse_json, write_json
from nt2vr.media.store import read_cached
from nt2vr.search.index.exact import ExactIndex, best_ids, recall_of

AIM = 0.98  # recall on the sample from which no more clusters are looked at
MAX_PROBED = (
    1 / 8
)  # share of the clusters looked at, at most: more would be as slow as exact search
SAMPLE = 100  # queries on which recall is measured
MIN_PROBES = 8  # clusters looked at, at least: the best 100 lie in more clusters than the best 10
NOISE = 1.0  # length of what is added to unit vectors to make queries of them
CLUSTER_POINTS = 64  # vectors per cluster that clustering looks at
ITERATIONS = 10
MIN_CLUSTERED = 1000  # fewer vectors are one cluster


class FaissIndex:
    """An inverted file of FAISS, with the vectors as they are; see `Index`. The same steps give the same index."""

    def __init__(self, dim: int, sample: NDArray[np.float32] | None = None) -> None:
        """Make an empty index of vectors (D,), whose recall is measured with queries (Q, D), or vectors with noise."""
        self._dim, self._sample = dim, sample
        self._index: Any = _clusters(dim, 1)
        self._index.train(np.zeros((1, dim), np.float32))
        self.recall = 1.0

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def add(self, ids: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Add (N, D) vectors under new ids (N,); the first ones are clustered, others join their clusters."""
        vectors = np.ascontiguousarray(vectors, np.float32)
        if len(self) or not len(ids):
            self._index.add_with_ids(vectors, ids)
            return
        self._index = _clusters(
            self._dim, int(2 * np.sqrt(len(ids))) if len(ids) >= MIN_CLUSTERED else 1
        )
        self._index.train(vectors)
        self._index.add_with_ids(vectors, ids)
        queries = self._sample
        if queries is None:
            rng = np.random.default_rng(0)
            queries = vectors[
                np.sort(rng.choice(len(vectors), min(SAMPLE, len(vectors)), replace=False))
            ]
            noise = rng.standard_normal(queries.shape, np.float32)
            queries = queries + noise * np.float32(NOISE / np.sqrt(queries.shape[1]))
        exact, vectors = ExactIndex(self._dim), vectors.view()
        vectors.flags.writeable = False  # or they would be copied
        exact.add(ids, vectors)
        best = best_ids(exact, queries)
        while True:  # double the number of clusters looked at until the recall is AIM
            self.recall = recall_of(self, queries, best)
            if self.recall >= AIM or self._index.nprobe >= MAX_PROBED * self._index.nlist:
                return
            self._index.nprobe *= 2

    def search(
        self, queries: NDArray[np.float32], k: int
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return scores and ids, each (Q, min(k, len)), best first; of those found, ties go to the lower id."""
        k = min(k, len(self))
        if not k:
            return np.empty((len(queries), 0), np.float32), np.empty((len(queries), 0), np.int64)
        num_probes = self._index.nprobe
        while True:
            settings = faiss.SearchParametersIVF(nprobe=num_probes)  # type: ignore[call-arg]  # of SWIG
            scores, ids = self._index.search(
                np.ascontiguousarray(queries, np.float32), k, params=settings
            )
            if ids.min() >= 0:  # -1: the clusters looked at have fewer
                break
            num_probes *= 2
        order = np.lexsort((ids, -scores), axis=1)
        return np.take_along_axis(scores, order, axis=1), np.take_along_axis(ids, order, axis=1)

    def save(self, path: Path, clips: str) -> None:
        """Write the index to a file, atomically, and beside it what was measured and which clips it has."""
        try:
            with atomic_write(path) as partial:
                faiss.write_index(self._index, str(partial))
        except RuntimeError as error:  # FAISS names no reason
            raise OSError(str(error)) from error
        write_json(
            path.with_suffix(".json"),
            {"recall": self.recall, "clips": clips, "bytes": path.stat().st_size},
        )

    @classmethod
    def load(cls, path: Path, clips: str) -> Self | None:
        """Read a saved index; None if there is none, it has other clips, or it is damaged."""
        return read_cached(path, lambda path: cls._read(path, clips))

    @classmethod
    def _read(cls, path: Path, clips: str) -> Self | None:
        facts = parse_json(path.with_suffix(".json").read_text(encoding="utf-8"))
        if facts.get("clips") != clips:
            return None
        if path.stat().st_size != facts["bytes"]:
            raise ValueError(f"{path} has another size than when it was written.")
        stored = faiss.read_index(str(path))
        index = cls(stored.d)
        index._index, index.recall = stored, float(facts["recall"])
        return index


def _clusters(dim: int, number: int) -> Any:
    index: Any = faiss.index_factory(dim, f"IVF{number},Flat", faiss.METRIC_INNER_PRODUCT)
    index.cp.niter, index.cp.max_points_per_centroid, index.cp.min_points_per_centroid = (
        ITERATIONS,
        CLUSTER_POINTS,
        1,
    )
    index.nprobe = min(MIN_PROBES, number)
    return index
