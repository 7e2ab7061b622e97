"""Index protocol: vectors with ids in, ids of the best matches out. Knows neither videos nor texts."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Index(Protocol):
    """Finds the vectors with the largest inner products."""

    recall: float  # share of the true 10 best that a search finds, measured on a sample; 1.0 for exact search

    def add(self, ids: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Add (N, D) vectors under new ids (N,), not negative."""

    def search(self, queries: NDArray[np.float32], k: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return scores and ids, each (Q, min(k, len)), best first; ties go to the lower id.

        Args:
            queries: (Q, D), of any length: scores are inner products.
        """
        ...

    def __len__(self) -> int: ...
