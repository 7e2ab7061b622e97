"""Evaluation jobs and reports as template data. Independent of Gradio."""

from collections.abc import Mapping, Sequence
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
from nt2vr.evaluation.intervals import LEVEL, Interval
from nt2vr.evaluation.remarks import remarks_of
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.roles import REFERENCE
from nt2vr.evaluation.tables import Line, Table, difference_rows, interval_of, size_of, tables_of
from nt2vr.progress import Job
from nt2vr.ui.evaluate.figures import best_system, with_minus, written
from nt2vr.ui.evaluate.findings import chart_of, findings_of, sentence_of
from nt2vr.ui.evaluate.report_link import ReportLink, kinds_of
from nt2vr.ui.evaluate.terms import GROUP_MEANINGS, ROLE_MEANINGS, explain_column
from nt2vr.ui.job_view import is_under_way, job_view
from nt2vr.ui.search.formats import short_name
from nt2vr.ui.view import Choices, Redact, View

# The evaluation under way, or the last one.
LastJob = Job[str] | None

RUNNING_TEXT = "evaluating"
ALL_MEASURES = "all measures"


def reports_view(
    entries: Sequence[Entry],
    chosen: str,
    job: LastJob = None,
    redact: Redact = str,
) -> View:
    """List the reports with the open one marked, below the evaluation under way; `redact` is that of `job_view`."""
    reports = []
    for entry in entries:
        systems = ", ".join(map(short_name, entry.systems))
        if entry.problem:
            systems = f"It cannot be read: {entry.problem}"
        reports.append(
            {
                "id": entry.report_id,
                "name": entry.name,
                "systems": systems,
                "created": day_text(entry.created),
                "chosen": entry.report_id == chosen,
            }
        )
    view = job_view(job, RUNNING_TEXT, redact) if is_under_way(job) else {}
    return {"job": view, "reports": reports}


def day_text(created: str) -> str:
    """Format an ISO timestamp for reading: 21 Nov 2026, 10:15 UTC."""
    try:
        moment = datetime.fromisoformat(created)
    except ValueError:
        return created
    return f"{moment.day} {moment:%b %Y, %H:%M} UTC"


def report_view(report: Report, report_id: str, files: Sequence[str], name: str = "") -> View:
    """Show a report: its data, sentences, chart, tables and downloads, with the meaning of each measure once."""
    tables = tables_of(report)
    return {
        "id": report_id,
        "name": name or report.name,
        "created": day_text(report.created),
        "about": size_of(report),
        "remarks": remarks_of(report),
        "sentences": [{"parts": sentence_of(report, finding)} for finding in findings_of(report)],
        "chart": chart_of(report),
        "level": LEVEL,
        "margins": report.presentation.margins,
        "meanings": [*dict.fromkeys(_meanings(report, tables)), *report.notes],
        "tables": [_table_view(report, report_id, table) for table in tables],
        "files": [{"href": f"reports/{report_id}/{file}", "name": file} for file in files],
    }


def _meanings(report: Report, tables: Sequence[Table]) -> list[str]:
    measured: set[str] = set()
    columns: list[Column] = []
    for table in tables:
        measured.update(*(line.metrics for line in table.lines))
        columns += table.columns
    return report.presentation.meanings(columns, measured)


def _table_view(report: Report, report_id: str, table: Table) -> View:
    """Lay a table out, with terms explained, and with what is clearly the best of a column marked."""
    best = {column.key: best_system(report, table.lines, column) for column in table.columns}
    groups = [
        {
            "text": group.head,
            "span": len(group.columns),
            "about": GROUP_MEANINGS.get(group.head, ""),
        }
        for group in table.groups
    ]
    heads = [{"text": column.head, "about": explain_column(column)} for column in table.columns]
    lines = [_line_view(report, report_id, line, table.columns, best) for line in table.lines]
    return {
        "groups": groups,
        "heads": heads,
        "lines": lines,
        "wraps": report.presentation.wraps_heads,
    }


def _line_view(
    report: Report, report_id: str, line: Line, columns: Sequence[Column], best: Mapping[str, str]
) -> View:
    """Show a system's figures; `best` has the system that is clearly the best of each column."""
    cells = [
        {
            "text": written(column, line.metrics.get(column.key)),
            "best": line.name == best[column.key],
            "href": _link_to_queries(report, report_id, line, column),
            **_margin(report, line, column),
        }
        for column in columns
    ]
    return {
        "name": short_name(line.name),
        "role": line.role,
        "note": line.label,
        "about": ROLE_MEANINGS.get(line.label, ""),
        "cells": cells,
    }


def _link_to_queries(report: Report, report_id: str, line: Line, column: Column) -> str:
    """Return the link to the queries behind a figure; "" for a reference, and where there is no list."""
    kind = column.key.partition("/")[0]
    if line.role == REFERENCE or kind not in dict(kinds_of(report)).values():
        return ""
    return ReportLink(report_id, second=line.name, kind=kind).address


def _margin(report: Report, line: Line, column: Column) -> View:
    """Say how sure a figure is; a reference has no interval, nor a figure that all queries agree on."""
    interval = interval_of(report, line, column.key)
    if interval is None:
        return {}
    return {
        "margin": f"±{written(column, interval.half)}",
        "range": f"{LEVEL} % interval: {_range(column, interval)}",
    }


def _range(column: Column, interval: Interval) -> str:
    return f"{written(column, interval.low)} to {written(column, interval.high)}"


def measure_choices(report: Report, first: str, second: str) -> Choices:
    """Return the metrics that both systems have per query, as choices (label, key); first all of them together."""
    measured = _means(report, first) & _means(report, second)
    choices = []
    for group in GROUPS:
        for column in group.columns:
            if column.key in measured:
                choices.append((f"{group.head}: {column.head}", column.key))
    if choices:
        return [(ALL_MEASURES, ALL_MEASURES), *choices]
    return []


def _means(report: Report, system: str) -> set[str]:
    """Return the metrics of a system that are means of values per query, of which some may be left out."""
    metrics = report.values.get(system, {})
    return {key for key, values in metrics.items() if values.statistic is None}


def breakdown_view(report: Report, first: str, second: str, key: str) -> pd.DataFrame:
    """Compare two systems per negation word, or by all measures, with what is more than noise.

    Errors are those of `break_down` and `Report.compare`.
    """
    if key == ALL_MEASURES:
        return _differences_view(report, first, second)
    columns_by_key = {column.key: column for group in GROUPS for column in group.columns}
    column = columns_by_key.get(key, Column(key, key))
    everything, *groups = break_down(report, first, second, key)
    rows = [_group_row("all", everything, column)]
    for group in groups:
        name = group.name or "none"
        if group.num_joined:
            name = f"{group.num_joined} others"
        rows.append(_group_row(name, group, column))
    columns = ["word", "queries", *_two_heads(first, second), "difference", ""]
    return pd.DataFrame(rows, columns=columns)


def _differences_view(report: Report, first: str, second: str) -> pd.DataFrame:
    """Compare two systems by every measure that both have per query."""
    differences = report.compare(first, second)
    num_queries = {result.measure: result.num_queries for result in differences}
    rows = []
    for measure, name, *figures, verdict in difference_rows(report, differences):
        rows.append([name, num_queries[measure], *_figures_with_interval(figures), verdict])
    columns = ["measure", "queries", *_two_heads(first, second), "difference", ""]
    return pd.DataFrame(rows, columns=columns)


def _figures_with_interval(figures: Sequence[str]) -> list[str]:
    """Write both systems' figures, and their difference with the ends of its interval, if it has one."""
    first, second, change, ends = map(with_minus, figures)
    if ends != EMPTY:
        change = f"{change} ({ends})"
    return [first, second, change]


def _two_heads(first: str, second: str) -> tuple[str, str]:
    """Return the heads of two columns, which must differ."""
    second_head = short_name(second)
    if second == first:
        second_head += " "
    return short_name(first), second_head


def _group_row(name: str, group: CueGroup, column: Column) -> list[Any]:
    figures = []
    for value, interval in zip(group.means, group.intervals, strict=True):
        figure = written(column, value)
        if interval is not None:
            figure = f"{figure} ({_range(column, interval)})"
        figures.append(figure)
    verdict = verdict_text(
        group.means[2],
        interval=group.intervals[2],
        p=group.p,
        lower_is_better=column.lower_is_better,
    )
    return [name, group.num_queries, *figures, verdict]
