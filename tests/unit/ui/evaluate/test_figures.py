"""Signs of figures, and which one is clearly the best, by hand."""

import pytest

from nt2vr.evaluation.columns import Column
from nt2vr.evaluation.intervals import Interval
from nt2vr.ui.evaluate.figures import clearly_best, with_minus, written
from nt2vr.ui.search.formats import MINUS

CLIP = {"CLIP": Interval(31, 41)}
DROP = {"CLIP drop": Interval(53, 63)}
NEG = {"CLIP-neg": Interval(77, 85)}
NEAR = {"CLIP-con": Interval(74, 82)}
WIDE = {"CLIP-bnl": Interval(20, 80)}


@pytest.mark.parametrize(
    ("intervals", "best"),
    [
        (CLIP | DROP | NEG, "CLIP-neg"),
        (NEG | CLIP | DROP, "CLIP-neg"),
        (CLIP | DROP | NEG | NEAR, ""),
        (NEG | DROP | WIDE, ""),
        (NEG | {"again": Interval(77, 85)}, ""),
        (NEG, ""),
        ({}, ""),
    ],
)
def test_only_a_clear_best_is_marked(intervals: dict[str, Interval], best: str) -> None:
    assert clearly_best(intervals, lower_is_better=False) == best


def test_the_lowest_may_be_the_best() -> None:
    assert clearly_best(CLIP | DROP | NEG, lower_is_better=True) == "CLIP"
    assert clearly_best(CLIP | {"CLIP drop": Interval(41, 63)}, lower_is_better=True) == ""


def test_a_figure_without_an_interval_counts_as_exact() -> None:
    assert clearly_best({"exact": Interval(0, 0)} | CLIP, lower_is_better=True) == "exact"


@pytest.mark.parametrize(
    ("value", "text"),
    [(-0.8, f"{MINUS}0.8"), (0.8, "0.8"), (-0.04, "0.0"), (0.0, "0.0"), (None, "–")],
)
def test_negative_figures_have_minus_signs(value: float | None, text: str) -> None:
    assert written(Column("k", "k"), value) == text


def test_ranges_have_minus_signs_and_zeros_have_none() -> None:
    assert with_minus("-0.7 to 2.7") == f"{MINUS}0.7 to 2.7"
    assert with_minus("-0.0 to 0.2") == "0.0 to 0.2"
    assert with_minus("–") == "–"
