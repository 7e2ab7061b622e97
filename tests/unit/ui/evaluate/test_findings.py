"""What a report says first, by hand."""

from typing import Any

import numpy as np
import pytest

from nt2vr.evaluation.measures import Measured
from nt2vr.evaluation.queries import JudgedQuery, row_array
from nt2vr.evaluation.report import Report, Result
from nt2vr.evaluation.text_presentation import TEXTS
from nt2vr.ui.evaluate.findings import chart_of, count_text, findings_of, sentence_of

QUERIES = (
    JudgedQuery("original", "a dog", row_array([0]), cue=""),
    JudgedQuery("original", "a cat", row_array([1]), cue=""),
    JudgedQuery("original", "a boy", row_array([2]), cue=""),
    JudgedQuery("original", "a girl", row_array([3]), cue=""),
    JudgedQuery("without", "a small dog without a ball", row_array([0]), cue="without"),
    JudgedQuery("without", "a cat without a hat", row_array([1]), cue="without"),
    JudgedQuery("without", "a boy, no bike", row_array([2]), cue="no"),
    JudgedQuery("without", "a girl lacking a hat", row_array([3]), cue="lacking"),
)
OF_CAPTIONS = np.full(4, np.nan, np.float32)


def measured(ranks: list[int], ordered: list[float], violations: list[float]) -> Measured:
    """Return ranks of the captions, and what was measured for the four queries that exclude something."""
    return Measured(
        ranks=np.array([*ranks, 1, 1, 1, 1], np.int32),
        ordered=np.concatenate([OF_CAPTIONS, np.array(ordered, np.float32)]),
        tied=np.concatenate([OF_CAPTIONS, np.zeros(4, np.float32)]),
        violations=np.concatenate([OF_CAPTIONS, np.array(violations, np.float32)]),
    )


def report_of(**systems: Measured) -> Report:
    results = []
    for name, of_system in systems.items():
        spec = {"model": name, "strategy": "plain", "base": "" if name == "clip" else "clip"}
        results.append(Result(name, spec, of_system))
    return Report(
        name="by hand",
        digest="",
        source={},
        references={},
        video_ids=("v0", "v1", "v2", "v3"),
        texts=(),
        queries=QUERIES,
        results=tuple(results),
        presentation=TEXTS,
    )


CLIP = measured([1, 1, 1, 2], [0.0, 0.25, 0.5, 0.25], [0.4, 0.5, 0.4, 0.3])
NEG = measured([1, 1, 2, 1], [1.0, 1.0, 0.75, 1.0], [0.0, 0.0, 0.0, 0.08])


def sentences(report: Report) -> list[str]:
    written = []
    for finding in findings_of(report):
        parts = sentence_of(report, finding)
        written.append(
            "".join(f"*{part['text']}*" if part["strong"] else part["text"] for part in parts)
        )
    return written


def test_three_sentences_compare_the_base_with_what_was_taught() -> None:
    assert sentences(report_of(clip=CLIP, neg=NEG)) == [
        "When a query excludes a thing (“a cat without a hat”), clip ranks a clip *with* it above one *without* it "
        "in 75 of 100 pairs; neg in 6, no clear difference.",
        "Of the clips that clip puts in its top ten, 40 in 100 *show what was excluded*; of neg's, 2, no clear "
        "difference.",
        "For a plain caption, clip puts the right clip *first* in 75 of 100 searches; neg in 75, no clear "
        "difference.",
    ]


def test_a_single_system_is_compared_with_nothing() -> None:
    assert sentences(report_of(clip=CLIP))[2] == (
        "For a plain caption, clip puts the right clip *first* in 75 of 100 searches."
    )


def test_names_with_asterisks_and_braces_stand_as_they_are() -> None:
    systems: dict[str, Any] = {"CLIP* {0}": NEG}
    assert sentences(report_of(**systems))[1] == (
        "Of the clips that CLIP* {0} puts in its top ten, 2 in 100 *show what was excluded*."
    )


@pytest.mark.parametrize(
    ("percentage", "count"),
    [(0.0, "0"), (0.2, "fewer than 1"), (13.0, "13"), (99.9, "more than 99"), (100.0, "100")],
)
def test_only_none_and_all_are_called_so(percentage: float, count: str) -> None:
    assert count_text(percentage) == count


def test_failures_are_what_is_missing_to_100() -> None:
    assert count_text(92.4, counts_failures=True) == "8"
    assert count_text(99.9, counts_failures=True) == "fewer than 1"


def test_the_chart_names_every_system_within_its_scale() -> None:
    pairs, violations, first = chart_of(report_of(clip=CLIP, neg=NEG))
    assert [row["system"] for row in pairs["rows"]] == ["clip", "neg"]
    assert [row["text"] for row in pairs["rows"]] == ["25.0", "93.8"]
    assert [row["text"] for row in violations["rows"]] == ["40.0", "2.0"]
    assert [row["text"] for row in first["rows"]] == ["75.0", "75.0"]
    for panel in (pairs, violations, first):
        for row in panel["rows"]:
            start = float(row["from"])
            width = float(row["width"])
            assert 0 <= start <= float(row["at"]) <= start + width <= 100


def test_a_figure_that_all_queries_agree_on_has_no_interval() -> None:
    right = measured([1, 1, 1, 1], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0])
    pairs, *_ = chart_of(report_of(clip=CLIP, neg=right))
    assert pairs["rows"][1] == {
        "system": "neg",
        "role": "",
        "chance": 50.0,
        "at": "100.0",
        "text": "100.0",
    }
