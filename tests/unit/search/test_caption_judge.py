"""Verdicts from captions: only what captions say counts."""

from dataclasses import replace
from pathlib import Path

import pytest

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.search.caption_judge import judge_by_captions

CAPTIONS = (
    "a man is playing the guitar in a park",
    "a guy sings on a stage",
    "somebody with no hat is strumming",
)
VIDEO = Video("v", Path("v.mp4"), CAPTIONS)


def judge(wanted: str, *unwanted: str, video: Video = VIDEO) -> str | None:
    return judge_by_captions(Query("", (wanted,) if wanted else (), unwanted), video)


@pytest.mark.parametrize(
    ("wanted", "unwanted", "verdict"),
    [
        # Another caption says so.
        ("a man playing a guitar", ("singing",), "violation"),
        ("a man plays guitars", (), "right"),
        ("a man playing a guitar", ("a dog",), "right"),
        # A caption denies the hat.
        ("a man playing a guitar", ("a hat",), "right"),
        # A related word: it may well be one.
        ("a man playing a guitar", ("a concert",), None),
        # What is not mentioned is not absent.
        ("a horse", ("a dog",), None),
        ("", ("singing",), "violation"),
        ("", ("a dog",), None),
        # No single caption says so.
        ("a man on a stage", (), None),
    ],
)
def test_a_verdict_needs_a_caption_that_says_so(
    wanted: str, unwanted: tuple[str, ...], verdict: str | None
) -> None:
    assert judge(wanted, *unwanted) == verdict


def test_captions_cannot_tell_what_else_is_there() -> None:
    query = Query("", ("a man playing a guitar",), others=("people",))
    assert judge_by_captions(query, VIDEO) is None
    assert judge_by_captions(replace(query, unwanted=("singing",)), VIDEO) == "violation"


@pytest.mark.parametrize("caption", ["", "\ud800 man", "man " * 5000, "!!!"])
def test_odd_captions_are_no_error(caption: str) -> None:
    judge("a man", "a dog", video=Video("v", Path("v.mp4"), (caption,)))
