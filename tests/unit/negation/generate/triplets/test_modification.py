"""Modification texts of caption pairs."""

import random

import pytest

from nt2vr.negation.generate.triplets.mining import caption_pairs, words_of
from nt2vr.negation.generate.triplets.modification import Modifier
from nt2vr.negation.parse.tagger import Tagger


@pytest.fixture(scope="module")
def modifier() -> Modifier:
    return Modifier(Tagger())


@pytest.mark.parametrize(
    ("one", "other", "old", "new"),
    [
        ("a man is running", "a woman is running", "a man", "a woman"),
        ("two dogs play in the water", "two dogs run in the water", "playing in the water", "running in the water"),
        ("a yellow dog runs", "a small dog runs", "a yellow dog", "a small dog"),
        ("two dogs running on the sand", "two dogs running on the shore", "the sand", "the shore"),
        ("a car is being driven", "a car is being displayed", "being driven", "being displayed"),
        ("a dog runs", "a dog is running", "", ""),
    ],
)
def test_a_replaced_word_is_told_with_its_phrase(modifier: Modifier, one: str, other: str, old: str, new: str) -> None:
    pairs = list(caption_pairs([words_of(one), words_of(other)]))
    found = {
        modifier.write(pair if pair.one == words_of(one) else pair.swapped, random.Random(n))
        for pair in pairs
        for n in range(20)
    }
    assert found == (
        {f"{new} instead of {old}", f"replace {old} with {new}", f"change {old} to {new}"} if old else set()
    )


@pytest.mark.parametrize(
    ("one", "other", "texts"),
    [
        ("a dog runs", "a brown dog runs", {"make it brown", "brown"}),
        ("a brown dog runs", "a dog runs", {"not brown"}),
        ("a man with dogs", "a man with", {"remove dogs", "without dogs"}),
        ("a dog runs", "dog runs", {""}),
    ],
)
def test_an_added_or_removed_word_is_told_by_its_kind(
    modifier: Modifier, one: str, other: str, texts: set[str]
) -> None:
    (pair,) = caption_pairs([words_of(one), words_of(other)])
    pair = pair if pair.one == words_of(one) else pair.swapped
    assert {modifier.write(pair, random.Random(n)) for n in range(20)} == texts
