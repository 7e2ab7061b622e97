"""The contract of every index, against a slow twin; approximate ones find most of what it finds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.search.index import ExactIndex, FaissIndex, Index

DIM = 16
LOCAL: dict[str, type[ExactIndex | FaissIndex]] = {"exact": ExactIndex, "faiss": FaissIndex}
Vectors = NDArray[np.float32]
Ids = NDArray[np.int64]
Fill = Callable[[Ids, Vectors], Index]


def slow_search(ids: Ids, vectors: Vectors, query: Vectors, k: int) -> tuple[Vectors, Ids]:
    """Return the scores and ids of the best k rows; of equal ones, the lower id is first."""
    scores = vectors @ query
    best = np.lexsort((ids, -scores))[:k]
    return scores[best], ids[best]


def clustered(count: int, seed: int = 0) -> Vectors:
    """Return unit vectors around 40 centres."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(40).standard_normal((40, DIM))
    vectors = centres[rng.integers(0, 40, count)] + 0.7 * rng.standard_normal((count, DIM))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def some_ids(count: int) -> Ids:
    """Return large ids in no order."""
    return np.random.default_rng(1).permutation(np.arange(count, dtype=np.int64) * 10**15 + 7)


def filled(backend: str, ids: Ids, vectors: Vectors) -> Any:
    index = LOCAL[backend](vectors.shape[1])
    index.add(ids, vectors)
    return index


@pytest.fixture(scope="module", params=LOCAL)
def fill(request: pytest.FixtureRequest) -> Fill:
    """Return `fill(ids, vectors)`, which makes an index of a kind."""
    return lambda ids, vectors: filled(request.param, ids, vectors)


def recall(index: Index, ids: Ids, vectors: Vectors, queries: Vectors, k: int = 10) -> float:
    """Return the share of the best k that an index finds, over all queries."""
    _, result_ids = index.search(queries, k)
    hits = 0
    for query, query_ids in zip(queries, result_ids, strict=True):
        _, best_ids = slow_search(ids, vectors, query, k)
        hits += len(np.intersect1d(query_ids, best_ids))
    return hits / (k * len(queries))


class Contract:
    """What holds of every index; a module that inherits it has a fixture `fill`."""

    @pytest.mark.parametrize("k", [1, 10, 40])
    @pytest.mark.parametrize("num_queries", [1, 30])
    def test_most_of_what_the_slow_twin_finds_is_found(
        self, fill: Fill, k: int, num_queries: int
    ) -> None:
        ids = some_ids(3000)
        vectors = clustered(3000)
        queries = 3 * clustered(num_queries, seed=5)
        index = fill(ids, vectors)
        scores, result_ids = index.search(queries, k)
        assert scores.shape == result_ids.shape == (num_queries, k)
        assert scores.dtype == np.float32
        assert result_ids.dtype == np.int64
        assert len(index) == 3000
        assert (np.diff(scores, axis=1) <= 0).all()

        least_recall = 1 if index.recall == 1 else 0.95
        assert recall(index, ids, vectors, queries, k) >= least_recall

        vectors_by_id = dict(zip(ids.tolist(), vectors, strict=True))
        for query, query_ids, query_scores in zip(queries, result_ids, scores, strict=True):
            result_vectors = np.stack([vectors_by_id[key] for key in query_ids.tolist()])
            np.testing.assert_allclose(result_vectors @ query, query_scores, atol=1e-5)

    def test_ties_go_to_the_lower_id(self, fill: Fill) -> None:
        index = fill(np.array([8, 2, 5]), np.ones((3, 4), np.float32))
        _, ids = index.search(np.ones((1, 4), np.float32), 3)
        assert ids.tolist() == [[2, 5, 8]]

    def test_asking_for_more_than_there_is_returns_all(self, fill: Fill) -> None:
        first_axes = np.eye(4, dtype=np.float32)[:2]
        index = fill(np.array([4, 9]), first_axes)
        scores, ids = index.search(first_axes[:1], k=10)
        assert ids.tolist() == [[4, 9]]
        assert scores.tolist() == [[1, 0]]

    def test_asking_for_as_many_as_there_are_returns_all(self, fill: Fill) -> None:
        index = fill(some_ids(2000), clustered(2000))
        _, ids = index.search(clustered(2), 2000)
        assert set(ids[1].tolist()) == set(some_ids(2000).tolist())

    def test_an_empty_index_finds_nothing(self, fill: Fill) -> None:
        index = fill(np.empty(0, np.int64), np.empty((0, 4), np.float32))
        scores, ids = index.search(np.ones((2, 4), np.float32), k=10)
        assert len(index) == 0
        assert scores.shape == ids.shape == (2, 0)


class TestContract(Contract):
    pass


@pytest.mark.parametrize("k", [1, 5, 40, 200])
@pytest.mark.parametrize("num_queries", [1, 30])
def test_exact_search_equals_its_slow_twin(k: int, num_queries: int) -> None:
    rng = np.random.default_rng(0)
    # Whole numbers: exact sums, and many ties.
    vectors = rng.integers(-2, 3, (200, 6)).astype(np.float32)
    queries = rng.integers(-2, 3, (num_queries, 6)).astype(np.float32)
    ids = some_ids(200)
    scores, result_ids = filled("exact", ids, vectors).search(queries, k)
    for query, query_scores, query_ids in zip(queries, scores, result_ids, strict=True):
        expected_scores, expected_ids = slow_search(ids, vectors, query, k)
        assert query_scores.tolist() == expected_scores.tolist()
        assert query_ids.tolist() == expected_ids.tolist()


def test_the_recall_of_an_approximate_index_is_measured() -> None:
    """A hundred dimensions of noise have no clusters, so that an approximate index cannot find much."""
    vectors = np.random.default_rng(0).standard_normal((3000, 100)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    sample, queries = np.random.default_rng(1).standard_normal((2, 100, 100), np.float32)
    index = FaissIndex(100, sample)
    index.add(some_ids(3000), vectors)
    assert index.recall < 0.9
    assert recall(index, some_ids(3000), vectors, queries) == pytest.approx(index.recall, abs=0.1)


def test_a_saved_index_gives_the_same_answers(tmp_path: Path) -> None:
    index = filled("faiss", some_ids(2000), clustered(2000))
    index.save(tmp_path / "index", "clips")
    loaded = FaissIndex.load(tmp_path / "index", "clips")
    assert loaded is not None
    assert len(loaded) == 2000
    assert loaded.recall == index.recall
    scores, ids = index.search(clustered(5), 40)
    loaded_scores, loaded_ids = loaded.search(clustered(5), 40)
    np.testing.assert_array_equal(loaded_scores, scores)
    np.testing.assert_array_equal(loaded_ids, ids)


def test_missing_damaged_and_foreign_files_are_not_indexes(tmp_path: Path) -> None:
    path = tmp_path / "index"
    assert FaissIndex.load(path, "clips") is None
    filled("faiss", some_ids(50), clustered(50)).save(path, "clips")
    assert FaissIndex.load(path, "other clips") is None
    intact = path.read_bytes()
    for damaged in (b"", intact[:100], intact[: len(intact) // 2], b"junk" + intact[4:]):
        path.write_bytes(damaged)
        assert FaissIndex.load(path, "clips") is None
