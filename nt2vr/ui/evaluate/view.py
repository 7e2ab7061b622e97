"""Jobs and reports as plain data for the Evaluate tab's templates; independent of Gradio."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from nt2vr.errors import counted
from nt2vr.evaluation.intervals import LEVEL
from nt2vr.evaluation.reports.archive import QUERIES_CSV, Entry
from nt2vr.evaluation.reports.report import QUERIES, REPORT, Report
from nt2vr.evaluation.reports.review import REVIEW
from nt2vr.evaluation.reports.tables import (
    FORMS,
    HONEST,
    OTHERS,
    PAPER,
    Column,
    has_any,
    interval_of,
    measured,
    table_of,
)
from nt2vr.progress import Job
from nt2vr.ui.chart import Point, points_chart
from nt2vr.ui.job_view import job_view

WORD = "evaluating"
FILES = (REPORT, *FORMS, QUERIES, QUERIES_CSV)
ROLES = {"base": "zero-shot", "drop": "control", "reference": "reads the scenes"}
X = "composed/MIR", "Composed MIR: finds the wanted part"
Y = "composed/hard_pairs", "Hard pairs in order, %: respects the negated part"
MEANINGS = {
    "hard_pairs": "Hard pairs: percentage of pairs in which a relevant video scores above one that also shows the "
    "unwanted part. A system that ignores negation is at chance, about 50.",
    "violations": "Violations@10: percentage of the top ten that show the unwanted part; lower is better.",
    "delta": "Δ: how much lower negated captions rank the original's video; a system that rejects every negated "
    "caption gains here, too.",
}


def reports_view(entries: Sequence[Entry], chosen: str, job: Job[str] | None = None) -> dict[str, Any]:
    """List the reports with the open one marked, below the evaluation under way."""
    return {
        "job": job_view(job, WORD) if job is not None and job.is_under_way else {},
        "reports": [
            {
                "id": entry.report_id,
                "name": entry.name,
                "systems": ", ".join(entry.systems),
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


def report_view(report: Report, report_id: str, is_reviewed: bool = False) -> dict[str, Any]:
    """Show a report: its data, tables, chart and downloads, among them the review if there is one."""
    files = (*FILES, REVIEW) if is_reviewed else FILES
    keys = {key for _, metrics in table_of(report) for key in metrics}
    return {
        "id": report_id,
        "name": report.name,
        "created": day_text(report.created),
        "about": f"{counted(len(report.queries), 'query', 'queries')}, {counted(len(report.video_ids), 'video')}.",
        "remarks": list(report.source.get("remarks", ())),
        "meanings": [*(text for part, text in MEANINGS.items() if any(part in key for key in keys)), *report.notes],
        "tables": tables_view(report),
        "chart": chart_view(report),
        "files": [{"href": f"reports/{report_id}/{file}", "name": file} for file in files],
    }


def tables_view(report: Report) -> list[dict[str, Any]]:
    """Lay out the tables with the best value of each column marked; references do not compete."""
    table, roles = table_of(report), roles_of(report)
    views = []
    for groups in (PAPER, HONEST, OTHERS):
        there = measured(table, groups)
        columns = [column for group in there for column in group.columns]
        best = {column.key: _best(column, table, roles) for column in columns}
        lines = [
            {
                "name": name,
                "role": roles.get(name, "reference"),
                "note": ROLES.get(roles.get(name, "reference"), ""),
                "cells": [
                    {
                        **_cell(column, metrics, best[column.key], name in roles),
                        **_margin(report, name, column, metrics),
                    }
                    for column in columns
                ],
            }
            for name, metrics in table
            if has_any(metrics, there)
        ]
        if lines:
            heads = [{"text": group.head, "span": len(group.columns)} for group in there]
            names = [{"text": column.head} for group in there for column in group.columns]
            views.append({"groups": heads, "heads": names, "lines": lines})
    return views


def chart_view(report: Report) -> dict[str, Any]:
    """Plot finding the wanted part against respecting the negated part; nothing where these were not measured."""
    roles = roles_of(report)
    points = [
        Point(name, metrics[X[0]], metrics[Y[0]], roles[name])
        for name, metrics in report.metrics.items()
        if X[0] in metrics and Y[0] in metrics
    ]
    return points_chart(points, X[1], Y[1]) if len(points) > 1 else {}


def roles_of(report: Report) -> dict[str, str]:
    """Return each system's role: zero-shot model ("base"), its `drop` ("drop"), or neither ("")."""
    models = {result.spec["model"] for result in report.results}
    roles = {}
    for result in report.results:
        made = result.spec
        is_base = made.get("base", "") not in models - {made["model"]}
        control = {"plain": "base", "drop": "drop"}.get(made["strategy"], "")
        roles[result.system] = control if is_base else ""
    return roles


def _margin(report: Report, name: str, column: Column, metrics: Mapping[str, float]) -> dict[str, str]:
    """Show how sure a figure is; nothing for references, and where all queries have the same value."""
    interval = interval_of(report, name, column.key) if column.key in metrics else None
    if interval is None:
        return {}
    low, high = column.text(interval.low), column.text(interval.high)
    return {"margin": f"±{column.text(interval.half)}", "range": f"{LEVEL} % interval: {low} to {high}"}


def _best(column: Column, table: Sequence[tuple[str, Mapping[str, float]]], roles: Collection[str]) -> str:
    """Return the best value as printed, so that equal texts are marked alike; "" if all are equal."""
    values = [metrics[column.key] for name, metrics in table if name in roles and column.key in metrics]
    if len({column.text(value) for value in values}) < 2:
        return ""
    return column.text(min(values) if "violations" in column.key else max(values))


def _cell(column: Column, metrics: Mapping[str, float], best: str, competes: bool) -> dict[str, Any]:
    text = column.text(metrics.get(column.key))
    return {"text": text, "best": competes and text == best}
