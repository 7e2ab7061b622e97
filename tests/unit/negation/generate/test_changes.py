"""Captions changed by rules: one thing, grammatically, taken from other captions."""

import pytest

from nt2vr.negation.generate.changes import CHANGES, changed

OTHERS = ["a dog is riding a skateboard", "two cats are chasing a ball", "there is a red car"]
THINGS = ("is a dog", "is a skateboard", "are cats", "is a ball", "is a red car")


@pytest.mark.parametrize(
    ("caption", "change", "expected"),
    [
        (
            "a man sings on stage",
            "negate",
            {"a man does not sing on stage", "a man doesn't sing on stage"},
        ),
        (
            "a man sings on stage",
            "swap the verb",
            {"a man rides a skateboard on stage", "a man chases a ball on stage"},
        ),
        (
            "a woman in a hat is reading",
            "swap who",
            {"a dog in a hat is reading", "a red car in a hat is reading"},
        ),
        ("a man sings.", "add a thing", {f"a man sings and there {thing}" for thing in THINGS}),
        ("a red car", "swap the verb", {""}),
    ],
)
def test_one_thing_changes_and_the_rest_stays(
    caption: str, change: str, expected: set[str]
) -> None:
    changed_captions = {changed(caption, change, OTHERS, seed) for seed in "abcdef"}
    assert changed_captions
    assert changed_captions <= expected


def test_a_change_adds_nothing_that_the_caption_names() -> None:
    caption = "a dog and a red car near a skateboard"
    added = {changed(caption, "add a thing", OTHERS, seed) for seed in "abcdef"}
    assert added == {f"{caption} and there is a ball", f"{caption} and there are cats"}
    by_change = {change: changed("a man sings", change, [], "a") for change in CHANGES}
    assert [change for change, text in by_change.items() if text] == ["negate"]
