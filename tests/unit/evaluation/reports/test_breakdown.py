"""Breakdowns of a report by hand: who wins where, and by how much more than noise."""

from typing import Any

import numpy as np
import pytest

from nt2vr.errors import ConfigError
from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, row_array
from nt2vr.evaluation.intervals import Interval
from nt2vr.evaluation.measures import Measured
from nt2vr.evaluation.reports.breakdown import Group, break_down
from nt2vr.evaluation.reports.report import Report, Result

KEY = "composed/hard_pairs"
CUES = ["not"] * 12 + ["without"] * 10 + ["never"] * 4 + ["except"] * 3
UNWANTED = ["a dog"] * 12 + ["singing"] * 17
A = [0.5] * 29
B = [1.0] * 12 + [0.25, 0.75] * 5 + [0.5] * 7  # better with "not", noise with "without", the same elsewhere


def report_of(**orders: list[float]) -> Report:
    queries = [
        JudgedQuery("composed", f"x {cue}", row_array([place]), cue=cue, unwanted=(unwanted,))
        for place, (cue, unwanted) in enumerate(zip(CUES, UNWANTED, strict=True))
    ]
    videos = tuple(map(str, range(len(queries))))
    benchmark = Benchmark("hand", videos, tuple(queries), lambda *_: np.ones((1, 1), np.float32), {})
    none = np.full(len(queries), np.nan, np.float32)
    ranks = np.ones(len(queries), np.int32)
    results = [
        Result(name, {}, Measured(ranks, np.array(order, np.float32), none, none)) for name, order in orders.items()
    ]
    return Report.of(benchmark, results)


def by_name(groups: tuple[Group, ...]) -> dict[str, Group]:
    return {group.name: group for group in groups}


def test_groups_by_cue_with_small_ones_joined() -> None:
    found = break_down(report_of(A=A, B=B), "A", "B", KEY)
    assert [(each.name, each.num_queries, each.num_joined) for each in found.by_cue] == [
        ("not", 12, 0),
        ("without", 10, 0),
        ("", 7, 2),
    ]
    clear, noise, joined = found.by_cue
    assert (clear.first.value, clear.second.value, clear.difference.value) == (50, 100, 50)
    assert clear.difference.interval is None and not clear.is_noise  # all twelve by as much
    assert clear.p == 2 / 2**12
    assert noise.difference.value == 0 and noise.is_noise and noise.p == 1
    assert joined.is_noise
    assert found.all.num_queries == 29 and found.all.difference.value == pytest.approx(50 * 12 / 29)
    assert not found.all.is_noise


def test_a_few_queries_are_noise_even_if_all_agree() -> None:
    """The bootstrap of five equal signs excludes 0, but chance gives them once in 16 times."""
    five = [0.5] * 24 + [0.6, 0.7, 0.6, 0.7, 0.8]
    rest = break_down(report_of(A=A, B=five), "A", "B", KEY).by_cue[-1]
    assert rest.difference.interval is not None and rest.difference.interval.low > 0
    assert rest.p == 2 / 2**5 and rest.is_noise


def test_groups_by_kind_of_part_and_by_concept() -> None:
    found = break_down(report_of(A=A, B=B), "B", "A", KEY)
    assert {name: each.num_queries for name, each in by_name(found.by_part).items()} == {"thing": 12, "deed": 17}
    assert by_name(found.by_concept)["dog"].difference.value == -50


def test_the_difference_is_paired_so_that_what_all_queries_share_is_no_noise() -> None:
    """Two systems that both vary widely, but of which one is always a little better."""
    wide = np.linspace(0, 0.9, 29).tolist()
    found = break_down(report_of(A=wide, B=[value + 0.1 for value in wide]), "A", "B", KEY).all
    assert found.first.interval is not None and found.second.interval is not None
    assert found.first.interval.high > found.second.interval.low  # the intervals of the two overlap
    assert found.difference.value == pytest.approx(10, abs=1e-4) and not found.is_noise


def test_queries_that_one_system_has_no_value_for_are_left_out() -> None:
    some = [float("nan")] * 12 + [1.0] * 17
    found = break_down(report_of(A=A, B=some), "A", "B", KEY)
    assert found.all.num_queries == 17 and [each.name for each in found.by_part] == ["deed"]


def test_the_bootstrap_of_a_group_is_that_of_its_queries_alone() -> None:
    noise = break_down(report_of(A=A, B=B), "A", "B", KEY).by_cue[1]
    # ten draws of 25 or 75: 2 to 8 of them are 75 in 97.9 %
    assert noise.second.interval == Interval(35, 65)


@pytest.mark.parametrize(
    ("first", "second", "key", "message"),
    [
        ("C", "A", KEY, "has no system 'C'"),
        ("A", "C", KEY, "has no system 'C'"),
        ("A", "B", "composed/nothing", "A has no 'composed/nothing'"),
        ("A", "B", "x" * 10_000, "A has no 'x"),
    ],
)
def test_what_the_report_does_not_have_is_refused(first: str, second: str, key: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        break_down(report_of(A=A, B=B), first, second, key)
    assert len(str(caught.value)) < 500


def test_a_query_with_no_unwanted_part_is_in_no_group_of_parts() -> None:
    queries: Any = tuple(JudgedQuery("original", f"a dog {n}", row_array([n])) for n in range(12))
    benchmark = Benchmark("hand", tuple(map(str, range(12))), queries, lambda *_: np.ones((1, 1), np.float32), {})
    none = np.full(12, np.nan, np.float32)
    report = Report.of(benchmark, [Result("A", {}, Measured(np.arange(1, 13, dtype=np.int32), none, none, none))])
    found = break_down(report, "A", "A", "original/MIR")
    assert (found.by_cue, found.by_part, found.by_concept) == ((), (), ())
    assert found.all.is_noise and found.all.p == 1


def test_a_breakdown_is_computed_once_per_report() -> None:
    report = report_of(A=A, B=B)
    assert break_down(report, "A", "B", KEY) is break_down(report, "A", "B", KEY)
