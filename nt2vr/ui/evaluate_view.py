"""Jobs and reports as plain data for the Evaluate tab's templates; independent of Gradio."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from nt2vr.evaluation.archive import QUERIES_CSV, Entry
from nt2vr.evaluation.compare import places_by_difference
from nt2vr.evaluation.intervals import LEVEL
from nt2vr.evaluation.jobs import Job
from nt2vr.evaluation.report import QUERIES, REPORT, Report, Row
from nt2vr.evaluation.tables import FORMS, HONEST, OTHERS, PAPER, Column, has_any, interval_of, measured, table_of
from nt2vr.ui.chart import Point, points_chart
from nt2vr.ui.column_view import Marked

WORDS = {
    "running": "evaluating",
    "stopping": "stopping",
    "finished": "finished",
    "stopped": "cancelled",
    "failed": "failed",
}
KINDS = {  # kind of query -> its name on the page
    "original": "original",
    "negated": "negated",
    "composed": "A and not B",
    "without": "A without N",
    "not": "not B",
    "retrieval": "caption that denies",
    "choice": "multiple choice",
    "pair": "pair",
    "class": "class",
    "negated class": "not the class",
}
ANY = ""  # no filter
PER_PAGE = 20
SOME_IDS = 24  # video ids in an unfolded row
SOME_CAPTIONS = 4  # of a video in words
FILES = (REPORT, *FORMS, QUERIES, QUERIES_CSV)
ROLES = {"base": "zero-shot", "drop": "control", "reference": "reads the scenes"}
X = "composed/MIR", "Composed MIR: finds the wanted part"
Y = "composed/hard_pairs", "Hard pairs in order, %: respects the negated part"
OPENS_HERE = "Click a query to open it in Search, where its relevant clips are starred."
OPENS_ELSEWHERE = (
    "Click a query to run it on the built-in gallery, which does not have these videos. To open queries on their own "
    "videos, add these in the Library tab and evaluate that library. Unfold a row for the ids of the relevant ones."
)
MEANINGS = {
    "hard_pairs": "Hard pairs: percentage of pairs in which a relevant video scores above one that also shows the "
    "unwanted part. A system that ignores negation is at chance, about 50.",
    "violations": "Violations@10: percentage of the top ten that show the unwanted part; lower is better.",
    "delta": "Δ: how much lower negated captions rank the original's video; a system that rejects every negated "
    "caption gains here, too.",
}


@dataclass(frozen=True)
class Home:
    """The gallery with a report's videos: its key in links, and the ids of its clips."""

    key: str
    video_ids: frozenset[str]


def job_view(job: Job | None) -> dict[str, Any]:
    """Show the progress of an evaluation, or why it ended without a report; nothing of a finished one."""
    if job is None or job.state == "finished":
        return {}
    known = f"{job.doing}: {job.done:,} of {job.total:,}" if job.total else job.doing
    return {
        "state": "preparing" if job.state == "running" and not job.total else job.state,
        "word": WORDS[job.state],
        "data": job.data.name,
        "systems": ", ".join(job.systems),
        "doing": known if job.is_under_way else "",
        "share": f"{100 * min(job.done / job.total, 1):.1f}" if job.total else "0",
        "error": job.error,
    }


def reports_view(entries: Sequence[Entry], chosen: str, job: Job | None = None) -> dict[str, Any]:
    """List the reports with the open one marked, below the evaluation under way."""
    return {
        "job": job_view(job) if job is not None and job.is_under_way else {},
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


def report_view(report: Report, report_id: str) -> dict[str, Any]:
    """Show a report: its data, tables, chart and downloads."""
    keys = {key for _, metrics in table_of(report) for key in metrics}
    return {
        "id": report_id,
        "name": report.name,
        "created": day_text(report.created),
        "about": f"{len(report.queries):,} queries, {len(report.video_ids):,} videos.",
        "remarks": list(report.source.get("remarks", ())),
        "meanings": [*(text for part, text in MEANINGS.items() if any(part in key for key in keys)), *report.notes],
        "tables": tables_view(report),
        "chart": chart_view(report),
        "files": [{"href": f"reports/{report_id}/{file}", "name": file} for file in FILES],
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
            names = [
                {"text": column.head, "first": column is group.columns[0]}
                for group in there
                for column in group.columns
            ]
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


def kinds_of(report: Report) -> list[tuple[str, str]]:
    """Return the report's kinds of queries as choices (label, kind)."""
    there = {query.kind for query in report.queries}
    return [("all kinds", ANY), *((label, kind) for kind, label in KINDS.items() if kind in there)]


def cues_of(report: Report) -> list[tuple[str, str]]:
    """Return the report's negation cues as choices (label, cue), the most frequent first."""
    counts: dict[str, int] = {}
    for query in report.queries:
        if query.cue:
            counts[query.cue] = counts.get(query.cue, 0) + 1
    cues = sorted(counts, key=lambda cue: (-counts[cue], cue))
    return [("all cues", ANY), *((f"{cue} ({counts[cue]:,})", cue) for cue in cues)]


def queries_view(
    report: Report,
    report_id: str,
    first: str,
    second: str,
    *,
    kind: str = ANY,
    cue: str = ANY,
    fails_everywhere: bool = False,
    worsened: bool = False,
    page: int = 0,
    home: Home | None = None,
) -> dict[str, Any]:
    """List queries, those first on which two systems differ most.

    Args:
        report: the results.
        report_id: its name in the archive.
        first: a system.
        second: the system to compare it with.
        kind: only queries of this kind; "" for all.
        cue: only queries with this cue; "" for all.
        fails_everywhere: only queries that no system answers on its first page.
        worsened: list those first where `second` is worse instead of better.
        page: number of the page, from 0; the last page if there are fewer.
        home: the gallery in which queries open; None if Search has none with the report's videos.

    Raises:
        ConfigError: if the report has no such system.
    """
    kinds, cues = [kind] if kind else [], [cue] if cue else []
    places = places_by_difference(report, first, second, kinds, cues, fails_everywhere)
    if worsened:
        places.reverse()
    last = max(0, (len(places) - 1) // PER_PAGE)
    page = min(max(page, 0), last)
    listed = places[page * PER_PAGE : (page + 1) * PER_PAGE]
    return {
        "first": first,
        "second": second,
        "count": f"{len(places):,} of {len(report.queries):,} queries",
        "opens": OPENS_HERE if home else OPENS_ELSEWHERE,
        "page": page,
        "where": f"page {page + 1:,} of {last + 1:,}",
        "has_before": page > 0,
        "has_after": page < last,
        "rows": [_row_view(report.row(place), f"{report_id}:{place}", first, second, home) for place in listed],
    }


def _row_view(row: Row, judged: str, first: str, second: str, home: Home | None) -> dict[str, Any]:
    before, after = row.ranks[first], row.ranks[second]
    here = home is not None and any(video_id in home.video_ids for video_id in row.relevant)
    better = before - after if row.kind != "negated" else after - before
    return {
        "text": row.text,
        "kind": KINDS.get(row.kind, row.kind),
        "cue": row.cue,
        "wanted": row.wanted or "",
        "unwanted": list(row.unwanted),
        "before": f"{before:,}",
        "after": f"{after:,}",
        "move": f"▲{better:,}" if better > 0 else f"▼{-better:,}" if better < 0 else "=",
        "good": better > 0,
        "bad": better < 0,
        "link": search_link(row.text, (first, second), judged if here else "", home.key if home else ""),
        "right": _right(row),
        "ids": list(row.relevant[:SOME_IDS]),
        "more": f"and {len(row.relevant) - SOME_IDS:,} more" if len(row.relevant) > SOME_IDS else "",
        "captions": [
            {"video": video_id, "text": " · ".join(captions[:SOME_CAPTIONS])}
            for video_id, captions in list(row.captions.items())[:SOME_IDS]
        ],
        "ranks": [{"system": system, "rank": f"{rank:,}"} for system, rank in row.ranks.items()],
    }


def _right(row: Row) -> str:
    """Describe the listed videos' relation to the query."""
    if row.kind == "negated":
        return "The video of the original caption, which no longer matches"
    count = len(row.relevant)
    return "1 relevant video" if count == 1 else f"{count:,} relevant videos"


def marks_of(row: Row) -> Marked:
    """Return the clips that Search marks for a query, with their legend."""
    count = len(row.relevant)
    if row.kind == "negated":
        legend = "the clip of the original caption: it no longer matches and should rank lower"
    else:
        legend = f"relevant in the evaluation ({count:,} clip{'s' if count > 1 else ''})"
    return Marked(frozenset(row.relevant), legend)


def search_link(text: str, systems: Sequence[str], judged: str, gallery: str = "") -> str:
    """Return the relative link to a query in Search.

    Args:
        text: the query.
        systems: names of systems.
        judged: names the query whose relevant clips are marked, if any.
        gallery: key of a gallery.
    """
    optional = {"gallery": gallery, "judged": judged}
    known = {name: value for name, value in optional.items() if value}
    return "?" + urlencode({"q": text, "systems": "|".join(systems), **known})
