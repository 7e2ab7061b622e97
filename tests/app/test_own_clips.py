"""Clips of a report on a folder of one's own: for those who may name paths, and for no other visitor."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest

from nt2vr.evaluation.archive import Archive
from nt2vr.media.gallery import Video
from nt2vr.media.video import probe
from tests.conftest import STRANGER, RunningApp
from tests.support.paths import GRADIO_MEDIA
from tests.support.word_encoder import SYSTEMS, VIDEOS, report_of


@dataclass(frozen=True)
class OwnReport:
    """A report of the running app, on the files of a folder."""

    app: RunningApp
    report_id: str
    folder: Path

    def url(self, row: object, file: str) -> str:
        """Return the address of a clip's poster or preview."""
        return f"{self.app.url}evaluated/{self.report_id}/{row}/{file}"


@pytest.fixture
def report(running_app: RunningApp, tmp_path: Path) -> Iterator[OwnReport]:
    """A report of four files: a picture, a window of a video, a file that is gone, and a text."""
    shutil.copy(GRADIO_MEDIA / "images" / "lion.jpg", tmp_path)
    shutil.copy(GRADIO_MEDIA / "videos" / "world.mp4", tmp_path)
    (tmp_path / "secret.txt").write_text("hush")
    videos = (
        Video(VIDEOS[0], tmp_path / "lion.jpg"),
        Video(VIDEOS[1], tmp_path / "world.mp4", start=10.0, end=12.0),
        Video(VIDEOS[2], tmp_path / "gone.mp4"),
        Video(VIDEOS[3], tmp_path / "secret.txt"),
    )
    archive = Archive(running_app.data / "evaluation" / "reports")
    report_id = archive.add(replace(report_of(*SYSTEMS), name="own", videos=videos))
    yield OwnReport(running_app, report_id, tmp_path)
    archive.delete(report_id)


def test_clips_are_made_from_the_files_that_were_evaluated(
    report: OwnReport, tmp_path: Path
) -> None:
    for row in (0, 1):
        poster = httpx.get(report.url(row, "poster.jpg"), timeout=60)
        assert poster.status_code == 200
        assert poster.headers["content-type"] == "image/jpeg"
        assert poster.headers["cache-control"].startswith("private")

    preview = httpx.get(report.url(1, "preview.webm"), timeout=60)
    file = tmp_path / "preview.webm"
    file.write_bytes(preview.content)
    assert probe(file).seconds == pytest.approx(2.0, abs=0.3)


def test_a_visitor_sees_no_clip_of_a_report(report: OwnReport) -> None:
    for row in range(4):
        for file in ("poster.jpg", "preview.webm"):
            answer = httpx.get(report.url(row, file), headers=STRANGER)
            assert answer.status_code == 403


def test_a_visitor_learns_no_path_of_a_report(report: OwnReport) -> None:
    listing = f"{report.app.url}reports/{report.report_id}/videos.jsonl"
    answer = httpx.get(listing, headers=STRANGER)
    assert answer.status_code == 403
    assert str(report.folder) not in answer.text


@pytest.mark.parametrize(
    ("row", "file"),
    [
        # The file is gone.
        (2, "poster.jpg"),
        # It is neither a picture nor a video.
        (3, "poster.jpg"),
        # There is no such row.
        (4, "poster.jpg"),
        (0, "videos.jsonl"),
        (0, "..%2Freport.json"),
        ("-1", "poster.jpg"),
        ("..", "poster.jpg"),
    ],
)
def test_nothing_else_is_served(report: OwnReport, row: object, file: str) -> None:
    answer = httpx.get(report.url(row, file), timeout=60)
    assert answer.status_code == 404
    assert "hush" not in answer.text


def test_an_unknown_report_has_no_clips(report: OwnReport) -> None:
    missing = replace(report, report_id="nowhere")
    answer = httpx.get(missing.url(0, "poster.jpg"))
    assert answer.status_code == 404
