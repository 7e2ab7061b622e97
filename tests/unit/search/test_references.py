"""Compositions of a picture and a text, against values by hand."""

from collections.abc import Mapping
from typing import Self

import numpy as np
import pytest
from torch import Tensor

from nt2vr.errors import ConfigError
from nt2vr.models.composer import Composer, PictureQuery
from nt2vr.models.encoder import Vectors
from nt2vr.search.references import (
    MAX_REFERENCES,
    Reference,
    Weights,
    check_number,
    combine,
    merge_references,
    take_away,
    weighted_sum,
)
from nt2vr.search.strategies import STRATEGIES, EmbeddedParts, vector_and_exclusion

EAST, NORTH, UP = np.eye(3, dtype=np.float32)
NOTHING = np.zeros(3, np.float32)
QUERY = PictureQuery(EAST, NORTH, NORTH, UP)
HALF = np.sqrt(0.5)


def test_weighted_sum_by_hand() -> None:
    vector = weighted_sum(QUERY, Weights(wanted=2, unwanted=2))
    np.testing.assert_allclose(vector, [1 / 3, 2 / 3, -2 / 3], atol=1e-4)


def test_a_picture_without_a_text_is_searched_for_itself() -> None:
    alone = PictureQuery(EAST, NOTHING, NOTHING, NOTHING)
    np.testing.assert_allclose(weighted_sum(alone, Weights()), EAST, atol=1e-6)


def test_a_model_without_a_composer_combines_by_a_weighted_sum() -> None:
    class South(Composer):
        name = "south"

        @classmethod
        def read(cls, weights: Mapping[str, Tensor], width: int) -> Self:
            return cls()

        def compose(self, query: PictureQuery) -> Vectors:
            return -NORTH

    np.testing.assert_allclose(combine("south", QUERY, Weights(), {"south": South()}), -NORTH)
    np.testing.assert_allclose(
        combine("south", QUERY, Weights(), {}), weighted_sum(QUERY, Weights()), atol=1e-6
    )


DIAGONAL = np.array([0.6, 0.8, 0], np.float32)


@pytest.mark.parametrize(
    ("references", "picture", "away"),
    [
        # One picture is itself, whatever its weight.
        ([(EAST, 0.3, True)], [1, 0, 0], None),
        ([(EAST, 0.0, True)], [1, 0, 0], None),
        ([(EAST, 0.5, True), (NORTH, 0.5, True)], [HALF, HALF, 0], None),
        # The weights are 3 to 1.
        ([(EAST, 0.9, True), (NORTH, 0.3, True)], [0.9487, 0.3162, 0], None),
        ([(EAST, 1.0, True), (NORTH, 0.0, True)], [1, 0, 0], None),
        ([(UP, 0.5, False)], None, [0, 0, 0.2]),
        ([(UP, 0.5, False), (DIAGONAL, 1.0, False)], None, [0.24, 0.32, 0.2]),
        ([(EAST, 0.2, True), (UP, 0.25, False)], [1, 0, 0], [0, 0, 0.1]),
    ],
)
def test_references_combine_to_values_by_hand(
    references: list[tuple[Vectors, float, bool]],
    picture: list[float] | None,
    away: list[float] | None,
) -> None:
    requests = [
        Reference(video_id="x", weight=weight, wanted=wanted) for _, weight, wanted in references
    ]
    for query, expected in zip(
        merge_references([v for v, _, _ in references], requests), (picture, away), strict=True
    ):
        assert (
            query is None
            if expected is None
            else query == pytest.approx(np.array(expected), abs=1e-4)
        )


def test_unwanted_references_are_taken_away_by_hand() -> None:
    away = 0.2 * UP
    assert take_away(3 * EAST, away) == pytest.approx(np.array([0.98058, 0, -0.19612]), abs=1e-4)
    assert take_away(None, away) == pytest.approx(-UP)
    assert take_away(None, 0 * UP) is None


def test_every_strategy_but_the_control_searches_away_from_unwanted_references() -> None:
    none = np.zeros((0, 3), np.float32)
    parts = EmbeddedParts(EAST, NORTH, none, 0.5, away=0.2 * UP)
    for name in STRATEGIES:
        vector, _ = vector_and_exclusion(name, parts, none)
        assert vector is not None
        assert vector[2] == 0 if name == "drop" else vector[2] == pytest.approx(-0.19612, abs=1e-4)


def test_too_many_references_and_impossible_weights_are_refused() -> None:
    check_number(MAX_REFERENCES)
    with pytest.raises(ConfigError, match=r"4 .*1,000"):
        check_number(1000)
    for weight in (float("nan"), float("inf"), -1.0, 1e300):
        with pytest.raises(ConfigError, match="0 to 1"):
            Reference(video_id="x", weight=weight)
