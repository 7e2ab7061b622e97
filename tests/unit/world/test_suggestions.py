"""Suggestions for queries that hardly any clip fits, and words that may be meant."""

import json
from functools import cache

import pytest

from nt2vr.api import understand
from nt2vr.negation.parse.query import Query
from nt2vr.settings import ASSETS
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Action, Figure, Scene
from nt2vr.world.spelling import num_edits, similar_words
from nt2vr.world.suggestions import FEW, MAX_SUGGESTIONS, Suggestions
from nt2vr.world.verdicts import judge

GUITARIST = Figure("man", "red", actions=(Action("play", "guitar", colour="red"),))
DANCER = Figure("man", "red", actions=(Action("dance"),))
CAT = Figure("cat", "brown", actions=(Action("sleep"),))
SCENES = [
    Scene("park", False, (GUITARIST,), 1),
    Scene("stage", False, (GUITARIST, CAT), 2),
    Scene("park", False, (GUITARIST,), 3),
    Scene("beach", False, (DANCER,), 4),
    Scene("park", False, (DANCER,), 5),
]
SAMPLED = sample_scenes("train", 150, 3)
DEAD_ENDS = (
    "a quokka, no unicorn",
    "two cats in the garden but no flower",
    "a boy eating pizza without cheese",
    "three penguins at night but no polar bear",
    "an astronaut riding a horse, no moon",
    "a beautiful sunset without clouds",
    "a purple dragon but no knight",
    "a birthday party without balloons",
    "a small dog without people",
    "children playing football but no ball",
    "a lion and a tiger, no bear",
    "a cat chasing a mouse, no dog",
    "a girl with no shoes",
    "a table with nothing on it",
    "a zebra without stripes",
    "a teacher without a blackboard",
    "a woman wearing a green dress without a handbag",
    "no music",
    "an old man, not young",
    "asdfgh without qwerty",
)


@pytest.fixture(scope="module")
def gallery() -> Suggestions:
    return Suggestions(gallery_scenes())


@cache
def gallery_scenes() -> list[Scene]:
    lines = (ASSETS / "gallery" / "gallery.jsonl").read_text(encoding="utf-8").splitlines()
    return [Scene.from_dict(json.loads(line)["scene"]).dressed for line in lines]


def test_clips_that_fit_are_counted() -> None:
    suggestions = Suggestions(SCENES)
    assert suggestions.fitting(Query("", ("a man playing the guitar",), ("a cat",))) == 2
    assert suggestions.fitting(Query("", ("a man",), ())) == 5
    assert suggestions.fitting(Query("", ("a man",), ("a quokka",))) is None


@pytest.mark.parametrize(
    "text",
    [
        "no dog",
        "a man but no woman",
        "at most two women",
        "only one man",
        "a child who is not happy",
        "a woman eating without a table",
        "a man sits and then leaves, not in a kitchen",
        "someone in red, not outdoors",
        "two people and no animals",
        "the moon without an astronaut",
    ],
)
def test_counts_are_those_of_judging_each_clip(text: str) -> None:
    query = understand(text)
    verdicts = [judge(query, scene) for scene in SAMPLED]
    assert (Suggestions(SAMPLED).fitting(query) or 0) == verdicts.count("right")


@pytest.mark.parametrize("text", DEAD_ENDS)
def test_a_dead_end_leads_to_two_useful_queries(gallery: Suggestions, text: str) -> None:
    query = understand(text)
    assert (gallery.fitting(query) or 0) <= FEW
    suggestions = gallery.near(query, understand)
    assert len(set(suggestions)) == MAX_SUGGESTIONS == 2
    for suggestion in suggestions:
        suggested = understand(suggestion)
        verdicts = [judge(suggested, scene) for scene in gallery_scenes()]
        assert verdicts.count("right") > FEW and "violation" in verdicts, suggestion


@pytest.mark.parametrize(
    ("text", "common_words", "first"),
    [
        ("a small dog without people", "without people", "a dog without people"),
        ("a lion and a tiger, no bear", "no bear", "a lion, no bear"),
        (
            "three penguins at night but no polar bear",
            "no polar bear",
            "penguins but no polar bear",
        ),
        ("an astronaut riding a horse, no moon", "no moon", "an astronaut, no moon"),
        ("a girl with no shoes", "a girl but no", "a girl but no dog"),
        ("somebody reading, not writing", "somebody reading", "somebody reading but no robot"),
        ("a quiet library without books", "without books", "a person without books"),
        ("a tiger outside a cage", "a tiger", "a tiger outside"),
        ("a fisherman who caught no fish", "no fish", "a person fishing no fish"),
        ("an empty street at night", "on the street", "a person on the street at night"),
        (
            "a purple dragon, no quokka and not at night",
            "no kangaroo and not at night",
            "a dragon but no kangaroo and not at night",
        ),
    ],
)
def test_suggestions_are_close_and_keep_what_is_unwanted(
    gallery: Suggestions, text: str, common_words: str, first: str
) -> None:
    suggestions = gallery.near(understand(text), understand)
    assert suggestions[0] == first
    for suggestion in suggestions:
        assert common_words in suggestion


def test_an_affirmative_query_needs_no_wrong_clips() -> None:
    assert Suggestions(SCENES).near(understand("a man flying"), understand)[0] == "a man"


@pytest.mark.parametrize(
    ("word", "similar"),
    [
        ("dgo", ["dog"]),
        ("elephnat", ["elephant"]),
        ("gitar", ["guitar"]),
        ("lino", ["lion"]),
        ("table", []),
        ("dog", []),
        ("xy", []),
        ("qwertyuiop", []),
    ],
)
def test_a_misspelt_word_has_known_words_that_may_be_meant(word: str, similar: list[str]) -> None:
    assert similar_words(word) == similar


@pytest.mark.parametrize(
    ("first", "second", "edits"),
    [("dog", "dog", 0), ("dgo", "dog", 1), ("dog", "dogs", 1), ("cat", "dog", 3), ("", "cat", 3)],
)
def test_edits_are_counted(first: str, second: str, edits: int) -> None:
    assert num_edits(first, second) == num_edits(second, first) == edits
