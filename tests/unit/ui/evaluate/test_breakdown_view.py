"""What the breakdown shows, by hand."""

from typing import Any

import numpy as np
import pytest

from nt2vr.errors import ConfigError
from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, row_array
from nt2vr.evaluation.measures import Measured
from nt2vr.evaluation.reports.report import Report, Result
from nt2vr.ui.evaluate.breakdown_view import breakdown_view, measure_choices
from nt2vr.ui.evaluate.view import report_view

HARD, VIOLATIONS, MIR = "composed/hard_pairs", "composed/violations@10", "composed/MIR"


@pytest.fixture(scope="module")
def report() -> Report:
    """Ten queries about dogs and ten about cats; B orders all pairs of dogs, and shows half as many violations."""
    queries = [
        JudgedQuery("composed", "x", row_array([n]), cue="not", unwanted=("a dog" if n < 10 else "a cat",))
        for n in range(20)
    ]
    ranks, none = np.ones(20, np.int32), np.full(20, np.nan, np.float32)

    def measured(ordered: list[float], violations: list[float]) -> Measured:
        return Measured(ranks, np.array(ordered, np.float32), none, np.array(violations, np.float32))

    a = measured([0.0, 0.5] * 10, [0.2, 0.4] * 10)
    b = measured([1.0] * 10 + [0.5, 0.0] * 5, [0.1, 0.2] * 10)
    nowhere = Measured(ranks, none, none, none)
    benchmark = Benchmark(
        "hand", tuple(map(str, range(20))), tuple(queries), lambda *_: np.ones((1, 1), np.float32), {}
    )
    spec = {"model": "m", "strategy": "plain"}
    return Report.of(benchmark, [Result("A", spec, a), Result("B", spec, b), Result("C", spec, nowhere)])


def rows(view: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for facet in view["facets"] for row in facet["rows"]}


def test_bars_of_both_systems_share_an_axis_with_their_intervals(report: Report) -> None:
    view = breakdown_view(report, "A", "B", HARD)
    assert [tick["text"] for tick in view["ticks"]] == ["0", "50", "100"]
    first, second = rows(view)["dog"]["bars"]
    assert (first["text"], first["left"], first["width"]) == ("25.0", "0.00", "25.00")
    # eight of ten draws, or two, are 50
    assert (first["range"], first["low"], first["span"]) == ("10.0 to 40.0", "10.00", "30.00")
    assert (second["text"], second["range"], second["low"], second["span"]) == ("100.0", "all alike", "100.00", "0.00")


def test_a_difference_is_named_in_words_or_called_noise(report: Report) -> None:
    found = rows(breakdown_view(report, "A", "B", HARD))
    assert (found["dog"]["by"], found["dog"]["word"], found["dog"]["kind"]) == ("+75.0", "better", "up")
    assert (found["cat"]["by"], found["cat"]["word"]) == ("0.0", "within noise")
    turned = rows(breakdown_view(report, "B", "A", HARD))["dog"]
    assert (turned["by"], turned["word"], turned["kind"]) == ("-75.0", "worse", "down")
    assert turned["p"] == "p = .002"  # 2 of 1,024 signs


def test_fewer_violations_are_better(report: Report) -> None:
    found = rows(breakdown_view(report, "A", "B", VIOLATIONS))["all"]
    assert (found["by"], found["word"], found["p"]) == ("-15.0", "better", "p < .001")


def test_groups_have_names_that_people_understand(report: Report) -> None:
    view = breakdown_view(report, "A", "B", HARD)
    assert [facet["head"] for facet in view["facets"]][1:] == [
        "By negation cue",
        "By kind of unwanted part",
        "By concept of the unwanted part",
    ]
    assert list(rows(view)) == ["all", "not", "a thing or place", "cat", "dog"]


def test_only_what_both_systems_have_can_be_broken_down(report: Report) -> None:
    assert measure_choices(report, "A", "B")[0] == ("A and not B: hard pairs", HARD)
    keys = [key for _, key in measure_choices(report, "A", "C")]
    assert HARD not in keys and MIR in keys
    assert measure_choices(report, "A", "nobody") == []
    with pytest.raises(ConfigError, match="C has no 'composed/hard_pairs'"):
        breakdown_view(report, "A", "C", HARD)


def test_figures_in_the_tables_have_their_margin_unless_all_queries_are_alike(report: Report) -> None:
    paper, honest = report_view(report, "id", ())["tables"]
    lines = {line["name"]: line["cells"] for line in honest["lines"]}
    assert lines["A"][0]["text"] == "25.0"
    low, high = report.intervals["A"][HARD].low, report.intervals["A"][HARD].high
    assert lines["A"][0]["margin"] == f"±{(high - low) / 2:.1f}"
    assert lines["A"][0]["range"] == f"95 % interval: {low:.1f} to {high:.1f}"
    assert "margin" not in paper["lines"][0]["cells"][0]  # R@1 of 100 throughout
