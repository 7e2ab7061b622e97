"""What an index does, and exact search, by which the recall of every other index is measured."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nt2vr.models.encoder import Vectors

Ids = NDArray[np.int64]
Scores = Vectors  # (Q, k) or (N,)
ScoredIds = tuple[Scores, Ids]  # (Q, k) each
SAMPLE_K = 10
# Queries scored at once: 80 MB of scores of a million vectors.
QUERIES_AT_ONCE = 20


class Index(Protocol):
    """Finds the vectors with the largest inner products.

    Attributes:
        recall: share of the 10 best that a search finds, measured on a sample; 1.0 for exact search.
    """

    recall: float

    def add(self, ids: Ids, vectors: Vectors) -> None:
        """Add (N, D) vectors under new ids (N,), not negative."""

    def search(self, queries: Vectors, k: int) -> ScoredIds:
        """Return inner products with queries (Q, D) and ids, each (Q, min(k, len)).

        The best come first; of equals, the lower id.
        """
        ...

    def __len__(self) -> int: ...


class ExactIndex:
    """Computes all inner products by one matrix product, then picks the best k; see `Index`."""

    recall = 1.0

    def __init__(self, dim: int) -> None:
        self._ids = np.empty(0, np.int64)
        self._vectors = np.empty((0, dim), np.float32)

    def __len__(self) -> int:
        return len(self._vectors)

    def add(self, ids: Ids, vectors: Vectors) -> None:
        """Add (N, D) vectors under new ids (N,); the first are not copied if they are read-only."""
        if not len(self) and not vectors.flags.writeable:
            self._vectors = vectors
        else:
            self._vectors = np.concatenate([self._vectors, vectors])
        self._ids = np.concatenate([self._ids, ids])

    def search(self, queries: Vectors, k: int) -> ScoredIds:
        scores = queries @ self._vectors.T  # (Q, N)
        k = min(k, len(self))
        rows = np.empty((len(queries), k), np.int64)
        for query, query_scores in enumerate(scores):
            rows[query] = best_rows(query_scores, self._ids, k)
        return np.take_along_axis(scores, rows, axis=1), self._ids[rows]


def best_rows(scores: Scores, ids: Ids, k: int) -> Ids:
    """Return the rows of the k largest of (N,) scores, best first; of equals, the lower id."""
    if k == 0:
        return np.empty(0, np.int64)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    # There are more than k if several share the k-th score.
    rows = np.flatnonzero(scores >= threshold)
    order = np.lexsort((ids[rows], -scores[rows]))
    return rows[order[:k]]


def best_first(scores: Scores, ids: Ids) -> ScoredIds:
    """Sort the scores (Q, k) and ids of each query: best first; of equals, the lower id."""
    order = np.lexsort((ids, -scores), axis=1)
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(ids, order, axis=1)


def best_ids(exact: Index, queries: Vectors) -> Ids:
    """Return the ids (Q, SAMPLE_K) that exact search finds."""
    parts = []
    for start in range(0, len(queries), QUERIES_AT_ONCE):
        _, ids = exact.search(queries[start : start + QUERIES_AT_ONCE], SAMPLE_K)
        parts.append(ids)
    return np.concatenate(parts)


def recall_of(index: Index, queries: Vectors, best: Ids) -> float:
    """Return the share of the best ids that an index finds."""
    _, ids = index.search(queries, SAMPLE_K)
    num_found = 0
    for query_ids, best_query_ids in zip(ids, best, strict=True):
        num_found += len(np.intersect1d(query_ids, best_query_ids))
    return num_found / max(best.size, 1)
