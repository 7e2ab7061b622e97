"""Compositions of a picture and a text that need no training, against values by hand."""

import numpy as np
import pytest

from nt2vr.models.composer import PictureQuery
from nt2vr.papers.covr.compositions import COMPOSITIONS, CompositionWeights

EAST, NORTH, UP = np.eye(3, dtype=np.float32)
NOTHING = np.zeros(3, np.float32)
HALF = np.sqrt(0.5)


@pytest.mark.parametrize(
    ("name", "share", "expected"),
    [
        ("picture", 0.5, [1, 0, 0]),
        ("text", 0.5, [0, 1, 0]),
        ("sum", 0.5, [HALF, HALF, 0]),
        ("sum", 0.6, [0.5547, 0.8321, 0]),
    ],
)
def test_values_by_hand(name: str, share: float, expected: list[float]) -> None:
    query = PictureQuery(EAST, NORTH, NORTH, UP)
    vector = COMPOSITIONS[name](query, CompositionWeights(sum=share))
    np.testing.assert_allclose(vector, expected, atol=1e-4)


@pytest.mark.parametrize("name", ["picture", "sum"])
def test_a_picture_without_a_text_is_searched_for_itself(name: str) -> None:
    alone = PictureQuery(EAST, NOTHING, NOTHING, NOTHING)
    np.testing.assert_allclose(COMPOSITIONS[name](alone, CompositionWeights()), EAST, atol=1e-6)
