"""The list of a report's queries and the review of one, by hand for bags of words."""

from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

import pytest

from nt2vr.evaluation.archive import Remark
from nt2vr.evaluation.queries import JudgedQuery, row_array
from nt2vr.evaluation.report import Report
from nt2vr.search.strategies import System
from nt2vr.ui.evaluate.query_listing import PER_PAGE, ClipSource, QueryListing
from nt2vr.ui.evaluate.query_views import NOTHING_TO_SEARCH, marks_of, queries_view
from nt2vr.ui.evaluate.report_link import ReportLink
from nt2vr.ui.evaluate.review_view import review_view
from tests.support.word_encoder import FIRST, SECOND, SYSTEMS, report_of

HERE = ClipSource(
    "videos",
    frozenset({"a man sings"}),
    lambda video_id: {"src": f"{video_id}.webm", "poster": "p.jpg"},
)


@pytest.fixture(scope="module")
def report() -> Report:
    return report_of(*SYSTEMS, references={"other": {"original/MIR": 0.875}})


def listing(
    report: Report, remarks: Any = None, source: ClipSource | None = None, **link: Any
) -> QueryListing:
    return QueryListing.of(
        report, replace(ReportLink("r", FIRST, SECOND), **link), remarks or {}, source
    )


def rows(report: Report, **options: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = queries_view(listing(report, **options))["rows"]
    return rows


def column(report: Report, name: str, **options: Any) -> list[Any]:
    """Return one value of each row."""
    return [row[name] for row in rows(report, **options)]


def test_queries_are_listed_with_both_ranks_and_their_movement(report: Report) -> None:
    view = queries_view(listing(report))
    top = view["rows"][0]
    assert top["text"] == "sings and not dancing"
    assert [side["rank"] for side in top["sides"]] == ["3", "1"]
    assert (top["movement"], top["is_better"]) == ("▲2", True)
    assert top["kind"] == "A and not B"
    assert top["wanted"] == "sings"
    assert top["unwanted"] == ["dancing"]
    assert (top["relevant"], top["ids"]) == ("1 relevant video", ["a man sings"])
    assert view["count"] == "5 of 5 queries"


def test_queries_are_ordered_and_filtered_by_movement(report: Report) -> None:
    improved_first = column(report, "text")
    assert column(report, "text", order="worsened") == improved_first[::-1]
    assert column(report, "is_better", order="only improved") == [True] * 3
    assert rows(report, order="only worsened") == []


def test_a_row_shows_verdicts_and_available_first_clips(report: Report) -> None:
    first, second = rows(report, kind="composed", source=HERE)[0]["sides"]
    assert [dot["verdict"] for dot in first["dots"]] == ["violation", "violation", "right", "other"]
    assert second["dots"][0] == {"verdict": "right"}
    assert first["verdicts_text"] == "1 of the first 4 relevant, 2 show what is unwanted"
    ((clip,), (second_clip,)) = first["clips"], second["clips"]
    # "a man sings dancing" is not among the clips.
    assert clip["poster"] == ""
    assert (second_clip["src"], second_clip["verdict"]) == ("a man sings.webm", "right")
    assert rows(report, kind="composed")[0]["sides"][1]["clips"][0]["poster"] == ""


def test_a_negated_query_improves_when_the_original_video_ranks_lower(report: Report) -> None:
    (row,) = rows(report, kind="negated")
    before, after = (int(side["rank"]) for side in row["sides"])
    assert after > before
    assert row["movement"] == f"▲{after - before}"
    assert row["is_better"]
    assert "no longer matches" in row["relevant"]
    verdicts = [dot["verdict"] for dot in row["sides"][0]["dots"]]
    assert sorted(verdicts) == ["other", "other", "other", "violation"]


def test_marks_name_the_clips_of_a_query(report: Report) -> None:
    assert "no longer matches" in marks_of(report.row(2)).legend
    several = marks_of(report.row(4))
    assert several.video_ids == {"a man sings", "a dog"}
    assert "2 clips" in several.legend


def test_the_list_is_filtered_by_kind_cue_words_and_tag(report: Report) -> None:
    assert column(report, "kind", kind="not") == ["not B"]
    assert rows(report, cue="never") == []
    assert column(report, "text", find="NOT sing man") == ["a man not sings"]
    assert rows(report, find="zebra") == []
    remarks = {3: Remark("misread", "x"), 4: Remark("", "y")}
    assert column(report, "position", remarks=remarks, tag="misread") == [3]
    assert sorted(column(report, "position", remarks=remarks, tag="*")) == [3, 4]
    assert rows(report, tag="*") == []


def test_pages_hold_twenty_and_there_is_none_beyond_the_last() -> None:
    texts = [f"a dog {number}" for number in range(2 * PER_PAGE + 1)]
    queries = [JudgedQuery("original", text, row_array([2])) for text in texts]
    many = report_of(System("words"), queries=queries)
    last = queries_view(listing(many, second=FIRST, page=99))
    assert len(last["rows"]) == 1
    assert last["page_text"] == "page 3 of 3"
    assert last["next"] == ""
    first = queries_view(listing(many, second=FIRST))
    assert (len(first["rows"]), first["previous"]) == (PER_PAGE, "")
    assert first["rows"][0]["movement"] == "="
    assert ReportLink.read(first["next"]) == ReportLink("r", FIRST, FIRST, page=1)
    reviewed = queries_view(listing(many, second=FIRST, query=25))
    # It is the page with the query.
    assert reviewed["page_text"] == "page 2 of 3"
    # Nothing follows a step but the review.
    assert reviewed == queries_view(listing(many, second=FIRST, query=26))


@pytest.mark.parametrize("number", range(5))
def test_a_review_steps_through_the_list_and_back(report: Report, number: int) -> None:
    positions = listing(report).positions
    current = listing(report, query=positions[number])
    view = review_view(current)
    assert view["position_text"] == f"query {number + 1} of 5"
    assert ReportLink.read(view["back"]) == replace(current.link, query=None)
    for step, neighbour in (("previous", number - 1), ("next", number + 1)):
        if 0 <= neighbour < 5:
            link = ReportLink.read(view[step])
            assert link is not None
            assert link.query == positions[neighbour]
        else:
            assert view[step] == ""


def test_a_review_shows_both_systems(report: Report) -> None:
    clips = review_view(listing(report, query=3, source=HERE))["sides"][1]["clips"]
    assert clips[0]["src"] == "a man sings.webm"
    assert clips[0]["mark"] == "✓"
    assert clips[0]["rank"] == 1
    assert [clip["src"] for clip in clips[1:]] == ["", "", ""]
    assert clips[1]["title"] == "a man sings dancing"
    drop = review_view(listing(report, second="words drop", query=4))["sides"][1]
    assert (drop["clips"], drop["notice"]) == ([], NOTHING_TO_SEARCH)


def test_a_review_links_to_search_only_with_its_videos(report: Report) -> None:
    link = parse_qs(review_view(listing(report, query=3, source=HERE))["search"].removeprefix("?"))
    assert link == {
        "q": ["sings and not dancing"],
        "systems": [f"{FIRST}|{SECOND}"],
        "gallery": ["videos"],
        "judged": ["r:3"],
    }
    assert "judged" not in review_view(listing(report, query=3))["search"]
    assert "open in Search" in queries_view(listing(report, source=HERE))["hint"]
    assert "does not have these videos" in queries_view(listing(report))["hint"]
