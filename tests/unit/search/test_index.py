"""The contract of every index, against a slow twin."""

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.search.index import INDEXES

pytestmark = pytest.mark.parametrize("backend", sorted(INDEXES))


def slow_search(vectors: NDArray[np.float32], query: NDArray[np.float32], k: int) -> list[tuple[float, int]]:
    ranked = sorted((-float(np.dot(vector, query)), row) for row, vector in enumerate(vectors))
    return [(-score, row) for score, row in ranked[:k]]


@pytest.mark.parametrize("k", [1, 5, 40, 200])
@pytest.mark.parametrize("num_queries", [1, 30])
def test_results_are_those_of_the_slow_twin_with_ties_by_row(backend: str, k: int, num_queries: int) -> None:
    rng = np.random.default_rng(0)
    vectors = rng.integers(-2, 3, (200, 6)).astype(np.float32)  # whole numbers: exact sums, and many ties
    queries = rng.integers(-2, 3, (num_queries, 6)).astype(np.float32)
    index = INDEXES[backend](6)
    index.add(vectors[:150])
    index.add(vectors[150:])
    scores, rows = index.search(queries, k)
    assert scores.dtype == np.float32 and rows.dtype == np.int64
    for i, query in enumerate(queries):
        assert list(zip(scores[i].tolist(), rows[i].tolist(), strict=True)) == slow_search(vectors, query, k)


def test_many_copies_of_one_video_are_ranked_by_row(backend: str) -> None:
    index = INDEXES[backend](4)
    index.add(np.ones((300, 4), np.float32))
    _, rows = index.search(np.ones((1, 4), np.float32), k=5)
    assert rows.tolist() == [[0, 1, 2, 3, 4]]


def test_asking_for_more_than_there_is_returns_all(backend: str) -> None:
    index = INDEXES[backend](4)
    index.add(np.eye(4, dtype=np.float32)[:2])
    scores, rows = index.search(np.eye(4, dtype=np.float32)[:1], k=10)
    assert rows.tolist() == [[0, 1]] and scores.tolist() == [[1, 0]]


def test_an_empty_index_finds_nothing(backend: str) -> None:
    index = INDEXES[backend](4)
    index.add(np.empty((0, 4), np.float32))
    scores, rows = index.search(np.ones((2, 4), np.float32), k=10)
    assert len(index) == 0 and scores.shape == rows.shape == (2, 0)


def test_an_index_keeps_its_own_copy(backend: str) -> None:
    vectors = np.eye(4, dtype=np.float32)
    index = INDEXES[backend](4)
    index.add(vectors)
    vectors[:] = 0
    assert index.search(np.eye(4, dtype=np.float32)[:1], k=1)[0].tolist() == [[1]]
