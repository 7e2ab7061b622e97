"""Query lists for error analysis, by hand."""

from typing import Any

import numpy as np
import pytest

from nt2vr.errors import ConfigError
from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, row_array
from nt2vr.evaluation.measures import Measured
from nt2vr.evaluation.reports.compare import Filter, places_by_difference
from nt2vr.evaluation.reports.report import Report, Result

KINDS: Any = ("original", "negated", "composed", "composed", "negated")
RANKS = {"A": [10, 1, 100, 30, 3], "B": [1, 40, 20, 60, 1]}


def report() -> Report:
    queries = [
        JudgedQuery(kind, f"{place}", row_array([0]), cue="without" if place == 3 else "not")
        for place, kind in enumerate(KINDS)
    ]
    none = np.full(5, np.nan, np.float32)
    benchmark = Benchmark("hand", ("v",), tuple(queries), lambda *_: np.ones((1, 1), np.float32), {})
    results = [
        Result(name, {}, Measured(np.array(ranks, np.int32), none, none, none)) for name, ranks in RANKS.items()
    ]
    return Report.of(benchmark, results)


def test_queries_are_sorted_by_gain_with_reversed_sign_for_negated_ones() -> None:
    # factors: 10, 40 (the wrong video falls), 5, 1/2, 1/3 (the wrong video rises)
    assert places_by_difference(report(), "A", "B") == [1, 0, 2, 3, 4]
    assert places_by_difference(report(), "B", "A") == [4, 3, 2, 0, 1]


def test_queries_are_filtered_by_kind_and_cue() -> None:
    assert places_by_difference(report(), "A", "B", Filter(kind="composed")) == [2, 3]
    assert places_by_difference(report(), "A", "B", Filter(kind="composed", cue="without")) == [3]


def test_common_failures_have_no_relevant_video_or_only_wrong_ones_on_all_first_pages() -> None:
    assert places_by_difference(report(), "A", "B", Filter(fails_everywhere=True)) == [2, 3, 4]


def test_queries_are_filtered_by_change_position_and_words() -> None:
    assert places_by_difference(report(), "A", "B", Filter(change="improved")) == [1, 0, 2]
    assert places_by_difference(report(), "A", "B", Filter(change="worsened")) == [3, 4]
    assert places_by_difference(report(), "A", "B", Filter(places=[4, 0])) == [0, 4]
    assert places_by_difference(report(), "A", "B", Filter(places=[])) == []
    assert places_by_difference(report(), "A", "B", Filter(text=" 3 ")) == [3]


def test_an_unknown_system_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"no system 'C'\. Choose one of: A, B"):
        places_by_difference(report(), "A", "C")
