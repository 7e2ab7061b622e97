"""CoVR's nine templates, and statistics of triplets."""

import random

import pytest

from nt2vr.negation.generate.triplets.files import Triplet, statistics
from nt2vr.negation.generate.triplets.mining import NearCaptions, words_of
from nt2vr.negation.generate.triplets.modification import write_by_template
from nt2vr.negation.generate.written import wordings_in

TEMPLATES = wordings_in("triplets.json")["CoVR's"]


@pytest.mark.parametrize(
    ("one", "other", "place", "expected"),
    [
        ("a dog runs", "a cat runs", 1, {each.format(old="dog", new="cat") for each in TEMPLATES}),
        ("a brown dog", "a dog", 1, {"Remove brown"}),
        ("a dog", "a brown dog", 1, {"Add brown", "Change it to brown"}),
    ],
)
def test_all_templates_are_used_that_have_words_for_them(one: str, other: str, place: int, expected: set[str]) -> None:
    pair = NearCaptions(words_of(one), words_of(other), place)
    rng = random.Random(1)
    assert {write_by_template(pair, rng) for _ in range(200)} == expected


def test_of_nine_templates_two_are_alike() -> None:
    assert (len(TEMPLATES), len(set(TEMPLATES))) == (9, 8)
    rng, pair = random.Random(0), NearCaptions(("dog",), ("cat",), 0)
    written = [write_by_template(pair, rng) for _ in range(9_000)]
    assert 1_800 < written.count("Replace dog with cat") < 2_200  # two ninths


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
