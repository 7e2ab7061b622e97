"""Verdicts next to a reference of the built-in world: what the text changes, and what it leaves alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import understand
from nt2vr.world.scenes import Action, Figure, Scene
from nt2vr.world.verdicts import judge_edit, judge_video


def doing(thing: str, verb: str, target: str | None = None, *more: Action) -> Figure:
    colour = (
        "red" if thing in ("boy", "woman", "man") else "brown" if thing in ("dog", "cat") else ""
    )
    return Figure(thing, colour, actions=(Action(verb, target), *more))


DANCER = doing("boy", "dance")
DOG = doing("dog", "run")
READER = doing("woman", "read", "book")
HAT = Action("wear", "top hat")
REFERENCE = Scene("park", False, (DANCER, DOG))


@pytest.mark.parametrize(
    ("text", "figures", "verdict"),
    [
        ("without the dog", (DANCER,), "right"),
        # Further actors are free.
        ("without the dog", (DANCER, READER), "right"),
        ("without the dog", (DANCER, DOG), "violation"),
        # There is no dog, but no dancer either.
        ("without the dog", (READER,), "miss"),
        ("without the dog", (doing("boy", "read", "book"),), "miss"),
        ("remove the one dancing", (DOG,), "right"),
        ("replace the dog with a cat", (DANCER, doing("cat", "run")), "right"),
        # The dog ran.
        ("replace the dog with a cat", (DANCER, doing("cat", "sleep")), "miss"),
        ("reading instead of dancing", (doing("boy", "read", "book"), DOG), "right"),
        ("reading instead of dancing", (doing("man", "read", "book"), DOG), "miss"),
        ("add a woman reading", (DANCER, DOG, READER), "right"),
        ("add a woman reading", (DOG, READER), "miss"),
        ("the boy is wearing a top hat", (doing("boy", "dance", None, HAT), DOG), "right"),
        ("the boy is wearing a top hat", (doing("boy", "read", "book", HAT), DOG), "miss"),
        ("", (DANCER, DOG), "right"),
        ("", (DANCER,), "miss"),
        ("without the zeppelin", (DANCER, DOG), None),
    ],
)
def test_a_right_clip_has_the_change_and_the_rest(
    text: str, figures: tuple[Figure, ...], verdict: str | None
) -> None:
    query = understand(text, editing=True)
    assert judge_edit(query, REFERENCE, Scene("beach", False, figures)) == verdict


def test_a_place_is_changed_alone() -> None:
    query = understand("on the beach instead", editing=True)
    assert judge_edit(query, REFERENCE, Scene("beach", False, (DANCER, DOG))) == "right"
    assert judge_edit(query, REFERENCE, Scene("beach", False, (DANCER,))) == "miss"
    assert judge_edit(query, REFERENCE, REFERENCE) == "miss"


def test_a_scene_of_another_world_gets_no_verdict() -> None:
    query = understand("without the dog", editing=True)
    ours, theirs, none = (
        Video("v", Path("v.mp4"), scene=scene)
        for scene in (REFERENCE.to_dict(), {"place": "park", "actors": []}, None)
    )
    assert judge_video(query, ours) == judge_video(query, ours, ours) == "violation"
    for wrong_scene in (theirs, none):
        assert (
            judge_video(query, wrong_scene)
            is judge_video(query, ours, wrong_scene)
            is judge_video(query, wrong_scene, ours)
            is None
        )


def test_what_a_picture_wears_is_seen() -> None:
    queen = Video("v", Path("v.mp4"), scene=Scene("park", False, (Figure("princess"),)).to_dict())
    assert judge_video(understand("a queen without a crown"), queen) == "violation"
    assert judge_video(understand("add a hat", editing=True), queen, queen) == "miss"


LOOKS = replace(DANCER, actions=(Action("look at", 0),))


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        ((DOG, DANCER), "add a chair, without the dog", (DANCER, Figure("chair"))),
        ((DOG, LOOKS), "replace the dog with a cat", (doing("cat", "run"), LOOKS)),
        ((DOG, DANCER), "without the dog, a girl instead of the boy", (doing("girl", "dance"),)),
    ],
    ids=[
        "a chair does not run",
        "who looked at the dog looks at the cat",
        "a girl replaces the boy, not the dog",
    ],
)
def test_what_is_added_takes_the_part_of_what_it_replaces(
    before: tuple[Figure, ...], text: str, after: tuple[Figure, ...]
) -> None:
    reference, scene = (Scene("park", False, figures) for figures in (before, after))
    assert judge_edit(understand(text, editing=True), reference, scene) == "right"
