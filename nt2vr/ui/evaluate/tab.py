"""The Evaluate tab: starts and follows evaluations, opens their reports, and reviews queries of these."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr
from gradio.utils import get_upload_folder

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.evaluation.archive import Remark
from nt2vr.evaluation.jobs import Evaluations
from nt2vr.evaluation.report import Report
from nt2vr.library.galleries import Galleries
from nt2vr.library.libraries import Libraries
from nt2vr.media.picture import write_jpeg
from nt2vr.models.framing import DEFAULT_SIZE
from nt2vr.progress import Job
from nt2vr.ui.evaluate.layout import BUILT_IN_DATA, COVR, OWN_DATA, SIZES, EvaluateParts, data_choices
from nt2vr.ui.evaluate.query_views import (
    ANY,
    Home,
    Listing,
    cues_of,
    kinds_of,
    marks_of,
    picture_systems,
    queries_view,
    resolved,
    review_view,
    tags_of,
)
from nt2vr.ui.evaluate.report_link import FILTERS, HARD_PAIRS, PAGE, ReportLink
from nt2vr.ui.evaluate.report_view import WORD, breakdown_view, measure_choices, points_of, report_view, reports_view
from nt2vr.ui.job_view import job_view
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.results import Marked
from nt2vr.ui.theme import QUIET, script
from nt2vr.ui.web.errors import told_at
from nt2vr.ui.web.inputs import OpensQueries, Updates, event_value
from nt2vr.ui.web.permissions import Permissions, Visitor
from nt2vr.ui.web.requests import start_covr_evaluation, start_evaluation
from nt2vr.world.drawn.render import render
from nt2vr.world.scenes import Scene


class EvaluateTab:
    """Evaluate tab over the app's evaluations; libraries with captions are data to evaluate on."""

    _parts: EvaluateParts

    def __init__(self, evaluations: Evaluations, galleries: Galleries, media: Media, permissions: Permissions) -> None:
        """Components are built by `build`."""
        self._evaluations, self._archive = evaluations, evaluations.archive
        self._galleries, self._searcher, self._media = galleries, galleries.built_in, media
        self._permissions = permissions

    def build(self, tab: gr.Tab, opens: OpensQueries, page: gr.Blocks, tabs: gr.Tabs, returned: Any) -> None:
        """Lay the tab out and wire it; `returned` is the event of Back and Forward to a place in a report."""
        systems, models = self._searcher.system_names(), self._searcher.models.names()
        self._parts = EvaluateParts(systems, models, self._data_choices())
        p, form, report, filters = self._parts, self._parts.form, self._parts.report, self._parts.report.filters
        address, moving = p.address, [p.chosen, report.queries, report.review]
        # everything that depends on which report is open, and on the evaluation under way
        outputs = [
            *(p.chosen, p.reports, form.column, report.column, p.seen, p.timer, form.start, form.cancel, form.job),
            *(report.report, report.chart, *filters.inputs, report.breakdown, report.queries, report.review),
        ]
        visited = [form.systems, form.model, form.data, report.delete, form.note]
        started = [form.data, form.split, form.systems, form.per_kind, form.model]
        opened = tab.select(self.on_select, [address, p.chosen], outputs, js="nt2vr.askReport", **QUIET)
        shown = (
            opened,
            p.timer.tick(self.on_poll, [p.chosen, p.seen], outputs, queue=False, trigger_mode="once", **QUIET),
            form.start.click(told_at(form.problem, self.on_start), started, [*outputs, form.problem], **QUIET),
            form.cancel.click(self.on_cancel, p.chosen, outputs, **QUIET),
            p.new.click(self.on_new, None, outputs, **QUIET),
            p.reports.pick(self.on_pick, None, outputs, **QUIET),
            report.confirm.yes.click(self.on_delete, p.chosen, outputs, **QUIET),
        )
        report.rename.click(None, None, report.naming, js=script("show", True))
        left = (report.save_name.click, p.chosen.change, report.name.submit)
        gr.on(left, None, None, report.naming, js=script("show", False))
        gr.on(
            (report.save_name.click, report.name.submit),
            told_at(report.problem, self.on_rename),
            [p.chosen, report.name],
            [p.reports, report.report, report.problem],
            **QUIET,
        )
        gr.on((p.chosen.change, form.data.change), None, None, [form.problem, report.problem], js="() => ['', '']")
        for event in shown:
            event.success(None, inputs=report.queries, js="nt2vr.followReport")
        opened.success(self.on_visit, None, visited, **QUIET).success(None, js="nt2vr.showPlace")
        report.confirm.asked_by(report.delete, p.chosen, (p.new.click, p.reports.pick))
        page.load(self.on_load, None, tabs, **QUIET)  # selecting the tab shows the report
        returned(lambda: gr.Tabs(selected="evaluate"), None, tabs, **QUIET)
        returned(self.on_link, None, outputs, **QUIET).success(None, js="nt2vr.showPlace")
        filtered = script("filterQueries", FILTERS, [PAGE, "query"])
        for changed in filters.inputs:
            changed.input(None, [address, *filters.inputs], address, js=filtered)
        address.change(self.on_address, address, [*moving, filters.cue], trigger_mode="always_last", **QUIET)
        for each in (report.report, report.queries, report.review):
            each.show(None, None, address, js="nt2vr.here")
        noted = report.review.note(  # a tag, then a note: none may be dropped while the other is being saved
            self.on_note, None, [report.report, filters.tag], trigger_mode="multiple", **QUIET
        )
        noted.success(None, None, address, js="nt2vr.noteSaved")
        noted.failure(None, js="nt2vr.noteFailed")
        gr.on(
            (report.queries.change, report.measure.input),
            self.on_breakdown,
            [report.report, report.queries, report.measure],
            [report.measure, report.groups],
            js="nt2vr.brief",
            trigger_mode="always_last",
            **QUIET,
        )
        opens(report.review.open, self.on_open_query)
        opens(report.queries.search, self.on_open_picture)

    def _data_choices(self) -> list[tuple[str, str]]:
        return data_choices(len(self._searcher.gallery.videos), self._media.libraries)

    def marked(self, judged: str, text: str, gallery: str) -> Marked:
        """Return the relevant clips of a report's query; none once the text or the gallery has changed."""
        if not judged:
            return Marked()
        report_id, _, place = judged.rpartition(":")
        try:
            report = self._archive.load(report_id)
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
            gr.Dropdown(self._data_choices(), info=OWN_DATA if own else BUILT_IN_DATA),
            gr.Button(interactive=delete),
            gr.Markdown(refusal, visible=bool(refusal)),
        ]

    def on_load(self, request: gr.Request) -> Any:
        """Select this tab if the page's address names a place in a report."""
        return gr.Tabs(selected="evaluate") if "report" in request.query_params else gr.skip()

    def on_select(self, address: str, chosen: str | None, request: gr.Request) -> Updates:
        """Show the place that the address names, otherwise the one that was shown last."""
        self._evaluations.add_ready()
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
        listed = reports_view(self._archive.entries(), report_id, job, tell)
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

    def on_rename(self, chosen: str | None, name: str, request: gr.Request) -> Updates:
        self._permissions.check("review", request)
        report_id, tell = _report_of(chosen), self._permissions.teller(request)
        self._archive.rename(report_id, name)
        listed = reports_view(self._archive.entries(), report_id, self._evaluations.job, tell)
        return {self._parts.reports: listed, self._parts.report.report: self._report_view(report_id)}

    def on_delete(self, chosen: str | None, request: gr.Request) -> Updates:
        self._permissions.check("delete", request)
        self._archive.delete(_report_of(chosen))
        return self._show(ReportLink(), request)

    def _show(self, link: ReportLink | None, visitor: Visitor) -> Updates:
        """Open a report, or the form if there is none of this id; None opens the newest unless a job is under way."""
        p, parts, job = self._parts, self._parts.report, self._evaluations.job
        entries, tell = self._archive.entries(), self._permissions.teller(visitor)
        if link is None and entries and not (entries[0].problem or (job and job.is_under_way)):
            link = ReportLink(entries[0].report_id)
        if link is None or link.report not in [entry.report_id for entry in entries]:
            if link is not None and link.query is not None:
                gr.Warning("The report of this link was deleted. Choose another one, or evaluate again.")
            link = ReportLink()
        address = ReportLink(link.report).address
        opened: Updates = {p.chosen: address, parts.report: {}, parts.queries: {}, parts.review: {}}
        try:
            opened |= self._opened(link, visitor) if link.report else {}
        except ConfigError as error:  # the report cannot be read, but it can still be deleted
            opened |= {
                parts.report: {"unreadable": link.report, "problem": tell(str(error))},
                parts.queries: {"link": address},
                parts.breakdown: gr.Accordion(visible=False),
                parts.chart: gr.ScatterPlot(visible=False),
            }
        return {
            p.reports: reports_view(entries, link.report, job, tell),
            p.form.column: gr.Column(visible=not link.report),
            parts.column: gr.Column(visible=bool(link.report)),
            **self._watched(visitor),
            **opened,
        }

    def _opened(self, link: ReportLink, visitor: Visitor) -> Updates:
        report, listing = self._archive.load(link.report), self._listing(link)
        parts, filters = self._parts.report, self._parts.report.filters
        values = dict(zip(filters.inputs, listing.link.values, strict=True))
        names = [(result.system, result.system) for result in report.results]
        choices: dict[Any, Sequence[tuple[str, str]]] = {
            filters.first: names,
            filters.second: names,
            filters.kind: kinds_of(report),
            filters.cue: _cues(listing),
            filters.tag: tags_of(listing.remarks),
        }
        hidden = filters.tag if report.is_covr else None
        points = points_of(report)
        return {
            **self._moved(listing, visitor),
            **values,
            **{
                menu: gr.Dropdown(_with(some, values[menu]), value=values[menu], visible=menu is not hidden)
                for menu, some in choices.items()
            },
            parts.breakdown: gr.Accordion(visible=not report.is_covr),
            parts.chart: gr.ScatterPlot(points, visible=len(points) > 1),
            parts.report: self._report_view(link.report),
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

    def on_address(self, address: str, request: gr.Request) -> Any:
        """Show the place in the report that the address names; cues are those of its kind of queries."""
        if not address:  # a note was saved, and the person has left the report
            return gr.skip()
        listing = self._listing(_read(address))
        return self._moved(listing, request) | {self._parts.report.filters.cue: gr.Dropdown(_cues(listing))}

    def on_note(self, event: gr.EventData, request: gr.Request) -> Updates:
        """Save tag and note of a query; the browser then asks for the list again."""
        self._permissions.check("review", request)
        link = _read(event_value(event, "link", str))
        if link.query is None:
            raise ConfigError("The note names no query. It is not saved.")
        said = Remark(event_value(event, "tag", str).strip(), event_value(event, "note", str).strip())
        self._archive.annotate(link.report, link.query, said)
        listing, report = self._listing(link), self._parts.report
        return {
            report.report: self._report_view(link.report),
            report.filters.tag: gr.Dropdown(_with(tags_of(listing.remarks), link.tag)),
        }

    def _report_view(self, report_id: str) -> dict[str, Any]:
        name = next((entry.name for entry in self._archive.entries() if entry.report_id == report_id), "")
        return report_view(self._archive.load(report_id), report_id, self._archive.files(report_id), name)

    def on_breakdown(self, shown: dict[str, Any], listed: dict[str, Any], key: str) -> list[Any]:
        """Break the chosen metric down by negation word, or another one if the two systems have not both."""
        report_id, first, second = str(shown.get("id", "")), str(listed.get("first")), str(listed.get("second"))
        if not report_id:
            return [gr.skip(), gr.skip()]
        report = self._archive.load(report_id)
        choices = measure_choices(report, first, second)
        keys = [known for _, known in choices]
        if not keys:
            return [gr.skip(), gr.skip()]
        key = key if key in keys else HARD_PAIRS if HARD_PAIRS in keys else keys[0]
        return [gr.Dropdown(choices, value=key), breakdown_view(report, first, second, key)]

    def on_open_picture(self, event: gr.EventData) -> Mapping[str, str]:
        link = _read(event_value(event, "link", str))
        return picture_query(self._archive.load(link.report), link.query, self._media.libraries)

    def on_open_query(self, event: gr.EventData) -> Mapping[str, str]:
        return dict(parse_qsl(event_value(event, "link", str).removeprefix("?")))

    def _moved(self, listing: Listing, visitor: Visitor) -> Updates:
        report = self._parts.report
        return {
            self._parts.chosen: listing.link.without_query.address,
            report.queries: queries_view(listing),
            report.review: review_view(listing, self._permissions.refusal(visitor, "review")),
        }

    def _listing(self, link: ReportLink) -> Listing:
        report, remarks = self._archive.load(link.report), self._archive.remarks(link.report)
        return Listing.of(report, resolved(link, report), remarks, self._home(report))

    def _home(self, report: Report) -> Home | None:
        """Find the gallery with a report's videos; None if it was removed, or there never was one."""
        key = str(report.source.get("library", ""))
        try:
            searcher = self._galleries.searcher(key)
        except Nt2vrError:
            return None
        ids = frozenset(video.video_id for video in searcher.gallery.videos)
        if not searcher.key and ids.isdisjoint(report.video_ids):
            return None
        return Home(searcher.key, ids, lambda video_id: self._media.urls(key, searcher.video(video_id)))


def _report_of(chosen: str | None) -> str:
    """Return the id of the report that the browser remembers, if any."""
    link = ReportLink.read(chosen or "")
    return link.report if link else ""


def _read(address: str) -> ReportLink:
    link = ReportLink.read(address)
    if link is None:
        raise ConfigError("The address names no report. Choose one from the list.")
    return link


def _cues(listing: Listing) -> list[tuple[str, str]]:
    return _with(cues_of(listing.report, listing.link.kind or ANY), listing.link.cue)


def _with(choices: Sequence[tuple[str, str]], value: str) -> list[tuple[str, str]]:
    """Add a value to choose from, if it is not there."""
    return [*choices] if value in [each for _, each in choices] else [*choices, (value, value)]


def picture_query(report: Report, place: int | None, libraries: Libraries) -> dict[str, str]:
    """Return the values of a query's link in Search; a ConfigError if the report has no such query with a picture.

    Its reference is drawn as an upload, or found among the clips of libraries; other files are not shown.
    """
    if place is None or not 0 <= place < len(report.pictures):
        raise ConfigError("The report has no such query. Choose one from the list.")
    values = {"q": report.queries[place].text, "systems": "|".join(picture_systems(report))}
    return values | _reference(report.pictures[place], libraries)


def _reference(picture: Mapping[str, Any], libraries: Libraries) -> dict[str, str]:
    if scene := picture.get("scene"):
        return {"upload": str(_drawn(scene))}
    path = Path(picture.get("path", ""))
    for info in libraries.infos():
        for video in libraries.gallery(info.id).videos:
            if video.path == path:
                return {"like": video.video_id, "gallery": info.id}
    gr.Warning("The reference is in no library, so only the text is asked.")
    return {}


def _drawn(scene: Mapping[str, Any]) -> Path:
    """Draw a scene's middle frame into the folder of uploads, where it is deleted with them."""
    name = sha256(json.dumps(scene).encode()).hexdigest()
    path = Path(get_upload_folder()) / name / "reference.jpg"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file():
        write_jpeg(render(Scene.from_dict(scene), DEFAULT_SIZE, 1)[0], path)
    return path
