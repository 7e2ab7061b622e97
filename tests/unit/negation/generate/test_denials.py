"""Negated sentences from captions: expected results for a few, invariants for all."""

import random

import pytest

from nt2vr.negation.generate.denial import Denial, DenialKind
from nt2vr.negation.generate.denials import CaptionDenials
from nt2vr.negation.generate.negator import negations
from nt2vr.negation.generate.query_sets import read_captioned_videos
from nt2vr.world.captions import describe
from nt2vr.world.sampling import sample_scenes
from tests.support.paths import SHARED

FLICKR = SHARED / "data" / "flickr8k_captions.txt"
KINDS: tuple[DenialKind, ...] = ("negated", "composed", "without", "not", "fragment")


def drawn(
    captions: list[str], kind: DenialKind, row: int = 0, count: int = 400
) -> dict[str, tuple[str, str]]:
    """Draw many sentences of one caption: each text with its wanted and its unwanted part."""
    denials = CaptionDenials(captions)
    denials_drawn = [denials.draw(row, kind, random.Random(seed)) for seed in range(count)]
    return {denial.text: (denial.wanted, denial.unwanted) for denial in denials_drawn if denial}


def test_the_unwanted_part_of_composed_sentences_comes_from_another_caption() -> None:
    sentences = drawn(
        ["a man is singing on a stage", "A dog chases a red ball .", "a woman sings"],
        "composed",
        count=800,
    )
    for text, parts in {
        "a man sings and he doesn't chase a red ball": ("a man sings", "chasing a red ball"),
        "a man is not chasing a red ball and he is singing on a stage": (
            "a man is singing on a stage",
            "chasing a red ball",
        ),
        "not chasing a red ball but a man singing": ("a man singing", "chasing a red ball"),
    }.items():
        assert sentences[text] == parts
    assert {unwanted for _, unwanted in sentences.values()} == {"chasing a red ball"}
    # Without its place, since another caption says it.
    assert {wanted for wanted, _ in sentences.values()} == {
        "a man sings",
        "a man singing",
        "a man is singing",
        "a man sings on a stage",
        "a man singing on a stage",
        "a man is singing on a stage",
    }


@pytest.mark.parametrize(
    ("captions", "kind"),
    [
        # To run is a part of it.
        (["a man runs", "a dog runs on the beach"], "composed"),
        # The same.
        (["a guy sings", "the man"], "without"),
        (["a girl sings", "a person", "people"], "without"),
        (["a man sings", "a guy is singing"], "fragment"),
    ],
)
def test_content_of_the_caption_is_not_denied(captions: list[str], kind: DenialKind) -> None:
    for _, unwanted in drawn(captions, kind).values():
        assert not {"man", "person", "people", "run", "running", "singing"} & set(unwanted.split())


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        (
            "A man is kicking a ball in the park .",
            {
                "A man is not kicking a ball in the park": ("A man in the park", "kicking a ball"),
                "A man isn't kicking a ball in the park": ("A man in the park", "kicking a ball"),
            },
        ),
        (
            "a boy with a hat kicks a ball",
            {
                "a boy without a hat kicks a ball": ("a boy kicks a ball", "a hat"),
                "a boy with a hat does not kick a ball": ("a boy with a hat", "kicking a ball"),
                "a boy with a hat doesn't kick a ball": ("a boy with a hat", "kicking a ball"),
            },
        ),
        (
            "a man tosses a child in white into the air",
            {
                f"a man {verb} toss a child in white into the air": (
                    "a man",
                    "tossing a child in white into the air",
                )
                for verb in ("does not", "doesn't")
            },
        ),
        # He may pat both.
        ("a man pats a dog and a cat", {}),
        ("this is a red car", {}),
        ("a red car", {}),
    ],
)
def test_denying_one_thing_leaves_the_rest_wanted(
    caption: str, expected: dict[str, tuple[str, str]]
) -> None:
    assert drawn([caption], "negated") == expected
    assert set(expected) <= set(negations(caption.rstrip(" .")))


def test_the_excluded_thing_comes_from_another_caption() -> None:
    sentences = drawn(
        ["Two dogs run .", "there is a glass of water on the side of the old table", "boats"],
        "without",
    )
    for wanted in ("Two dogs run", "dogs run", "dogs running", "dogs are running"):
        for text, thing in (
            ("without a glass of water", "a glass of water"),
            ("with no old table", "the old table"),
            ("and no boats", "boats"),
            ("but no glass of water", "a glass of water"),
        ):
            assert sentences[f"{wanted} {text}"] == (wanted, thing)
        for text, thing in (
            ("there isn't the old table", "the old table"),
            ("there aren't boats", "boats"),
        ):
            assert sentences[f"{wanted}, and {text}"] == (wanted, thing)
    assert {unwanted for _, unwanted in sentences.values()} == {
        "a glass of water",
        "the old table",
        "boats",
    }


def test_not_b_has_no_wanted_part() -> None:
    sentences = drawn(
        ["a red car", "a man plays the guitar", "a dog barks", "two boats"], "not", count=600
    )
    playing = (
        "not playing the guitar",
        "nobody is playing the guitar",
        "nobody plays the guitar",
        "no one is playing the guitar",
    )
    unwanted = dict.fromkeys(playing, "playing the guitar")
    unwanted["not barking"] = "barking"
    for thing in ("a man", "the guitar", "a dog"):
        noun = thing.split()[1]
        for text in (f"no {noun}", f"without {thing}", f"there is no {noun}"):
            unwanted[text] = thing
    for text in ("no boats", "without boats", "there are no boats"):
        unwanted[text] = "boats"
    assert sentences == {text: ("", part) for text, part in unwanted.items()}


def test_fragments_are_words_of_another_caption_without_dangling_ones() -> None:
    sentences = drawn(["A red car .", "a man is riding a big horse"], "fragment", count=2000)
    assert {wanted for wanted, _ in sentences.values()} == {"A red car"}
    assert {unwanted for _, unwanted in sentences.values()} == {
        *("a man", "man", "man is riding", "a man is riding", "riding"),
        *("riding a big horse", "a big horse", "big horse", "horse"),
    }
    for text in ("A red car but not a man", "no big horse, A red car", "not riding but A red car"):
        assert text in sentences


def test_negated_and_empty_captions_are_neither_denied_nor_used() -> None:
    denials = CaptionDenials(["a man without a hat sings", "", "a dog runs"])
    for kind in KINDS:
        assert denials.draw(0, kind, random.Random(0)) is None
        assert denials.draw(1, kind, random.Random(0)) is None
        for seed in range(50):
            # There is nothing else to deny.
            denial = denials.draw(2, kind, random.Random(seed))
            assert denial is None or "run" in denial.unwanted


@pytest.mark.parametrize("source", ["the built-in world", "Flickr8k"])
def test_any_captions_give_consistent_sentences(source: str) -> None:
    if source == "Flickr8k" and not FLICKR.exists():
        pytest.skip("shared/data is not here")
    if source == "Flickr8k":
        captions = [caption.text for caption in read_captioned_videos(FLICKR).queries[:150]]
    else:
        captions = [
            describe(scene, random.Random(0)).text for scene in sample_scenes("train", 100, 3)
        ]
    denials = CaptionDenials(captions)
    same_captions = CaptionDenials(captions)
    for kind in KINDS:
        sentences: list[Denial] = []
        for row in range(len(denials)):
            denial = denials.draw(row, kind, random.Random(row))
            assert denial == same_captions.draw(row, kind, random.Random(row))
            sentences += [denial] if denial else []
        assert len(sentences) > len(captions) / 3
        for denial in sentences:
            assert denial.kind == kind
            assert denial.unwanted
            assert denial.text != denial.wanted
            assert bool(denial.wanted) == (kind != "not") or kind == "negated"
            assert denial.wanted in denial.text or kind in {"composed", "negated"}
            assert not {"not", "no", "n't", "without"} & set(
                f"{denial.wanted} {denial.unwanted}".split()
            )
