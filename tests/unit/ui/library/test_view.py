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
from nt2vr.ui.library.view import (
    info_view,
    library_redactor,
    list_view,
    skipped_view,
    update_view,
)
from nt2vr.ui.search.clip_view import detail_view, timeline_view
from nt2vr.ui.search.columns import columns_view
from nt2vr.ui.web.permissions import WITHHELD, Permissions

INFO = LibraryInfo(
    Source("1", "Videos", "folder", Path("/home/me/videos"), window_s=10), 3, 120, 2, 3723.0
)
URLS = {"src": "media/1/k/preview.webm", "poster": "media/1/k/poster.jpg"}
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
    missing = tuple(f"{number}.mp4" for number in range(30))
    many = remark(Moved(100, missing=missing))
    assert "19.mp4 and 10 more" in many
    assert "20.mp4" not in many


def facts_of(names_paths: bool) -> dict[str, str]:
    facts = info_view(INFO, None, names_paths)["facts"]
    return {fact["name"]: fact["value"] for fact in facts}


def test_only_who_may_name_paths_sees_a_librarys_folder() -> None:
    assert facts_of(names_paths=True)["Made from"] == "folder /home/me/videos"
    assert facts_of(names_paths=False)["Made from"] == "folder"


def test_a_library_says_how_many_clips_and_hours_it_has() -> None:
    facts = facts_of(names_paths=False)
    assert facts["Clips"] == "120, in windows of 10 s"
    assert facts["Duration"] == "1:02:03"


GONE = "/home/me/my videos is not there: is its drive mounted? See /var/lib/x/files.db, 1/2 of it."


def test_visitors_see_paths_relative_to_the_library() -> None:
    folder = Path("/home/me/my videos")
    reason = "It cannot be opened ([Errno 40] Too many links: '{}/a.mp4')."
    skipped = [Skipped("a.mp4", reason.format(folder / "in"))]
    source = Source("1", "Videos", "folder", folder)
    (row,) = skipped_view(skipped, library_redactor(source, names_paths=False))["rows"]
    assert row == {"id": "a.mp4", "reason": reason.format("in")}
    (row,) = skipped_view(skipped, library_redactor(source, names_paths=True))["rows"]
    assert row["reason"] == skipped[0].reason


def test_a_folder_of_the_machine_itself_is_withheld_from_visitors() -> None:
    source = Source("1", "Videos", "folder", Path("/home/me/my videos"))
    failed = replace(RUNNING, state="failed", error=GONE)
    assert info_view(LibraryInfo(source), failed, True)["job"]["error"] == GONE
    assert info_view(LibraryInfo(source), failed, False)["job"]["error"] == WITHHELD


def test_a_stranger_sees_no_path_of_a_failed_update() -> None:
    failed = replace(
        RUNNING, state="failed", error="/home/me/videos is not there: see https://example.org/a/b."
    )
    stranger = Permissions("a-token-of-the-owner")
    owner = Permissions("a-token-of-the-owner", {"paths": "everyone"})
    assert update_view(failed, stranger.redactor(None))["error"] == WITHHELD
    assert update_view(failed, owner.redactor(None))["error"] == failed.error


def windows(count: int) -> list[Video]:
    """Return the windows of a long video, of ten seconds each."""
    clips = []
    for number in range(count):
        start = 10.0 * number
        clips.append(Video(f"f@{number}", Path("f"), start=start, end=start + 10, long_video="f"))
    return clips


def answer_of(*numbers: int) -> Answer:
    """Return an answer of one hit, the long video, whose windows of these numbers were found."""
    moments = [Moment(f"f@{number}", 10.0 * number, 10.0 * number + 10, 0.5) for number in numbers]
    hit = Hit(moments[0].video_id, 1, 0.5, None, "f", tuple(moments))
    return Answer(Query("a"), (Ranking(System("CLIP"), (hit,)),), gallery="1")


def test_the_bar_shows_ranked_moments_and_the_open_one() -> None:
    view = timeline_view(answer_of(1, 2), windows(4)[3], [*windows(4), Video("other", Path("o"))])
    assert (view["length"], view["times"]) == ("0:40", "0:30–0:40")
    for moment in view["moments"]:
        assert moment["width"] == "25.000"
    assert [(moment["id"], moment["left"], moment["is_open"]) for moment in view["moments"]] == [
        ("f@1", "25.000", False),
        ("f@2", "50.000", False),
        ("f@3", "75.000", True),
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
    score = ClipScore(System("CLIP"), 1, 0.5, (0.375,), 4)
    view = detail_view(video, [score], "", URLS, {})
    assert view["systems"][0]["frames"] == frames


def test_only_who_may_name_paths_sees_a_clips_folder() -> None:
    video = Video("v", Path("/home/me/videos/v.mp4"), end=9.0, content="k")
    view = detail_view(video, [], "", URLS, {}, names_paths=True)
    assert (view["file"], view["time"]) == ("v.mp4", "0:00–0:09")
    assert view["path"] == "/home/me/videos/v.mp4"
    view = detail_view(video, [], "", URLS, {})
    assert view["file"] == "v.mp4"
    assert "/home" not in str(view)


def test_a_built_in_clip_has_no_file_of_its_own() -> None:
    urls = {"src": "clips/b.webm", "poster": ""}
    view = detail_view(Video("b", Path("/app/b.webm")), [], "", urls, {}, names_paths=True)
    assert view["file"] == view["path"] == ""


def test_a_window_says_when_it_is_unlike_a_picture() -> None:
    window = windows(4)[2]
    timeline = timeline_view(answer_of(2), window, windows(4))
    assert detail_view(window, [], "", URLS, timeline)["time"] == "0:20–0:30 of 0:40"
    assert detail_view(Video("p", Path("p.jpg")), [], "", URLS, {})["time"] == ""


def test_indexing_is_offered_unless_refused_or_under_way() -> None:
    problem = NotIndexedError("Videos is not indexed by CLIP yet.", "CLIP", "other")
    assert index_view(answer_of(1), problem, None, "", {}) == {
        "text": str(problem),
        "models": "CLIP|other",
        "refusal": "",
    }
    refused = index_view(answer_of(1), problem, None, "Only the owner may.", {})
    assert refused["refusal"] == "Only the owner may."
    assert set(index_view(answer_of(1), problem, RUNNING, "", {"text": "x"})) == {"job"}


def test_clips_without_an_index_are_counted_once_per_model() -> None:
    plain = Ranking(System("CLIP"), (), missing=3)
    drop = Ranking(System("CLIP", "drop"), (), missing=3)
    view = index_view(Answer(Query("a"), (plain, drop)), None, None, "", {})
    assert view["text"] == "3 clips are not indexed by CLIP: they were not searched."
    assert index_view(answer_of(1), None, None, "", {}) == {}
