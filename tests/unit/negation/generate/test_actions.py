"""Subjects and verb phrases found in captions, and vague ones left out."""

import pytest

from nt2vr.negation.generate.actions import actions
from nt2vr.negation.parse.phrases import phrases_of


def actions_in(caption: str) -> list[str]:
    """The pairs of a caption as "subject: verb phrase"."""
    caption_actions = actions(phrases_of(caption))
    return [f"{action.subject.text}: {action.phrase.text}" for action in caption_actions]


@pytest.mark.parametrize(
    ("caption", "pairs"),
    [
        ("a young man plays his guitar", ["a man: play his guitar"]),
        ("a guy is playing guitar and singing", ["a man: play guitar", "a man: sing"]),
        ("a group of girls dancing", ["girls: dance"]),
        ("a man and a woman are cooking", ["people: cook"]),
        # The place may be left out.
        (
            "three cats run across a road",
            ["cats: run", "cats: run across a road"],
        ),
        ("a man who is singing", ["a man: sing"]),
        # What is said is not seen.
        (
            "a man talks to a woman holding a baby",
            ["a woman: hold a baby"],
        ),
        ("a woman rides a big horse", ["a woman: ride a big horse", "a woman: ride a horse"]),
        ("a child picks up a ball", ["a child: pick up a ball"]),
        # Food coloring is a thing.
        ("a man adds food coloring to a bowl", []),
        ("a man feeds a monkey that jumps", ["a man: feed a monkey", "a monkey: jump"]),
        (
            "people meet a star with words floating around",
            # It is the words that float.
            ["people: meet a star", "people: meet a star with words"],
        ),
    ],
)
def test_each_verb_phrase_goes_to_its_subject(caption: str, pairs: list[str]) -> None:
    assert actions_in(caption) == pairs


@pytest.mark.parametrize(
    "caption",
    [
        # It denies.
        "a man is not singing",
        # Passive.
        "a car is being driven",
        # An infinitive.
        "a man tries to swim",
        # It means nothing alone.
        "a man holds it",
        # Cut off.
        "a man holds",
        # Cut off, and unseen.
        "a man is talking about cooking",
        # It is a noun, and "line" needs an object.
        "a person zip lining",
        # Nobody knows who she is.
        "she sings",
        "",
    ],
)
def test_vague_verb_phrases_are_left_out(caption: str) -> None:
    assert actions_in(caption) == []


def test_verb_phrases_are_compared_by_lemmas_without_articles() -> None:
    first, second = (
        actions(phrases_of(caption))[0].phrase
        for caption in ("a man rides the horses", "a man riding a horse")
    )
    assert first.key == second.key == ("ride", "horse")
    assert first.content == {"ride", "horse"}
