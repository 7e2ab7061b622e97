"""Captions are varied, affirmative English and true of their scenes."""

import random
import re

import pytest

from nt2vr.language.query import understand
from nt2vr.language.tagger import load_tagger
from nt2vr.world.captions import captions, describe
from nt2vr.world.scenes import Actor, Scene, sample_scenes

SMALLEST = Scene("street", (Actor("bus", "drive"),))
NEGATION = (
    r"n't|\b(not?|nt|never|neither|nor|none|nobody|nothing|nowhere|without|w/o|except|excluding|instead|rather|"
    r"free of|lacks?|lacking|missing|minus|zero|but|hardly|barely|away|empty|alone|only|hatless|un\w+)\b"
)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [text for scene in sample_scenes("train", 700, seed=6) for text in captions(scene, 6)]


def test_no_caption_has_a_negation_word(texts: list[str]) -> None:
    """Affirmative captions only: the model that is trained on them must never have seen a cue."""
    assert [text for text in texts if re.search(NEGATION, text)] == []


def test_captions_have_no_unwanted_part(texts: list[str]) -> None:
    tagger = load_tagger()
    queries = [understand(text, tagger) for text in texts[::42]]
    assert [query.text for query in queries if query.unwanted or query.wanted != (query.text,)] == []


def test_no_caption_mentions_left_or_right(texts: list[str]) -> None:
    """Clips are mirrored at random."""
    assert [text for text in texts if re.search(r"\b(left|right)\b", text)] == []


def test_captions_are_clean_english(texts: list[str]) -> None:
    wrong = r"\ba [aeiou]|\ban [^aeiou]|  | ,|,,|^[ ,]|[ ,]$|\b(a|an|the) (a|an|the)\b|[^a-z ,]"
    assert [text for text in texts if re.search(wrong, text)] == []


def test_a_scene_has_as_many_distinct_captions_as_requested() -> None:
    for scene in (SMALLEST, *sample_scenes("test", 100, seed=7)):
        assert len(set(captions(scene, 12))) == 12


def test_captions_vary_in_wording() -> None:
    scene = Scene("park", (Actor("man", "guitar", "tophat"), Actor("woman", "bike")), ("flower",))
    texts = captions(scene, 60)
    assert {text.split()[1] for text in texts if text.startswith("a ")} >= {
        "man",
        "guy",
        "male",
        "woman",
        "lady",
        "female",
    }
    for words in (
        " while ",
        " and ",
        " as ",
        "riding",
        "rides",
        "strum",
        "in the park",
        "in a park",
        "next to",
        "beside",
    ):
        assert any(words in text for text in texts), words


def test_a_caption_claims_no_more_than_it_says() -> None:
    """A claim with more than the words in it would call right clips wrong."""
    scene = Scene("beach", (Actor("man", "sing", "cap"), Actor("dog", "run")), ("sun",))
    rng = random.Random(3)
    for _ in range(200):
        text, claim = (caption := describe(scene, rng)).text, caption.claim
        assert bool(claim.places) == bool(re.search("beach|seaside", text))
        assert bool(claim.props) == ("sun" in text)
        assert any(who.wearing for who in claim.actors) == ("cap" in text)
        assert len(claim.actors) == bool(re.search("man|guy|male", text)) + bool(re.search("dog|puppy", text))


def test_equal_seeds_give_equal_captions() -> None:
    scene = sample_scenes("test", 1, seed=8)[0]
    assert captions(scene, 6) == captions(scene, 8)[:6]
    assert captions(scene, 6) != captions(scene, 6, seed=1)
