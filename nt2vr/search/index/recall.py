"""Recall of an approximate index, measured against exact search."""

import numpy as np
from numpy.typing import NDArray

from nt2vr.search.index.base import Index

SAMPLE_K = 10
PART = 20  # queries scored at once: 80 MB of scores of a million vectors


def best_ids(exact: Index, queries: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the ids (Q, SAMPLE_K) that exact search finds."""
    parts = (queries[start : start + PART] for start in range(0, len(queries), PART))
    return np.concatenate([exact.search(part, SAMPLE_K)[1] for part in parts])


def recall_of(index: Index, queries: NDArray[np.float32], best: NDArray[np.int64]) -> float:
    """Return the share of the best ids that an index finds."""
    _, found = index.search(queries, SAMPLE_K)
    return sum(len(np.intersect1d(*rows)) for rows in zip(best, found, strict=True)) / max(best.size, 1)
