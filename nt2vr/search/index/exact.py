"""Exact search with one NumPy matrix product: the reference for every other index."""

import numpy as np
from numpy.typing import NDArray


class ExactIndex:
    """Computes all inner products, then picks the best k; see `Index`."""

    def __init__(self, dim: int) -> None:
        """Make an empty index for vectors of length `dim`."""
        self._vectors = np.empty((0, dim), np.float32)

    def __len__(self) -> int:
        """Return the number of vectors."""
        return len(self._vectors)

    def add(self, vectors: NDArray[np.float32]) -> None:
        """Append (N, D) vectors."""
        self._vectors = np.concatenate([self._vectors, vectors])

    def search(self, queries: NDArray[np.float32], k: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return scores and rows, each (Q, min(k, len)), best first; ties go to the lower row."""
        scores = queries @ self._vectors.T  # (Q, N)
        k = min(k, len(self))
        rows = np.array([best_rows(row, k) for row in scores], np.int64).reshape(len(queries), k)
        return np.take_along_axis(scores, rows, axis=1), rows


def best_rows(scores: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """Return the rows of the k largest of (N,) scores, best first; ties go to the lower row."""
    if k == 0:
        return np.empty(0, np.int64)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    rows = np.flatnonzero(scores >= threshold)  # k, or more if several share the k-th score
    return rows[np.argsort(-scores[rows], kind="stable")[:k]]
