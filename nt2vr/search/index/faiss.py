"""Exact search with FAISS (flat, inner product); its approximate indexes would suit very large libraries."""

import faiss
import numpy as np
from numpy.typing import NDArray

from nt2vr.search.index.exact import best_rows


class FaissIndex:
    """A flat FAISS index; see `Index`."""

    def __init__(self, dim: int) -> None:
        """Make an empty index for vectors of length `dim`."""
        self._index = faiss.IndexFlatIP(dim)

    def __len__(self) -> int:
        """Return the number of vectors."""
        return int(self._index.ntotal)

    def add(self, vectors: NDArray[np.float32]) -> None:
        """Append (N, D) vectors."""
        self._index.add(np.ascontiguousarray(vectors, np.float32))

    def search(self, queries: NDArray[np.float32], k: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return scores and rows, each (Q, min(k, len)), best first; ties go to the lower row."""
        k = min(k, len(self))
        scores = np.empty((len(queries), k), np.float32)
        rows = np.empty((len(queries), k), np.int64)
        for i, query in enumerate(np.ascontiguousarray(queries, np.float32) if k else []):
            scores[i], rows[i] = self._search_one(query[None], k)
        return scores, rows

    def _search_one(self, query: NDArray[np.float32], k: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        scores, rows = (found[0] for found in self._index.search(query, min(k + 1, len(self))))
        if len(rows) > k and scores[k] == scores[k - 1]:  # of a tie at k, FAISS returns any rows
            _, scores, rows = self._index.range_search(query, np.nextafter(scores[k], -np.inf))
        by_row = np.argsort(rows)
        scores, rows = scores[by_row], rows[by_row]
        best = best_rows(scores, k)
        return scores[best], rows[best]
