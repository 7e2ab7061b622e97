"""Evaluation jobs and reports as template data. Independent of Gradio."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pandas as pd

from nt2vr.evaluation.archive import Entry
from nt2vr.evaluation.comparison import Figure, Group, break_down
from nt2vr.evaluation.covr import CEILING
from nt2vr.evaluation.intervals import LEVEL
from nt2vr.evaluation.measures import GROUPS, Column
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.tables import REMOVALS, Table, interval_of, size_of, tables_of
from nt2vr.progress import Job
from nt2vr.ui.job_view import job_view

WORD = "evaluating"
ROLES = {"base": "zero-shot", "drop": "control", "reference": "reads the scenes"}
CONTROLS = {  # by strategy
    "plain": "base",
    "drop": "drop",
    "picture": "base",
    "text": "base",
    CEILING: "reference",
}
NOTES = {  # of pictures plus texts, by strategy
    "picture": "control: no text",
    "text": "control: no picture",
    "fusion": "trained",
    CEILING: "ceiling: the full caption",
}
X, Y = "Composed MIR", "Hard pairs, %"  # how well the wanted part is found, and the negated part respected
MARGINS = (
    "± is half of a figure's 95 % interval over queries. To see whether two systems differ, use the breakdown below, "
    "which compares them query by query: intervals of single figures may overlap although one is clearly better."
)
COVR_MEANINGS = (
    "R@k: percentage of queries with a relevant clip among the first k; all kinds count alike. Half of the built-in "
    "texts have wordings that no training has seen.",
    "Removals: mean over the kinds of change that remove something. Violations@5: percentage of the first five clips "
    "that show what was to be removed; lower is better. Ignoring the picture wins it, so read it with R@1.",
)


def reports_view(
    entries: Sequence[Entry], chosen: str, job: Job[str] | None = None, tell: Callable[[str], str] = str
) -> dict[str, Any]:
    """List the reports with the open one marked, below the evaluation under way; `tell` is that of `job_view`."""
    return {
        "job": job_view(job, WORD, tell) if job is not None and job.is_under_way else {},
        "reports": [
            {
                "id": entry.report_id,
                "name": entry.name,
                "systems": f"It cannot be read: {entry.problem}" if entry.problem else ", ".join(entry.systems),
                "created": day_text(entry.created),
                "chosen": entry.report_id == chosen,
            }
            for entry in entries
        ],
    }


def day_text(created: str) -> str:
    """Format an ISO timestamp for reading: 21 Nov 2026, 10:15 UTC."""
    try:
        moment = datetime.fromisoformat(created)
    except ValueError:
        return created
    return f"{moment.day} {moment:%b %Y, %H:%M} UTC"


def report_view(report: Report, report_id: str, files: Sequence[str]) -> dict[str, Any]:
    """Show a report: its data, tables and downloads."""
    tables = tables_of(report)
    return {
        "id": report_id,
        "name": report.name,
        "created": day_text(report.created),
        "about": size_of(report),
        "remarks": list(report.source.get("remarks", ())),
        "margins": "" if report.is_covr else MARGINS,
        "meanings": [*_meanings(report, tables), *report.notes],
        "tables": [_table_view(report, table) for table in tables],
        "files": [{"href": f"reports/{report_id}/{file}", "name": file} for file in files],
    }


def _meanings(report: Report, tables: Sequence[Table]) -> list[str]:
    """Explain the measures of the tables' columns, each once."""
    known = {key for table in tables for _, metrics in table.lines for key in metrics}
    columns = [column for table in tables for column in table.columns if column.key in known]
    if not report.is_covr:
        return list(dict.fromkeys(column.meaning for column in columns if column.meaning))
    has_removals = any(column.key == f"{REMOVALS}/R@1" for column in columns)
    return list(COVR_MEANINGS if has_removals else COVR_MEANINGS[:1])


def _notes(report: Report, roles: Mapping[str, str]) -> dict[str, str]:
    """Return the note next to each system's name."""
    if report.is_covr:
        return {result.system: NOTES.get(result.spec["strategy"], "") for result in report.results}
    return {name: ROLES.get(role, "") for name, role in roles.items()}


def _table_view(report: Report, table: Table) -> dict[str, Any]:
    """Lay a table out with the best value of each column marked.

    References do not compete; nor, with a picture plus a text, do controls, which win violations by ignoring one.
    """
    roles = roles_of(report)
    notes = _notes(report, roles)
    competing = {name for name, role in roles.items() if not (report.is_covr and role)}
    best = {column.key: _best([m for name, m in table.lines if name in competing], column) for column in table.columns}
    return {
        "groups": [{"text": group.head, "span": len(group.columns)} for group in table.groups],
        "heads": [{"text": column.head} for column in table.columns],
        "lines": [
            {
                "name": name,
                "role": roles.get(name, "reference"),
                "note": notes.get(name, ROLES["reference"]),
                "cells": [
                    _cell(report, name, column, metrics, best[column.key] if name in competing else "")
                    for column in table.columns
                ],
            }
            for name, metrics in table.lines
        ],
        "wraps": report.is_covr,
    }


def _best(lines: Sequence[Mapping[str, float]], column: Column) -> str:
    """Return the best value as printed, so that equal texts are marked alike; "" if all are equal."""
    values = [metrics[column.key] for metrics in lines if column.key in metrics]
    if len({column.text(value) for value in values}) < 2:
        return ""
    return column.text(min(values) if column.lower_is_better else max(values))


def _cell(report: Report, name: str, column: Column, metrics: Mapping[str, float], best: str) -> dict[str, Any]:
    """Show a figure and how sure it is; a reference has no interval, nor a figure that all queries agree on."""
    text = column.text(metrics.get(column.key))
    cell = {"text": text, "best": text == best}
    interval = interval_of(report, name, column.key) if column.key in metrics else None
    if interval is None:
        return cell
    low, high = column.text(interval.low), column.text(interval.high)
    return {**cell, "margin": f"±{column.text(interval.half)}", "range": f"{LEVEL} % interval: {low} to {high}"}


def points_of(report: Report) -> pd.DataFrame:
    """Plot finding the wanted part against respecting the negated part; no rows where these were not measured."""
    rows = [(name, each.get("composed/MIR"), each.get("composed/hard_pairs")) for name, each in report.metrics.items()]
    return pd.DataFrame([row for row in rows if None not in row], columns=["system", X, Y])


def measure_choices(report: Report, first: str, second: str) -> list[tuple[str, str]]:
    """Return the metrics that both systems have per query, as choices (label, key)."""
    tables = (report.values.get(name, {}) for name in (first, second))
    keys = set.intersection(*({key for key, each in table.items() if each.statistic is None} for table in tables))
    columns = {column.key: f"{group.head}: {column.head}" for group in GROUPS for column in group.columns}
    return [(label, key) for key, label in columns.items() if key in keys]


def breakdown_view(report: Report, first: str, second: str, key: str) -> pd.DataFrame:
    """Compare two systems per negation word, with what is more than noise; errors as of `break_down`."""
    column = next((one for group in GROUPS for one in group.columns if one.key == key), Column(key, key))
    groups = break_down(report, first, second, key)
    rows = [["all", *_group_row(groups[0], column)[1:]], *(_group_row(group, column) for group in groups[1:])]
    columns = ["negation word", "queries", first, second, "difference", ""]
    return pd.DataFrame(rows, columns=columns if first != second else [*columns[:3], f"{second} ", *columns[4:]])


def _group_row(group: Group, column: Column) -> list[Any]:
    name = f"{group.num_joined} others" if group.num_joined else group.name or "none"
    p = "p < .001" if group.p < 0.001 else f"p = {group.p:.3f}".replace("0.", ".")
    figures = (_figure_text(column, each) for each in (group.first, group.second, group.difference))
    return [name, group.num_queries, *figures, f"{_verdict(group, column)}, {p}"]


def _figure_text(column: Column, figure: Figure) -> str:
    if figure.interval is None:
        return column.text(figure.value)
    return f"{column.text(figure.value)} ({column.text(figure.interval.low)} to {column.text(figure.interval.high)})"


def _verdict(group: Group, column: Column) -> str:
    if group.is_noise:
        return "within noise"
    return "better" if (group.difference.value > 0) != column.lower_is_better else "worse"


def roles_of(report: Report) -> dict[str, str]:
    """Return each system's role: zero-shot model or control ("base"), its `drop` ("drop"), ceiling, or none ("").

    Only a model that was trained from no other is zero-shot, whether or not the report has its base.
    """
    made = {result.system: result.spec for result in report.results}
    return {name: "" if spec.get("base") else CONTROLS.get(spec["strategy"], "") for name, spec in made.items()}
