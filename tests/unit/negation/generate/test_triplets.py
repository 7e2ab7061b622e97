"""Triplets from captions one word apart: pairs against a plain comparison of all, and their texts."""

import csv
import random
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.negation.generate.triplets import (
    MAX_VIDEO_PAIRS,
    TEXTS,
    NearCaptions,
    Triplet,
    Words,
    caption_pairs,
    is_plain,
    mine,
    statistics,
    words_of,
    write_by_template,
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


@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="needs captions")
def test_two_thousand_captions_give_the_pairs_of_a_plain_comparison() -> None:
    with (SHARED / "data" / "msrvtt_captions_2k.csv").open(encoding="utf-8") as file:
        captions = [words_of(row["sentence"]) for row in csv.DictReader(file)][:2000]
    assert {(pair.one, pair.other) for pair in caption_pairs(captions)} == plain_pairs(captions)


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
    captions = {"1": ["a dog runs"], "2": ["a cat runs"], "3": ["a puppy runs"], "4": ["a coin runs"]}
    found = {(pair.reference, pair.target) for pair in mine(captions, embed, 99)}
    assert found == {("1", "2"), ("2", "1"), ("2", "3"), ("3", "2")}


def test_at_most_ten_pairs_of_videos_in_both_directions() -> None:
    captions = {f"{name}{n}": [f"a {name} runs"] for name in ("dog", "cat") for n in range(5)}
    found = mine(captions, embed, 99)
    assert len(found) == 2 * MAX_VIDEO_PAIRS
    assert {(p.reference, p.target) for p in found} == {(p.target, p.reference) for p in found}


@pytest.mark.parametrize(
    ("one", "other", "place", "expected"),
    [
        ("a dog runs", "a cat runs", 1, {each.format(old="dog", new="cat") for each in TEXTS}),
        ("a brown dog", "a dog", 1, {"Remove brown"}),
        ("a dog", "a brown dog", 1, {"Add brown", "Change it to brown"}),
    ],
)
def test_all_templates_are_used_that_have_words_for_them(one: str, other: str, place: int, expected: set[str]) -> None:
    pair = NearCaptions(words_of(one), words_of(other), place)
    rng = random.Random(1)
    assert {write_by_template(pair, rng) for _ in range(200)} == expected


def test_statistics_count_words_once_and_videos_on_either_side() -> None:
    captions = ("a dog", "a cat")
    found = [
        Triplet("v0", "v1", "Add a cat", captions),
        Triplet("v1", "v0", "add a dog!", captions),
        Triplet("v2", "v1", "cat", captions),
    ]
    assert statistics(found) == {
        "triplets": 3,
        "videos": 3,
        "targets": 2,
        "triplets per target": 1.5,
        "unique words": 4,
        "mean characters": 7.3,
    }
    assert statistics([])["mean characters"] == 0
