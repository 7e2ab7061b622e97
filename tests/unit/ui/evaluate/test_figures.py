"""Signs of figures, and which one is clearly the best, by hand."""

import pytest

from nt2vr.evaluation.columns import Column
from nt2vr.ui.evaluate.figures import MeasuredValue, clearly_best, with_minus, written
from nt2vr.ui.search.formats import MINUS

CLIP = MeasuredValue("CLIP", 36, low=31, high=41)
DROP = MeasuredValue("CLIP drop", 58, low=53, high=63)
NEG = MeasuredValue("CLIP-neg", 81, low=77, high=85)
NEAR = MeasuredValue("CLIP-con", 78, low=74, high=82)
WIDE = MeasuredValue("CLIP-bnl", 50, low=20, high=80)


@pytest.mark.parametrize(
    ("figures", "best"),
    [
        ([CLIP, DROP, NEG], "CLIP-neg"),
        ([NEG, CLIP, DROP], "CLIP-neg"),
        ([CLIP, DROP, NEG, NEAR], ""),
        ([NEG, DROP, WIDE], ""),
        ([NEG, NEG._replace(system="again")], ""),
        ([NEG], ""),
        ([], ""),
    ],
)
def test_only_a_clear_best_is_marked(figures: list[MeasuredValue], best: str) -> None:
    assert clearly_best(figures, lower_is_better=False) == best


def test_the_lowest_may_be_the_best() -> None:
    assert clearly_best([CLIP, DROP, NEG], lower_is_better=True) == "CLIP"
    assert clearly_best([CLIP, DROP._replace(low=41)], lower_is_better=True) == ""


def test_a_figure_without_an_interval_counts_as_exact() -> None:
    exact = MeasuredValue("exact", 0, low=0, high=0)
    assert clearly_best([exact, CLIP], lower_is_better=True) == "exact"


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
