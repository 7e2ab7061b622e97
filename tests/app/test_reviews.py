"""Places in a report and notes on its queries, over raw HTTP, as anyone can send them."""

from collections.abc import Iterator
from typing import Any

import pytest

from nt2vr.evaluation.archive import MAX_NOTE, Archive, Remark
from tests.conftest import STRANGER, RunningApp
from tests.support.raw_client import RawClient, assert_one_sentence
from tests.support.word_encoder import SYSTEMS, report_of

ADDRESS = ("on_address", "change")
OPEN_REPORT = ("understood", "report")


@pytest.fixture
def report(running_app: RunningApp) -> Iterator[tuple[Archive, str]]:
    """A report in the app's archive."""
    archive = Archive(running_app.data / "evaluation" / "reports")
    report_id = archive.add(report_of(*SYSTEMS))
    yield archive, report_id
    archive.delete(report_id)


def links(report_id: str) -> list[Any]:
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
    running_app: RunningApp, report: tuple[Archive, str]
) -> None:
    client = RawClient(running_app.url, STRANGER)
    _, report_id = report
    for link in links(report_id):
        by_address = client.error(ADDRESS, [link])
        by_button = client.error(OPEN_REPORT, data={"link": link})
        for error in (by_address, by_button):
            assert "\n" not in error, link
            assert len(error) < 400, link
            assert "Something went wrong" not in error, link


def test_notes_are_read_by_everyone_and_written_by_those_allowed(
    running_app: RunningApp, report: tuple[Archive, str]
) -> None:
    archive, report_id = report
    person = RawClient(running_app.url, {})
    stranger = RawClient(running_app.url, STRANGER)
    note: dict[str, Any] = {
        "link": f"?report={report_id}&query=3",
        "tag": "misread",
        "note": "who sings?",
    }
    event = ("review", "note")
    error = stranger.error(event, data=note)
    assert error.startswith("Only the owner may write notes on reports here")
    assert person.error(event, data=note) == ""

    for wrong in (
        {"note": "x" * (MAX_NOTE + 1)},
        {"tag": "x" * 41},
        {"tag": 5},
        {"note": ["x"]},
        {"link": ""},
        {"link": f"?report={report_id}&query=5"},
        {"link": f"?report={report_id}"},
        {"link": "?report=nowhere&query=1"},
    ):
        assert_one_sentence(person.error(event, data={**note, **wrong}))

    assert archive.remarks(report_id) == {3: Remark("misread", "who sings?")}
    review = stranger.send(ADDRESS, [note["link"]])["output"]["data"][2]
    assert (review["tag"], review["note"]) == ("misread", "who sings?")
    assert "Only the owner" in review["refusal"]
