"""The Evaluate tab: data and systems, how far an evaluation is, its table and single queries, and older reports."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.evaluation.built_in import NUM_CLIPS
from nt2vr.evaluation.jobs import BUILT_IN, Evaluations, Job
from nt2vr.evaluation.sources import GALLERY, WORLD, Data
from nt2vr.search.searcher import Searcher
from nt2vr.settings import Settings
from nt2vr.ui.errors import user_errors
from nt2vr.ui.evaluate_view import (
    ANY,
    cues_of,
    job_view,
    kinds_of,
    marks_of,
    queries_view,
    report_view,
    reports_view,
    roles_of,
)
from nt2vr.ui.search_view import Marked
from nt2vr.ui.theme import template

POLL_S = 1.0
HARD_PAIRS = "composed/hard_pairs"  # the system that heeds the denied part most is the first compared with the base
FIRST_KIND = "composed"  # where negation is what the query is about
DEFAULT_SYSTEMS = ("CLIP*", "CLIP-snl", "CLIP-bnl", "CLIP-neg", "CLIP boolean")
IMPROVED, WORSENED = "improved", "worsened"
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
NO_PATHS = "Only the built-in data can be evaluated here. Run the app on your own machine for data of your own."
NO_DELETING = "Reports cannot be deleted here, because they are everybody's. Run the app on your own machine for that."
NUM_OPENED = 8  # components that show the open report
OpensQueries = Callable[[Any, Callable[..., Mapping[str, str]]], None]  # has an event open a query in Search


@dataclass(frozen=True)
class FormParts:
    """What a person chooses, and how far the evaluation is."""

    column: gr.Column
    data: gr.Dropdown
    split: gr.Dropdown
    systems: gr.Dropdown
    start: gr.Button
    cancel: gr.Button
    job: gr.HTML


@dataclass(frozen=True)
class ReportParts:
    """The report that is open; `filters` are first and second system, order, kind, cue, and fails everywhere."""

    column: gr.Column
    report: gr.HTML
    delete: gr.Button
    confirm: gr.Row
    delete_now: gr.Button
    keep: gr.Button
    filters: list[gr.Dropdown | gr.Checkbox]
    queries: gr.HTML


class EvaluateTab:
    """What the Evaluate tab is wired to.

    Args:
        evaluations: starts and keeps them.
        searcher: names the systems, and has the videos that queries can be opened on.
        settings: where templates are, and whether paths of this machine may be named.
    """

    def __init__(self, evaluations: Evaluations, searcher: Searcher, settings: Settings) -> None:
        """Build nothing yet."""
        self._evaluations, self._searcher = evaluations, searcher
        self._templates, self._may_name_paths = settings.assets / "ui", settings.may_download
        self._ids = frozenset(video.video_id for video in searcher.gallery.videos)

    def build(self, tab: gr.Tab, opens: OpensQueries) -> None:
        """Lay the tab out inside the open tab and wire it."""
        # the report that is open, "" for the form; kept by the browser
        chosen = gr.BrowserState("", storage_key="nt2vr-report", secret="nt2vr")
        seen, timer = gr.State(), gr.Timer(POLL_S, active=False)
        with gr.Row(elem_id="evaluate"):
            with gr.Column(scale=1, min_width=230, elem_id="evaluate-list"):
                new = gr.Button("New evaluation", elem_id="evaluate-new")
                reports = template(self._templates, "evaluate-reports", {"reports": []}, "pick")
            with gr.Column(scale=5, min_width=500):
                form = self._lay_out_form()
                report = self._lay_out_report()
        self._wire(tab, chosen, seen, timer, new, reports, form, report)
        opens(report.queries.open, self.on_open_query)

    def _lay_out_form(self) -> FormParts:
        gallery = len(self._searcher.gallery.videos)
        choices = [
            (f"Built-in world, test scenes ({NUM_CLIPS:,} clips, drawn the first time)", WORLD),
            (f"Gallery ({gallery} clips): each query opens in Search with its relevant clips", GALLERY),
        ]
        own = ", or the path of a dataset's folder or of a benchmark's CSV file" if self._may_name_paths else ""
        with gr.Column(elem_id="evaluate-form") as column:
            with gr.Row(equal_height=True):
                data = gr.Dropdown(
                    choices, value=GALLERY, label="Data", info=f"What is asked, and of which videos{own}",
                    allow_custom_value=self._may_name_paths, elem_id="evaluate-data", scale=4,
                )  # fmt: skip
                split = gr.Dropdown(
                    ["test", "validation", "train", "all"], value="test", label="Split", info="of a dataset's folder",
                    visible=self._may_name_paths, elem_id="evaluate-split", scale=1, min_width=120,
                )  # fmt: skip
            systems = gr.Dropdown(
                self._systems(), value=[name for name in DEFAULT_SYSTEMS if name in self._systems()], multiselect=True,
                label="Systems", elem_id="evaluate-systems",
                info="Their zero-shot base and its drop, the control that ignores what is denied, come along.",
            )  # fmt: skip
            with gr.Row():
                start = gr.Button("Evaluate", variant="primary", elem_id="evaluate-start", scale=0, min_width=220)
                cancel = gr.Button("Cancel", elem_id="evaluate-cancel", interactive=False, scale=0, min_width=120)
            job = template(self._templates, "evaluate-job", {})
        return FormParts(column, data, split, systems, start, cancel, job)

    def _lay_out_report(self) -> ReportParts:
        with gr.Column(visible=False, elem_id="evaluate-watch") as column:
            with gr.Row(elem_id="evaluate-buttons", visible=self._may_name_paths):
                delete = gr.Button("Delete", elem_id="evaluate-delete", size="sm", min_width=90)
            with gr.Row(visible=False, elem_id="evaluate-confirm", equal_height=True) as confirm:
                gr.Markdown("Delete this report for good?")
                delete_now = gr.Button("Delete for good", variant="stop", size="sm", elem_id="evaluate-delete-now")
                keep = gr.Button("Keep it", size="sm", elem_id="evaluate-keep")
            report = template(self._templates, "evaluate-report", {})
            with gr.Row(elem_id="evaluate-filters", equal_height=True):  # style.css lays them out
                filters: list[gr.Dropdown | gr.Checkbox] = [
                    gr.Dropdown([], label="Compare", elem_id="evaluate-first"),
                    gr.Dropdown([], label="with", elem_id="evaluate-second"),
                    gr.Dropdown(
                        [IMPROVED, WORSENED], value=IMPROVED, label="First the most", elem_id="evaluate-order"
                    ),
                    gr.Dropdown([], label="Kind", elem_id="evaluate-kind"),
                    gr.Dropdown([], label="Cue", elem_id="evaluate-cue"),
                    gr.Checkbox(False, label="fails everywhere", elem_id="evaluate-fails"),
                ]
            queries = template(self._templates, "evaluate-queries", {})
        return ReportParts(column, report, delete, confirm, delete_now, keep, filters, queries)

    def _wire(
        self, tab: gr.Tab, chosen: gr.BrowserState, seen: gr.State, timer: gr.Timer, new: gr.Button, reports: gr.HTML,
        form: FormParts, report: ReportParts,
    ) -> None:  # fmt: skip
        watched = [seen, timer, form.start, form.cancel, form.job]
        opened = [report.report, *report.filters, report.queries]
        everything = [chosen, reports, form.column, report.column, report.confirm, *watched, *opened]
        tab.select(self.on_open, chosen, everything, **QUIET).success(self._offered, None, form.systems, **QUIET)
        timer.tick(self.on_poll, [chosen, seen], everything, queue=False, trigger_mode="once", **QUIET)
        form.start.click(self.on_start, [form.data, form.split, form.systems], everything, **QUIET)
        form.cancel.click(self.on_cancel, chosen, everything, **QUIET)
        new.click(lambda: self._show(""), None, everything, **QUIET)
        reports.pick(self.on_pick, None, everything, **QUIET)
        asked = [chosen, *report.filters]
        for changed in report.filters:
            changed.input(self.on_filter, asked, report.queries, trigger_mode="always_last", **QUIET)
        report.queries.turn(self.on_turn, asked, report.queries, **QUIET)
        report.delete.click(lambda: gr.Row(visible=True), None, report.confirm, **QUIET)
        report.keep.click(lambda: gr.Row(visible=False), None, report.confirm, **QUIET)
        report.delete_now.click(self.on_delete, chosen, everything, **QUIET)

    def marked(self, judged: str, text: str) -> Marked:
        """Return the clips that a query of a report is about; nothing once the text is another."""
        if not judged:
            return Marked()
        report_id, _, place = judged.rpartition(":")
        try:
            row = self._evaluations.archive.load(report_id).row(int(place))
        except (Nt2vrError, ValueError, IndexError):
            return Marked()
        return marks_of(row) if row.text == text else Marked()

    def evaluate(self, data: str, systems: list[str]) -> dict[str, Any]:
        """Evaluate, wait for it, and return what report.json says.

        Raises:
            ConfigError: if it cannot be started, failed, or was cancelled.
        """
        job = self._start(data, "test", systems).result()
        if not job.report_id:
            raise ConfigError(job.error or "The evaluation was cancelled on the page. Start it again.")
        return self._evaluations.archive.summary(job.report_id)

    def _start(self, data: str, split: str, systems: list[str]) -> Future[Job]:
        name = (data or "").strip()
        if not name:
            raise ConfigError("No data is chosen. Choose the built-in world or the gallery, or name a path.")
        if name not in BUILT_IN and not self._may_name_paths:
            raise ConfigError(NO_PATHS)
        if name.startswith("~"):
            name = str(Path(name).expanduser())
        return self._evaluations.start(Data(name, split=split), systems or [])  # type: ignore[arg-type]

    @user_errors
    def on_open(self, chosen: str) -> tuple[Any, ...]:
        """Show what was open last, and what is under way."""
        return self._show(chosen)

    @user_errors
    def on_poll(self, chosen: str, seen: Job | None) -> Any:
        """Bring progress up to date; open the report that was waited for."""
        job = self._evaluations.job
        if job == seen:
            return gr.skip()
        if job is not None and job.report_id and not chosen:
            return self._show(job.report_id)
        listed = reports_view(self._evaluations.archive.entries(), chosen, job)
        return gr.skip(), listed, *[gr.skip()] * 3, *self._watched(), *[gr.skip()] * NUM_OPENED

    @user_errors
    def on_start(self, data: str, split: str, systems: list[str]) -> tuple[Any, ...]:
        """Begin an evaluation, and watch it."""
        self._start(data, split, systems)
        return self._show(self._made())

    @user_errors
    def on_cancel(self, chosen: str) -> tuple[Any, ...]:
        """Have the evaluation stop."""
        self._evaluations.cancel()
        return self._show(chosen or self._made())

    @user_errors
    def on_pick(self, event: gr.EventData) -> tuple[Any, ...]:
        """Open a report of the list, or what is under way; where that has just come to its end, its report."""
        return self._show(event.id or self._made())

    @user_errors
    def on_delete(self, chosen: str) -> tuple[Any, ...]:
        """Delete the report that is open."""
        if not self._may_name_paths:
            raise ConfigError(NO_DELETING)
        self._evaluations.archive.delete(chosen)
        return self._show("")

    @user_errors
    def on_filter(self, chosen: str, *filters: Any) -> dict[str, Any]:
        """List the queries that are asked for, from the first page."""
        return self._queries(0, chosen, *filters)

    @user_errors
    def on_turn(self, event: gr.EventData, chosen: str, *filters: Any) -> dict[str, Any]:
        """Turn the page."""
        return self._queries(int(event.page), chosen, *filters)

    def on_open_query(self, event: gr.EventData) -> Mapping[str, str]:
        """Return the link of a row."""
        return dict(parse_qsl(event.link.removeprefix("?")))

    def _show(self, chosen: str) -> tuple[Any, ...]:
        """Open a report, or the form where there is no such report any more."""
        entries = self._evaluations.archive.entries()
        if chosen not in [entry.report_id for entry in entries]:
            chosen = ""
        panes = gr.Column(visible=not chosen), gr.Column(visible=bool(chosen)), gr.Row(visible=False)
        opened = self._opened(chosen) if chosen else ({}, *[gr.skip()] * (NUM_OPENED - 2), {})
        return chosen, reports_view(entries, chosen, self._evaluations.job), *panes, *self._watched(), *opened

    def _made(self) -> str:
        """Return the report that was started last; "" as long as it is not done."""
        job = self._evaluations.job
        return job.report_id if job else ""

    def _watched(self) -> tuple[Any, ...]:
        """What changes while one looks on."""
        job = self._evaluations.job
        busy = job is not None and job.is_under_way
        can_cancel = job is not None and job.state == "running"
        return (
            job,
            gr.Timer(active=busy),
            gr.Button(interactive=not busy),
            gr.Button(interactive=can_cancel),
            job_view(job),
        )

    def _opened(self, chosen: str) -> tuple[Any, ...]:
        """A report, and the list of its queries by the first comparison that tells something."""
        report = self._evaluations.archive.load(chosen)
        names = [result.system for result in report.results]
        roles, kinds = roles_of(report), kinds_of(report)
        kind = FIRST_KIND if FIRST_KIND in dict(kinds).values() else ANY
        others = [name for name in names if not roles[name]] or names
        second = max(others, key=lambda name: report.metrics[name].get(HARD_PAIRS, 0))
        filters = (
            gr.Dropdown(names, value=names[0]),
            gr.Dropdown(names, value=second),
            IMPROVED,
            gr.Dropdown(kinds, value=kind),
            gr.Dropdown(cues_of(report), value=ANY),
            False,
        )
        queries = self._queries(0, chosen, names[0], second, IMPROVED, kind, ANY, False)
        return report_view(report, chosen), *filters, queries

    def _queries(
        self, page: int, chosen: str, first: str, second: str, order: str, kind: str, cue: str, fails: bool
    ) -> dict[str, Any]:
        return queries_view(
            self._evaluations.archive.load(chosen),
            chosen,
            first,
            second,
            kind=kind,
            cue=cue,
            fails_everywhere=fails,
            worsened=order == WORSENED,
            page=page,
            is_here=self._ids.__contains__,
        )

    def _systems(self) -> list[str]:
        return self._searcher.system_names()

    def _offered(self) -> Any:
        """List the systems that there are now."""
        return gr.Dropdown(choices=self._systems())
