"""Offers of the built-in world: queries near to one that no clip fits, and words that models are asked for."""

import pytest

from nt2vr.api import understand
from nt2vr.negation.parse.query import Query
from nt2vr.negation.parse.requests import read_typed
from nt2vr.negation.parse.tokens import NO_EMOJI
from nt2vr.world.lexicon import synonyms
from nt2vr.world.offers import FEW, Offers, offered_words
from nt2vr.world.reader import read_claim
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Deed, Figure, Scene
from nt2vr.world.verdicts import judge

CAT = Figure("cat", "brown", deeds=(Deed("sleep"),))
GUITARIST = Figure("man", "red", deeds=(Deed("play", "guitar", colour="red"),))
DANCER = Figure("man", "red", deeds=(Deed("dance"),))
SCENES = [
    Scene("park", False, (GUITARIST,), 1),
    Scene("stage", False, (GUITARIST, CAT), 2),
    Scene("park", False, (GUITARIST,), 3),
    Scene("beach", False, (DANCER,), 4),
    Scene("park", False, (DANCER,), 5),
]
OFFERS = Offers(SCENES)
SAMPLED = sample_scenes("train", 150, 3)
OF_SAMPLED = Offers(SAMPLED)


def test_clips_that_fit_are_counted() -> None:
    assert OFFERS.fitting(Query("", ("a man playing the guitar",), ("a cat",))) == 2
    assert OFFERS.fitting(Query("", ("a man",), ())) == 5
    assert OFFERS.fitting(Query("", ("a man",), ("a quokka",))) is None


@pytest.mark.parametrize(
    "text",
    [
        *(
            "no dog",
            "a man but no woman",
            "at most two women",
            "only one man",
            "a child who is not happy",
        ),
        *("a woman eating without a table", "a man sits and then leaves, not in a kitchen"),
        *("someone in red, not outdoors", "two people and no animals"),
    ],
)
def test_counts_are_those_of_judging_each_clip(text: str) -> None:
    query = understand(text)
    assert (OF_SAMPLED.fitting(query) or 0) == [judge(query, scene) for scene in SAMPLED].count(
        "right"
    )


def test_what_is_offered_is_near_and_fits_more_clips() -> None:
    query = Query("", ("a woman dancing",), ("a cat",))
    assert OFFERS.near(query) == ["a man dancing but no cat"]
    assert OFFERS.fitting(Query("", ("a man dancing",), ("a cat",))) == 2 > FEW
    for unknown in ("a quokka", "an animal with a zeppelin"):  # what the world does not have
        assert OFFERS.near(Query("", (unknown,), ())) == []


def test_synonyms_are_words_of_captions_which_can_be_read() -> None:
    words = set(offered_words())
    assert synonyms()["someone"] == "person" and synonyms()["pond"] == "lake"
    assert synonyms()["🐧"] == "penguin"
    assert all(
        synonyms()[emoji] == "no" and read_typed(f"🐧{emoji}🧊").text == "🐧 no 🧊"
        for emoji in NO_EMOJI
    )
    for word, phrase in synonyms().items():
        if phrase == "no":
            continue
        assert {each for each in phrase.split() if len(each) > 2} <= words, word
        assert read_claim(phrase) is not None
