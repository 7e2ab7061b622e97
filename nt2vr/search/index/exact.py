"""What an index does, and exact search with one NumPy matrix product, by which every other's recall is measured."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

SAMPLE_K = 10
PART = 20  # queries scored at once: 80 MB of scores of a million vectors


class Index(Protocol):
    """Finds the vectors with the largest inner products."""

    recall: float  # share of the true 10 best that a search finds, measured on a sample; 1.0 for exact search

    def add(self, ids: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Add (N, D) vectors under new ids (N,), not negative."""

    def search(
        self, queries: NDArray[np.float32], k: int
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return inner products with queries (Q, D) and ids, each (Q, min(k, len)), best first, then by id."""
        ...

    def __len__(self) -> int: ...


class ExactIndex:
    """Computes all inner products, then picks the best k; see `Index`."""

    recall = 1.0

    def __init__(self, dim: int) -> None:
        self._ids = np.empty(0, np.int64)
        self._vectors = np.empty((0, dim), np.float32)

    def __len__(self) -> int:
        return len(self._vectors)

    def add(self, ids: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Add (N, D) vectors under new ids (N,); the first, if nobody can write to them, are not copied."""
        first = not len(self) and not vectors.flags.writeable
        self._vectors = vectors if first else np.concatenate([self._vectors, vectors])
        self._ids = np.concatenate([self._ids, ids])

    def search(
        self, queries: NDArray[np.float32], k: int
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        scores = queries @ self._vectors.T  # (Q, N)
        k = min(k, len(self))
        rows = np.array([best_rows(row, self._ids, k) for row in scores], np.int64).reshape(
            len(queries), k
        )
        return np.take_along_axis(scores, rows, axis=1), self._ids[rows]


def best_rows(scores: NDArray[np.float32], ids: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Return the rows of the k largest of (N,) scores, best first; ties go to the lower of the ids (N,)."""
    if k == 0:
        return np.empty(0, np.int64)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    rows = np.flatnonzero(scores >= threshold)  # k, or more if several share the k-th score
    return rows[np.lexsort((ids[rows], -scores[rows]))[:k]]


def best_ids(exact: Index, queries: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the ids (Q, SAMPLE_K) that exact search finds."""
    parts = (queries[start : start + PART] for start in range(0, len(queries), PART))
    return np.concatenate([exact.search(part, SAMPLE_K)[1] for part in parts])


def recall_of(index: Index, queries: NDArray[np.float32], best: NDArray[np.int64]) -> float:
    """Return the share of the best ids that an index finds."""
    _, found = index.search(queries, SAMPLE_K)
    return sum(len(np.intersect1d(*rows)) for rows in zip(best, found, strict=True)) / max(
        best.size, 1
    )
