"""Ranks and the measures made of them, beside a slow twin."""

import numpy as np
import pytest

from trainer.ranks import retrieval_metrics, target_ranks


def test_measures_by_hand() -> None:
    scores = np.array([[3, 2, 1], [3, 2, 1], [3, 2, 1]], np.float32)  # own ranks 1, 2, 3
    assert retrieval_metrics(scores, np.array([0, 1, 2])) == {
        "R@1": pytest.approx(100 / 3),
        "R@5": 100,
        "R@10": 100,
        "MIR": pytest.approx((1 + 1 / 2 + 1 / 3) / 3),
    }


def test_ranks_are_those_of_a_plain_count() -> None:
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 6, (40, 25)).astype(np.float32)  # many ties
    targets = rng.integers(0, 25, 40)
    slow = [
        1 + sum(1 for column, score in enumerate(row) if column != target and score >= row[target])
        for row, target in zip(scores.tolist(), targets.tolist(), strict=True)
    ]
    assert target_ranks(scores, targets).tolist() == slow


@pytest.mark.parametrize("score", [0.5, np.nan], ids=["constant", "not a number"])
def test_a_model_that_tells_nothing_apart_gets_no_credit(score: float) -> None:
    assert target_ranks(np.full((2, 9), score, np.float32), np.array([0, 8])).tolist() == [9, 9]
