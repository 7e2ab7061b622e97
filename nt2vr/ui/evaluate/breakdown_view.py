"""Breakdown of a report as template data. Independent of Gradio."""

from collections.abc import Sequence
from typing import Any

from nt2vr.errors import counted
from nt2vr.evaluation.intervals import LEVEL
from nt2vr.evaluation.reports.breakdown import MOST, SMALLEST, Breakdown, Figure, Group, break_down
from nt2vr.evaluation.reports.confusion import confusions
from nt2vr.evaluation.reports.report import Report
from nt2vr.evaluation.reports.tables import GROUPS, Column
from nt2vr.ui.chart import ticks

HARD_PAIRS = "composed/hard_pairs"  # shown first, where it was measured
PARTS = {"deed": "a deed", "thing": "a thing or place", "attribute": "an attribute", "": "unknown"}
FACETS = ("By negation cue", "By kind of unwanted part", "By concept of the unwanted part")
NOTE = (
    f"Lines are {LEVEL} % intervals, from queries drawn again and again; queries with the same relevant videos are "
    "drawn together. The difference is taken query by query. Within noise: its interval includes 0, or flipping its "
    "signs at random gives one as large in 5 % of cases. Of 20 groups without any difference, about one is not within "
    f"noise by chance. Groups of fewer than {SMALLEST} queries, and of concepts those after the {MOST} most frequent, "
    "are joined."
)


def measure_choices(report: Report, first: str, second: str) -> list[tuple[str, str]]:
    """Return what can be broken down for two systems, as choices (label, key), hard pairs first."""
    tables = (report.values.get(name, {}) for name in (first, second))
    keys = set.intersection(*({key for key, each in table.items() if each.statistic is None} for table in tables))
    known = {key: f"{head}: {column.head}" for key, (head, column) in _columns().items() if key in keys}
    order = sorted(known, key=lambda key: key != HARD_PAIRS)
    return [(known[key], key) for key in order]


def _columns() -> dict[str, tuple[str, Column]]:
    return {column.key: (group.head, column) for group in GROUPS for column in group.columns}


def breakdown_view(report: Report, first: str, second: str, key: str) -> dict[str, Any]:
    """Show two systems' figures as bars with intervals, by group, and what is more than noise; or a ConfigError."""
    found = break_down(report, first, second, key)
    head, column = _columns().get(key, ("", Column(key, key, 1)))
    scale = _Scale(found, column)
    facets = zip(FACETS, (found.by_cue, found.by_part, found.by_concept), strict=True)
    return {
        "first": first,
        "second": second,
        "measure": f"{head}: {column.head}".lstrip(": "),
        "better": "lower is better" if scale.lower_is_better else "higher is better",
        "ticks": [{"at": f"{scale.at(mark):.2f}", "text": f"{mark:g}"} for mark in scale.marks],
        "facets": [
            {"head": "", "rows": [scale.row("all", found.all)]},
            *(
                {"head": name, "rows": [scale.row(_name(group, name), group) for group in groups]}
                for name, groups in facets
                if groups
            ),
        ],
        "note": NOTE,
        "confusions": _confusions(report, first, second) if key == "class/accuracy" else [],
    }


def _confusions(report: Report, first: str, second: str) -> list[dict[str, Any]]:
    """Show which classes the two systems confuse, each in a table: rows are true, columns chosen."""
    return [
        {
            "name": found.name,
            "systems": [
                {
                    "name": system,
                    "heads": [f"{number}" for number in range(1, len(found.classes) + 1)],
                    "shifted": system in found.shifts,
                    "rows": [
                        {
                            "name": f"{number} {text}",
                            "count": f"{asked:,}",
                            "shift": "–" if shift is None else f"{shift:.2f}",
                            "cells": [
                                {
                                    "text": f"{share:.0f}" if share else "",
                                    "share": f"{share:.0f}",
                                    "kind": "right" if place + 1 == number else "wrong",
                                    "title": f"{share:.1f} % of {asked:,}",
                                }
                                for place, share in enumerate(row)
                            ],
                        }
                        for number, (text, asked, row, shift) in enumerate(
                            zip(
                                found.classes,
                                found.asked.tolist(),
                                found.shares[system].tolist(),
                                found.shifts.get(system) or [None] * len(found.classes),
                                strict=True,
                            ),
                            1,
                        )
                    ],
                }
                for system in dict.fromkeys((first, second))
            ],
        }
        for found in confusions(report, first, second)
    ]


def _name(group: Group, facet: str) -> str:
    if group.num_joined:
        return f"{group.num_joined} others"
    return PARTS.get(group.name, group.name) if facet == FACETS[1] else group.name or "none"


class _Scale:
    """Lays figures out on one axis for all groups."""

    def __init__(self, found: Breakdown, column: Column) -> None:
        self._column = column
        self.lower_is_better = column.lower_is_better
        groups = [found.all, *found.by_cue, *found.by_part, *found.by_concept]
        ends = [end for group in groups for figure in (group.first, group.second) for end in _ends(figure)]
        self.marks = ticks(min(0, *ends), max(0, *ends))

    def at(self, value: float) -> float:
        low, high = self.marks[0], self.marks[-1]
        return 100 * (value - low) / (high - low)

    def row(self, name: str, group: Group) -> dict[str, Any]:
        count = counted(group.num_queries, "query", "queries")
        known = count if group.num_units == group.num_queries else f"{count}, {group.num_units:,} independent"
        return {
            "name": name,
            "count": f"{group.num_queries:,}",
            "known": known,
            "bars": [self._bar(group.first), self._bar(group.second)],
            "by": self._signed(group.difference.value),
            "range": self._range(group.difference, signed=True),
            **self._verdict(group),
            "p": "p < .001" if group.p < 0.001 else f"p = {group.p:.3f}".replace("0.", "."),
        }

    def _bar(self, figure: Figure) -> dict[str, str]:
        zero, end = sorted((self.at(0), self.at(figure.value)))
        low, high = (self.at(end) for end in _ends(figure))
        return {
            "text": self._column.text(figure.value),
            "range": self._range(figure),
            "left": f"{zero:.2f}",
            "width": f"{end - zero:.2f}",
            "low": f"{low:.2f}",
            "span": f"{high - low:.2f}",
        }

    def _range(self, figure: Figure, signed: bool = False) -> str:
        if figure.interval is None:
            return "all alike"
        form = self._signed if signed else self._column.text
        return f"{form(figure.interval.low)} to {form(figure.interval.high)}"

    def _signed(self, value: float) -> str:
        text = self._column.text(abs(value))
        if not text.strip("0."):
            return text
        return f"{'-' if value < 0 else '+'}{text}"

    def _verdict(self, group: Group) -> dict[str, Any]:
        if group.is_noise:
            return {"word": "within noise", "kind": "noise"}
        is_better = (group.difference.value > 0) != self.lower_is_better
        return {"word": "better", "kind": "up"} if is_better else {"word": "worse", "kind": "down"}


def _ends(figure: Figure) -> Sequence[float]:
    if figure.interval is None:
        return (figure.value, figure.value)
    return (figure.interval.low, figure.interval.high)
