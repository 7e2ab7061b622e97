"""Which visitors see clips of a report on a folder of one's own, and where."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nt2vr.evaluation.report import Report
from nt2vr.media.gallery import Video
from nt2vr.services import Services
from nt2vr.settings import Settings
from nt2vr.ui.evaluate.own_clips import OwnClips
from nt2vr.ui.evaluate.query_listing import QueryListing
from nt2vr.ui.evaluate.query_views import queries_view
from nt2vr.ui.evaluate.report_link import ReportLink
from nt2vr.ui.evaluate.review_view import review_view
from nt2vr.ui.web.permissions import Permissions
from tests.support.word_encoder import FIRST, SECOND, SYSTEMS, VIDEOS, report_of

TOKEN = "a-token-of-the-owner"
# The position of a query.
COMPOSED = 3


@pytest.fixture
def report(tmp_path: Path) -> Report:
    """A report on four files, of which the second is gone."""
    videos = []
    for number, video_id in enumerate(VIDEOS):
        path = tmp_path / f"{number}.jpg"
        if number != 1:
            path.touch()
        videos.append(Video(video_id, path))
    return replace(report_of(*SYSTEMS), videos=tuple(videos))


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    with closing(Services(Settings.read(tmp_path / "data", "cpu"))) as opened:
        yield opened


def clips_for(rule: str, services: Services) -> OwnClips:
    return OwnClips(services, Permissions(TOKEN, {"paths": rule}))


def test_a_review_shows_a_folder_s_clips_and_missing_ones(
    report: Report, services: Services
) -> None:
    source = clips_for("everyone", services).source("r", report, None)
    listing = QueryListing.of(report, ReportLink("r", FIRST, SECOND, query=COMPOSED), {}, source)
    review = review_view(listing)
    clips: dict[str, dict[str, Any]] = {clip["title"]: clip for clip in review["sides"][0]["clips"]}
    assert clips["a man sings"]["src"] == "evaluated/r/0/preview.webm"
    assert clips["a man sings"]["poster"] == "evaluated/r/0/poster.jpg"
    gone = clips["a man sings dancing"]
    assert (gone["src"], gone["poster"]) == ("", "")
    assert "1.jpg" in gone["missing"]
    # Search has no gallery of these clips, so it marks none
    assert "judged" not in review["search"]
    assert "gallery" not in review["search"]
    assert "read from where they were evaluated" in queries_view(listing)["hint"]


def test_a_visitor_who_may_name_no_paths_gets_no_clips(
    report: Report, services: Services, tmp_path: Path
) -> None:
    clips = clips_for("owner", services)
    assert clips.source("r", report, None) is None
    review = review_view(
        QueryListing.of(report, ReportLink("r", FIRST, SECOND, query=COMPOSED), {}, None)
    )
    assert str(tmp_path) not in str(review)


def test_a_report_without_files_has_no_clips(services: Services) -> None:
    assert clips_for("everyone", services).source("r", report_of(*SYSTEMS), None) is None
