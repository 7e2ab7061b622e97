"""Evaluation jobs and reports as template data. Independent of Gradio."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pandas as pd

from nt2vr.evaluation.archive import Entry
from nt2vr.evaluation.columns import (
    EMPTY,
    GROUPS,
    Column,
)
from nt2vr.evaluation.comparison import CueGroup, break_down
from nt2vr.evaluation.differences import verdict_text
from nt2vr.evaluation.intervals import LEVEL
from nt2vr.evaluation.metric_names import COMPOSED_HARD_PAIRS, COMPOSED_MIR
from nt2vr.evaluation.remarks import remarks_of
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.roles import REFERENCE
from nt2vr.evaluation.tables import Line, Table, difference_rows, interval_of, size_of, tables_of
from nt2vr.progress import Job
from nt2vr.ui.evaluate.query_views import ReportLink, kinds_of
from nt2vr.ui.job_view import job_view

WORD = "evaluating"
ALL_MEASURES = "all measures"
X, Y = (
    "Composed MIR",
    "Hard pairs, %",
)  # how well the wanted part is found, and the negated part respected


def reports_view(
    entries: Sequence[Entry],
    chosen: str,
    job: Job[str] | None = None,
    tell: Callable[[str], str] = str,
) -> dict[str, Any]:
    """List the reports with the open one marked, below the evaluation under way; `tell` is that of `job_view`."""
    return {
        "job": job_view(job, WORD, tell) if job is not None and job.is_under_way else {},
        "reports": [
            {
                "id": entry.report_id,
                "name": entry.name,
                "systems": f"It cannot be read: {entry.problem}"
                if entry.problem
                else ", ".join(entry.systems),
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


def report_view(
    report: Report, report_id: str, files: Sequence[str], name: str = ""
) -> dict[str, Any]:
    """Show a report: its data, tables and downloads, with the meaning of each measure once."""
    tables = tables_of(report)
    return {
        "id": report_id,
        "name": name or report.name,
        "created": day_text(report.created),
        "about": size_of(report),
        "remarks": remarks_of(report),
        "margins": report.presentation.margins,
        "meanings": [*dict.fromkeys(_meanings(report, tables)), *report.notes],
        "tables": [_table_view(report, report_id, table) for table in tables],
        "files": [{"href": f"reports/{report_id}/{file}", "name": file} for file in files],
    }


def _meanings(report: Report, tables: Sequence[Table]) -> list[str]:
    known = set().union(*(line.metrics for table in tables for line in table.lines))
    columns = [column for table in tables for column in table.columns]
    return report.presentation.meanings(columns, known)


def _table_view(report: Report, report_id: str, table: Table) -> dict[str, Any]:
    """Lay a table out with the best value of each column marked, among the lines that compete."""
    competing = [line for line in table.lines if report.presentation.competes(line.role)]
    best = {column.key: _best(competing, column) for column in table.columns}
    return {
        "groups": [{"text": group.head, "span": len(group.columns)} for group in table.groups],
        "heads": [{"text": column.head} for column in table.columns],
        "lines": [
            _line_view(report, report_id, line, table.columns, best if line in competing else {})
            for line in table.lines
        ],
        "wraps": report.presentation.wraps_heads,
    }


def _line_view(
    report: Report, report_id: str, line: Line, columns: Sequence[Column], best: Mapping[str, str]
) -> dict[str, Any]:
    """Show figures and how sure they are; a reference has no interval, nor a figure that all queries agree on."""
    cells, kinds = [], dict(kinds_of(report)).values()
    for column in columns:
        text, kind = column.text(line.metrics.get(column.key)), column.key.partition("/")[0]
        has_list = kind in kinds and line.role != REFERENCE
        link = ReportLink(report_id, second=line.name, kind=kind).address if has_list else ""
        cell = {"text": text, "best": text == best.get(column.key), "href": link}
        if interval := interval_of(report, line, column.key):
            low, high, half = (
                column.text(value) for value in (interval.low, interval.high, interval.half)
            )
            cell |= {"margin": f"±{half}", "range": f"{LEVEL} % interval: {low} to {high}"}
        cells.append(cell)
    return {"name": line.name, "role": line.role, "note": line.label, "cells": cells}


def _best(lines: Sequence[Line], column: Column) -> str:
    """Return the best value as printed, so that equal texts are marked alike; "" if all are equal."""
    values = [line.metrics[column.key] for line in lines if column.key in line.metrics]
    if len({column.text(value) for value in values}) < 2:
        return ""
    return column.text(min(values) if column.lower_is_better else max(values))


def points_of(report: Report) -> pd.DataFrame:
    """Plot finding the wanted part against respecting the negated part; no rows where these were not measured."""
    rows = [
        (name, each.get(COMPOSED_MIR), each.get(COMPOSED_HARD_PAIRS))
        for name, each in report.metrics.items()
    ]
    return pd.DataFrame([row for row in rows if None not in row], columns=["system", X, Y])


def measure_choices(report: Report, first: str, second: str) -> list[tuple[str, str]]:
    """Return the metrics that both systems have per query, as choices (label, key); first all of them together."""
    both = [report.values.get(name, {}) for name in (first, second)]
    choices = [
        (f"{group.head}: {column.head}", column.key)
        for group in GROUPS
        for column in group.columns
        if all(column.key in values and values[column.key].statistic is None for values in both)
    ]
    return [(ALL_MEASURES, ALL_MEASURES), *choices] if choices else []


def breakdown_view(report: Report, first: str, second: str, key: str) -> pd.DataFrame:
    """Compare two systems per negation word, or by all measures, with what is more than noise.

    Errors are those of `break_down` and `Report.compare`.
    """
    if key == ALL_MEASURES:
        return _differences_view(report, first, second)
    column = next(
        (one for group in GROUPS for one in group.columns if one.key == key), Column(key, key)
    )
    everything, *groups = break_down(report, first, second, key)
    rows = [("all", everything)]
    rows += [
        (f"{group.num_joined} others" if group.num_joined else group.name or "none", group)
        for group in groups
    ]
    columns = ["word", "queries", *_two_heads(first, second), "difference", ""]
    return pd.DataFrame([_group_row(name, group, column) for name, group in rows], columns=columns)


def _differences_view(report: Report, first: str, second: str) -> pd.DataFrame:
    """Compare two systems by every measure that both have per query."""
    differences = report.compare(first, second)
    num_queries = {result.measure: result.num_queries for result in differences}
    rows = []
    for measure, name, *figures, difference, ends, verdict in difference_rows(report, differences):
        span = f" ({ends})" if ends != EMPTY else ""
        rows.append([name, num_queries[measure], *figures, f"{difference}{span}", verdict])
    return pd.DataFrame(
        rows, columns=["measure", "queries", *_two_heads(first, second), "difference", ""]
    )


def _two_heads(first: str, second: str) -> tuple[str, str]:
    """Return the heads of two columns, which must differ."""
    return (first, second) if second != first else (first, f"{second} ")


def _group_row(name: str, group: CueGroup, column: Column) -> list[Any]:
    figures = []
    for value, interval in zip(group.means, group.intervals, strict=True):
        ends = f" ({column.text(interval.low)} to {column.text(interval.high)})" if interval else ""
        figures.append(f"{column.text(value)}{ends}")
    verdict = verdict_text(group.means[2], group.intervals[2], group.p, column.lower_is_better)
    return [name, group.num_queries, *figures, verdict]
