"""The Evaluate tab: starts and follows evaluations, and opens their reports."""

from typing import Any

import gradio as gr

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.evaluation.jobs import Evaluations
from nt2vr.library.galleries import Galleries
from nt2vr.progress import Job
from nt2vr.ui.evaluate.layout import BUILT_IN_DATA, COVR, OWN_DATA, SIZES, EvaluateParts, data_choices
from nt2vr.ui.evaluate.query_views import marks_of
from nt2vr.ui.evaluate.report_link import ReportLink
from nt2vr.ui.evaluate.report_view import WORD, reports_view
from nt2vr.ui.evaluate.review import Review
from nt2vr.ui.job_view import job_view
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.results import Marked
from nt2vr.ui.theme import QUIET
from nt2vr.ui.web.inputs import OpensQueries, Updates, event_value
from nt2vr.ui.web.permissions import Permissions, Visitor
from nt2vr.ui.web.requests import start_covr_evaluation, start_evaluation


class EvaluateTab:
    """Evaluate tab over the app's evaluations; libraries with captions are data to evaluate on."""

    _parts: EvaluateParts
    _review: Review

    def __init__(self, evaluations: Evaluations, galleries: Galleries, media: Media, permissions: Permissions) -> None:
        """Components are built by `build`."""
        self._evaluations, self._galleries = evaluations, galleries
        self._permissions = permissions
        self._searcher, self._libraries, self._media = galleries.built_in, media.libraries, media
        self._ids = frozenset(video.video_id for video in self._searcher.gallery.videos)

    def build(self, tab: gr.Tab, opens: OpensQueries, page: gr.Blocks, tabs: gr.Tabs, returned: Any) -> None:
        """Lay the tab out and wire it; `returned` is the event of Back and Forward to a place in a report."""
        self._parts = EvaluateParts(
            self._searcher.system_names(), self._searcher.models.names(), data_choices(len(self._ids), self._libraries)
        )
        archive = self._evaluations.archive
        self._review = Review(archive, self._galleries, self._media, self._permissions, self._parts)
        self._wire_evaluations(tab)
        self._wire_report(page, tabs, returned)
        self._review.wire()
        opens(self._parts.report.review.open, self._review.on_open_query)
        opens(self._parts.report.queries.search, self._review.on_open_picture)

    @property
    def _outputs(self) -> list[Any]:
        """Everything that depends on which report is open, and on the evaluation under way."""
        p, form, report = self._parts, self._parts.form, self._parts.report
        panes = [p.chosen, p.reports, form.column, report.column]
        watched = [p.seen, p.timer, form.start, form.cancel, form.job]
        return [*panes, *watched, *self._review.outputs]

    def _wire_evaluations(self, tab: gr.Tab) -> None:
        p, form, outputs = self._parts, self._parts.form, self._outputs
        visited = [form.systems, form.model, form.data, p.report.delete, form.note]
        started = [form.data, form.split, form.systems, form.per_kind, form.model]
        opened = tab.select(self.on_select, [p.address, p.chosen], outputs, js="nt2vr.askReport", **QUIET)
        shown = (
            opened,
            p.timer.tick(self.on_poll, [p.chosen, p.seen], outputs, queue=False, trigger_mode="once", **QUIET),
            form.start.click(self.on_start, started, outputs, **QUIET),
            form.cancel.click(self.on_cancel, p.chosen, outputs, **QUIET),
            p.new.click(self.on_new, None, outputs, **QUIET),
            p.reports.pick(self.on_pick, None, outputs, **QUIET),
            p.report.confirm.yes.click(self.on_delete, p.chosen, outputs, **QUIET),
        )
        for event in shown:
            event.success(None, inputs=p.report.queries, js="nt2vr.followReport")
        opened.success(self.on_visit, None, visited, **QUIET).success(None, js="nt2vr.showPlace")

    def _wire_report(self, page: gr.Blocks, tabs: gr.Tabs, returned: Any) -> None:
        p, report, outputs = self._parts, self._parts.report, self._outputs
        report.confirm.asked_by(report.delete, p.chosen, (p.new.click, p.reports.pick))
        page.load(self.on_load, None, tabs, **QUIET)  # selecting the tab shows the report
        returned(lambda: gr.Tabs(selected="evaluate"), None, tabs, **QUIET)
        returned(self.on_link, None, outputs, **QUIET).success(None, js="nt2vr.showPlace")

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
        return marks_of(row) if row.query.text == text and report.source.get("library", "") == gallery else Marked()

    def on_visit(self, request: gr.Request) -> list[Any]:
        """List the systems, disable what this visitor may not do, and say why."""
        own, delete = self._permissions.may("paths", request), self._permissions.may("delete", request)
        refusal = self._permissions.refusal(request, "paths", "delete")
        return [
            gr.Dropdown(choices=self._searcher.system_names()),
            gr.Dropdown(choices=self._searcher.models.names()),
            gr.Dropdown(data_choices(len(self._ids), self._libraries), info=OWN_DATA if own else BUILT_IN_DATA),
            gr.Button(interactive=delete),
            gr.Markdown(refusal, visible=bool(refusal)),
        ]

    def on_load(self, request: gr.Request) -> Any:
        """Select this tab if the page's address names a place in a report."""
        return gr.Tabs(selected="evaluate") if "report" in request.query_params else gr.skip()

    def on_select(self, address: str, chosen: str | None, request: gr.Request) -> Updates:
        """Show the place that the address names, otherwise the one that was shown last."""
        asked = ReportLink.read(address) if "=" in address else None
        return self._show(asked or (None if chosen is None else ReportLink.read(chosen)), request)

    def on_link(self, event: gr.EventData, request: gr.Request) -> Updates:
        return self._show(ReportLink.read(event_value(event, "link", str)), request)

    def on_poll(self, chosen: str | None, seen: Job[str] | None, request: gr.Request) -> Any:
        """Update the progress; open the report that was waited for."""
        job, report_id = self._evaluations.job, _report_of(chosen)
        if job == seen:
            return gr.skip()
        if job is not None and job.result and not report_id:
            return self._show(ReportLink(job.result), request)
        tell = self._permissions.teller(request)
        listed = reports_view(self._evaluations.archive.entries(), report_id, job, tell)
        return {self._parts.reports: listed, **self._watched(request)}

    def on_start(
        self, data: str, split: str, systems: list[str], per_kind: int, model: str, request: gr.Request
    ) -> Updates:
        asks = self._evaluations, self._permissions, request
        if isinstance(data, str) and data.strip().startswith(COVR):  # a box with values of its own may send anything
            if per_kind not in SIZES:
                raise ConfigError("Choose data, a model and a number of queries to evaluate.")
            start_covr_evaluation(*asks, data.strip().removeprefix(COVR), split, per_kind, model)
        else:
            start_evaluation(*asks, data, systems, split)
        return self._show(ReportLink(self._last_report()), request)

    def on_cancel(self, chosen: str | None, request: gr.Request) -> Updates:
        self._evaluations.cancel()
        return self._show(ReportLink(_report_of(chosen) or self._last_report()), request)

    def on_new(self, request: gr.Request) -> Updates:
        return self._show(ReportLink(), request)

    def on_pick(self, event: gr.EventData, request: gr.Request) -> Updates:
        """Open a report of the list, or the evaluation under way (which may have a report by now)."""
        return self._show(ReportLink(event_value(event, "id", str) or self._last_report()), request)

    def on_delete(self, chosen: str | None, request: gr.Request) -> Updates:
        self._permissions.check("delete", request)
        self._evaluations.archive.delete(_report_of(chosen))
        return self._show(ReportLink(), request)

    def _show(self, link: ReportLink | None, visitor: Visitor) -> Updates:
        """Open a report, or the form if there is none of this id; None opens the newest unless a job is under way."""
        p, job = self._parts, self._evaluations.job
        entries = self._evaluations.archive.entries()
        if link is None and entries and not (entries[0].problem or (job and job.is_under_way)):
            link = ReportLink(entries[0].report_id)
        if link is None or link.report not in [entry.report_id for entry in entries]:
            if link is not None and link.query is not None:
                gr.Warning("The report of this link was deleted. Choose another one, or evaluate again.")
            link = ReportLink()
        opened = self._review.closed()
        if link.report:
            try:
                self._evaluations.archive.load(link.report)
            except ConfigError as error:  # it can still be deleted
                opened = self._review.unreadable(link.report, self._permissions.teller(visitor)(str(error)))
            else:
                opened = self._review.opened(link, visitor)
        return {
            p.reports: reports_view(entries, link.report, job, self._permissions.teller(visitor)),
            p.form.column: gr.Column(visible=not link.report),
            p.report.column: gr.Column(visible=bool(link.report)),
            **self._watched(visitor),
            **opened,
        }

    def _last_report(self) -> str:
        """Return the report of the evaluation that was started last; "" until it has ended."""
        job = self._evaluations.job
        return (job.result or "") if job else ""

    def _watched(self, visitor: Visitor) -> Updates:
        """Show the evaluation under way, and the buttons as it allows."""
        job, p = self._evaluations.job, self._parts
        is_busy = job is not None and job.is_under_way
        return {
            p.seen: job,
            p.timer: gr.Timer(active=is_busy),
            p.form.start: gr.Button(interactive=not is_busy),
            p.form.cancel: gr.Button(interactive=job is not None and job.state == "running"),
            p.form.job: job_view(job, WORD, self._permissions.teller(visitor)),
        }


def _report_of(chosen: str | None) -> str:
    """Return the id of the report that the browser remembers, if any."""
    link = ReportLink.read(chosen or "")
    return link.report if link else ""
