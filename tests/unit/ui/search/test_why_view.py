"""What “Why?” shows, by hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query, Span
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.systems import System
from nt2vr.search.why import Part, Why, Word
from nt2vr.ui.search.clip import ADDED, ALONE, brief, chosen_columns, signed, why_view

CLIP, BOOLEAN = System("CLIP"), System("CLIP", "boolean", 0.5)
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
    (Word("wanted", 0, "man", None), Word("unwanted", 0, "sing", -0.15), Word("unwanted", 1, "dog", 0.0)),
)


def view(*whys: Why, columns: int = 2) -> dict[str, Any]:
    rankings = (Ranking(CLIP, ()), Ranking(BOOLEAN, ()), Ranking(System("CLIP", "drop"), ()))[:columns]
    return why_view(Answer(Query("a man"), rankings), list(range(len(whys))), whys, VIDEO, URLS)


@pytest.mark.parametrize(
    ("text", "ranks", "columns"),
    [
        ("", [3, 1, 9, 4], [1, 2]),
        ("", [2, None, 5], [0, 1]),  # not ranked is the last rank
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
def test_an_event_names_up_to_two_columns_or_else_those_that_differ_most(
    text: str, ranks: list[int | None], columns: list[int]
) -> None:
    assert chosen_columns(text, ranks) == columns


def test_one_line_says_what_the_negation_did() -> None:
    asked = Query("a man isn't singing", ("a man",), ("sing",), (Span(8, 11),), (Span(12, 19),))
    whole = replace(PLAIN, words=(*PLAIN.words, Word("sentence", 0, "isn't", 0.004)))
    assert brief(whole, asked) == "“isn't” added +0.004"
    assert brief(SPLIT, asked) == "“sing” added -0.150"
    assert brief(PLAIN, asked) == ""
    assert brief(whole, Query("a man")) == ""
    rather = Query("sing rather than dance", ("sing",), ("dance",), (Span(5, 16),))
    words = tuple(Word("sentence", 0, word, 0.1) for word in rather.text.split())
    assert brief(replace(PLAIN, words=words), rather) == "“rather than” added +0.200"
    apart = words[:2], (Word("sentence", 0, "never", 0.1),), words[2:]
    assert brief(replace(PLAIN, words=sum(apart, ())), rather) == "“rather … than” added +0.200"


def test_frames_are_bars_on_one_axis_from_zero_with_their_pictures() -> None:
    plain, split = view(PLAIN, SPLIT)["systems"]
    assert [frame["height"] for frame in plain["frames"]] == ["50.0", "100.0"]
    assert [frame["best"] for frame in plain["frames"]] == [False, True]
    assert [(frame["src"], frame["at"]) for frame in plain["frames"]] == [
        ("clips/v.webm", 0.25),
        ("clips/v.webm", 0.75),
    ]
    assert [(frame["bottom"], frame["height"]) for frame in split["frames"]] == [("0.0", "25.0"), ("25.0", "75.0")]
    assert plain["frames_note"].startswith("Mean of the frames: 0.300. Score of the clip: 0.500")


def test_parts_say_whether_they_are_added() -> None:
    plain, split = view(PLAIN, SPLIT)["systems"]
    assert [(part["value"], part["how"], part["kind"]) for part in plain["parts"]] == [
        ("+0.500", "", "up"),
        ("0.300", "alone, not added", ""),
    ]
    assert [(part["value"], part["how"], part["kind"]) for part in split["parts"]] == [
        ("+0.500", "", "up"),
        ("-0.150", "-0.50 × 0.300", "down"),
    ]
    assert (plain["parts_note"], split["parts_note"]) == (ALONE, ADDED)


def test_words_stand_in_lines_per_part_coloured_by_their_share() -> None:
    plain, split = view(PLAIN, SPLIT)["systems"]
    (line,) = plain["lines"]
    assert [(word["text"], word["share"], word["strength"], word["kind"]) for word in line["words"]] == [
        ("a", "-0.100", "30", "down"),
        ("man", "+0.200", "60", "up"),
    ]
    assert "The last 3 words were not tried." in plain["words_note"]
    assert [(each["label"], [word["share"] for word in each["words"]]) for each in split["lines"]] == [
        ("Wanted", ["all"]),
        ("Unwanted", ["-0.150"]),
        ("Unwanted", ["0"]),
    ]


def test_systems_can_be_chosen_where_there_are_more_than_two() -> None:
    assert view(PLAIN, SPLIT)["choices"] == []
    choices = view(PLAIN, SPLIT, columns=3)["choices"]
    assert [(choice["name"], choice["on"]) for choice in choices] == [
        ("CLIP", "true"),
        ("CLIP boolean α 0.5", "true"),
        ("CLIP drop", "false"),
    ]


def test_a_system_without_a_score_says_so_and_shows_nothing_else() -> None:
    (only,) = view(Why(CLIP, None, notice="No score."))["systems"]
    assert (only["score"], only["notice"], only["frames"], only["parts"], only["lines"]) == (
        "",
        "No score.",
        [],
        [],
        [],
    )


def test_a_picture_has_no_frames_to_compare() -> None:
    (only,) = why_view(
        Answer(Query("a"), (Ranking(CLIP, ()),)), [0], [PLAIN], Video("p", Path("p.jpg")), {"src": "x", "poster": "y"}
    )["systems"]
    assert only["frames"] == []


def test_both_systems_share_one_scale_of_colours_and_tiny_shares_stay_pale() -> None:
    loud = Why(BOOLEAN, 0.5, words=(Word("wanted", 0, "man", 0.6),))
    strengths = [[w["strength"] for line in s["lines"] for w in line["words"]] for s in view(PLAIN, loud)["systems"]]
    assert strengths == [["10", "20"], ["60"]]
    (tiny,) = view(Why(CLIP, 0.5, words=(Word("sentence", 0, "man", 0.005),)))["systems"]
    assert tiny["lines"][0]["words"][0]["strength"] == "6"


def test_zero_has_no_sign() -> None:
    assert [signed(value) for value in (-0.0004, 0.0, 0.0006, -1.0)] == ["0", "0", "+0.001", "-1.000"]
