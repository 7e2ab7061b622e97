"""What an index is: vectors in, the rows of the best matches out. It knows no videos and no texts."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Index(Protocol):
    """Finds the vectors with the largest inner product; rows count from 0 in the order of adding."""

    def __init__(self, dim: int) -> None:
        """Make an empty index for vectors of length `dim`."""

    def add(self, vectors: NDArray[np.float32]) -> None:
        """Append (N, D) vectors."""

    def search(self, queries: NDArray[np.float32], k: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return scores and rows, each (Q, min(k, len)), best first; of equal scores the lower row comes first.

        Args:
            queries: (Q, D), of any length: the scores are inner products.
            k: how many; more than there are returns all.
        """
        ...

    def __len__(self) -> int:
        """Return how many vectors there are."""
        ...
