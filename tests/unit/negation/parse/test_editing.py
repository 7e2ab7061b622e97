"""Words of editing, read next to a reference and nowhere else."""

import random

import pytest

from nt2vr.negation.parse.query import understand
from nt2vr.negation.parse.tagger import Tagger
from nt2vr.papers.covr.change_wording import ask_for
from nt2vr.papers.covr.edits import training_families


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger()


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("replace the man with a woman", "a woman", ["the man"]),
        ("change the dog to a cat", "a cat", ["the dog"]),
        ("change it to night", "night", []),
        ("the dog replaced by a cat", "a cat", ["the dog"]),
        ("replace singing by dancing", "dancing", ["singing"]),
        ("add a cake and remove the dog", "a cake", ["the dog"]),
        ("also show a dog", "a dog", []),
        ("take away the dog", "", ["the dog"]),
        ("remove the one playing the guitar", "", ["the one playing the guitar"]),
        ("on the beach instead, without the dog", "on the beach", ["the dog"]),
        ("like this without the dog", "", ["the dog"]),
        ("like this, but on the beach", "on the beach", []),
        ("the same with a cake", "with a cake", []),
        ("the same but nobody is dancing", "", ["dancing"]),
        ("a woman rather than the man", "a woman", ["the man"]),
        ("with a dog too", "with a dog", []),
        *(
            (text, text, [])
            for text in ("the same man dances", "a woman changes a tire", "a man takes off his hat")
        ),
    ],
)
def test_words_of_editing_are_read(
    tagger: Tagger, text: str, wanted: str, unwanted: list[str]
) -> None:
    query = understand(text, tagger, editing=True)
    assert (" ".join(query.wanted), [*query.unwanted]) == (wanted, unwanted)


@pytest.mark.parametrize(
    "text", ["add a cake", "like this", "replace the man with a woman", "on the beach instead"]
)
def test_without_a_reference_they_are_words_like_others(tagger: Tagger, text: str) -> None:
    assert understand(text, tagger).wanted == (text,)


def test_what_is_highlighted_is_what_was_read(tagger: Tagger) -> None:
    query = understand("replace the man with a woman", tagger, editing=True)
    assert [query.text[slice(*span)] for span in query.cues] == ["replace"]
    assert [query.text[slice(*span)] for span in query.scopes] == ["the man"]


@pytest.mark.parametrize("unseen", [False, True], ids=["wordings of training", "of tests"])
def test_texts_of_the_world_are_split_as_meant(tagger: Tagger, unseen: bool) -> None:
    rng = random.Random(5)
    right = 0
    count = 0
    for family in training_families(12, 9):
        for edit in family.edits:
            if len(edit.changes) == 1:
                text = ask_for(edit.changes, rng, unseen)
                query = understand(text.text, tagger, editing=True)
                right += (" ".join(query.wanted), query.unwanted) == (
                    text.wanted_text,
                    text.unwanted,
                )
                count += 1
    assert count > 60
    assert right / count >= 0.95
