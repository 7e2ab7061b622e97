"""The Evaluate tab: starts and follows evaluations, opens their reports, and reviews queries of these."""

from typing import Any
from urllib.parse import parse_qsl

import gradio as gr

from nt2vr.errors import ConfigError
from nt2vr.evaluation.archive import Remark
from nt2vr.services import Services
from nt2vr.ui.evaluate.evaluation_request import EvaluationRequest
from nt2vr.ui.evaluate.form_panel import EvaluationForm
from nt2vr.ui.evaluate.listings import Listings
from nt2vr.ui.evaluate.own_clips import OwnClips
from nt2vr.ui.evaluate.picture_query import picture_query
from nt2vr.ui.evaluate.queries_panel import QueriesPanel
from nt2vr.ui.evaluate.report_link import FILTERS, PAGE, ReportLink
from nt2vr.ui.evaluate.report_panel import ReportPanel
from nt2vr.ui.evaluate.report_view import LastJob, reports_view
from nt2vr.ui.job_view import is_under_way
from nt2vr.ui.library.media import Media
from nt2vr.ui.theme import QUIET, script, template
from nt2vr.ui.view import Link
from nt2vr.ui.web.errors import with_errors_shown_at
from nt2vr.ui.web.inputs import Components, OpensQueries, Updates, event_text
from nt2vr.ui.web.permissions import Permissions, Visitor
from nt2vr.ui.web.requests import Requests

POLL_S = 1.0
# The place in the list of reports where the evaluation under way is.
UNDER_WAY = "under way"


class EvaluateTab:
    """Evaluate tab over the app's evaluations; libraries with captions are data to evaluate on."""

    def __init__(
        self,
        services: Services,
        requests: Requests,
        media: Media,
        clips: OwnClips,
        permissions: Permissions,
    ) -> None:
        self._evaluations = services.evaluations
        self._archive = services.evaluations.archive
        self._media = media
        self._requests = requests
        self._permissions = permissions
        self.listings = Listings(self._archive, media, clips)
        self._form = EvaluationForm(services.galleries.built_in, media.libraries, permissions)
        self._report = ReportPanel(self._archive)
        self._queries = QueriesPanel(self._archive)

    def build(
        self,
        mark: gr.Textbox,
        requested: gr.Textbox,
        opens: OpensQueries,
        page: gr.Blocks,
        tabs: gr.Tabs,
        returned: Any,
    ) -> None:
        """Lay the tab out and wire it.

        Args:
            mark: changes when the tab is opened.
            requested: holds an `EvaluationRequest` when another tab opens this one to have something evaluated.
            opens: opens queries in Search.
            page: this tab's.
            tabs: all of them.
            returned: the event of Back and Forward to a place in a report.
        """
        self._requested = requested
        self._build_panels()
        self._wire_opening(mark, page, tabs, returned)
        self._wire_evaluation()
        self._wire_name()
        self._wire_places()
        self._wire_queries(opens)

    def _build_panels(self) -> None:
        # The link to the place of a report that was shown last, None for the default (see `_show`),
        # stored in the browser.
        self._chosen = gr.BrowserState(None, storage_key="nt2vr-report", secret="nt2vr")
        # The link to the place in a report that the browser asks for.
        self._address = gr.Textbox(visible="hidden")
        # Changes when a report, or the form, is to be opened.
        self._turn = gr.Textbox(visible="hidden")
        # The Job as it was shown last.
        self._seen = gr.State()
        self._timer = gr.Timer(POLL_S, active=False)
        with gr.Row(elem_id="evaluate"):
            with gr.Column(scale=1, min_width=230, elem_id="evaluate-list"):
                self._new = gr.Button("New evaluation", elem_id="evaluate-new")
                self._reports = template("evaluate-reports", {"reports": []})
            with gr.Column(scale=5, min_width=500):
                self._form.build()
                with gr.Column(visible=False, elem_id="evaluate-watch") as self._open:
                    self._report.build()
                    self._queries.build()

    @property
    def _shown(self) -> Components:
        """The components that depend on which report is open, and on the evaluation under way."""
        return [
            self._chosen,
            self._reports,
            self._open,
            self._seen,
            self._timer,
            *self._form.followed,
            self._report.report,
            *self._queries.shown,
        ]

    def _wire_opening(
        self, mark: gr.Textbox, page: gr.Blocks, tabs: gr.Tabs, returned: Any
    ) -> None:
        # One event opens what was asked for last: a later answer never replaces what was clicked.
        self._new.click(None, None, self._turn, js=script("wantPlace", ReportLink().address))
        for event in (self._reports.pick, returned):
            event(None, None, self._turn, js="nt2vr.here")
        opened = gr.on(
            (mark.change, self._turn.change),
            self.on_select,
            [self._address, self._chosen, self._requested],
            [*self._shown, *self._form.filled, self._requested],
            js="nt2vr.askReport",
            trigger_mode="always_last",
            **QUIET,
        )
        self._follow_report(opened)
        visited = [*self._form.visited, self._report.delete]
        opened.success(self.on_visit, None, visited, **QUIET).success(None, js="nt2vr.showPlace")
        # Selecting the tab shows the report.
        page.load(None, None, tabs, js="nt2vr.openReport")
        returned(lambda: gr.Tabs(selected="evaluate"), None, tabs, **QUIET)

    def _wire_evaluation(self) -> None:
        """Wire what starts, follows and ends an evaluation, and what deletes its report."""
        form = self._form
        outputs = self._shown
        start = with_errors_shown_at(form.problem, self.on_start)
        for event in (
            self._timer.tick(
                self.on_poll,
                [self._chosen, self._seen],
                outputs,
                queue=False,
                trigger_mode="once",
                **QUIET,
            ),
            form.start.click(start, form.inputs, [*outputs, form.problem], **QUIET),
            form.cancel.click(self.on_cancel, self._chosen, outputs, **QUIET),
            self._report.confirm.yes.click(self.on_delete, self._chosen, outputs, **QUIET),
        ):
            self._follow_report(event)

    def _follow_report(self, event: Any) -> None:
        """Let the address follow the report that an event has opened."""
        event.success(None, inputs=self._queries.queries, js="nt2vr.followReport")

    def _wire_name(self) -> None:
        """Wire what renames or deletes a report, and what takes a problem from the page."""
        report = self._report
        saved = report.wire_name(self._chosen)
        rename = with_errors_shown_at(report.problem, self.on_rename)
        outputs = [self._reports, report.report, report.problem]
        gr.on(saved, rename, [self._chosen, report.name], outputs, **QUIET)
        report.confirm.asked_by(report.delete, self._chosen, (self._new.click, self._reports.pick))
        gr.on(
            (self._chosen.change, self._form.data.change),
            None,
            None,
            [self._form.problem, report.problem],
            js="() => ['', '']",
        )

    def _wire_places(self) -> None:
        """Wire what leads to another place of the open report: filters, pages, and links of templates."""
        queries = self._queries
        filters = list(queries.filters.values())
        filtered = script("filterQueries", FILTERS, [PAGE, "query"])
        for component in filters:
            component.input(None, [self._address, *filters], self._address, js=filtered)
        moved = [self._chosen, queries.queries, queries.review, queries.filters["cue"]]
        self._address.change(
            self.on_address, self._address, moved, trigger_mode="always_last", **QUIET
        )
        for part in (self._report.report, queries.queries, queries.review):
            part.show(None, None, self._address, js="nt2vr.here")

    def _wire_queries(self, opens: OpensQueries) -> None:
        """Wire notes on queries, the breakdown, and what opens a query in Search."""
        report = self._report.report
        queries = self._queries
        # A tag, then a note: none may be dropped while the other is being saved.
        noted = queries.review.note(
            self.on_note,
            None,
            [report, queries.filters["tag"]],
            trigger_mode="multiple",
            **QUIET,
        )
        noted.success(None, None, self._address, js="nt2vr.noteSaved")
        noted.failure(None, js="nt2vr.noteFailed")
        gr.on(
            (queries.queries.change, queries.measure.input),
            queries.on_breakdown,
            [report, queries.queries, queries.measure],
            [queries.measure, queries.groups],
            js="nt2vr.breakdownInputs",
            trigger_mode="always_last",
            **QUIET,
        )
        opens(queries.review.open, self.on_open_query)
        opens(queries.queries.search, self.on_open_picture)

    def on_visit(self, request: gr.Request) -> Updates:
        """List the systems, disable what this visitor may not do, and say why."""
        may_delete = self._permissions.may("delete", request)
        return {
            **self._form.visit(request),
            self._report.delete: gr.Button(interactive=may_delete),
        }

    def on_select(
        self, address: str, chosen: str | None, requested: str, request: gr.Request
    ) -> Updates:
        """Show what was requested, or the place that the address names, otherwise the one that was shown last.

        The evaluation under way is a place, too; it may have a report by now.
        """
        self._evaluations.add_ready()
        job = self._evaluations.job
        if requested:
            filled = self._form.fill(EvaluationRequest.read(requested))
            return {**self._show(ReportLink(), job, request), **filled, self._requested: ""}
        if address == UNDER_WAY:
            return self._show(ReportLink(_result_of(job)), job, request)
        link = ReportLink.read(address) if "=" in address else None
        if link is None and chosen is not None:
            link = ReportLink.read(chosen)
        return self._show(link, job, request)

    def on_poll(self, chosen: str | None, seen: LastJob, request: gr.Request) -> Any:
        """Update the progress; open the report that was waited for.

        The answer of an earlier tick can arrive after that of “Cancel”, and then shows a job that
        has ended as under way, with the timer on. So a job that has ended is shown even if it was
        seen; that turns the timer off.
        """
        job = self._evaluations.job
        report_id = _report_of(chosen)
        if job == seen and is_under_way(job):
            return gr.skip()
        result = _result_of(job)
        if result and not report_id:
            return self._show(ReportLink(result), job, request)
        return self._follow(report_id, job, request)

    def on_start(self, request: gr.Request, *filled: Any) -> Updates:
        chosen, names = self._form.chosen(*filled)
        self._requests.start_evaluation(request, chosen, names)
        job = self._evaluations.job
        return self._show(ReportLink(_result_of(job)), job, request)

    def on_cancel(self, chosen: str | None, request: gr.Request) -> Updates:
        job = self._evaluations.job
        if job is not None and job.is_under_way:
            self._permissions.check_cancel(job.session, request)
            self._evaluations.cancel(job.number)
            job = self._evaluations.job
        return self._show(ReportLink(_report_of(chosen) or _result_of(job)), job, request)

    def on_rename(self, chosen: str | None, name: str, request: gr.Request) -> Updates:
        self._permissions.check("review", request)
        report_id = _report_of(chosen)
        self._archive.rename(report_id, name)
        return {
            **self._list(report_id, self._evaluations.job, request),
            **self._report.show(report_id),
        }

    def on_delete(self, chosen: str | None, request: gr.Request) -> Updates:
        self._permissions.check("delete", request)
        self._archive.delete(_report_of(chosen))
        return self._show(ReportLink(), self._evaluations.job, request)

    def _show(self, link: ReportLink | None, job: LastJob, visitor: Visitor) -> Updates:
        """Open a report, or the form if there is none of this id; None opens the newest unless a job is under way.

        Args:
            job: the last evaluation, as it was when the link was made. If it has ended since, the
                next tick opens its report.
        """
        link = self._existing(link, job)
        address = ReportLink(link.report).address
        updates: Updates = {
            self._chosen: address,
            self._form.column: gr.Column(visible=not link.report),
            self._open: gr.Column(visible=bool(link.report)),
            **self._follow(link.report, job, visitor),
        }
        if not link.report:
            return {**updates, self._report.report: {}, **self._queries.show_nothing()}

        try:
            listing = self.listings.of_link(link, visitor)
            return {
                **updates,
                **self._report.show(link.report),
                **self._queries.show(listing, self._permissions.refusal(visitor, "review")),
                self._chosen: listing.address,
            }
        # The report cannot be read, but it can still be deleted.
        except ConfigError as error:
            problem = self._permissions.redactor(visitor)(str(error))
            return {
                **updates,
                self._report.report: {"unreadable": link.report, "problem": problem},
                **self._queries.show_unreadable(address),
            }

    def _existing(self, link: ReportLink | None, job: LastJob) -> ReportLink:
        """Return a link to a report that there is, or to the form; None stands for the newest report."""
        entries = self._archive.entries()
        if link is None:
            can_open = entries and not entries[0].problem and not is_under_way(job)
            return ReportLink(entries[0].report_id if can_open else "")

        if link.report in [entry.report_id for entry in entries]:
            return link
        if link.query is not None:
            gr.Warning(
                "The report of this link was deleted. Choose another one, or evaluate again."
            )
        return ReportLink()

    def _follow(self, report_id: str, job: LastJob, visitor: Visitor) -> Updates:
        """Show the list, the evaluation under way, and the buttons as it allows."""
        return {
            **self._list(report_id, job, visitor),
            **self._form.follow(job, visitor),
            self._seen: job,
            self._timer: gr.Timer(active=is_under_way(job)),
        }

    def _list(self, report_id: str, job: LastJob, visitor: Visitor) -> Updates:
        """List the reports, of which one is open, below the evaluation under way."""
        redact = self._permissions.redactor(visitor)
        return {self._reports: reports_view(self._archive.entries(), report_id, job, redact)}

    def on_address(self, address: str, request: gr.Request) -> Any:
        """Show the place in the report that the address names; cues are those of its kind of queries."""
        # A note was saved, and the person has left the report.
        if not address:
            return gr.skip()
        listing = self.listings.of_link(_read(address), request)
        return {
            **self._queries.move(listing, self._permissions.refusal(request, "review")),
            **self._queries.update_menu("cue", listing),
            self._chosen: listing.address,
        }

    def on_note(self, event: gr.EventData, request: gr.Request) -> Updates:
        """Save tag and note of a query; the browser then asks for the list again."""
        self._permissions.check("review", request)
        link = _read(event_text(event, "link"))
        if link.query is None:
            raise ConfigError("The note names no query. It is not saved.")
        remark = Remark(
            tag=event_text(event, "tag").strip(),
            note=event_text(event, "note").strip(),
        )
        self._archive.annotate(link.report, link.query, remark)
        listing = self.listings.of_link(link, request)
        return {
            **self._report.show(link.report),
            **self._queries.update_menu("tag", listing),
        }

    def on_open_picture(self, event: gr.EventData, visitor: Visitor) -> Link:
        link = _read(event_text(event, "link"))
        report = self._archive.load(link.report)
        decoder = self._media.decoder if self._permissions.may("paths", visitor) else None
        return picture_query(report, link.query, self._media.libraries, decoder)

    def on_open_query(self, event: gr.EventData, _: Visitor) -> Link:
        return dict(parse_qsl(event_text(event, "link").removeprefix("?")))


def _result_of(job: LastJob) -> str:
    """Return the report of an evaluation; "" until it has ended."""
    return (job.result or "") if job else ""


def _report_of(chosen: str | None) -> str:
    """Return the id of the report that the browser remembers, if any."""
    link = ReportLink.read(chosen or "")
    return link.report if link else ""


def _read(address: str) -> ReportLink:
    link = ReportLink.read(address)
    if link is None:
        raise ConfigError("The address names no report. Choose one from the list.")
    return link
