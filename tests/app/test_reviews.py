"""Places in a report and notes on its queries, over raw HTTP, as anyone can send them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from nt2vr.evaluation.archive import MAX_NOTE, Archive, Remark
from tests.conftest import RunningApp
from tests.support.raw_client import Event, RawClient, assert_one_sentence
from tests.support.word_encoder import SYSTEMS, report_of

ADDRESS: Event = ("on_address", "change")
OPEN_REPORT: Event = ("understood", "report")
NOTE: Event = ("review", "note")


@dataclass(frozen=True)
class ArchivedReport:
    """A report in the app's archive."""

    archive: Archive
    report_id: str

    def note(self) -> dict[str, Any]:
        """Return what the page sends for a note on the third query."""
        link = f"?report={self.report_id}&query=3"
        return {"link": link, "tag": "misread", "note": "who sings?"}


@pytest.fixture
def report(running_app: RunningApp) -> Iterator[ArchivedReport]:
    archive = Archive(running_app.data / "evaluation" / "reports")
    report_id = archive.add(report_of(*SYSTEMS))
    yield ArchivedReport(archive, report_id)
    archive.delete(report_id)


@pytest.fixture
def owner(running_app: RunningApp) -> RawClient:
    return RawClient(running_app.url, {})


def wrong_links(report_id: str) -> list[Any]:
    return [
        "?report=../../../etc",
        "?report=nowhere&query=1",
        "=",
        "",
        5,
        None,
        f"?report={report_id}&first=words+%40+..%2Fx",
        f"?report={report_id}&find=" + "(a" * 9999,
        f"?report={report_id}&query=99&p=99&kind=%00&order=%ff&concept=<script>",
    ]


def test_a_report_link_never_leaves_the_archive(
    stranger: RawClient, report: ArchivedReport
) -> None:
    for link in wrong_links(report.report_id):
        by_address = stranger.error(ADDRESS, [link])
        by_button = stranger.error(OPEN_REPORT, data={"link": link})
        for error in (by_address, by_button):
            assert "\n" not in error, link
            assert len(error) < 400, link
            assert "Something went wrong" not in error, link


def test_notes_are_read_by_everyone_and_written_by_those_allowed(
    owner: RawClient, stranger: RawClient, report: ArchivedReport
) -> None:
    note = report.note()
    error = stranger.error(NOTE, data=note)
    assert error.startswith("Only the owner may write notes on reports here")
    assert report.archive.remarks(report.report_id) == {}

    assert owner.error(NOTE, data=note) == ""

    assert report.archive.remarks(report.report_id) == {3: Remark("misread", "who sings?")}
    review = stranger.send(ADDRESS, [note["link"]])["output"]["data"][2]
    assert review["tag"] == "misread"
    assert review["note"] == "who sings?"
    assert "Only the owner" in review["refusal"]


def test_wrong_notes_are_refused_and_change_nothing(
    owner: RawClient, report: ArchivedReport
) -> None:
    note = report.note()
    assert owner.error(NOTE, data=note) == ""

    for wrong_fields in (
        {"note": "x" * (MAX_NOTE + 1)},
        {"tag": "x" * 41},
        {"tag": 5},
        {"note": ["x"]},
        {"link": ""},
        {"link": f"?report={report.report_id}&query=5"},
        {"link": f"?report={report.report_id}"},
        {"link": "?report=nowhere&query=1"},
    ):
        assert_one_sentence(owner.error(NOTE, data={**note, **wrong_fields}))

    assert report.archive.remarks(report.report_id) == {3: Remark("misread", "who sings?")}
