"""Index protocol: vectors with ids in, ids of the best matches out. Knows neither videos nor texts."""

from pathlib import Path
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray


class Index(Protocol):
    """Finds the vectors with the largest inner products.

    Attributes:
        recall: share of the true 10 best that a search finds, measured on a sample; 1.0 for exact search.
    """

    recall: float

    def __init__(self, dim: int) -> None:
        """Make an empty index for vectors of length `dim`."""

    def add(self, ids: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Add (N, D) vectors under new ids (N,), not negative."""

    def remove(self, ids: NDArray[np.int64]) -> None:
        """Remove vectors; unknown ids are ignored."""

    def search(self, queries: NDArray[np.float32], k: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return scores and ids, each (Q, min(k, len)), best first; ties go to the lower id.

        Args:
            queries: (Q, D), of any length: scores are inner products.
            k: matches per query.
        """
        ...

    def ids(self) -> NDArray[np.int64]:
        """Return the ids (N,), in any order."""
        ...

    def __len__(self) -> int:
        """Return the number of vectors."""
        ...

    def save(self, path: Path) -> None:
        """Write the index to a file, atomically.

        Raises:
            OSError: if it cannot be written; an older file stays.
        """

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """Read a saved index; None if there is none, or it is damaged."""
