"""Links to places in reports, also hostile ones."""

from dataclasses import replace

import pytest

from nt2vr.ui.evaluate.report_link import MAX_CHARS, ReportLink, resolved
from tests.support.word_encoder import FIRST, SECOND, SYSTEMS, report_of

FULL = ReportLink("r", "A", "B", "worsened", "", "not", "misread", "a “boy”", "1", 3, 17)


def test_a_link_is_read_as_it_was_written() -> None:
    for link in (FULL, replace(FULL, kind=None), ReportLink("r"), ReportLink()):
        assert ReportLink.read(link.address) == link
    assert ReportLink("r").address == "?report=r&order=improved"


@pytest.mark.parametrize(
    "text",
    [
        "p=-1&query=-1&order=<b>",
        "p=1e9&query=1.5",
        "p=99999999999999999999&query=99999999999999999999",
        # The digits are not ASCII.
        "p=\u0661&query=\u0661",
        "p=&query=&order=",
    ],
)
def test_wrong_numbers_and_orders_keep_their_defaults(text: str) -> None:
    assert ReportLink.read(f"report=r&{text}") == ReportLink("r")


def test_long_values_are_cut_and_old_filters_ignored() -> None:
    assert ReportLink.read("?report=r&cue=not&part=deed&concept=drum") == ReportLink("r", cue="not")
    link = ReportLink.read("report=r&find=" + "a" * 100_000 + "&kind=not")
    assert link is not None
    assert len(link.find) == MAX_CHARS
    assert link.kind is None


def test_a_report_opens_with_base_and_best_system() -> None:
    report = report_of(*SYSTEMS)
    for link in (ReportLink("r"), ReportLink("r", "huge", "huge", kind="huge")):
        resolved_link = resolved(link, report)
        assert resolved_link.first == FIRST
        assert resolved_link.second == SECOND
        assert resolved_link.kind == "composed"
    assert resolved(ReportLink("r", kind=""), report).kind == ""


@pytest.mark.parametrize(("query", "reviewed"), [(0, 0), (4, 4), (5, None), (None, None)])
def test_only_a_query_of_the_report_is_reviewed(query: int | None, reviewed: int | None) -> None:
    assert resolved(ReportLink("r", query=query), report_of(*SYSTEMS)).query == reviewed
