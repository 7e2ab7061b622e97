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

YES = True
NO = False
RNG = np.random.default_rng(0)
# There are many ties.
TIED: Any = RNG.integers(0, 5, (60, 25)).astype(np.float32)
DISTINCT: Any = RNG.random((60, 25), np.float32)
SOME: NDArray[np.bool_] = RNG.random((60, 25)) < 0.2
OTHER: NDArray[np.bool_] = ~SOME & (RNG.random((60, 25)) < 0.3)
# each query has both
SOME[:, 0] = True
OTHER[:, 0] = False
OTHER[:, 1] = True
SOME[:, 1] = False


@pytest.mark.parametrize("count", [1, 2, 5, 17, 33, 400])
def test_equal_videos_score_equally_wherever_they_stand(count: int) -> None:
    queries = np.random.default_rng(1).normal(size=(count, 100)).astype(np.float32)
    videos = np.random.default_rng(2).normal(size=(3, 100)).astype(np.float32)
    rows = np.random.default_rng(3).integers(3, size=63)
    scores = inner_products(queries, videos[rows])
    np.testing.assert_allclose(scores, (queries.astype(np.float64) @ videos.T)[:, rows], atol=1e-4)
    for row in range(3):
        assert not np.ptp(scores[:, rows == row], axis=1).any()


@pytest.mark.parametrize("scores", [TIED, DISTINCT], ids=["ties", "no ties"])
@pytest.mark.parametrize("k", [1, 10, 25, 40])
def test_shares_among_first_match_the_sorted_list(scores: Any, k: int) -> None:
    slow = []
    for row, unwanted in zip(scores.tolist(), SOME.tolist(), strict=True):
        order = sorted(range(len(row)), key=lambda video: (-row[video], not unwanted[video]))[:k]
        slow.append(sum(unwanted[video] for video in order) / len(order))
    assert shares_among_first(scores, SOME, k).tolist() == pytest.approx(slow)


@pytest.mark.parametrize("score", [0.5, math.nan], ids=["constant", "not a number"])
def test_a_constant_model_gets_no_credit(score: float) -> None:
    scores = np.full((1, 4), score, np.float32)
    right = np.array([[YES, NO, NO, NO]])
    wrong = np.array([[NO, YES, YES, NO]])
    assert first_ranks(scores, right).tolist() == [4]
    assert ordered_shares(scores, right, wrong)[0].tolist() == [0]
    assert shares_among_first(scores, wrong, 2).tolist() == [1]


@pytest.mark.parametrize("scores", [TIED, DISTINCT], ids=["ties", "no ties"])
def test_tied_relevant_videos_come_last_in_the_first_page(
    scores: Any,
) -> None:
    rows = first_rows(scores, SOME, 10)
    for row, right, first in zip(scores.tolist(), SOME.tolist(), rows.tolist(), strict=True):
        keys = [(-row[video], right[video]) for video in range(len(row))]
        assert [keys[video] for video in first] == sorted(keys)[:10] and len(set(first)) == 10


def test_clips_of_equal_frames_tie_in_hard_pairs_alone() -> None:
    frames = np.random.default_rng(5).normal(size=(300, 8, 64)).astype(np.float32)
    both = [
        clip_frames.mean(axis=1) for clip_frames in (frames, np.ascontiguousarray(frames[:, ::-1]))
    ]
    played, reversed_ = (summed / np.linalg.norm(summed, axis=1, keepdims=True) for summed in both)
    query = played.mean(axis=0, keepdims=True) / np.linalg.norm(played.mean(axis=0))
    scores = np.stack(
        [inner_products(query, played)[0], inner_products(query, reversed_)[0]], axis=1
    )  # (300, 2)
    # Rounding would decide.
    assert (scores[:, 0] != scores[:, 1]).any()
    right = np.tile([True, False], (300, 1))
    higher, equal = ordered_shares(scores, right, ~right)
    assert not higher.any() and (equal == 1).all()
    assert (shares_among_first(scores, ~right, 1) == 1).all()
    assert set(first_ranks(scores, right)) == {1, 2}
