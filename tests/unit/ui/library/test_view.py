"""Views of libraries and of their updates."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nt2vr.errors import NotIndexedError
from nt2vr.library.move import Moved
from nt2vr.library.source import LibraryInfo, Skipped, Source
from nt2vr.library.update import IndexJob
from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer, ClipScore, Ranking
from nt2vr.search.hits import Hit, Moment
from nt2vr.search.strategies import System
from nt2vr.ui.library.index_panel import index_view
from nt2vr.ui.library.view import info_view, list_view, skipped_view
from nt2vr.ui.search.clip_view import detail_view, timeline_view
from nt2vr.ui.search.columns import columns_view
from nt2vr.ui.web.permissions import WITHHELD, Permissions

INFO = LibraryInfo(
    Source("1", "Videos", "folder", Path("/home/me/videos"), window_s=10), 3, 120, 2, 3723.0
)
RUNNING = IndexJob(
    1, "Videos", ("CLIP",), "1", "running", "reading clips", "a.mp4", 30, 120, 2.5, 36.0
)


def state_of(info: LibraryInfo, *jobs: IndexJob) -> str:
    (library,) = list_view([info], {job.key: job for job in jobs}, "")["libraries"]
    return str(library["state_text"])


def test_the_list_tells_how_each_library_is() -> None:
    assert state_of(INFO) == state_of(INFO, replace(RUNNING, state="finished")) == "ready"
    assert state_of(INFO, RUNNING) == "indexing"
    assert state_of(INFO, replace(RUNNING, state="failed")) == "failed"
    assert state_of(replace(INFO, num_clips=0)) == "not indexed"
    assert state_of(replace(INFO, available=False)) == "unavailable"


def test_a_move_is_shown_and_a_refused_one_marks_nothing() -> None:
    gone = replace(INFO, available=False)
    move = replace(RUNNING, models=())
    assert state_of(gone, move) == "moving"
    assert info_view(gone, move, True)["job"]["state_text"] == "moving"
    refused = replace(move, state="failed", error="None of the 3 files of Videos is there.")
    assert state_of(gone, refused) == "unavailable"
    assert info_view(gone, refused, True)["job"]["error"] == refused.error


def test_what_is_missing_after_a_move_is_named() -> None:
    def remark(moved: Moved) -> str:
        job = replace(RUNNING, models=(), state="finished", result=moved)
        return str(info_view(INFO, job, False)["last_change"])

    assert remark(Moved(3)) == "Found 3 of 3 files in the new folder."
    text = remark(Moved(3, {"a": "b"}, missing=("c.mp4",), new=("d", "e")))
    assert "2 of 3 files" in text
    assert "(1 renamed, 2 new)" in text
    assert "Missing: c.mp4." in text
    many = remark(Moved(100, missing=tuple(f"{number}.mp4" for number in range(30))))
    assert "19.mp4 and 10 more" in many
    assert "20.mp4" not in many


def test_only_who_may_name_paths_sees_a_librarys_folder() -> None:
    for may, expected in ((True, "folder /home/me/videos"), (False, "folder")):
        facts = {fact["name"]: fact["value"] for fact in info_view(INFO, None, may)["facts"]}
        assert facts["Made from"] == expected
    assert (facts["Clips"], facts["Duration"]) == ("120, in windows of 10 s", "1:02:03")


GONE = "/home/me/my videos is not there: is its drive mounted? See /var/lib/x/files.db, 1/2 of it."


def test_visitors_see_paths_relative_to_the_library() -> None:
    skipped = [
        Skipped(
            "a.mp4",
            "It cannot be opened ([Errno 40] Too many links: '/home/me/my videos/in/a.mp4').",
        )
    ]
    (row,) = skipped_view(skipped, Path("/home/me/my videos"))["rows"]
    assert row == {
        "id": "a.mp4",
        "reason": "It cannot be opened ([Errno 40] Too many links: 'in/a.mp4').",
    }
    assert skipped_view(skipped)["rows"][0]["reason"] == skipped[0].reason
    source = Source("1", "Videos", "folder", Path("/home/me/my videos"))
    failed = replace(RUNNING, state="failed", error=GONE)
    assert info_view(LibraryInfo(source), failed, True)["job"]["error"] == GONE
    # It names a folder of the machine's own.
    assert info_view(LibraryInfo(source), failed, False)["job"]["error"] == WITHHELD


def test_a_stranger_sees_no_path_of_a_failed_update() -> None:
    failed = replace(
        RUNNING, state="failed", error="/home/me/videos is not there: see https://example.org/a/b."
    )
    stranger = Permissions("a-token-of-the-owner")
    owner = Permissions("a-token-of-the-owner", {"paths": "everyone"})
    view = index_view(None, None, failed, redact=stranger.redactor(None))
    assert view["job"]["error"] == WITHHELD
    view = index_view(None, None, failed, redact=owner.redactor(None))
    assert view["job"]["error"] == failed.error


def windows(count: int) -> list[Video]:
    return [
        Video(f"f@{n}", Path("f"), start=10.0 * n, end=10.0 * n + 10, long_video="f")
        for n in range(count)
    ]


def answer_of(*numbers: int) -> Answer:
    moments = tuple(Moment(f"f@{n}", 10.0 * n, 10.0 * n + 10, 0.5) for n in numbers)
    hit = Hit(f"f@{numbers[0]}", 1, 0.5, None, "f", moments)
    return Answer(Query("a"), (Ranking(System("CLIP"), (hit,)),), gallery="1")


def test_the_bar_shows_ranked_moments_and_the_open_one() -> None:
    view = timeline_view(answer_of(1, 2), windows(4)[3], [*windows(4), Video("other", Path("o"))])
    assert (view["length"], view["times"]) == ("0:40", "0:30–0:40")
    assert [(m["id"], m["left"], m["width"], m["is_open"]) for m in view["moments"]] == [
        ("f@1", "25.000", "25.000", False),
        ("f@2", "50.000", "25.000", False),
        ("f@3", "75.000", "25.000", True),
    ]
    assert timeline_view(answer_of(1), Video("other", Path("o")), windows(4)) == {}


def test_a_hit_of_several_windows_shows_where_they_lie() -> None:
    videos = {video.video_id: video for video in windows(4)}
    view = columns_view(
        answer_of(1, 2), videos.__getitem__, lambda video: {"src": "", "poster": ""}
    )
    assert view["columns"][0]["hits"][0]["times"] == "0:10–0:30"


@pytest.mark.parametrize(
    ("video", "frames"),
    [
        (
            Video("v", Path("v.mp4"), end=9.0, content="k"),
            [{"src": "media/1/k/preview.webm", "position": 0.375}],
        ),
        (
            Video("v", Path("v.mp4"), end=30.0, content="k"),
            [{"still": "media/1/k/frame-1-of-4.jpg"}],
        ),
        (
            Video("v", Path("v.mp4"), content="k"),
            [{"still": "media/1/k/frame-1-of-4.jpg"}],
        ),
        (Video("v", Path("v.jpg")), []),
    ],
    ids=["within its preview", "longer", "length unknown", "picture"],
)
def test_best_frames_come_from_a_preview_that_has_them(
    video: Video, frames: list[dict[str, Any]]
) -> None:
    urls = {"src": "media/1/k/preview.webm", "poster": "media/1/k/poster.jpg"}
    view = detail_view(video, [ClipScore(System("CLIP"), 1, 0.5, (0.375,), 4)], "", urls, {})
    assert view["systems"][0]["frames"] == frames


def test_only_who_may_name_paths_sees_a_clips_folder() -> None:
    urls = {"src": "media/1/k/preview.webm", "poster": "media/1/k/poster.jpg"}
    video = Video("v", Path("/home/me/videos/v.mp4"), end=9.0, content="k")
    view = detail_view(video, [], "", urls, {}, names_paths=True)
    assert (view["file"], view["time"]) == ("v.mp4", "0:00–0:09")
    assert view["path"] == "/home/me/videos/v.mp4"
    view = detail_view(video, [], "", urls, {})
    assert view["file"] == "v.mp4"
    assert "/home" not in str(view)

    window = windows(4)[2]
    view = detail_view(window, [], "", urls, timeline_view(answer_of(2), window, windows(4)))
    assert view["time"] == "0:20–0:30 of 0:40"
    assert detail_view(Video("p", Path("p.jpg")), [], "", urls, {})["time"] == ""

    urls = {"src": "clips/b.webm", "poster": ""}
    built_in = detail_view(Video("b", Path("/app/b.webm")), [], "", urls, {}, names_paths=True)
    assert built_in["file"] == built_in["path"] == ""


def test_indexing_is_offered_unless_refused_or_under_way() -> None:
    problem = NotIndexedError("Videos is not indexed by CLIP yet.", "CLIP", "other")
    assert index_view(None, problem, None) == {
        "text": str(problem),
        "models": "CLIP|other",
        "refusal": "",
    }
    assert (
        index_view(None, problem, None, "Only the owner may.")["refusal"] == "Only the owner may."
    )
    assert set(index_view(None, problem, RUNNING)) == {"job"}
    rankings = (Ranking(System("CLIP", strategy), (), missing=3) for strategy in ("plain", "drop"))
    behind = Answer(Query("a"), tuple(rankings))
    assert (
        index_view(behind, None, None)["text"]
        == "3 clips are not indexed by CLIP: they were not searched."
    )
    assert index_view(answer_of(1), None, None) == {}
