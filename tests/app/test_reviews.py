"""Places in a report and notes on its queries, over raw HTTP, as anyone can send them."""

from collections.abc import Iterator
from typing import Any

import pytest

from nt2vr.evaluation.archive import MAX_NOTE, Archive, Remark
from tests.conftest import STRANGER, RunningApp
from tests.support.raw_client import RawClient
from tests.support.word_encoder import SYSTEMS, report_of

ADDRESS = ("on_address", "change")
PLACES = (("understood", "report"),)


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
    for link in links(report[1]):
        for event in (*PLACES, ADDRESS):
            error = (
                client.error(event, [link])
                if event == ADDRESS
                else client.error(event, data={"link": link})
            )
            assert "\n" not in error and len(error) < 400 and "Something went wrong" not in error, (
                event,
                link,
                error,
            )


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
    assert stranger.error(event, data=note).startswith(
        "Only the owner may write notes on reports here"
    )
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
        error = person.error(event, data={**note, **wrong})
        assert error and "\n" not in error and "Something went wrong" not in error, wrong
    assert archive.remarks(report_id) == {3: Remark("misread", "who sings?")}
    review = stranger.send(ADDRESS, [note["link"]])["output"]["data"][2]
    assert (review["tag"], review["note"]) == (
        "misread",
        "who sings?",
    ) and "Only the owner" in review["refusal"]
