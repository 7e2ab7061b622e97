"""The state of a search, read from links and from the page."""

from dataclasses import replace
from typing import Any

import pytest

from nt2vr.errors import ConfigError
from nt2vr.ui.search.state import Chosen, SearchState, dropped_systems

NAMES = ["CLIP", "CLIP drop", "CLIP-bnl", "CLIP-neg", "CLIP boolean"]
FULL = SearchState(
    "a dog, no cat",
    "b21d01fd7844",
    ["CLIP drop", "CLIP"],
    6,
    (Chosen("clip1", "b21d01fd7844", weight=0.25),),
    {"alpha": "0.8", "beta": "1.5", "lambda": "2.5", "t": ""},
    "report:3",
    "kid|dogs",
    "a dog|cat, bird",
    "1",
    "1",
)


def read(**link: str) -> SearchState:
    return SearchState.of_link(link, NAMES)


def sent(state: SearchState, **others: Any) -> dict[str, Any]:
    """What the page sends of a state."""
    values = {name: getattr(state, name) for name in ("q", "gallery", "systems", "k")}
    references = {"references": [vars(each) for each in state.references]}
    return {**values, "references": references, "hidden": state.hidden, **others}


def test_a_link_survives_being_written_and_read() -> None:
    assert read(**{name: str(value) for name, value in FULL.link.items()}) == FULL


def test_the_page_sends_a_state_back_as_it_is() -> None:
    assert SearchState.of_page(**sent(FULL)) == FULL
    assert SearchState.of_page(**sent(FULL, systems=None)).systems == []


@pytest.mark.parametrize("hidden", [None, [], "a", {}, {**FULL.hidden, "alpha": 0.8}, {**FULL.hidden, "parts": ["a"]}])
def test_hidden_values_of_another_form_are_refused(hidden: Any) -> None:
    with pytest.raises(ConfigError, match="its values are not of the page's form"):
        SearchState.of_page(**sent(FULL, hidden=hidden))


def test_an_empty_link_gives_the_defaults() -> None:
    assert replace(read(), systems=("CLIP", "CLIP-bnl", "CLIP-neg")) == SearchState()
    own = SearchState.of_link({"gallery": "1"}, NAMES, "beach sunset", ("CLIP drop", "gone"))
    assert (own.q, own.gallery, own.systems) == ("beach sunset", "1", ["CLIP drop"])
    assert SearchState.of_link({"q": "a", "systems": "CLIP"}, NAMES, "b", ("CLIP drop",)).link["systems"] == "CLIP"
    assert read().systems == ["CLIP", "CLIP-bnl", "CLIP-neg"]


def test_impossible_values_are_dropped_or_limited() -> None:
    state = read(systems="GPT|CLIP", k="1000", alpha="-1", like="a|b|c", weight="much|inf|nan")
    assert (state.systems, state.k, state.moved) == (["CLIP"], 24, {"boolean": 0})
    assert [each.weight for each in state.references] == [0.5, 1, 0.5]


def test_at_most_four_systems_are_compared() -> None:
    assert read(systems="|".join(NAMES)).systems == NAMES[:4]


def test_what_a_link_asks_for_in_vain_is_named() -> None:
    assert dropped_systems({"systems": "CLIP|Foo|"}, NAMES) == "'Foo' cannot be shown: there is no such system here."
    assert dropped_systems({"systems": "|".join(NAMES)}, NAMES).startswith("'CLIP boolean' cannot be shown: at most 4")
    assert dropped_systems({"systems": "|".join(NAMES[:4])}, NAMES) == dropped_systems({}, NAMES) == ""
    assert len(dropped_systems({"systems": "|".join(f"{n}" * 1000 for n in range(999))}, NAMES)) < 2000


def test_a_link_of_one_picture_reads_as_it_always_did() -> None:
    assert read(like="clip1", weight="0.3").references == (Chosen("clip1", weight=0.3),)
    assert read(weight="0.3").references == ()


def test_a_link_keeps_which_clips_are_unwanted_and_every_weight_and_four_of_a_thousand() -> None:
    a, b, c = Chosen("a"), Chosen("b", weight=0.25), Chosen("c", weight=1.0, wanted=False)
    link = SearchState(references=(c, a, b)).link
    assert (link["like"], link["unlike"], link["weight"]) == ("a|b", "c", "0.5|0.25|1")
    assert read(**{name: str(value) for name, value in link.items()}).references == (a, b, c)
    many = read(like="|".join(f"clip{i}" for i in range(1000)), unlike="x|y", weight="0|" * 1000)
    assert [each.clip for each in many.references] == ["clip0", "clip1", "clip2", "clip3"]
