"""Mining of triplets against a plain comparison of all pairs."""

import csv
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.negation.generate.triplets.mining import (
    MAX_VIDEO_PAIRS,
    NearCaptions,
    Words,
    caption_pairs,
    is_plain,
    mine,
    words_of,
)
from tests.paths import SHARED

YOUNG, OLD, COUPLE = (
    words_of(text) for text in ("Young woman smiling.", "Old woman, smiling", "Young couple smiling")
)


def plain_pairs(captions: Sequence[Words]) -> set[tuple[Words, Words]]:
    """All pairs one word apart, by trying every word of both."""
    found = set()
    for a, b in combinations(sorted(set(captions)), 2):
        if abs(len(a) - len(b)) > 1:
            continue
        shorter, longer = sorted((a, b), key=len)
        if len(a) == len(b):
            apart = sum(x != y for x, y in zip(a, b, strict=True)) == 1
        else:
            apart = any(longer[:i] + longer[i + 1 :] == shorter for i in range(len(longer)))
        if apart:
            found.add((a, b))
    return found


def test_captions_one_word_apart_are_paired() -> None:
    assert {(pair.one, pair.other) for pair in caption_pairs([YOUNG, OLD, COUPLE])} == {(OLD, YOUNG), (COUPLE, YOUNG)}
    (pair,) = caption_pairs([YOUNG, OLD])
    assert pair.words == ("old", "young")


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ("a dog runs", "a brown dog runs", ("brown", "")),
        ("a dog", "a dog runs", ("", "runs")),
        ("dog", "a dog", ("a", "")),
        ("a very very big dog", "a very big dog", None),
    ],
)
def test_a_word_more_is_a_word_apart(one: str, other: str, words: tuple[str, str] | None) -> None:
    (pair,) = caption_pairs([words_of(one), words_of(other)])
    if words is not None:
        first = pair if pair.one == words_of(one) else pair.swapped
        assert set(first.words) == set(words)


def test_a_moved_word_is_not_a_word_apart() -> None:
    assert not list(caption_pairs([words_of("red dogs and cats"), words_of("dogs and red cats")]))


@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="needs captions")
def test_two_thousand_captions_give_the_pairs_of_a_plain_comparison() -> None:
    with (SHARED / "data" / "msrvtt_captions_2k.csv").open(encoding="utf-8") as file:
        captions = [words_of(row["sentence"]) for row in csv.DictReader(file)][:2000]
    assert {(pair.one, pair.other) for pair in caption_pairs(captions)} == plain_pairs(captions)


def test_synthetic_captions_give_the_pairs_of_a_plain_comparison() -> None:
    rng = np.random.default_rng(0)
    captions = [tuple(rng.choice(list("abc"), size=rng.integers(1, 5))) for _ in range(150)]
    captions = [tuple(map(str, words)) for words in captions]
    found = [(pair.one, pair.other) for pair in caption_pairs(captions)]
    assert set(found) == plain_pairs(captions)
    assert len(found) == len(set(found))


@pytest.mark.parametrize(
    ("one", "other", "plain"),
    [
        ("a dog runs", "a cat runs", True),
        ("filmed in 2012", "filmed in 2013", False),
        ("a dog runs", "a xqzzy runs", False),
        ("flag of france", "flag of spain", False),
        ("a dog runs", "a dog quickly runs", True),
        ("a dog in his house", "a dog in its house", False),
    ],
)
def test_digits_unknown_words_and_templates_are_dropped(one: str, other: str, plain: bool) -> None:
    (pair,) = caption_pairs([words_of(one), words_of(other)])
    assert is_plain(pair) == plain


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Cosine .8 of a dog and a cat, 1 of a dog and a puppy, below 0 of a coin and any of them."""
    angles = {"cat": np.arccos(0.8), "coin": 0.75 * np.pi}
    found = [next((angle for word, angle in angles.items() if word in text), 0.0) for text in texts]
    return np.array([[np.cos(angle), np.sin(angle)] for angle in found], np.float32)


def test_pairs_too_alike_and_too_different_are_dropped() -> None:
    captions = [("1", "a dog runs"), ("2", "a cat runs"), ("3", "a puppy runs"), ("4", "a coin runs")]
    found = {(pair.reference, pair.target) for pair in mine(captions, embed)}
    assert found == {("1", "2"), ("2", "1"), ("2", "3"), ("3", "2")}


def test_at_most_ten_pairs_of_videos_in_both_directions() -> None:
    captions = [(f"dog{n}", "a dog runs") for n in range(5)] + [(f"cat{n}", "a cat runs") for n in range(5)]
    found = mine(captions, embed)
    assert len(found) == 2 * MAX_VIDEO_PAIRS
    assert {(p.reference, p.target) for p in found} == {(p.target, p.reference) for p in found}


def test_a_video_is_not_its_own_target() -> None:
    assert mine([("1", "a dog runs"), ("1", "a cat runs")], embed) == []


def test_the_word_that_differs_is_known_in_both_directions() -> None:
    pair = NearCaptions(("a", "dog"), ("a", "big", "dog"), 1)
    assert (pair.words, pair.swapped.words) == (("", "big"), ("big", ""))
