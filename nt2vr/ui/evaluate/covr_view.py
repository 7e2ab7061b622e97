"""Covr reports as template data. Independent of Gradio."""

import math
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from nt2vr.errors import counted
from nt2vr.evaluation.covr.protocol import ALL, CEILING, FIRST, KS
from nt2vr.evaluation.covr.report import CovrReport, CovrRow
from nt2vr.search.references import TRAINING_FREE
from nt2vr.world.edits.families import EDIT_KINDS

MEASURES = tuple(f"R@{k}" for k in KS)
VIOLATIONS = f"violations@{FIRST}"
FURTHER = ("subset R@1", "mAP@10")
PER_PAGE = 20
NAMES = {"picture": "picture alone", "text": "text alone", CEILING: "full caption"}
NOTES = {"picture": "control", "text": "control", CEILING: "ceiling", "fusion": "trained"}
ROLES = {"picture": "base", "text": "base", CEILING: "reference"}
MEANINGS = (
    "R@k: share of the queries with a right clip among the first k, in percent; all kinds count alike. Half of the "
    "built-in texts are worded in ways that no training has seen.",
    f"{VIOLATIONS}: of the first {FIRST} clips, the share that shows what was to be removed. Ignoring the picture "
    "wins it, so read it with R@1 of the same queries.",
)


def covr_view(report: CovrReport, measure: str) -> dict[str, Any]:
    """Show a report as a table: one row per system, one column per kind of change; removals apart."""
    rows = sorted(next(iter(report.systems.values())), key=_order)
    kinds = [row for row in rows if row in {query.kind for query in report.rows}]
    removals = [kind for kind in kinds if any(VIOLATIONS in table[kind] for table in report.systems.values())]
    together = [row for row in rows if row not in kinds]
    groups = [(measure, [(row, measure, _head(row)) for row in together])]
    if removals:
        groups.append(("removals", [("", "R@1", "R@1"), ("", VIOLATIONS, VIOLATIONS)]))
    groups.append((f"{measure} by kind of change", [(row, measure, row) for row in kinds]))
    further = [name for name in FURTHER if any(name in table[ALL] for table in report.systems.values())]
    if further:
        groups.append(("all kinds", [(ALL, name, name) for name in further]))
    columns = [column for _, part in groups for column in part]
    values = {
        system: [_value(table, row, name, removals) for row, name, _ in columns]
        for system, table in report.systems.items()
    }
    best = [_best(values, place, columns[place][1]) for place in range(len(columns))]
    return {
        "name": report.name,
        "about": f"{report.model} · {counted(len(report.rows), 'query', 'queries')}, {counted(report.clips, 'clip')}",
        "groups": [{"text": text, "span": len(part)} for text, part in groups],
        "heads": [text for _, _, text in columns],
        "lines": [
            {
                "name": NAMES.get(system, system),
                "note": NOTES.get(system, ""),
                "role": ROLES.get(system, ""),
                "cells": [
                    {"text": "" if value is None else f"{value:.1f}", "best": system in best[place]}
                    for place, value in enumerate(values[system])
                ],
            }
            for system in report.systems
        ],
        "meanings": list(MEANINGS if removals else MEANINGS[:1]),
    }


def _order(row: str) -> int:
    """Order the built-in world's kinds as they are defined; those of datasets stay as they come, after the means."""
    return EDIT_KINDS.index(row) + 1 if row in EDIT_KINDS else 0


def _head(row: str) -> str:
    return {ALL: "all kinds", "seen wordings": "seen", "unseen wordings": "unseen"}.get(row, row)


def _value(table: Mapping[str, Mapping[str, float]], row: str, name: str, removals: Sequence[str]) -> float | None:
    """Return a cell; without a row, the mean over the removals."""
    if row:
        return table[row].get(name)
    found = [table[kind][name] for kind in removals if name in table[kind]]
    return sum(found) / len(found) if found else None


def _best(values: Mapping[str, Sequence[float | None]], place: int, name: str) -> set[str]:
    """Return the best systems of a column, the ceiling and the controls apart."""
    found = {s: value for s, row in values.items() if s not in ROLES and (value := row[place]) is not None}
    best = (min if name == VIOLATIONS else max)(found.values(), default=None)
    return {system for system, value in found.items() if value == best}


def compared(report: CovrReport) -> tuple[str, str]:
    """Return the systems to compare first: the best without training, and the fusion or the ceiling."""
    best = max(TRAINING_FREE, key=lambda system: report.systems[system][ALL]["R@1"])
    return best, "fusion" if "fusion" in report.systems else list(report.systems)[-1]


def kinds_of(report: CovrReport) -> list[str]:
    """List the kinds of change to choose from."""
    return [ALL, *sorted(dict.fromkeys(row.kind for row in report.rows), key=_order)]


def rows_view(report: CovrReport, report_id: str, first: str, second: str, kind: str, page: int) -> dict[str, Any]:
    """List the queries of a kind, those first whose rank the second system improves most."""
    places = [place for place, row in enumerate(report.rows) if kind in (ALL, row.kind)]
    places.sort(key=lambda place: _gain(report.rows[place], first, second), reverse=True)
    last = max(0, (len(places) - 1) // PER_PAGE)
    page = min(max(page, 0), last)
    return {
        "id": report_id,
        "first": NAMES.get(first, first),
        "second": NAMES.get(second, second),
        "page": page,
        "where": f"page {page + 1} of {last + 1}" if last else "",
        "has_before": page > 0,
        "has_after": page < last,
        "count": counted(len(places), "query", "queries"),
        "rows": [_row_view(report, place, first, second) for place in places[page * PER_PAGE : (page + 1) * PER_PAGE]],
    }


def _gain(row: CovrRow, first: str, second: str) -> float:
    return math.log(row.ranks[first] / row.ranks[second])


def _row_view(report: CovrReport, place: int, first: str, second: str) -> dict[str, Any]:
    row = report.rows[place]
    gain = _gain(row, first, second)
    return {
        "place": place,
        "text": row.text,
        "kind": row.kind,
        "link": f"?{urlencode(link_of(report, row))}",
        "before": row.ranks[first],
        "after": row.ranks[second],
        "move": "=" if not gain else f"{'▲' if gain > 0 else '▼'}{abs(row.ranks[first] - row.ranks[second]):,}",
        "good": gain > 0,
        "bad": gain < 0,
    }


def link_of(report: CovrReport, row: CovrRow) -> dict[str, str]:
    """Return the values of a link that asks a query's text; its reference is added where it can be shown."""
    names = [report.model, *(f"{report.model} {each}" for each in ("fusion", "parts", "slerp"))]
    return {"q": row.text, "systems": "|".join(names)}
