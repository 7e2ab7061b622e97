"""What “Why?” shows, by hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query, Span
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.strategies import System
from nt2vr.search.why import Part, Why, Word
from nt2vr.ui.search.why_view import ADDED, ALONE, chosen_columns, negation_effect, why_view

CLIP = System("CLIP")
BOOLEAN = System("CLIP", "boolean", 0.5)
VIDEO = Video("v", Path("v.webm"))
URLS = {"src": "clips/v.webm", "poster": ""}
PLAIN = Why(
    CLIP,
    0.5,
    (0.2, 0.4),
    (Part("sentence", "a man", 0.5, 1.0), Part("unwanted", "sing", 0.3)),
    (Word("sentence", 0, "a", -0.1), Word("sentence", 0, "man", 0.2)),
    3,
)
SPLIT = Why(
    BOOLEAN,
    0.35,
    (-0.1, 0.3),
    (Part("wanted", "a man", 0.5, 1.0), Part("unwanted", "sing", 0.3, -0.5)),
    (
        Word("wanted", 0, "man", None),
        Word("unwanted", 0, "sing", -0.15),
        Word("unwanted", 1, "dog", 0.0),
    ),
)


def view(*whys: Why, columns: int = 2) -> dict[str, Any]:
    rankings = (Ranking(CLIP, ()), Ranking(BOOLEAN, ()), Ranking(System("CLIP", "drop"), ()))[
        :columns
    ]
    return why_view(Answer(Query("a man"), rankings), list(range(len(whys))), whys, VIDEO, URLS)


@pytest.mark.parametrize(
    ("text", "ranks", "columns"),
    [
        ("", [3, 1, 9, 4], [1, 2]),
        # What is not ranked has the last rank.
        ("", [2, None, 5], [0, 1]),
        ("", [4, 4, 4], [0, 2]),
        ("", [1], [0]),
        ("2", [1, 1, 1, 1], [2]),
        ("3,1", [1, 1, 1, 1], [1, 3]),
        ("7", [1, 2, 2], [0, 2]),
        ("-1,1", [1, 1, 1], [1]),
        ("1,2,3", [1, 1, 1, 1], [1, 2]),
        ("1" * 100_000, [5, 6, 1], [1, 2]),
        ("²,1", [1, 1, 1], [1]),
        ("x", [], []),
    ],
)
def test_an_event_names_columns_or_those_that_differ_most(
    text: str, ranks: list[int | None], columns: list[int]
) -> None:
    assert chosen_columns(text, ranks) == columns


def test_one_line_says_what_the_negation_did() -> None:
    query = Query("a man isn't singing", ("a man",), ("sing",), (Span(8, 11),), (Span(12, 19),))
    with_sentence = replace(PLAIN, words=(*PLAIN.words, Word("sentence", 0, "isn't", 0.004)))
    assert negation_effect(with_sentence, query) == "“isn't” added +0.004"
    assert negation_effect(SPLIT, query) == "“sing” added \N{MINUS SIGN}0.150"
    assert negation_effect(PLAIN, query) == ""
    assert negation_effect(with_sentence, Query("a man")) == ""
    rather = Query("sing rather than dance", ("sing",), ("dance",), (Span(5, 16),))
    words = tuple(Word("sentence", 0, word, 0.1) for word in rather.text.split())
    assert negation_effect(replace(PLAIN, words=words), rather) == "“rather than” added +0.200"
    apart = words[:2], (Word("sentence", 0, "never", 0.1),), words[2:]
    assert (
        negation_effect(replace(PLAIN, words=sum(apart, ())), rather)
        == "“rather … than” added +0.200"
    )


def test_parts_say_whether_they_are_added() -> None:
    plain, split = view(PLAIN, SPLIT)["systems"]
    assert [(part["value"], part["calculation"], part["kind"]) for part in plain["parts"]] == [
        ("+0.500", "", "up"),
        ("0.300", "alone, not added", ""),
    ]
    assert [(part["value"], part["calculation"], part["kind"]) for part in split["parts"]] == [
        ("+0.500", "", "up"),
        ("\N{MINUS SIGN}0.150", "-0.50 × 0.300", "down"),
    ]
    assert (plain["parts_note"], split["parts_note"]) == (ALONE, ADDED)
