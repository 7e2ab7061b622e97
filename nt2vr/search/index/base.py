"""The index Protocol: vectors in, rows of the best matches out. It knows neither videos nor texts."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Index(Protocol):
    """Finds the vectors with the largest inner products; rows are numbered in the order of adding."""

    def __init__(self, dim: int) -> None:
        """Make an empty index for vectors of length `dim`."""

    def add(self, vectors: NDArray[np.float32]) -> None:
        """Append (N, D) vectors."""

    def search(self, queries: NDArray[np.float32], k: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return scores and rows, each (Q, min(k, len)), best first; ties go to the lower row.

        Args:
            queries: (Q, D), of any length: scores are inner products.
            k: matches per query.
        """
        ...

    def __len__(self) -> int:
        """Return the number of vectors."""
        ...
