"""The systems of a figure, by hand."""

import pytest

from nt2vr.errors import ConfigError
from nt2vr.ui.search.figure_view import figure_choices, figure_systems, figure_view

NAMES = ("CLIP", "CLIP boolean", "CLIP-bnl", "CLIP drop", "CLIP4Clip", "CLIP-neg", "CLIP-con")
USUAL = ["CLIP", "CLIP-bnl", "CLIP-con", "CLIP-neg", "CLIP4Clip", "CLIP boolean"]


@pytest.mark.parametrize(
    ("asked", "chosen", "systems"),
    [
        ("", ["CLIP-neg"], USUAL),
        ("", ["CLIP-neg", "CLIP drop"], [*USUAL[:5], "CLIP drop"]),  # what is chosen comes before what fills up
        ("CLIP-neg|CLIP", ["CLIP"], ["CLIP", "CLIP-neg"]),
        ("CLIP drop", ["CLIP drop"], ["CLIP drop"]),
    ],
)
def test_a_figure_shows_what_is_named_else_what_is_chosen_and_the_usual_systems_up_to_six(
    asked: str, chosen: list[str], systems: list[str]
) -> None:
    assert figure_systems(asked, chosen, figure_choices(chosen, NAMES)) == systems


def test_only_systems_that_are_here_are_offered_and_each_once() -> None:
    assert figure_choices(["CLIP-neg", "run"], ["CLIP-neg", "run"]) == ["CLIP-neg", "run"]


@pytest.mark.parametrize(("asked", "sentence"), [("CLIP|Foo", "'Foo'"), ("CLIP||", "''"), ("|".join(NAMES), "most 6")])
def test_other_systems_and_too_many_are_refused(asked: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        figure_systems(asked, [], NAMES)


@pytest.mark.parametrize(("count", "fixed"), [(1, ["CLIP"]), (2, []), (6, ["CLIP drop"])])
def test_the_last_system_stays_and_none_joins_six(count: int, fixed: list[str]) -> None:
    choices = [*USUAL, "CLIP drop"]
    view = figure_view({"pieces": [], "flipped": False}, [], USUAL[:count], choices)
    assert [each["system"] for each in view["choices"] if each["fixed"]] == fixed
    assert [each["on"] for each in view["choices"]] == ["true"] * count + ["false"] * (7 - count)
