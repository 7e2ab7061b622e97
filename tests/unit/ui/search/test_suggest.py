"""What the page offers where a query has no verdicts or fits."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nt2vr.api import understand
from nt2vr.media.gallery import Video
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.hits import Hit
from nt2vr.search.strategies import System
from nt2vr.ui.search.references import NONE_RIGHT
from nt2vr.ui.search.suggest import way_out_view
from nt2vr.world.scenes import Figure, Scene

THINGS = ("princess", "princess", "zebra", "lion")
SCENES = [Scene("park", False, (Figure(thing),)) for thing in THINGS]
VIDEOS = tuple(Video(f"{i}", Path("v"), scene=scene.to_dict()) for i, scene in enumerate(SCENES))
MISS = Ranking(System("CLIP"), (Hit("0", 1, 0.5, "miss"),))


def way_out(text: str) -> dict[str, Any]:
    return way_out_view(Answer(understand(text), (MISS,)), VIDEOS, understand, video_of)


def video_of(video_id: str) -> Video:
    return VIDEOS[int(video_id)]


def test_a_query_without_clips_gets_suggestions() -> None:
    view = way_out("a queen in the desert")
    assert (view["few_notice"], view["suggestions"]) == (
        "No clip fits. Try",
        ["a queen", "a princess"],
    )
    assert way_out("a zebra in the park")["few_notice"] == "Only one clip fits. Try"
    assert "few_notice" not in way_out("a princess")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a princess without shoes", "No ✓ is possible: the world does not know “shoes”."),
        (
            "a princess without a xzy or a zyx",
            "No ✓ is possible: the world does not know “xzy” or “zyx”.",
        ),
        ("only a zebra", "No ✓ is possible: nothing says which clips show “only a zebra”."),
        ("a princess without a lion", ""),
    ],
)
def test_one_sentence_says_why_there_is_no_verdict(text: str, reason: str) -> None:
    assert way_out(text)["reason"] == reason


def test_no_reason_stands_beside_a_clip_that_is_right() -> None:
    right = Ranking(System("CLIP"), (Hit("2", 1, 0.5, "right"),))
    answer = Answer(understand("only a zebra"), (right,))
    assert way_out_view(answer, VIDEOS, understand, video_of)["reason"] == ""


def test_a_misspelt_word_is_asked_about() -> None:
    view = way_out("a prnicess without a lion")
    meant = {"text": "princess", "query": "a princess without a lion"}
    assert view["spellings"] == [meant]
    (both,) = way_out("a prnicess without a zbera")["spellings"]
    assert both["query"] == "a princess without a zebra"


def test_words_of_another_language_are_not_taken_for_misspelt_ones() -> None:
    assert way_out("ein Hund ohne Katze")["spellings"] == []
    assert way_out("a hund without a zbera")["spellings"] != []


def test_a_clip_without_a_verdict_among_right_ones_is_explained() -> None:
    hits = (Hit("2", 1, 0.5, "right"), Hit("3", 2, 0.4, None))
    answer = Answer(understand("a zebra that is not sleeping"), (Ranking(System("CLIP"), hits),))
    assert way_out_view(answer, VIDEOS, understand, video_of)["reason"] == (
        "Of clips without a mark, it is not known whether they fit."
    )


def test_words_that_the_world_lacks_have_near_ones() -> None:
    (quokka,) = way_out("a quokka without a lion")["unknown_words"]
    assert quokka["word"] == "quokka"
    assert quokka["near"][0] == {"word": "kangaroo", "query": "a kangaroo without a lion"}


@pytest.mark.parametrize(
    ("captions", "reason"),
    [
        ((), "No verdict is possible: these clips have no captions."),
        (("a street",), "No verdict is possible: the captions of these clips do not say enough."),
    ],
)
def test_a_library_without_verdicts_says_why(captions: tuple[str, ...], reason: str) -> None:
    video = Video("video", Path("video.mp4"), captions=captions)
    unjudged = Ranking(System("CLIP"), (Hit("video", 1, 0.5, None),))
    answer = Answer(understand("a dog"), (unjudged,), judged_by="captions", gallery="videos")
    assert way_out_view(answer, (), understand, lambda _: video) == {"reason": reason}
    judged = replace(answer, rankings=(MISS,))
    assert way_out_view(judged, (), understand, lambda _: video) == {"reason": ""}
    not_indexed = replace(answer, rankings=())
    assert way_out_view(not_indexed, (), understand, lambda _: video) == {"reason": ""}


def test_a_reference_says_why_no_clip_has_a_verdict() -> None:
    unjudged = Ranking(System("CLIP"), (Hit("0", 1, 0.5, None),))
    unknown = Answer(understand("without shoes"), (unjudged,))
    assert "“shoes”" in way_out_view(unknown, (), understand, video_of)["reason"]
    unjudged_answer = Answer(understand("without a lion"), (unjudged,))
    assert way_out_view(unjudged_answer, (), understand, video_of)["reason"] == NONE_RIGHT
