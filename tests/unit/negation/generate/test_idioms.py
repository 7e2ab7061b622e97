"""Sentences that deny nothing: their paraphrases, agreement, and that trained and measured wordings differ."""

import random
from collections.abc import Mapping, Sequence
from itertools import chain

import pytest

from nt2vr.evaluation.queries import cue_of
from nt2vr.negation.generate.denials import CaptionDenials
from nt2vr.negation.generate.idioms import Wordings
from nt2vr.negation.generate.wordings import wordings_in

CAPTIONS = (
    "a man is playing the guitar and singing a song with a dog",
    "two girls are riding bikes on a beach",
)


def drawn(caption: str, unseen: bool = False) -> dict[str, str]:
    denials = CaptionDenials([caption] * 2)
    idioms = {}
    for seed in range(300):
        rng = random.Random(seed)
        idiom = denials.draw(0, "idiom", rng, "unseen" if unseen else "trained")
        assert idiom is not None
        assert idiom.kind == "idiom"
        assert idiom.unwanted == ""
        idioms[idiom.text] = idiom.wanted
    return idioms


def test_idioms_agree_with_their_subject_and_say_what_happens() -> None:
    man = drawn(CAPTIONS[0])
    girls = drawn(CAPTIONS[1])
    assert man["a man can't stop playing the guitar"] == "a man keeps playing the guitar"
    assert girls["girls never stop riding bikes on a beach"] == "girls keep riding bikes on a beach"
    assert man["a man is not only playing the guitar but also singing a song with a dog"] == (
        "a man is playing the guitar and singing a song with a dog"
    )
    assert girls["girls do not stop riding bikes on a beach for a single moment"] == (
        "girls keep riding bikes on a beach"
    )
    assert man["nothing but a dog"] == "only a dog"
    unseen = drawn(CAPTIONS[0], unseen=True)
    assert unseen["a man can't help playing the guitar"] == "a man keeps playing the guitar"


@pytest.mark.parametrize("wordings", ["trained", "unseen"])
def test_every_idiom_has_a_cue_and_no_paraphrase_has(wordings: Wordings) -> None:
    for caption in CAPTIONS:
        for text, meaning in drawn(caption, unseen=wordings == "unseen").items():
            assert cue_of(text) and not cue_of(meaning), text
            assert "{" not in text + meaning


def test_no_wording_is_both_trained_on_and_measured() -> None:
    wordings = wordings_in("idioms.json")
    trained = wordings["trained"]
    measured = wordings["unseen"]
    assert trained.keys() == measured.keys()
    assert texts_of(trained).isdisjoint(texts_of(measured))
    unseen = drawn(CAPTIONS[0], unseen=True)
    for caption in CAPTIONS:
        assert drawn(caption).keys().isdisjoint(unseen)


def texts_of(wordings: Mapping[str, Sequence[Sequence[str]]]) -> set[str]:
    """Return the sentences of all idioms, without their paraphrases."""
    return {text for text, _ in chain.from_iterable(wordings.values())}
