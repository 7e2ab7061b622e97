"""Ordered pairs of stored clips: each sentence is true of its frames in their order, and false of the other order."""

import random

import numpy as np

from nt2vr.world.deeds import deeds
from nt2vr.world.scenes import Scene, main_deeds
from nt2vr.world.splits import sample_scenes
from nt2vr.world.wording import SEQUENCES, in_turn
from trainer.data.ordered import Solos, solos_of


def _doings(scene: Scene) -> set[tuple[str, str]]:
    return {(solo.thing, solo.verb) for solo in solos_of(0, scene)}


def test_each_sentence_names_what_its_frames_show_first_and_then() -> None:
    scenes = sample_scenes("train", 300, 0)
    drawn = Solos(scenes).draw(20, 5, random.Random(0))
    assert len(drawn.texts) == 40 and drawn.rows.shape == drawn.frames.shape == (40, 5)
    for number, (text, rows, frames) in enumerate(zip(drawn.texts, drawn.rows, drawn.frames, strict=True)):
        first, second = rows[0], rows[-1]
        assert rows.tolist() == [first] * 2 + [second] * 3  # half of the frames of each, in their order
        assert (np.diff(frames[:2]) > 0).all() and (np.diff(frames[2:]) > 0).all()
        assert drawn.rows[number ^ 1].tolist() == [second] * 2 + [first] * 3
        assert text != drawn.texts[number ^ 1]
        told = [
            (one, other)
            for thing, one in _doings(scenes[first])
            for again, other in _doings(scenes[second])
            if thing == again and one != other and _says(text, one, other)
        ]
        assert told, text


def _says(text: str, one: str, other: str) -> bool:
    """Return whether a text says that somebody does one thing and then the other, in any words."""
    return any(
        text.endswith(in_turn("", first, second, joint))
        for first in deeds()[one].phrases
        for second in deeds()[other].phrases
        for joint in SEQUENCES
    )


def test_who_does_it_does_nothing_else_and_to_nobody() -> None:
    for scene in sample_scenes("train", 100, 1):
        for solo in solos_of(0, scene):
            (figure,) = (figure for figure in scene.figures if figure.thing == solo.thing)
            (deed,) = main_deeds(figure)
            assert (deed.verb, deed.object, deed.start, deed.end, figure.count) == (solo.verb, None, 0, 1, 1)


def test_equal_seeds_draw_alike_and_too_few_clips_draw_nothing() -> None:
    solos = Solos(sample_scenes("train", 100, 0))
    one, other, third = (solos.draw(4, 4, random.Random(seed)) for seed in (1, 1, 2))
    assert one.texts == other.texts != third.texts and (one.rows == other.rows).all()
    none = Solos([]).draw(4, 4, random.Random(0))
    assert none.texts == [] and none.rows.shape == (0, 4)


def test_what_is_done_first_is_said_last_with_after_alone() -> None:
    said = {joint: in_turn("a man", "sing", "take a nap", joint) for joint in SEQUENCES}
    assert said == {
        "before": "a man sings before taking a nap",
        "after": "a man takes a nap after singing",
        "and then": "a man sings and then takes a nap",
        ", then": "a man sings, then takes a nap",
        "and afterwards": "a man sings and afterwards takes a nap",
    }
