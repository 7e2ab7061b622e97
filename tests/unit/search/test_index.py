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


def slow_search(ids: Ids, vectors: Vectors, query: Vectors, k: int) -> list[tuple[float, int]]:
    ranked = sorted(zip((-vectors @ query).tolist(), ids.tolist(), strict=True))
    return [(-score, key) for score, key in ranked[:k]]


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
    _, result_ids = index.search(queries, k)
    best = [{key for _, key in slow_search(ids, vectors, query, k)} for query in queries]
    return float(
        np.mean(
            [
                len(set(row) & wanted) / k
                for row, wanted in zip(result_ids.tolist(), best, strict=True)
            ]
        )
    )


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
        assert scores.dtype == np.float32 and result_ids.dtype == np.int64
        assert (np.diff(scores, axis=1) <= 0).all() and len(index) == 3000
        assert recall(index, ids, vectors, queries, k) >= (1 if index.recall == 1 else 0.95)
        row_of = {key: row for row, key in enumerate(ids.tolist())}
        for query, keys, row in zip(queries, result_ids.tolist(), scores, strict=True):
            np.testing.assert_allclose(
                vectors[[row_of[key] for key in keys]] @ query, row, atol=1e-5
            )

    def test_ties_go_to_the_lower_id(self, fill: Fill) -> None:
        index = fill(np.array([8, 2, 5]), np.ones((3, 4), np.float32))
        assert index.search(np.ones((1, 4), np.float32), 3)[1].tolist() == [[2, 5, 8]]

    def test_asking_for_more_than_there_is_returns_all(self, fill: Fill) -> None:
        index = fill(np.array([4, 9]), np.eye(4, dtype=np.float32)[:2])
        scores, ids = index.search(np.eye(4, dtype=np.float32)[:1], k=10)
        assert ids.tolist() == [[4, 9]] and scores.tolist() == [[1, 0]]
        many = fill(some_ids(2000), clustered(2000))
        assert sorted(many.search(clustered(2), 2000)[1][1].tolist()) == sorted(
            some_ids(2000).tolist()
        )

    def test_an_empty_index_finds_nothing(self, fill: Fill) -> None:
        index = fill(np.empty(0, np.int64), np.empty((0, 4), np.float32))
        scores, ids = index.search(np.ones((2, 4), np.float32), k=10)
        assert len(index) == 0 and scores.shape == ids.shape == (2, 0)


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
    for i, query in enumerate(queries):
        assert list(zip(scores[i].tolist(), result_ids[i].tolist(), strict=True)) == slow_search(
            ids, vectors, query, k
        )


def test_the_recall_of_an_approximate_index_is_measured() -> None:
    """A hundred dimensions of noise have no clusters, so that an approximate index cannot find much."""
    vectors = np.random.default_rng(0).standard_normal((3000, 100)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    sample, queries = np.split(np.random.default_rng(1).standard_normal((200, 100), np.float32), 2)
    index = FaissIndex(100, sample)
    index.add(some_ids(3000), vectors)
    assert index.recall < 0.9
    assert recall(index, some_ids(3000), vectors, queries) == pytest.approx(index.recall, abs=0.1)


def test_a_saved_index_gives_the_same_answers(tmp_path: Path) -> None:
    index = filled("faiss", some_ids(2000), clustered(2000))
    index.save(tmp_path / "index", "clips")
    loaded = FaissIndex.load(tmp_path / "index", "clips")
    assert loaded is not None and (len(loaded), loaded.recall) == (2000, index.recall)
    for one, second in zip(
        index.search(clustered(5), 40), loaded.search(clustered(5), 40), strict=True
    ):
        np.testing.assert_array_equal(one, second)


def test_missing_damaged_and_foreign_files_are_not_indexes(tmp_path: Path) -> None:
    assert FaissIndex.load(tmp_path / "index", "clips") is None
    filled("faiss", some_ids(50), clustered(50)).save(tmp_path / "index", "clips")
    assert FaissIndex.load(tmp_path / "index", "other clips") is None
    intact = (tmp_path / "index").read_bytes()
    for damaged in (b"", intact[:100], intact[: len(intact) // 2], b"junk" + intact[4:]):
        (tmp_path / "index").write_bytes(damaged)
        assert FaissIndex.load(tmp_path / "index", "clips") is None
