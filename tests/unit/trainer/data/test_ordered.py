"""Ordered pairs of stored clips: each sentence is true of its frames in their order, and false of the other order."""

import random
from itertools import product

import numpy as np
import pytest

from nt2vr.world.drawn.motions import spots
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Scene
from nt2vr.world.things import actions
from nt2vr.world.wording import SEQUENCES, conjugate, in_turn
from trainer.inputs import order as ordered
from trainer.inputs.order import FrameOrders, reordered, solos_of


def _doings(scene: Scene) -> set[tuple[str, str]]:
    return {(solo.thing, solo.verb) for solo in solos_of(0, scene)}


def test_each_sentence_names_what_its_frames_show_first_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ordered, "MOTION_SHARE", 0)
    scenes = sample_scenes("train", 300, 0)
    drawn = FrameOrders(scenes).draw(20, 5, random.Random(0))
    assert len(drawn.texts) == 40
    assert drawn.rows.shape == drawn.frames.shape == (40, 5)
    for number, (text, rows, frames) in enumerate(
        zip(drawn.texts, drawn.rows, drawn.frames, strict=True)
    ):
        first = rows[0]
        second = rows[-1]
        # Half of the frames of each, in their order.
        assert rows.tolist() == [first] * 2 + [second] * 3
        assert (np.diff(frames[:2]) > 0).all()
        assert (np.diff(frames[2:]) > 0).all()
        assert drawn.rows[number ^ 1].tolist() == [second] * 2 + [first] * 3
        assert text != drawn.texts[number ^ 1]
        assert _says_a_sequence(text, scenes[first], scenes[second]), text


def _says_a_sequence(text: str, first: Scene, second: Scene) -> bool:
    """Return whether a text says what somebody does in the first scene, and then in the second."""
    for (thing, verb), (second_thing, second_verb) in product(_doings(first), _doings(second)):
        if thing == second_thing and verb != second_verb and _says(text, verb, second_verb):
            return True
    return False


def _says(text: str, first_verb: str, second_verb: str) -> bool:
    """Return whether a text says that somebody does one thing and then the other, in any words."""
    wordings = product(actions()[first_verb].phrases, actions()[second_verb].phrases, SEQUENCES)
    return any(text.endswith(in_turn("", *wording)) for wording in wordings)


def test_another_order_of_the_frames_shows_the_other_motion(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ordered, "MOTION_SHARE", 1)
    scenes = sample_scenes("train", 400, 0)
    seen_pairs = set()
    drawn = FrameOrders(scenes).draw(60, 4, random.Random(0))
    for first, second in zip(range(0, 120, 2), range(1, 120, 2), strict=True):
        (row,) = set(drawn.rows[first]) | set(drawn.rows[second])
        assert drawn.frames[first].tolist() == [0, 1, 2, 3] == sorted(drawn.frames[second])
        pairs = []
        for motion in ordered.motions_of(row, scenes[row]):
            is_first = _does(drawn.texts[first], motion.verb)
            is_second = _does(drawn.texts[second], motion.other_verb)
            if is_first and is_second:
                pairs.append((motion.verb, motion.other_verb))
        assert any(drawn.frames[second].tolist() == reordered(*pair, 4) for pair in pairs), (
            drawn.texts[first]
        )
        seen_pairs |= set(pairs)
    assert {("enter", "leave"), ("throw", "catch"), ("stop", "start")} <= seen_pairs


def _does(text: str, verb: str) -> bool:
    """Return whether a text has a verb in any form and wording."""
    for phrase in actions()[verb].phrases:
        first_word = phrase.split()[0]
        for form in ("{ing}", "{s}"):
            if conjugate(first_word, form) in text:
                return True
    return False


@pytest.mark.parametrize("num_frames", [4, 8])
@pytest.mark.parametrize(
    ("verb", "wanted_verb"),
    [("throw", "catch"), ("catch", "bounce"), ("kick", "roll"), ("turn", "drive past")],
)
def test_reordered_frames_are_where_the_other_motion_is(
    verb: str, wanted_verb: str, num_frames: int
) -> None:
    actual = spots(actions()[verb].motion, num_frames)
    wanted = spots(actions()[wanted_verb].motion, num_frames)
    order = reordered(verb, wanted_verb, num_frames)
    assert [actual[frame] for frame in order] == list(wanted)


def test_what_is_done_first_is_said_last_with_after_alone() -> None:
    sentences = {joint: in_turn("a man", "sing", "take a nap", joint) for joint in SEQUENCES}
    assert sentences == {
        "before": "a man sings before taking a nap",
        "after": "a man takes a nap after singing",
        "and then": "a man sings and then takes a nap",
        ", then": "a man sings, then takes a nap",
        "and afterwards": "a man sings and afterwards takes a nap",
    }
