"""Two systems of a report compared, by hand: single queries, and breakdowns with tests."""

from typing import Any

import numpy as np
import pytest

from nt2vr.errors import ConfigError
from nt2vr.evaluation.comparison import break_down, positions_by_difference
from nt2vr.evaluation.differences import Difference
from nt2vr.evaluation.embed_media import EmbeddedVideos
from nt2vr.evaluation.intervals import Interval
from nt2vr.evaluation.measures import Measured
from nt2vr.evaluation.queries import JudgedQuery, row_array
from nt2vr.evaluation.report import Report, Result
from nt2vr.evaluation.tables import difference_rows
from nt2vr.evaluation.text_benchmark import TextBenchmark

KEY = "composed/hard_pairs"
CUES = ["not"] * 12 + ["without"] * 10 + ["never"] * 4 + ["except"] * 3
# Shares of hard pairs, one per cue.
A = [0.5] * 29
# Better with "not", noise with "without", the same elsewhere.
B = [1.0] * 12 + [0.25, 0.75] * 5 + [0.5] * 7
# No value with "not".
PARTIAL = [np.nan] * 12 + [1.0] * 17


def report_with(queries: list[JudgedQuery], videos: int, **ranks: Any) -> Report:
    benchmark = TextBenchmark(
        "hand",
        tuple(f"v{row}" for row in range(videos)),
        tuple(queries),
        lambda *_: EmbeddedVideos(np.ones((1, 1), np.float32)),
        {},
    )
    none = np.full(len(queries), np.nan, np.float32)
    results = []
    for system, system_ranks in ranks.items():
        measured = Measured(np.array(system_ranks, np.int32), none, none, none)
        results.append(Result(system, {"model": system, "strategy": "plain"}, measured))
    return benchmark.report(results)


def ordered(**shares: list[float]) -> Report:
    """A report whose systems have these shares of hard pairs."""
    queries = []
    for row, cue in enumerate(CUES):
        queries.append(JudgedQuery("composed", f"x {cue}", row_array([row]), cue=cue))
    report = report_with(queries, 29, **dict.fromkeys(shares, [1] * 29))
    for result, share in zip(report.results, shares.values(), strict=True):
        object.__setattr__(result.measured, "ordered", np.array(share, np.float32))
    return report


def test_groups_by_cue_with_small_ones_joined() -> None:
    _, *groups = break_down(ordered(A=A, B=B), "A", "B", KEY)
    assert [(group.name, group.num_queries, group.num_joined) for group in groups] == [
        ("not", 12, 0),
        ("without", 10, 0),
        ("", 7, 2),
    ]
    assert [group.is_noise for group in groups] == [False, True, True]


def test_each_group_has_means_intervals_and_a_p_value() -> None:
    everything, clear, noise, _ = break_down(ordered(A=A, B=B), "A", "B", KEY)
    assert everything.num_queries == 29
    assert everything.means[2] == pytest.approx(50 * 12 / 29)
    assert not everything.is_noise

    assert clear.means == [50, 100, 50]
    # All twelve differ by as much.
    assert clear.intervals[2] is None
    assert clear.p == 2 / 2**12

    assert noise.means[2] == 0
    # Of ten draws of 25 or 75, 2 to 8 are 75 in 97.9 %.
    assert noise.intervals[1] == Interval(35, 65)
    assert noise.p == 1


def test_queries_without_a_value_are_in_no_breakdown() -> None:
    everything = break_down(ordered(A=A, B=PARTIAL), "A", "B", KEY)[0]
    assert everything.num_queries == 17


def test_a_few_queries_are_noise_even_if_all_agree() -> None:
    """The bootstrap of five equal signs excludes 0, but chance gives them once in 16 times."""
    five_better = [0.5] * 24 + [0.6, 0.7, 0.6, 0.7, 0.8]
    rest = break_down(ordered(A=A, B=five_better), "A", "B", KEY)[-1]
    interval = rest.intervals[2]
    assert interval is not None
    assert interval.low > 0
    assert rest.p == 2 / 2**5
    assert rest.is_noise


def test_differences_are_paired_query_by_query() -> None:
    """Two systems that both vary widely, but of which one is always a little better."""
    wide = np.linspace(0, 0.9, 29).tolist()
    group = break_down(ordered(A=wide, B=[value + 0.1 for value in wide]), "A", "B", KEY)[0]
    first, second, _ = group.intervals
    assert first is not None
    assert second is not None
    # They overlap.
    assert first.high > second.low
    assert group.means[2] == pytest.approx(10, abs=1e-4)
    assert not group.is_noise


KINDS: Any = ("original", "negated", "composed", "composed", "negated")


def five_queries() -> Report:
    cues = ("not", "not", "not", "without", "not")
    queries = []
    for position, (kind, cue) in enumerate(zip(KINDS, cues, strict=True)):
        queries.append(JudgedQuery(kind, f"{position}", row_array([0]), cue=cue))
    return report_with(queries, 1, A=[10, 1, 100, 30, 3], B=[1, 40, 20, 60, 1])


def test_queries_are_sorted_by_gain() -> None:
    # factors: 10, 40 (the wrong video falls), 5, 1/2, 1/3 (the wrong video rises)
    assert positions_by_difference(five_queries(), "A", "B") == [1, 0, 2, 3, 4]
    assert positions_by_difference(five_queries(), "B", "A") == [4, 3, 2, 0, 1]
    with pytest.raises(ConfigError, match=r"C.*A, B"):
        positions_by_difference(five_queries(), "A", "C")


@pytest.mark.parametrize(
    ("filters", "positions"),
    [
        (dict(kind="composed"), [2, 3]),
        (dict(kind="composed", cue="without"), [3]),
        # No relevant video, or the wrong one, on all first pages.
        (dict(fails_everywhere=True), [2, 3, 4]),
        (dict(change="improved"), [1, 0, 2]),
        (dict(change="worsened"), [3, 4]),
        (dict(positions=[4, 0]), [0, 4]),
        (dict(positions=[]), []),
        (dict(text=" 3 "), [3]),
    ],
)
def test_queries_are_filtered(filters: dict[str, Any], positions: list[int]) -> None:
    assert positions_by_difference(five_queries(), "A", "B", **filters) == positions


def hard_pairs_of(report: Report, first: str, second: str) -> Difference:
    comparisons = {difference.measure: difference for difference in report.compare(first, second)}
    return comparisons[KEY]


def test_all_measures_are_compared_as_each_breakdown_compares_one() -> None:
    report = ordered(A=A, B=B)
    everything = break_down(report, "A", "B", KEY)[0]
    comparison = hard_pairs_of(report, "A", "B")
    means = [comparison.first, comparison.second, comparison.difference]
    assert means == pytest.approx(everything.means)
    assert comparison.num_queries == everything.num_queries
    assert comparison.interval == everything.intervals[2]
    assert comparison.p == everything.p
    assert comparison.is_noise == everything.is_noise


def test_the_other_way_round_the_difference_is_negative() -> None:
    report = ordered(A=A, B=B)
    forth = hard_pairs_of(report, "A", "B")
    back = hard_pairs_of(report, "B", "A")
    assert back.difference == -forth.difference
    assert back.p == forth.p


def test_only_queries_that_both_systems_answer_are_compared() -> None:
    comparison = hard_pairs_of(ordered(A=A, B=PARTIAL), "A", "B")
    assert comparison.num_queries == 17
    assert (comparison.first, comparison.second) == (50, 100)


def test_an_unknown_system_is_not_compared() -> None:
    with pytest.raises(ConfigError, match="C"):
        ordered(A=A, B=B).compare("A", "C")


def test_measures_of_no_table_are_named_like_the_others() -> None:
    queries = [JudgedQuery("without", f"x {row}", row_array([row])) for row in range(4)]
    report = report_with(queries, 4, A=[1, 1, 1, 1], B=[2, 1, 3, 1])
    rows = difference_rows(report, report.compare("A", "B"))
    names = {measure: name for measure, name, *_ in rows}
    assert names["without/R@1"] == "A without N R@1"
    assert names["without/R@5"] == "A without N R@5"


def test_a_higher_mean_rank_is_worse_without_its_table() -> None:
    queries = [JudgedQuery("original", f"x {row}", row_array([row])) for row in range(40)]
    report = report_with(queries, 40, A=[1] * 40, B=[2, 3] * 20)
    rows = {row[0]: row for row in difference_rows(report, report.compare("A", "B"))}
    name, *_, verdict = rows["original/MeanR"][1:]
    assert name == "Text to video MeanR"
    assert verdict.startswith("worse")
