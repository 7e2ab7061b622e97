"""Ranks and shares, with values by hand and against slow twins."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.evaluation.scoring import (
    first_ranks,
    first_rows,
    inner_products,
    ordered_shares,
    shares_among_first,
)
from tests.support.mean_pooling import pool_by_mean

NUM_QUERIES = 60
NUM_VIDEOS = 25
RNG = np.random.default_rng(0)
# Of five values, so that there are many ties.
TIED: Any = RNG.integers(0, 5, (NUM_QUERIES, NUM_VIDEOS)).astype(np.float32)
DISTINCT: Any = RNG.random((NUM_QUERIES, NUM_VIDEOS), np.float32)
# Each query has some such videos, and some that are not.
MARKED: NDArray[np.bool_] = RNG.random((NUM_QUERIES, NUM_VIDEOS)) < 0.2
MARKED[:, 0] = True
MARKED[:, 1] = False


@pytest.mark.parametrize("count", [1, 2, 5, 17, 33, 400])
def test_equal_videos_score_equally_wherever_they_stand(count: int) -> None:
    """A gallery of 63 has three distinct videos."""
    queries = np.random.default_rng(1).normal(size=(count, 100)).astype(np.float32)
    videos = np.random.default_rng(2).normal(size=(3, 100)).astype(np.float32)
    video_rows = np.random.default_rng(3).integers(3, size=63)
    scores = inner_products(queries, videos[video_rows])
    exact_scores = queries.astype(np.float64) @ videos.T
    np.testing.assert_allclose(scores, exact_scores[:, video_rows], atol=1e-4)
    for video_row in range(3):
        equal_videos = scores[:, video_rows == video_row]
        assert (equal_videos == equal_videos[:, :1]).all()


@pytest.mark.parametrize("scores", [TIED, DISTINCT], ids=["ties", "no ties"])
@pytest.mark.parametrize("k", [1, 10, 25, 40])
def test_shares_among_first_match_the_sorted_list(scores: Any, k: int) -> None:
    expected = []
    for query_scores, unwanted in zip(scores, MARKED, strict=True):
        # By score, and of equal ones the unwanted first.
        ranking = np.lexsort((~unwanted, -query_scores))
        expected.append(unwanted[ranking[:k]].mean())
    assert shares_among_first(scores, MARKED, k).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("score", [0.5, math.nan], ids=["constant", "not a number"])
def test_a_constant_model_gets_no_credit(score: float) -> None:
    scores = np.full((1, 4), score, np.float32)
    right = np.array([[True, False, False, False]])
    wrong = np.array([[False, True, True, False]])
    assert first_ranks(scores, right).tolist() == [4]
    assert ordered_shares(scores, right, wrong)[0].tolist() == [0]
    assert shares_among_first(scores, wrong, 2).tolist() == [1]


@pytest.mark.parametrize("scores", [TIED, DISTINCT], ids=["ties", "no ties"])
def test_tied_relevant_videos_come_last_in_the_first_page(scores: Any) -> None:
    first_pages = first_rows(scores, MARKED, 10)
    for query_scores, right, first_page in zip(scores, MARKED, first_pages, strict=True):
        ranking = np.lexsort((right, -query_scores))[:10]
        assert query_scores[first_page].tolist() == query_scores[ranking].tolist()
        assert right[first_page].tolist() == right[ranking].tolist()
        assert len(set(first_page)) == 10


def test_clips_of_equal_frames_tie_in_hard_pairs_alone() -> None:
    """Clips and the same played backwards have equal means, except for rounding."""
    frames = np.random.default_rng(5).normal(size=(300, 8, 64)).astype(np.float32)
    forwards = pool_by_mean(frames)
    backwards = pool_by_mean(np.ascontiguousarray(frames[:, ::-1]))
    query = pool_by_mean(forwards[None])
    scores_forwards = inner_products(query, forwards)[0]
    scores_backwards = inner_products(query, backwards)[0]
    assert (scores_forwards != scores_backwards).any()

    scores = np.stack([scores_forwards, scores_backwards], axis=1)  # (300, 2)
    right = np.tile([True, False], (300, 1))
    higher, equal = ordered_shares(scores, right, ~right)
    assert not higher.any()
    assert (equal == 1).all()
    assert (shares_among_first(scores, ~right, 1) == 1).all()
    # Rounding decides the rank.
    assert set(first_ranks(scores, right)) == {1, 2}
