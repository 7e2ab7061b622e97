"""Captions are varied, affirmative English."""

import random
import re
from itertools import chain

import pytest

from nt2vr.negation.parse.query import understand
from nt2vr.world.captions import captions, describe
from nt2vr.world.labels import labels
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Action, Figure, Scene

NEGATION = (
    r"n't|\b(not?|nt|never|neither|nor|none|nobody|nothing|nowhere|without|w/o|except|excluding|instead|rather|"
    r"free of|lacks?|lacking|missing|minus|zero|but|hardly|barely|empty|alone|only|hatless|un(?!i|der)\w+)\b"
)
MAN = Figure("man", "red", actions=(Action("sing"), Action("wear", "cap", colour="blue")))
DOG = Figure("dog", "brown", actions=(Action("run"),))


@pytest.fixture(scope="module")
def texts() -> list[str]:
    texts: list[str] = []
    for scene in sample_scenes("train", 700, seed=6):
        texts += captions(scene, 6)
    return texts


def test_captions_have_no_unwanted_part(texts: list[str]) -> None:
    for text in texts[::42]:
        query = understand(text)
        assert (query.wanted, query.unwanted) == ((query.text,), ())


@pytest.mark.parametrize(
    "wrong",
    [
        # The model that is trained on captions must never have seen a cue.
        NEGATION,
        # Clips are mirrored at random.
        r"\b(left|right)\b",
        r"\ba ([aeio]|SUV)|\ban (?!SUV)[^aeiou]|\bin the end\b|"
        r"  | ,|,,|^[ ,]|[ ,]$|\b(a|an|the) (a|an|the)\b|[^A-Za-z ,'-]",
    ],
    ids=["negation", "side", "unclean English"],
)
def test_no_caption_has_what_it_must_not_have(texts: list[str], wrong: str) -> None:
    assert [text for text in texts if re.search(wrong, text)] == []


def test_taught_words_have_the_right_article() -> None:
    texts = list(chain.from_iterable(label.texts for label in labels()))
    assert {"an SUV", "a UFO", "an archer", "a unicorn"} <= {*texts}
    assert [text for text in texts if re.search(r"\ba [aeio]", text)] == []


def test_a_caption_claims_no_more_than_it_says() -> None:
    """A claim with more than the words in it would call right clips wrong."""
    scene = Scene("beach", False, (MAN, DOG, Figure("sun")))
    rng = random.Random(3)
    for _ in range(200):
        caption = describe(scene, rng)
        text = caption.text
        claim = caption.claim
        if {"sun"} in [subject.names for subject in claim.subjects]:
            assert "sun" in text
        colours = [subject.colour for subject in claim.subjects]
        assert ("red" in colours) == ("red" in text)
        acts = chain.from_iterable(subject.acts for subject in claim.subjects)
        names_cap = bool(re.search(r"\b(cap|hat|clothing|garment)\b", text))
        assert any(act.objects for act in acts) == names_cap
        assert (claim.night is not None) == bool(re.search("day", text))
