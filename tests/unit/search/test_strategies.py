"""Strategies that exclude without training, by hand and against the published formulas."""

from math import acos, cos, pi, radians, sin, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.models.card import Card
from nt2vr.search.strategies import STRENGTHS, EmbeddedParts, System, anchor_of, anchored, spherical
from tests.support.word_encoder import WordEncoder, embedded

X, Y = np.eye(2, dtype=np.float32)
# λ of `anchored`, its default.
LAMBDA = 1.9


def unit(vector: Any) -> NDArray[np.float32]:
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def avoiding(unwanted: NDArray[np.float32], strength: float, wanted: Any = X) -> EmbeddedParts:
    """Return the parts of a query whose sentence lies at X; `unwanted` has one row per part."""
    return EmbeddedParts(X, wanted, unwanted, strength)


def test_anchored_against_the_published_formula() -> None:
    sentence, unwanted, anchor = np.random.default_rng(0).standard_normal((3, 16), np.float32)
    sentence = unit(sentence)
    unwanted = unit(unwanted)
    projection = (sentence @ unwanted) * unwanted
    published = sentence - LAMBDA * (projection - anchor)
    vector = anchored(EmbeddedParts(sentence, None, unwanted[None], LAMBDA, anchor))
    assert vector == pytest.approx(published, abs=1e-6)


def test_anchored_excludes_equal_parts_once() -> None:
    sentence, unwanted = map(unit, np.random.default_rng(0).standard_normal((2, 16)))
    once = anchored(EmbeddedParts(sentence, None, unwanted[None], LAMBDA))
    twice = anchored(EmbeddedParts(sentence, None, np.stack([unwanted, unwanted]), LAMBDA))
    assert twice == pytest.approx(once, abs=1e-5)


def test_anchored_stays_bounded_for_nearly_parallel_parts() -> None:
    sentence, unwanted, noise = np.random.default_rng(0).standard_normal((3, 16))
    sentence = unit(sentence)
    unwanted = unit(unwanted)
    nearly_equal = unit(unwanted + 1e-4 * noise)
    parts = EmbeddedParts(sentence, None, np.stack([unwanted, nearly_equal]), LAMBDA)
    vector = anchored(parts)
    assert vector is not None
    # A vector minus 1.9 times a projection of it is not longer than it was.
    assert np.linalg.norm(vector) <= 1.0 + 1e-5


@pytest.mark.parametrize("theta", [1.0, 20.0, 36.0, 45.0, 90.0, 135.0, 179.0])
@pytest.mark.parametrize("t", [0.5, 0.9, 0.95, 1.0])
def test_spherical_has_the_published_direction(theta: float, t: float) -> None:
    """Eq. 8, without its division by sin(theta): the length does not matter to a ranking."""
    phi = acos(t)
    half_theta = radians(theta) / 2
    unwanted = np.array([cos(radians(theta)), sin(radians(theta))], np.float32)
    published = sin(phi + half_theta) * X + sin(phi - half_theta) * unwanted
    assert spherical(avoiding(unwanted[None], t)) == pytest.approx(unit(published), abs=2e-5)


def test_spherical_by_hand() -> None:
    """X is wanted and Y, at right angles, unwanted."""
    # The directions within 45 degrees of X end where those of Y begin.
    assert spherical(avoiding(Y[None], cos(pi / 4))) == pytest.approx(X, abs=1e-6)
    assert unit(spherical(avoiding(Y[None], 1.0))) == pytest.approx(unit(X - Y), abs=1e-6)
    assert unit(spherical(avoiding(Y[None], 0.0))) == pytest.approx(unit(X + Y), abs=1e-6)


def test_spherical_leaves_every_unwanted_part_in_any_order() -> None:
    wanted, *unwanted = np.eye(3, dtype=np.float32)
    vector = spherical(EmbeddedParts(None, wanted, np.stack(unwanted), 1.0))
    assert vector == pytest.approx(np.array([1, -1, -1]) / sqrt(3))
    reordered = spherical(EmbeddedParts(None, wanted, np.stack(unwanted[::-1]), 1.0))
    assert reordered == pytest.approx(vector)


def test_without_a_wanted_part_the_unwanted_is_avoided() -> None:
    both_axes = np.stack([X, Y])
    assert spherical(avoiding(both_axes, 0.95, wanted=None)) == pytest.approx([-1, -1])
    from_x = anchored(avoiding(X[None], LAMBDA, wanted=None))
    assert from_x == pytest.approx((1 - LAMBDA) * X, abs=1e-6)


def test_a_strength_comes_from_system_search_or_model() -> None:
    card = Card("x", exclusion={"lambda": 2.1, "t": 0.98})
    of_search = {"spherical": 0.9}
    assert System("x", "spherical", 0.95).strength_for(card, of_search) == 0.95
    assert System("x", "spherical").strength_for(card, of_search) == 0.9
    assert System("x", "anchored").strength_for(card, of_search) == 2.1


def test_a_strength_is_else_its_strategy_s_default() -> None:
    strengths = {name: System("x", name).strength_for(Card("x")) for name in STRENGTHS}
    assert strengths == {"boolean": 0.5, "rectified": 1.0, "anchored": 1.9, "spherical": 0.95}


def test_the_anchor_is_the_mean_of_the_card_s_texts() -> None:
    encoder = WordEncoder()
    assert anchor_of(encoder) is None
    encoder.card = encoder.card.replace(exclusion={"anchor": ["dog", "cat sings"]})
    assert anchor_of(encoder) == pytest.approx(embedded("dog", "cat sings").mean(axis=0))
