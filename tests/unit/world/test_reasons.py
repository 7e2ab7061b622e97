"""What clips of the built-in world say of their verdicts."""

from pathlib import Path

import pytest

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import understand
from nt2vr.world.reasons import lacking, shown
from nt2vr.world.scenes import Action, Figure, Scene

SINGER = Figure("man", "red", actions=(Action("sing"), Action("wear", "top hat")))
WALKER = Figure("woman", "blue", actions=(Action("walk"),))
DOGS = Figure("dog", "brown", count=2, size="big")
STREET = Scene("street", False, (SINGER, WALKER, DOGS, Figure("cat", "white")))
BEACH = Scene("beach", True, (Figure("man astronaut"), Figure("car", "red")))


def video(scene: Scene) -> Video:
    return Video("v", Path("v"), scene=scene.to_dict())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a girl", ["no girl"]),
        (
            "a girl eating pizza at the beach",
            ["no girl", "no one eating", "no pizza", "not at the beach"],
        ),
        ("a man and a lion", ["no lion"]),
        ("a man who is dancing", ["not dancing"]),
        ("a woman asleep", ["not sleeping"]),
        ("a man eating a pizza", ["no pizza"]),
        ("a man with a blue hat", ["hat is not blue"]),
        ("a woman with a hat", ["woman without hat"]),
        ("a woman in red", ["woman is not in red"]),
        ("a black dog", ["dog is not black"]),
        ("small dogs", ["dogs are not small"]),
        ("two cats", ["one cat, not two"]),
        ("only one dog", ["two dogs, not one"]),
        ("exactly one dog", ["two dogs, not one"]),
        ("a drummer", ["no drummer"]),
        ("a dog at night", ["not at night"]),
        ("the sea", ["no sea"]),
        ("a man in the park", ["not in the park"]),
        # Names are in no order, unless they are sorted.
        ("a man in the park or in the desert or in space or in the forest", ["not in the desert"]),
        ("a man and two dogs", []),
        ("a pirate", ["no pirate"]),
        ("two pirates and a lion", ["no pirates", "no lion"]),
        ("a pirate with a dog", ["no pirate"]),
    ],
)
def test_a_clip_says_what_it_lacks(text: str, expected: list[str]) -> None:
    assert lacking(understand(text), video(STREET)) == expected


@pytest.mark.parametrize(
    ("text", "scene", "expected"),
    [
        ("a man without a dog", STREET, ["shows two dogs"]),
        ("a dog without a singer", STREET, ["shows a singer"]),
        ("a dog without singers", STREET, ["shows singers"]),
        ("a man, no animals", STREET, ["shows two dogs and a cat"]),
        ("a cat, no people", STREET, ["shows a man and a woman"]),
        ("a man who is not singing", STREET, ["is singing"]),
        ("a man, nobody walking", STREET, ["is walking"]),
        ("a man without a hat", STREET, ["shows a top hat"]),
        ("a man, not on the street", STREET, ["is on the street"]),
        ("an astronaut, not at night", BEACH, ["is at night"]),
        ("a cat and no other animals", STREET, ["shows two dogs"]),
        ("an astronaut without a red car", BEACH, ["shows a red car"]),
        ("a man without a lion", STREET, []),
    ],
)
def test_a_clip_says_what_it_shows_of_the_unwanted(
    text: str, scene: Scene, expected: list[str]
) -> None:
    assert shown(understand(text), video(scene)) == expected


def test_other_clips_have_no_reasons() -> None:
    query = understand("a man without a dog")
    without_scene = Video("v", Path("v"), ("a man and a dog",))
    assert lacking(query, without_scene) == shown(query, without_scene) == []
