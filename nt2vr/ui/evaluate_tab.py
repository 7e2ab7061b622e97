"""The Evaluate tab: starts evaluations, follows them, and opens their reports query by query."""

from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.evaluation.jobs import BUILT_IN, Evaluations, Job
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.sources import LIBRARY, Data
from nt2vr.library.libraries import Libraries
from nt2vr.search.galleries import Galleries
from nt2vr.ui.column_view import Marked
from nt2vr.ui.errors import user_errors
from nt2vr.ui.evaluate_layout import (
    BUILT_IN_DATA,
    IMPROVED,
    OWN_DATA,
    WORSENED,
    EvaluateParts,
    data_choices,
    lay_out_evaluate,
)
from nt2vr.ui.evaluate_view import (
    ANY,
    Home,
    cues_of,
    job_view,
    kinds_of,
    marks_of,
    queries_view,
    report_view,
    reports_view,
    roles_of,
)
from nt2vr.ui.gate import Gate, Visitor
from nt2vr.ui.inputs import event_value
from nt2vr.ui.search_tab import OpensQueries

HARD_PAIRS = "composed/hard_pairs"  # the system best at these is the first to be compared with the base
FIRST_KIND = "composed"  # where negation is what the query is about
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
Updates = dict[Any, Any]  # component -> new value


class EvaluateTab:
    """Evaluate tab over the app's evaluations.

    Args:
        evaluations: runs them and stores their reports.
        galleries: list the systems, and have the videos that queries can be opened on.
        libraries: data to evaluate on, as far as they have captions.
        gate: says who may delete reports, and evaluate data of this machine.
        templates: folder of the page's templates.
    """

    _parts: EvaluateParts

    def __init__(
        self, evaluations: Evaluations, galleries: Galleries, libraries: Libraries, gate: Gate, templates: Path
    ) -> None:
        """Components are built by `build`."""
        self._evaluations, self._galleries, self._gate, self._templates = evaluations, galleries, gate, templates
        self._searcher, self._libraries = galleries.built_in, libraries
        self._ids = frozenset(video.video_id for video in self._searcher.gallery.videos)

    def build(self, tab: gr.Tab, opens: OpensQueries) -> None:
        """Lay the tab out inside the open tab and wire it."""
        self._parts = lay_out_evaluate(
            self._templates, self._searcher.system_names(), data_choices(len(self._ids), self._libraries)
        )
        self._wire_evaluations(tab)
        self._wire_report()
        opens(self._parts.report.queries.open, self.on_open_query)

    @property
    def _outputs(self) -> list[Any]:
        """Everything that depends on which report is open, and on the evaluation under way."""
        p, form, report = self._parts, self._parts.form, self._parts.report
        panes = [p.chosen, p.reports, form.column, report.column, report.confirm]
        watched = [p.seen, p.timer, form.start, form.cancel, form.job]
        return [*panes, *watched, report.report, *report.filters.inputs, report.queries]

    def _wire_evaluations(self, tab: gr.Tab) -> None:
        p, form, outputs = self._parts, self._parts.form, self._outputs
        visited = [form.systems, form.data, form.split, p.report.delete, form.note]
        tab.select(self._show, p.chosen, outputs, **QUIET).success(self.on_visit, None, visited, **QUIET)
        p.timer.tick(self.on_poll, [p.chosen, p.seen], outputs, queue=False, trigger_mode="once", **QUIET)
        form.start.click(self.on_start, [form.data, form.split, form.systems], outputs, **QUIET)
        form.cancel.click(self.on_cancel, p.chosen, outputs, **QUIET)
        p.new.click(lambda: self._show(""), None, outputs, **QUIET)
        p.reports.pick(self.on_pick, None, outputs, **QUIET)

    def _wire_report(self) -> None:
        p, report = self._parts, self._parts.report
        filters = [p.chosen, *report.filters.inputs]
        for changed in report.filters.inputs:
            changed.input(self.on_filter, filters, report.queries, trigger_mode="always_last", **QUIET)
        report.queries.turn(self.on_turn, filters, report.queries, **QUIET)
        report.breakdown.wire(
            lambda report_id, _: self._evaluations.archive.load(report_id), report.report, report.queries
        )
        report.delete.click(lambda: gr.Row(visible=True), None, report.confirm, **QUIET)
        report.keep.click(lambda: gr.Row(visible=False), None, report.confirm, **QUIET)
        report.delete_now.click(self.on_delete, p.chosen, self._outputs, **QUIET)

    def marked(self, judged: str, text: str, gallery: str) -> Marked:
        """Return the relevant clips of a report's query; none once the text or the gallery has changed."""
        if not judged:
            return Marked()
        report_id, _, place = judged.rpartition(":")
        try:
            report = self._evaluations.archive.load(report_id)
            row = report.row(int(place))
        except (Nt2vrError, ValueError, IndexError):
            return Marked()
        return marks_of(row) if row.text == text and report.source.get("library", "") == gallery else Marked()

    @user_errors
    def on_visit(self, request: gr.Request) -> list[Any]:
        """List the systems, disable what this visitor may not do, and say why."""
        own, delete = self._gate.may("paths", request), self._gate.may("delete", request)
        refusal = self._gate.refusal(request, "paths", "delete")
        return [
            gr.Dropdown(choices=self._searcher.system_names()),
            gr.Dropdown(data_choices(len(self._ids), self._libraries), info=OWN_DATA if own else BUILT_IN_DATA),
            gr.Dropdown(visible=own),
            gr.Button(interactive=delete),
            gr.Markdown(refusal, visible=bool(refusal)),
        ]

    def evaluate(self, data: str, systems: list[str], visitor: Visitor) -> dict[str, Any]:
        """Evaluate, wait for the end, and return the content of report.json.

        Raises:
            AccessError: if the visitor may not name data of this machine.
            ConfigError: if the evaluation cannot be started, failed, or was cancelled.
        """
        job = self._start(data, "test", systems, visitor).result()
        if not job.report_id:
            raise ConfigError(job.error or "The evaluation was cancelled on the page. Start it again.")
        return self._evaluations.archive.summary(job.report_id)

    def _start(self, data: str, split: str, systems: list[str], visitor: Visitor) -> Future[Job]:
        name = (data or "").strip()
        if not name:
            raise ConfigError("No data is chosen. Choose the built-in world or the gallery, or name a path.")
        if name in BUILT_IN or name.startswith(LIBRARY):
            return self._evaluations.start(Data(name), systems or [])
        self._gate.check("paths", visitor)
        if name.startswith("~"):
            name = str(Path(name).expanduser())
        name = self._library_of(name, split) or name
        return self._evaluations.start(Data(name, split=split), systems or [])  # type: ignore[arg-type]

    def _library_of(self, path: str, split: str) -> str:
        """Return the data's name if a library has the same files: then queries open on them."""
        for info in self._libraries.infos():
            source = info.source
            if info.has_captions and source.split == split and Path(path).resolve() == source.path:
                return f"{LIBRARY}{info.id}"
        return ""

    @user_errors
    def on_poll(self, chosen: str | None, seen: Job | None) -> Any:
        """Update the progress; open the report that was waited for."""
        job = self._evaluations.job
        if job == seen:
            return gr.skip()
        if job is not None and job.report_id and not chosen:
            return self._show(job.report_id)
        listed = reports_view(self._evaluations.archive.entries(), chosen or "", job)
        return {self._parts.reports: listed, **self._watched()}

    @user_errors
    def on_start(self, data: str, split: str, systems: list[str], request: gr.Request) -> Updates:
        """Start an evaluation and show its progress."""
        self._start(data, split, systems, request)
        return self._show(self._last_report())

    @user_errors
    def on_cancel(self, chosen: str | None) -> Updates:
        """Cancel the evaluation."""
        self._evaluations.cancel()
        return self._show(chosen or self._last_report())

    @user_errors
    def on_pick(self, event: gr.EventData) -> Updates:
        """Open a report of the list, or the evaluation under way (which may have a report by now)."""
        return self._show(event_value(event, "id", str) or self._last_report())

    @user_errors
    def on_delete(self, chosen: str, request: gr.Request) -> Updates:
        """Delete the open report."""
        self._gate.check("delete", request)
        self._evaluations.archive.delete(chosen)
        return self._show("")

    @user_errors
    def on_filter(self, chosen: str, *filters: Any) -> dict[str, Any]:
        """List the queries that match, from the first page."""
        return self._queries(0, chosen, *filters)

    @user_errors
    def on_turn(self, event: gr.EventData, chosen: str, *filters: Any) -> dict[str, Any]:
        """Turn the page."""
        return self._queries(event_value(event, "page", int), chosen, *filters)

    def on_open_query(self, event: gr.EventData) -> Mapping[str, str]:
        """Return the values of a row's link."""
        return dict(parse_qsl(event_value(event, "link", str).removeprefix("?")))

    @user_errors
    def _show(self, chosen: str | None) -> Updates:
        """Open a report, or the form if there is none of this id; None opens the newest unless a job is under way."""
        p, job = self._parts, self._evaluations.job
        entries = self._evaluations.archive.entries()
        if chosen is None and entries and not (job and job.is_under_way):
            chosen = entries[0].report_id
        if chosen not in [entry.report_id for entry in entries]:
            chosen = ""
        return {
            p.chosen: chosen,
            p.reports: reports_view(entries, chosen, job),
            p.form.column: gr.Column(visible=not chosen),
            p.report.column: gr.Column(visible=bool(chosen)),
            p.report.confirm: gr.Row(visible=False),
            **self._watched(),
            **(self._opened(chosen) if chosen else {p.report.report: {}, p.report.queries: {}}),
        }

    def _last_report(self) -> str:
        """Return the report of the evaluation that was started last; "" until it has ended."""
        job = self._evaluations.job
        return job.report_id if job else ""

    def _watched(self) -> Updates:
        """Show the evaluation under way, and the buttons as it allows."""
        job, p = self._evaluations.job, self._parts
        is_busy = job is not None and job.is_under_way
        return {
            p.seen: job,
            p.timer: gr.Timer(active=is_busy),
            p.form.start: gr.Button(interactive=not is_busy),
            p.form.cancel: gr.Button(interactive=job is not None and job.state == "running"),
            p.form.job: job_view(job),
        }

    def _opened(self, chosen: str) -> Updates:
        """Show a report, its queries under the most telling comparison."""
        report, parts = self._evaluations.archive.load(chosen), self._parts.report
        names = [result.system for result in report.results]
        roles, kinds = roles_of(report), kinds_of(report)
        kind = FIRST_KIND if FIRST_KIND in dict(kinds).values() else ANY
        systems = [name for name in names if not roles[name]] or names
        second = max(systems, key=lambda name: report.metrics[name].get(HARD_PAIRS, 0))
        return {
            parts.report: report_view(report, chosen),
            parts.filters.first: gr.Dropdown(names, value=names[0]),
            parts.filters.second: gr.Dropdown(names, value=second),
            parts.filters.order: IMPROVED,
            parts.filters.kind: gr.Dropdown(kinds, value=kind),
            parts.filters.cue: gr.Dropdown(cues_of(report), value=ANY),
            parts.filters.fails_everywhere: False,
            parts.queries: self._queries(0, chosen, names[0], second, IMPROVED, kind, ANY, False),
        }

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
            home=self._home(self._evaluations.archive.load(chosen)),
        )

    def _home(self, report: Report) -> Home | None:
        """Find the gallery with a report's videos; None if it was removed, or there never was one."""
        try:
            searcher = self._galleries.searcher(str(report.source.get("library", "")))
        except Nt2vrError:
            return None
        if searcher.key:
            return Home(searcher.key, frozenset(video.video_id for video in searcher.gallery.videos))
        return Home("", self._ids) if not self._ids.isdisjoint(report.video_ids) else None
