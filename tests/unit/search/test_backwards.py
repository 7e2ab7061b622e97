"""A clip backwards: a pooling that knows the order scores it anew, one that does not leaves it as it is."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer, ClipScore, Ranking
from nt2vr.search.exclusion import Exclusion, focused
from nt2vr.search.strategies import System
from nt2vr.search.why import scored_backwards
from nt2vr.ui.search.clip_view import backwards_view

# Frames of "other" and of "clip".
FRAMES = np.array([[[0, 1], [1, 0]], [[1, 0], [0.6, 0.8]]], np.float32)
WANTED = np.array([1, 0], np.float32)


def mean(frames: NDArray[np.float32]) -> NDArray[np.float32]:
    pooled = frames.mean(axis=1)
    return np.asarray(pooled / np.linalg.norm(pooled, axis=1, keepdims=True), np.float32)


def last(frames: NDArray[np.float32]) -> NDArray[np.float32]:
    return frames[:, -1]


def attention(frames: NDArray[np.float32]) -> NDArray[np.float32]:
    return mean(frames @ np.ones((3, 3), np.float32))


def scored(
    pool: Any, newer: Any = None, exclusion: Exclusion | None = None, **lengths: Any
) -> float | None:
    gallery: Any = SimpleNamespace(
        row_of={"clip": 0},
        frame_rows=np.array([1]),
        all_frames=FRAMES,
        embeddings=pool(FRAMES[[1]]),
    )
    ranking = Ranking(System("CLIP"), (), vector=WANTED, exclusion=exclusion, gallery=gallery)
    answer = Answer(Query("a", ("a",)), (ranking,))
    encoder: Any = SimpleNamespace(
        **{"pool": newer or pool, "embed_dim": 2, "stored_shape": (2, 2), **lengths}
    )
    (score,) = scored_backwards(answer, "clip", lambda _: encoder)
    return score


def test_the_last_frame_backwards_is_the_first() -> None:
    # Forwards it is 0.6.
    assert scored(last) == 1.0
    assert scored(mean) == pytest.approx(float(mean(FRAMES[[1]])[0] @ WANTED), abs=1e-4)


def test_a_query_that_weighs_frames_does_not_know_their_order() -> None:
    focus = np.array([0.5, 0.5], np.float32)
    exclusion = Exclusion(np.zeros((0, 2), np.float32), 0.0, focus=focus)
    forwards = float(focused(FRAMES[[1]], focus)[0] @ WANTED)
    assert scored(last, exclusion=exclusion) == pytest.approx(forwards, abs=1e-4)


def test_a_model_that_was_replaced_since_tells_nothing() -> None:
    assert scored(mean, newer=last) is None
    assert scored(mean, newer=attention, embed_dim=3) is None
    assert scored(mean, newer=attention, stored_shape=(2, 3)) is None


def test_the_page_says_on_whom_the_order_is_lost() -> None:
    seen = [ClipScore(System(name), 1, 0.5, (), 4) for name in ("CLIP", "ordered", "gone")]
    view = backwards_view(
        {"systems": [{"name": one.system.name} for one in seen]}, seen, (0.5001, 0.4, None)
    )
    assert [row["backwards"] for row in view["systems"]] == [
        "unchanged",
        "0.400 (−0.100)",
        "unknown",
    ]
    assert view["order_notice"].startswith("CLIP: nothing changes")
    assert view["pressed"] == "true"
    assert (
        backwards_view({"systems": [{"name": "ordered"}]}, seen[1:2], (0.4,))["order_notice"]
        == "The order of frames counts."
    )
