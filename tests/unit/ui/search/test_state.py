"""The state of a search, read from links and from the page."""

import json
from typing import Any

import pytest

from nt2vr.errors import ConfigError
from nt2vr.search.plan import DEFAULT_SYSTEMS
from nt2vr.ui.search.state import Chosen, Request, SearchState

NAMES = ["CLIP", "CLIP drop", "CLIP-bnl", "CLIP-neg", "CLIP boolean"]
FULL = SearchState(
    "a dog, no cat",
    "b21d01fd7844",
    ["CLIP drop", "CLIP"],
    6,
    (Chosen("clip1", "b21d01fd7844", weight=0.25),),
    {"boolean": 0.8, "rectified": 1.5, "anchored": 2.5},
    "report:3",
    "kid|dogs",
    "a dog|cat, bird",
    "1",
    "1",
)


def read(**link: str) -> SearchState:
    return SearchState.of_link(link)


def test_a_browser_s_request_is_checked() -> None:
    chip = {"clip": "a", "weight": 0.25, "wanted": False}
    request = Request.of(
        json.dumps({"number": 3, "link": FULL.link, "opened": True, "references": [chip]})
    )
    assert SearchState.of_link(request.link) == FULL
    assert (request.number, request.opened) == (
        3,
        True,
    )
    assert request.references == (Chosen("a", weight=0.25, wanted=False),)
    assert Request.of("") == Request()


@pytest.mark.parametrize(
    "sent",
    [
        *(None, [], "a", {"number": "1"}, {"opened": 1}, {"references": [{}]}),
        *({"link": link} for link in (None, {"q": 1}, {"alpha": 0.8}, {"parts": ["a"]})),
    ],
)
def test_what_no_page_sends_is_refused_in_a_sentence(sent: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        Request.of(json.dumps(sent))
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def test_an_empty_link_gives_the_defaults() -> None:
    state, dropped = read().with_existing(NAMES, DEFAULT_SYSTEMS)
    assert state.q == SearchState().q
    assert state.k == 8
    assert state.systems == ["CLIP", "CLIP-bnl", "CLIP-neg"]
    assert dropped == ""


def test_a_link_without_systems_gives_the_defaults_that_exist() -> None:
    linked = read(gallery="1", q="beach sunset")
    state, _ = linked.with_existing(NAMES, ("CLIP drop", "gone"))
    assert (state.q, state.gallery) == ("beach sunset", "1")
    assert state.systems == ["CLIP drop"]


def test_impossible_values_are_dropped_or_limited() -> None:
    state = read(systems="GPT|CLIP", k="1000", alpha="-1", like="a|b|c", weight="much|inf|nan")
    assert state.with_existing(NAMES, ())[0].systems == ["CLIP"]
    assert state.k == 24
    assert state.strengths == {"boolean": 0}
    assert [reference.weight for reference in state.references] == [0.5, 1, 0.5]


def test_four_systems_are_shown_and_unknown_ones_named() -> None:
    def dropped(*systems: str) -> str:
        return read(systems="|".join(systems)).with_existing(NAMES, ())[1]

    assert read(systems="|".join(NAMES)).with_existing(NAMES, ())[0].systems == NAMES[:4]
    assert dropped("CLIP", "Foo", "") == "'Foo' cannot be shown: there is no such system here."
    assert dropped(*NAMES).startswith("'CLIP boolean' cannot be shown: at most 4")
    assert dropped(*NAMES[:4]) == dropped() == ""
    assert len(dropped(*(f"{n}" * 1000 for n in range(999)))) < 2000


def test_a_link_keeps_unwanted_clips_and_weights() -> None:
    a = Chosen("a")
    b = Chosen("b", weight=0.25)
    c = Chosen("c", weight=1.0, wanted=False)
    link = SearchState(references=(c, a, b)).link
    assert link["like"] == "a|b"
    assert link["unlike"] == "c"
    assert link["weight"] == "0.5|0.25|1"
    assert read(**link).references == (a, b, c)
    assert read(like="clip1", weight="0.3").references == (Chosen("clip1", weight=0.3),)
    assert read(weight="0.3").references == ()
    many = read(like="|".join(f"clip{i}" for i in range(1000)), unlike="x|y", weight="0|" * 1000)
    assert [reference.clip for reference in many.references] == ["clip0", "clip1", "clip2", "clip3"]
