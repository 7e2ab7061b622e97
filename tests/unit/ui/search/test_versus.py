"""Two queries beside each other: which columns are shown, what is said, and what a link and a download keep."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer
from nt2vr.ui.search.column_view import columns_view
from nt2vr.ui.search.state import SearchState
from nt2vr.ui.search.versus import left_out, woven
from nt2vr.ui.search.view import downloads, understood_view, with_corrections
from tests.unit.ui.search.test_view import NEGATED, no_urls, ranking

CAT, NO_CAT = Query("a cat", ("a cat",)), Query("not a cat", (), ("a cat",))


def view_of(answer: Answer) -> dict[str, Any]:
    return columns_view(answer, lambda name: Video(name, Path(name)), no_urls)


def both() -> Answer:
    second = Answer(NO_CAT, (ranking("CLIP", "bxad"), ranking("CLIP-neg", "wxyz")))
    return Answer(CAT, (ranking("CLIP", "abcd"), ranking("CLIP-neg", "abcd")), beside=second)


def test_each_system_has_its_two_columns_side_by_side_with_what_they_share() -> None:
    view = woven(view_of(both()), both(), view_of)
    assert [(column["name"], column["how"], column["stayed"]) for column in view["columns"]] == [
        ("CLIP", "“a cat”", "3 of 4 clips are found by both"),
        ("CLIP", "“not a cat”", "3 of 4 clips are found by both"),
        ("CLIP-neg", "“a cat”", "0 of 4 clips are found by both"),
        ("CLIP-neg", "“not a cat”", "0 of 4 clips are found by both"),
    ]
    assert len({column["system"] for column in view["columns"]}) == 4  # scripts tell columns apart by it
    assert [hit["move"] for hit in view["columns"][1]["hits"]] == ["both", "", "both", "both"]


def test_a_search_for_one_query_is_left_as_it_is() -> None:
    one = replace(both(), beside=None)
    assert woven(view_of(one), one, view_of) == view_of(one)


@pytest.mark.parametrize(
    ("systems", "said"),
    [
        (("CLIP", "CLIP-neg"), ""),
        (("CLIP", "CLIP-neg", "CLIP-bnl"), "Beside a second query, 2 systems fit: CLIP-bnl is left out."),
        (("a", "b", "c", "d"), "Beside a second query, 2 systems fit: c, d are left out."),
    ],
)
def test_systems_without_room_are_named(systems: tuple[str, ...], said: str) -> None:
    assert left_out(systems) == said


def test_the_page_says_what_both_find_and_shows_the_second_query_without_flipping_it() -> None:
    view = understood_view(both(), SearchState("a cat", versus="not a cat"), {}, CAT)
    assert [each["text"] for each in view["told"]] == [
        "CLIP finds 3 of 4 clips for both.",
        "CLIP-neg finds 0 of 4 clips for both.",
    ]
    assert "".join(piece["text"] for piece in view["second"]) == "not a cat"
    assert not any(piece["flips"] for piece in view["second"])


def test_a_second_query_is_offered_only_where_something_is_denied() -> None:
    offered = [
        understood_view(answer, SearchState(answer.query.text), {}, answer.query)["affirmed"]
        for answer in (Answer(NEGATED, ()), Answer(CAT, ()), replace(both(), query=NEGATED))
    ]
    assert offered == ["a dog and cat", "", ""]


def test_a_second_query_lasts_in_the_link_and_as_long_as_the_sentence() -> None:
    state = SearchState.of_link({"q": "a cat", "versus": "not a cat", "systems": "CLIP"}, ["CLIP"])
    assert SearchState.of_link(state.link, ["CLIP"]) == state

    def kept(text: str) -> str:
        asked, understood = replace(state, q=text), lambda *_: Query(text, (text,))
        return with_corrections(asked, both(), (text, ""), understood)[0].versus

    assert (kept("a cat"), kept("a dog")) == ("not a cat", "")


def test_the_download_has_both_answers() -> None:
    found = json.loads(unquote(downloads(both())["json"].partition(",")[2]))
    assert (found["query"]["text"], found["versus"]["query"]["text"]) == ("a cat", "not a cat")
    assert [each["shared"] for each in found["overlap"]] == [["a", "b", "d"], []]
