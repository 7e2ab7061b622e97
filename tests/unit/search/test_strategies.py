"""Strategies that exclude without training, by hand and against the published formulas."""

from math import acos, cos, pi, sin, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.models.card import Card
from nt2vr.search.strategies import STRENGTHS, EmbeddedParts, System, anchor_of, anchored, spherical
from tests.support.word_encoder import WordEncoder, embedded

X, Y = np.eye(2, dtype=np.float32)


def at(*degrees: float) -> NDArray[np.float32]:
    """Unit vectors at angles from the x axis, one row each."""
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def parts(unwanted: NDArray[np.float32], strength: float, wanted: Any = X) -> EmbeddedParts:
    return EmbeddedParts(X, wanted, unwanted, strength)


def angle(vector: Any) -> float:
    """Degrees from the x axis."""
    return float(np.degrees(np.arctan2(vector[1], vector[0])))


def test_anchored_against_the_published_formula() -> None:
    rng = np.random.default_rng(0)
    e, n, a = (rng.standard_normal(16).astype(np.float32) for _ in range(3))
    e = e / np.linalg.norm(e)
    n = n / np.linalg.norm(n)
    published = e - 1.9 * ((e @ n) / (n @ n) * n - a)
    assert anchored(EmbeddedParts(e, None, n[None], 1.9, a)) == pytest.approx(published, abs=1e-6)


def test_anchored_stays_bounded_for_nearly_parallel_parts() -> None:
    rng = np.random.default_rng(0)
    sentence, n = (unit(rng.standard_normal(16)) for _ in range(2))
    once = anchored(EmbeddedParts(sentence, None, n[None], 1.9))
    assert anchored(EmbeddedParts(sentence, None, np.stack([n, n]), 1.9)) == pytest.approx(
        once, abs=1e-5
    )
    nearly = unit(n + 1e-4 * rng.standard_normal(16))
    vector = anchored(EmbeddedParts(sentence, None, np.stack([n, nearly]), 1.9))
    # A vector minus 1.9 times a projection of it is not longer than it was.
    assert vector is not None and np.linalg.norm(vector) <= 1.0 + 1e-5


@pytest.mark.parametrize("theta", [1.0, 20.0, 36.0, 45.0, 90.0, 135.0, 179.0])
@pytest.mark.parametrize("t", [0.5, 0.9, 0.95, 1.0])
def test_spherical_has_the_published_direction(theta: float, t: float) -> None:
    """Eq. 8, which divides by sin(theta); the length does not matter to a ranking."""
    phi = acos(t)
    half = np.radians(theta) / 2
    n = at(theta)[0]
    published = (sin(phi + half) * X + sin(phi - half) * n) / sin(2 * half)
    vector = spherical(parts(n[None], t))
    assert vector == pytest.approx(published / np.linalg.norm(published), abs=2e-5)


def test_spherical_by_hand() -> None:
    """At right angles and t = cos(45 degrees), the directions within 45 degrees of p end where those of n begin."""
    assert spherical(parts(Y[None], cos(pi / 4))) == pytest.approx(X, abs=1e-6)
    # p - n.
    assert angle(spherical(parts(Y[None], 1.0))) == pytest.approx(-45)
    # p + n.
    assert angle(spherical(parts(Y[None], 0.0))) == pytest.approx(45)


def test_spherical_leaves_every_unwanted_part_in_any_order() -> None:
    wanted = np.eye(3, dtype=np.float32)[0]
    unwanted = np.eye(3, dtype=np.float32)[1:]
    vector = spherical(EmbeddedParts(None, wanted, unwanted, 1.0))
    assert vector == pytest.approx(np.array([1, -1, -1]) / sqrt(3))
    assert spherical(EmbeddedParts(None, wanted, unwanted[::-1], 1.0)) == pytest.approx(vector)


def test_without_a_wanted_part_the_unwanted_is_avoided() -> None:
    assert spherical(parts(at(0, 90), 0.95, wanted=None)) == pytest.approx([-1, -1])
    assert anchored(parts(X[None], 1.9, wanted=None)) == pytest.approx(-0.9 * X, abs=1e-6)


def test_a_strength_comes_from_system_search_model_or_default() -> None:
    card = Card("x", exclusion={"lambda": 2.1, "t": 0.98})
    chosen = {"spherical": 0.9}
    assert System("x", "spherical", 0.95).strength_for(card, chosen) == 0.95
    assert System("x", "spherical").strength_for(card, chosen) == 0.9
    assert System("x", "anchored").strength_for(card, chosen) == 2.1
    for strategy, strength in STRENGTHS.items():
        assert System("x", strategy).strength_for(Card("x")) == strength.default
    defaults = {name: strength.default for name, strength in STRENGTHS.items()}
    assert defaults == {"boolean": 0.5, "rectified": 1.0, "anchored": 1.9, "spherical": 0.95}


def test_the_anchor_is_the_mean_of_the_card_s_texts() -> None:
    neutral = WordEncoder()
    neutral.card = neutral.card.replace(exclusion={"anchor": ["dog", "cat sings"]})
    assert anchor_of(neutral) == pytest.approx(embedded("dog", "cat sings").mean(axis=0))
    assert anchor_of(WordEncoder()) is None


def unit(vector: Any) -> NDArray[np.float32]:
    return np.asarray(vector / np.linalg.norm(vector), np.float32)
