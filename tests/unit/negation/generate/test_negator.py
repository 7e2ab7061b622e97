"""Negated captions as in Table 6 of the nT2VR paper, and affirmed negated ones."""

import pytest

from nt2vr.negation.generate.negator import negations


@pytest.mark.parametrize(
    ("caption", "negated"),
    [
        (
            "Some guys are driving a car and met an accident in a road",
            "Some guys are driving a car and did not meet an accident in a road",
        ),
        (
            "A man is running around and playing a guitar",
            "A man is not running around and playing a guitar",
        ),
        (
            "A live concert with a woman as the lead singer",
            "A live concert without a woman as the lead singer",
        ),
        ("while dancing with many other people", "while not dancing with many other people"),
        # An idiom denies nothing.
        (
            "avril sings no matter what",
            "avril does not sing no matter what",
        ),
        (
            "avril sings no pain no gain",
            "avril does not sing no pain no gain",
        ),
    ],
)
def test_the_papers_examples_are_among_the_candidates(caption: str, negated: str) -> None:
    assert negated in negations(caption)


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("a man rides a bike", ["a man does not ride a bike", "a man doesn't ride a bike"]),
        ("a man kick a ball", ["a man does not kick a ball", "a man doesn't kick a ball"]),
        (
            "a group of people dance",
            ["a group of people do not dance", "a group of people don't dance"],
        ),
        (
            "a man and a woman dance",
            ["a man and a woman do not dance", "a man and a woman don't dance"],
        ),
        ("the dog jumped", ["the dog did not jump", "the dog didn't jump"]),
        ("a girl quickly runs", ["a girl does not quickly run", "a girl doesn't quickly run"]),
        ("a man can swim", ["a man can not swim", "a man can't swim"]),
        ("it s raining", ["it s not raining"]),
        ("a car is being driven", ["a car is not being driven", "a car isn't being driven"]),
        ("two men ice skating", ["two men not ice skating"]),
        ("a man wants to sing", ["a man does not want to sing", "a man doesn't want to sing"]),
        (
            "a man watches a dog run",
            ["a man does not watch a dog run", "a man doesn't watch a dog run"],
        ),
        (
            # Every verb and "with" are denied; other words stay.
            "A Man  with a hat sings, dancing",
            [
                "A Man  without a hat sings, dancing",
                "A Man  with a hat does not sing, dancing",
                "A Man  with a hat doesn't sing, dancing",
                "A Man  with a hat sings, not dancing",
            ],
        ),
        # Who says little comes last.
        (
            "this is a clip of a dog barking",
            ["this is a clip of a dog not barking"],
        ),
        ("a man is talking", ["a man is not talking", "a man isn't talking"]),
        ("a man is talking and eating", ["a man is talking and not eating"]),
        *((caption, []) for caption in ("a running dog", "a red car", "", "a man not only sings")),
        *(
            (caption, [])
            for caption in ("a human being controlled", "a soccer match between two teams")
        ),
        *(
            (caption, [])
            for caption in (
                "pictures with a sound",
                "a clip with loud music",
                "a dog with each other",
            )
        ),
    ],
)
def test_what_can_be_denied_is_in_agreement_with_its_form(
    caption: str, expected: list[str]
) -> None:
    assert list(negations(caption)) == expected


@pytest.mark.parametrize(
    ("caption", "negated"),
    [
        ("a man in black playing badminton", "a man in black not playing badminton"),
        ("a football player scores a touchdown", "a football player does not score a touchdown"),
        ("goldfish chase each other", "goldfish do not chase each other"),
        ("a woman being interviewed", "a woman not being interviewed"),
    ],
)
def test_a_verb_tagged_as_a_noun_is_denied(caption: str, negated: str) -> None:
    assert negations(caption)[0] == negated


@pytest.mark.parametrize(
    ("caption", "affirmed"),
    [
        ("a boy is running without a dress", "a boy is running with a dress"),
        ("a woman runs without wearing any shoes", "a woman runs while wearing shoes"),
        ("a man does not look happy", "a man looks happy"),
        ("a man didn't win", "a man won"),
        ("a man can't swim", "a man can swim"),
        ("it won't start", "it will start"),
        ("a guy doesn t move", "a guy moves"),
        ("music plays but nobody is dancing", "music plays and somebody is dancing"),
        ("a man with no shirt", "a man with a shirt"),
        ("a street with no cars", "a street with cars"),
        ("a show no longer on the air", "a show still on the air"),
    ],
)
def test_negated_captions_are_affirmed(caption: str, affirmed: str) -> None:
    assert negations(caption) == (affirmed,)
