"""Evaluation jobs and reports as template data. Independent of Gradio."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import pandas as pd

from nt2vr.evaluation.archive import Entry
from nt2vr.evaluation.comparison import Group, break_down
from nt2vr.evaluation.intervals import LEVEL
from nt2vr.evaluation.measures import GROUPS, Column
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.tables import REFERENCE, REMOVALS, Line, Table, interval_of, size_of, tables_of
from nt2vr.progress import Job
from nt2vr.ui.evaluate.report_link import ReportLink
from nt2vr.ui.job_view import job_view

WORD = "evaluating"
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


def report_view(report: Report, report_id: str, files: Sequence[str], name: str = "") -> dict[str, Any]:
    """Show a report: its data, tables and downloads, with the meaning of each measure once."""
    tables = tables_of(report)
    columns = {column.key: column for table in tables for column in table.columns}
    known = {key for table in tables for line in table.lines for key in line.metrics}
    meanings = dict.fromkeys(each.meaning for key, each in columns.items() if each.meaning and key in known)
    if report.is_covr:
        meanings = dict.fromkeys(COVR_MEANINGS if f"{REMOVALS}/R@1" in columns else COVR_MEANINGS[:1])
    return {
        "id": report_id,
        "name": name or report.name,
        "created": day_text(report.created),
        "about": size_of(report),
        "remarks": list(report.source.get("remarks", ())),
        "margins": "" if report.is_covr else MARGINS,
        "meanings": [*meanings, *report.notes],
        "tables": [_table_view(report, report_id, table) for table in tables],
        "files": [{"href": f"reports/{report_id}/{file}", "name": file} for file in files],
    }


def _table_view(report: Report, report_id: str, table: Table) -> dict[str, Any]:
    """Lay a table out with the best value of each column marked.

    References do not compete; nor, with a picture plus a text, do controls, which win violations by ignoring one.
    """
    competing = [line for line in table.lines if not line.role or (line.role != REFERENCE and not report.is_covr)]
    best = {column.key: _best(competing, column) for column in table.columns}
    kinds = {query.kind for query in report.queries}
    return {
        "groups": [{"text": group.head, "span": len(group.columns)} for group in table.groups],
        "heads": [{"text": column.head} for column in table.columns],
        "lines": [
            {
                "name": line.name,
                "role": line.role,
                "note": line.label,
                "cells": [
                    _cell(report, line, column, best[column.key] if line in competing else "")
                    | {"href": _queries_of(report_id, line, column.key.partition("/")[0], kinds)}
                    for column in table.columns
                ],
            }
            for line in table.lines
        ],
        "wraps": report.is_covr,
    }


def _queries_of(report_id: str, line: Line, kind: str, kinds: set[str]) -> str:
    """Return the link to the queries behind a figure; of a reference, or of what no list shows alone, none."""
    has_list = kind in kinds and line.role != REFERENCE
    return ReportLink(report_id, second=line.name, kind=kind).address if has_list else ""


def _best(lines: Sequence[Line], column: Column) -> str:
    """Return the best value as printed, so that equal texts are marked alike; "" if all are equal."""
    values = [line.metrics[column.key] for line in lines if column.key in line.metrics]
    if len({column.text(value) for value in values}) < 2:
        return ""
    return column.text(min(values) if column.lower_is_better else max(values))


def _cell(report: Report, line: Line, column: Column, best: str) -> dict[str, Any]:
    """Show a figure and how sure it is; a reference has no interval, nor a figure that all queries agree on."""
    text, interval = column.text(line.metrics.get(column.key)), interval_of(report, line, column.key)
    cell = {"text": text, "best": text == best}
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
    everything, *groups = break_down(report, first, second, key)
    rows = [_group_row(everything, column, "all")]
    rows += (
        _group_row(each, column, f"{each.num_joined} others" if each.num_joined else each.name or "none")
        for each in groups
    )
    columns = ["word", "queries", first, second if second != first else f"{second} ", "difference", ""]
    return pd.DataFrame(rows, columns=columns)


def _group_row(group: Group, column: Column, name: str) -> list[Any]:
    figures = []
    for value, interval in zip(group.means, group.intervals, strict=True):
        ends = f" ({column.text(interval.low)} to {column.text(interval.high)})" if interval else ""
        figures.append(f"{column.text(value)}{ends}")
    verdict = "better" if (group.means[2] > 0) != column.lower_is_better else "worse"
    p = "p < .001" if group.p < 0.001 else f"p = {group.p:.3f}".replace("0.", ".")
    return [name, group.num_queries, *figures, f"{'within noise' if group.is_noise else verdict}, {p}"]
