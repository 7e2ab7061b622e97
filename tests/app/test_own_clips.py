"""Clips of a report on a folder of one's own: for those who may name paths, and for no other visitor."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import gradio
import httpx
import pytest

from nt2vr.evaluation.archive import Archive
from nt2vr.media.gallery import Video
from nt2vr.media.video import probe
from tests.conftest import STRANGER, RunningApp
from tests.support.word_encoder import SYSTEMS, VIDEOS, report_of

ASSETS = Path(gradio.__file__).parent / "media_assets"


class OwnReport(NamedTuple):
    report_id: str
    folder: Path

    def url(self, app: RunningApp, row: object, kind: str) -> str:
        return f"{app.url}evaluated/{self.report_id}/{row}/{kind}"


@pytest.fixture
def report(running_app: RunningApp, tmp_path: Path) -> Iterator[OwnReport]:
    """A report of four files: a picture, a window of a video, a file that is gone, and a text."""
    shutil.copy(ASSETS / "images" / "lion.jpg", tmp_path)
    shutil.copy(ASSETS / "videos" / "world.mp4", tmp_path)
    (tmp_path / "secret.txt").write_text("hush")
    videos = (
        Video(VIDEOS[0], tmp_path / "lion.jpg"),
        Video(VIDEOS[1], tmp_path / "world.mp4", start=10.0, end=12.0),
        Video(VIDEOS[2], tmp_path / "gone.mp4"),
        Video(VIDEOS[3], tmp_path / "secret.txt"),
    )
    archive = Archive(running_app.data / "evaluation" / "reports")
    report_id = archive.add(replace(report_of(*SYSTEMS), name="own", videos=videos))
    yield OwnReport(report_id, tmp_path)
    archive.delete(report_id)


def test_clips_are_made_from_the_files_that_were_evaluated(
    running_app: RunningApp, report: OwnReport, tmp_path: Path
) -> None:
    for row in (0, 1):
        poster = httpx.get(report.url(running_app, row, "poster.jpg"), timeout=60)
        assert (poster.status_code, poster.headers["content-type"]) == (200, "image/jpeg")
        assert poster.headers["cache-control"].startswith("private")

    preview = httpx.get(report.url(running_app, 1, "preview.webm"), timeout=60)
    file = tmp_path / "preview.webm"
    file.write_bytes(preview.content)
    assert probe(file).seconds == pytest.approx(2.0, abs=0.3)


def test_a_visitor_reads_no_file_by_way_of_a_report(
    running_app: RunningApp, report: OwnReport
) -> None:
    for row in range(4):
        for kind in ("poster.jpg", "preview.webm"):
            answer = httpx.get(report.url(running_app, row, kind), headers=STRANGER)
            assert answer.status_code == 403

    listing = f"{running_app.url}reports/{report.report_id}/videos.jsonl"
    answer = httpx.get(listing, headers=STRANGER)
    assert answer.status_code == 403
    assert str(report.folder) not in answer.text


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        # The file is gone.
        (2, "poster.jpg"),
        # It is neither a picture nor a video.
        (3, "poster.jpg"),
        (4, "poster.jpg"),
        (0, "videos.jsonl"),
        (0, "..%2Freport.json"),
        ("-1", "poster.jpg"),
        ("..", "poster.jpg"),
    ],
)
def test_nothing_else_is_served(
    running_app: RunningApp, report: OwnReport, row: object, kind: str
) -> None:
    answer = httpx.get(report.url(running_app, row, kind), timeout=60)
    assert answer.status_code == 404
    assert "hush" not in answer.text


def test_an_unknown_report_has_no_clips(running_app: RunningApp, report: OwnReport) -> None:
    missing = OwnReport("nowhere", report.folder)
    answer = httpx.get(missing.url(running_app, 0, "poster.jpg"))
    assert answer.status_code == 404
