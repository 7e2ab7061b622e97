"""Exact search with one NumPy matrix product: the reference for every other index."""

import zipfile
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nt2vr.files import atomic_write


class ExactIndex:
    """Computes all inner products, then picks the best k; see `Index`."""

    recall = 1.0

    def __init__(self, dim: int) -> None:
        """Make an empty index for vectors of length `dim`."""
        self._ids = np.empty(0, np.int64)
        self._vectors = np.empty((0, dim), np.float32)

    def __len__(self) -> int:
        """Return the number of vectors."""
        return len(self._vectors)

    def add(self, ids: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Add (N, D) vectors under new ids (N,); the first, if nobody can write to them, are not copied."""
        first = not len(self) and not vectors.flags.writeable
        self._vectors = vectors if first else np.concatenate([self._vectors, vectors])
        self._ids = np.concatenate([self._ids, ids])

    def remove(self, ids: NDArray[np.int64]) -> None:
        """Remove vectors; unknown ids are ignored."""
        kept = ~np.isin(self._ids, ids)
        self._ids, self._vectors = self._ids[kept], self._vectors[kept]

    def search(self, queries: NDArray[np.float32], k: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return scores and ids, each (Q, min(k, len)), best first; ties go to the lower id."""
        scores = queries @ self._vectors.T  # (Q, N)
        k = min(k, len(self))
        rows = np.array([best_rows(row, self._ids, k) for row in scores], np.int64).reshape(len(queries), k)
        return np.take_along_axis(scores, rows, axis=1), self._ids[rows]

    def ids(self) -> NDArray[np.int64]:
        """Return the ids (N,)."""
        return self._ids

    def save(self, path: Path) -> None:
        """Write the index to a file, atomically."""
        with atomic_write(path) as partial, partial.open("wb") as file:
            np.savez(file, ids=self._ids, vectors=self._vectors)

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """Read a saved index; None if there is none, or it is damaged."""
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                ids, vectors = stored["ids"], stored["vectors"]
            index = cls(vectors.shape[1])
            index.add(ids, vectors)
        except (OSError, ValueError, LookupError, EOFError, zipfile.BadZipFile):
            return None
        return index


def best_rows(scores: NDArray[np.float32], ids: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Return the rows of the k largest of (N,) scores, best first; ties go to the lower of the ids (N,)."""
    if k == 0:
        return np.empty(0, np.int64)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    rows = np.flatnonzero(scores >= threshold)  # k, or more if several share the k-th score
    return rows[np.lexsort((ids[rows], -scores[rows]))[:k]]
