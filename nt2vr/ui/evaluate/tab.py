"""The Evaluate tab: starts and follows evaluations, opens their reports, and reviews queries of these."""

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl
from uuid import uuid4

import gradio as gr
from gradio.utils import get_upload_folder

from nt2vr.errors import ConfigError, Nt2vrError, counted
from nt2vr.evaluation.archive import Remark
from nt2vr.evaluation.benchmark_kinds import benchmark_kinds, prefix_of, select_data, shipped_data
from nt2vr.evaluation.built_in import NUM_CLIPS
from nt2vr.evaluation.comparison import SMALLEST
from nt2vr.evaluation.measures import LEVEL
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.sources import BUILT_IN, CLASSES, GALLERY, LIBRARY, Data
from nt2vr.library.libraries import Libraries
from nt2vr.media.decode import Decoder
from nt2vr.media.picture import write_jpeg
from nt2vr.models.framing import DEFAULT_SIZE
from nt2vr.progress import Job
from nt2vr.services import Services
from nt2vr.ui.evaluate.own_clips import OwnClips
from nt2vr.ui.evaluate.query_views import (
    FILTERS,
    ORDERS,
    PAGE,
    Home,
    Listing,
    ReportLink,
    marks_of,
    menus_of,
    queries_view,
    resolved,
    review_view,
)
from nt2vr.ui.evaluate.report_view import (
    ALL_MEASURES,
    WORD,
    X,
    Y,
    breakdown_view,
    measure_choices,
    points_of,
    report_view,
    reports_view,
)
from nt2vr.ui.evaluate.wish import Wish
from nt2vr.ui.job_view import job_view
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.results import Marked
from nt2vr.ui.theme import QUIET, Confirmation, fold, lead, menu, script, template
from nt2vr.ui.web.errors import problem_place, told_at
from nt2vr.ui.web.inputs import OpensQueries, Updates, event_value
from nt2vr.ui.web.permissions import Permissions, Visitor
from nt2vr.ui.web.requests import Requests
from nt2vr.world import WORLD
from nt2vr.world.drawn.render import render
from nt2vr.world.scenes import Scene

POLL_S = 1.0
DEFAULT_SYSTEMS = ("CLIP-bnl", "CLIP-con", "CLIP-neg", "CLIP boolean")
BUILT_IN_DATA = "Queries and videos"
BREAKDOWN = (
    f"The ranges are {LEVEL} % intervals over queries; queries with the same relevant videos count as one. The "
    "difference is taken query by query. It is within noise if its interval includes 0, or if flipping its signs at "
    "random gives one as large in 5 % of cases. Of 20 groups without any difference, about one is not within noise by "
    f"chance. Words with fewer than {SMALLEST} queries are joined."
)
WIDTHS: list[str | int] = [115, 85, 182, 182, 182, 165]  # pixels: no head and no interval breaks
WIDTHS_OF_MEASURES: list[str | int] = [
    178,
    80,
    100,
    100,
    228,
    225,
]  # the same, where only differences have intervals
CONTROLS = (
    "Two controls are added: the zero-shot base model, and the same with the negated part dropped."
)
WAYS = "Every way of combining a picture with a text is measured, and each of the two alone as a control."
SIZES = (10, 25, 100)  # queries per kind of change; the results have 100
SPLITS = ("test", "validation", "train", "all")


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
        self._evaluations, self._archive = services.evaluations, services.evaluations.archive
        self._galleries, self._searcher, self._media = (
            services.galleries,
            services.galleries.built_in,
            media,
        )
        self._requests, self._clips, self._permissions = requests, clips, permissions

    def build(
        self,
        mark: gr.Textbox,
        wished: gr.Textbox,
        opens: OpensQueries,
        page: gr.Blocks,
        tabs: gr.Tabs,
        returned: Any,
    ) -> None:
        """Lay the tab out and wire it.

        Args:
            mark: changes when the tab is opened.
            wished: holds a `Wish` when another tab opens this one to have something evaluated.
            opens: opens queries in Search.
            page: this tab's.
            tabs: all of them.
            returned: the event of Back and Forward to a place in a report.
        """
        self._wished = wished
        # link to the place of a report shown last, None for the default (see `_show`); stored in
        # the browser
        self._chosen = chosen = gr.BrowserState(None, storage_key="nt2vr-report", secret="nt2vr")
        address = gr.Textbox(visible="hidden")  # of the place in a report that the browser asks for
        self._seen, self._timer = (
            gr.State(),
            gr.Timer(POLL_S, active=False),
        )  # the Job as last shown
        with gr.Row(elem_id="evaluate"):
            with gr.Column(scale=1, min_width=230, elem_id="evaluate-list"):
                new = gr.Button("New evaluation", elem_id="evaluate-new")
                self._reports = reports = template("evaluate-reports", {"reports": []}, "pick")
            with gr.Column(scale=5, min_width=500):
                systems, models = self._searcher.system_names(), self._searcher.models.names()
                self._form = form = FormParts(systems, models, self._data_choices())
                self._open = report = ReportParts()
        filters = [report.filters[name] for name in FILTERS]
        moving = [chosen, report.queries, report.review]
        # everything that depends on which report is open, and on the evaluation under way
        outputs = [
            *(
                chosen,
                reports,
                form.column,
                report.column,
                self._seen,
                self._timer,
                form.start,
                form.cancel,
                form.job,
            ),
            *(
                report.report,
                report.chart,
                *filters,
                report.breakdown,
                report.queries,
                report.review,
            ),
        ]
        visited = [form.systems, form.model, form.data, report.delete, form.note]
        started = [form.data, form.split, form.systems, form.per_kind, form.model]
        wishes = [wished, form.data, form.split, form.systems]
        asked = [address, chosen, wished]
        opened = mark.change(
            self.on_select, asked, [*outputs, *wishes], js="nt2vr.askReport", **QUIET
        )
        polled = [chosen, self._seen]
        shown = (
            opened,
            self._timer.tick(
                self.on_poll, polled, outputs, queue=False, trigger_mode="once", **QUIET
            ),
            form.start.click(
                told_at(form.problem, self.on_start), started, [*outputs, form.problem], **QUIET
            ),
            form.cancel.click(self.on_cancel, chosen, outputs, **QUIET),
            new.click(self.on_new, None, outputs, **QUIET),
            reports.pick(self.on_pick, None, outputs, **QUIET),
            report.confirm.yes.click(self.on_delete, chosen, outputs, **QUIET),
        )
        report.rename.click(None, None, report.naming, js=script("show", True))
        renamed = [report.save_name.click, report.name.submit]
        gr.on([*renamed, chosen.change], None, None, report.naming, js=script("show", False))
        listed = [reports, report.report, report.problem]
        gr.on(
            renamed, told_at(report.problem, self.on_rename), [chosen, report.name], listed, **QUIET
        )
        gr.on(
            (chosen.change, form.data.change),
            None,
            None,
            [form.problem, report.problem],
            js="() => ['', '']",
        )
        for event in shown:
            event.success(None, inputs=report.queries, js="nt2vr.followReport")
        opened.success(self.on_visit, None, visited, **QUIET).success(None, js="nt2vr.showPlace")
        report.confirm.asked_by(report.delete, chosen, (new.click, reports.pick))
        page.load(self.on_load, None, tabs, **QUIET)  # selecting the tab shows the report
        returned(lambda: gr.Tabs(selected="evaluate"), None, tabs, **QUIET)
        returned(self.on_link, None, outputs, **QUIET).success(None, js="nt2vr.showPlace")
        filtered = script("filterQueries", FILTERS, [PAGE, "query"])
        for changed in filters:
            changed.input(None, [address, *filters], address, js=filtered)
        address.change(
            self.on_address,
            address,
            [*moving, report.filters["cue"]],
            trigger_mode="always_last",
            **QUIET,
        )
        for each in (report.report, report.queries, report.review):
            each.show(None, None, address, js="nt2vr.here")
        noted = report.review.note(  # a tag, then a note: none may be dropped while the other is being saved
            self.on_note,
            None,
            [report.report, report.filters["tag"]],
            trigger_mode="multiple",
            **QUIET,
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
        """List the built-in data and the libraries with captions; questions of other kinds last."""
        num_shown = len(self._searcher.gallery.videos)
        libraries = [
            (
                f"{info.name} ({counted(info.num_clips, 'clip')}): from your libraries",
                f"{LIBRARY}{info.id}",
            )
            for info in self._media.libraries.infos()
            if info.has_captions
        ]
        return [
            (f"Built-in world, test scenes ({NUM_CLIPS:,} clips, rendered on first use)", WORLD),
            (
                f"Gallery ({num_shown} clips): every query opens in Search with its relevant clips",
                GALLERY,
            ),
            *libraries,
            (
                "Classes: who is in a test scene of the built-in world, what they do, and where",
                CLASSES + WORLD,
            ),
            *shipped_data(),
        ]

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
        return (
            marks_of(row)
            if row.query.text == text and report.source.get("library", "") == gallery
            else Marked()
        )

    def on_visit(self, request: gr.Request) -> list[Any]:
        """List the systems, disable what this visitor may not do, and say why."""
        own, delete = (
            self._permissions.may("paths", request),
            self._permissions.may("delete", request),
        )
        refusal = self._permissions.refusal(request, "paths", "delete")
        return [
            gr.Dropdown(choices=self._searcher.system_names()),
            gr.Dropdown(choices=self._searcher.models.names()),
            gr.Dropdown(self._data_choices(), info=_own_data() if own else BUILT_IN_DATA),
            gr.Button(interactive=delete),
            gr.Markdown(refusal, visible=bool(refusal)),
        ]

    def on_load(self, request: gr.Request) -> Any:
        """Select this tab if the page's address names a place in a report."""
        return gr.Tabs(selected="evaluate") if "report" in request.query_params else gr.skip()

    def on_select(
        self, address: str, chosen: str | None, wished: str, request: gr.Request
    ) -> Updates:
        """Show what was wished for, or the place that the address names, otherwise the one that was shown last."""
        self._evaluations.add_ready()
        if wished:
            return {**self._show(ReportLink(), request), **self._fill_in(Wish.read(wished))}
        asked = ReportLink.read(address) if "=" in address else None
        return self._show(asked or (None if chosen is None else ReportLink.read(chosen)), request)

    def _fill_in(self, wish: Wish) -> Updates:
        """Return updates that fill in the form of a new evaluation, and grant the wish once."""
        systems = gr.Dropdown(
            self._searcher.system_names(wish.systems), value=wish.systems, multiselect=True
        )
        form = self._form
        return {
            form.data: wish.data,
            form.split: wish.split,
            form.systems: systems,
            self._wished: "",
        }

    def on_link(self, event: gr.EventData, request: gr.Request) -> Updates:
        return self._show(ReportLink.read(event_value(event, "link", str)), request)

    def on_poll(self, chosen: str | None, seen: Job[str] | None, request: gr.Request) -> Any:
        """Update the progress; open the report that was waited for.

        The answer of an earlier tick can arrive after that of “Cancel”, and then shows a job that
        has ended as under way, with the timer on. So a job that has ended is shown even if it was
        seen; that turns the timer off.
        """
        job = self._evaluations.job
        report_id = _report_of(chosen)
        if job == seen and _is_under_way(job):
            return gr.skip()
        if job is not None and job.result and not report_id:
            return self._show(ReportLink(job.result), request)
        return self._watched(report_id, request)

    def on_start(
        self,
        data: str,
        split: str,
        systems: list[str],
        per_kind: int,
        model: str,
        request: gr.Request,
    ) -> Updates:
        name = (
            data.strip() if isinstance(data, str) else ""
        )  # a box with values of its own may send anything
        prefix = prefix_of(name)
        if prefix:
            if name == prefix or not model or per_kind not in SIZES:
                raise ConfigError("Choose data, a model and a number of queries to evaluate.")
            self._requests.start_evaluation(request, select_data(name, split, per_kind), [model])
        else:
            chosen = Data(name, split=split)  # type: ignore[arg-type]
            self._requests.start_evaluation(request, chosen, systems)
        return self._show(ReportLink(self._last_report()), request)

    def on_cancel(self, chosen: str | None, request: gr.Request) -> Updates:
        job = self._evaluations.job
        if job is not None and job.is_under_way:
            self._permissions.check_cancel(job.session, request)
            self._evaluations.cancel(job.number)
        return self._show(ReportLink(_report_of(chosen) or self._last_report()), request)

    def on_new(self, request: gr.Request) -> Updates:
        return self._show(ReportLink(), request)

    def on_pick(self, event: gr.EventData, request: gr.Request) -> Updates:
        """Open a report of the list, or the evaluation under way (which may have a report by now)."""
        return self._show(ReportLink(event_value(event, "id", str) or self._last_report()), request)

    def on_rename(self, chosen: str | None, name: str, request: gr.Request) -> Updates:
        self._permissions.check("review", request)
        report_id = _report_of(chosen)
        self._archive.rename(report_id, name)
        listed = self._watched(report_id, request)[self._reports]
        return {self._reports: listed, self._open.report: self._report_view(report_id)}

    def on_delete(self, chosen: str | None, request: gr.Request) -> Updates:
        self._permissions.check("delete", request)
        self._archive.delete(_report_of(chosen))
        return self._show(ReportLink(), request)

    def _show(self, link: ReportLink | None, visitor: Visitor) -> Updates:
        """Open a report, or the form if there is none of this id; None opens the newest unless a job is under way."""
        parts, entries = self._open, self._archive.entries()
        if link is None:
            can_open = (
                entries and not entries[0].problem and not _is_under_way(self._evaluations.job)
            )
            link = ReportLink(entries[0].report_id if can_open else "")
        elif link.report not in [entry.report_id for entry in entries]:
            if link.query is not None:
                gr.Warning(
                    "The report of this link was deleted. Choose another one, or evaluate again."
                )
            link = ReportLink()
        address = ReportLink(link.report).address
        opened: Updates = {
            self._chosen: address,
            parts.report: {},
            parts.queries: {},
            parts.review: {},
        }
        try:
            opened |= self._opened(link, visitor) if link.report else {}
        except ConfigError as error:  # the report cannot be read, but it can still be deleted
            problem = self._permissions.teller(visitor)(str(error))
            opened |= {
                parts.report: {"unreadable": link.report, "problem": problem},
                parts.queries: {"link": address},
                parts.breakdown: gr.Accordion(visible=False),
                parts.chart: gr.ScatterPlot(visible=False),
            }
        return {
            self._form.column: gr.Column(visible=not link.report),
            parts.column: gr.Column(visible=bool(link.report)),
            **self._watched(link.report, visitor),
            **opened,
        }

    def _opened(self, link: ReportLink, visitor: Visitor) -> Updates:
        report, listing, parts = (
            self._archive.load(link.report),
            self._listing(link, visitor),
            self._open,
        )
        values = {name: getattr(listing.link, name) or "" for name in FILTERS} | {
            "fails": bool(listing.link.fails)
        }
        menus = {
            name: gr.Dropdown(
                choices, value=values[name], visible=name != "tag" or report.presentation.has_review
            )
            for name, choices in menus_of(listing).items()
        }
        points = points_of(report)
        return {
            **self._moved(listing, visitor),
            **{parts.filters[name]: shown for name, shown in (values | menus).items()},
            parts.breakdown: gr.Accordion(visible=report.presentation.has_breakdown),
            parts.chart: gr.ScatterPlot(points, visible=len(points) > 1),
            parts.report: self._report_view(link.report),
        }

    def _last_report(self) -> str:
        """Return the report of the evaluation that was started last; "" until it has ended."""
        job = self._evaluations.job
        return (job.result or "") if job else ""

    def _watched(self, report_id: str, visitor: Visitor) -> Updates:
        """Show the list, the evaluation under way, and the buttons as it allows."""
        job, form, tell = self._evaluations.job, self._form, self._permissions.teller(visitor)
        can_cancel = (
            job is not None
            and job.state == "running"
            and self._permissions.may_cancel(job.session, visitor)
        )
        return {
            self._reports: reports_view(self._archive.entries(), report_id, job, tell),
            self._seen: job,
            self._timer: gr.Timer(active=_is_under_way(job)),
            form.start: gr.Button(interactive=not _is_under_way(job)),
            form.cancel: gr.Button(interactive=can_cancel),
            form.job: job_view(job, WORD, tell),
        }

    def on_address(self, address: str, request: gr.Request) -> Any:
        """Show the place in the report that the address names; cues are those of its kind of queries."""
        if not address:  # a note was saved, and the person has left the report
            return gr.skip()
        listing = self._listing(_read(address), request)
        return self._moved(listing, request) | {
            self._open.filters["cue"]: gr.Dropdown(menus_of(listing)["cue"])
        }

    def on_note(self, event: gr.EventData, request: gr.Request) -> Updates:
        """Save tag and note of a query; the browser then asks for the list again."""
        self._permissions.check("review", request)
        link = _read(event_value(event, "link", str))
        if link.query is None:
            raise ConfigError("The note names no query. It is not saved.")
        said = Remark(
            event_value(event, "tag", str).strip(), event_value(event, "note", str).strip()
        )
        self._archive.annotate(link.report, link.query, said)
        tags = menus_of(self._listing(link, request))["tag"]
        return {
            self._open.report: self._report_view(link.report),
            self._open.filters["tag"]: gr.Dropdown(tags),
        }

    def _report_view(self, report_id: str) -> dict[str, Any]:
        name = next(
            (entry.name for entry in self._archive.entries() if entry.report_id == report_id), ""
        )
        return report_view(
            self._archive.load(report_id), report_id, self._archive.files(report_id), name
        )

    def on_breakdown(self, shown: dict[str, Any], listed: dict[str, Any], key: str) -> list[Any]:
        """Break the chosen metric down by negation word, or compare all if the two systems have not both."""
        report_id, first, second = (
            str(shown.get("id", "")),
            str(listed.get("first")),
            str(listed.get("second")),
        )
        report = self._archive.load(report_id) if report_id else None
        choices = measure_choices(report, first, second) if report else []
        keys = [known for _, known in choices]
        if report is None or not keys:
            return [gr.skip(), gr.skip()]
        key = key if key in keys else ALL_MEASURES
        widths = WIDTHS_OF_MEASURES if key == ALL_MEASURES else WIDTHS
        table = gr.Dataframe(breakdown_view(report, first, second, key), column_widths=widths)
        return [gr.Dropdown(choices, value=key), table]

    def on_open_picture(self, event: gr.EventData, visitor: Visitor) -> Mapping[str, str]:
        link = _read(event_value(event, "link", str))
        decoder = self._media.decoder if self._permissions.may("paths", visitor) else None
        return picture_query(
            self._archive.load(link.report), link.query, self._media.libraries, decoder
        )

    def on_open_query(self, event: gr.EventData, _: Visitor) -> Mapping[str, str]:
        return dict(parse_qsl(event_value(event, "link", str).removeprefix("?")))

    def _moved(self, listing: Listing, visitor: Visitor) -> Updates:
        return {
            self._chosen: replace(listing.link, query=None).address,
            self._open.queries: queries_view(listing),
            self._open.review: review_view(listing, self._permissions.refusal(visitor, "review")),
        }

    def _listing(self, link: ReportLink, visitor: Visitor) -> Listing:
        """List queries of a report, with the place of its videos as far as the visitor may see them."""
        report, remarks = self._archive.load(link.report), self._archive.remarks(link.report)
        home = self._gallery_of(report) or self._clips.home(link.report, report, visitor)
        return Listing.of(report, resolved(link, report), remarks, home)

    def _gallery_of(self, report: Report) -> Home | None:
        """Return the gallery with a report's videos; None if it was removed, or there never was one."""
        key = str(report.source.get("library", ""))
        if report.videos and not key:
            return None
        try:
            searcher = self._galleries.searcher(key)
        except Nt2vrError:
            return None
        ids = frozenset(video.video_id for video in searcher.gallery.videos)
        if not searcher.key and ids.isdisjoint(report.video_ids):
            return None
        return Home(
            searcher.key, ids, lambda video_id: self._media.urls(key, searcher.video(video_id))
        )


def _own_data() -> str:
    """Say what data may be named by those who may name files."""
    dataset = f"{BUILT_IN_DATA}, the path of a dataset folder or a benchmark's CSV file"
    ways = [f"{prefix}PATH for {kind.path_help}" for prefix, kind in benchmark_kinds().items()]
    return " or ".join([f"{dataset}, words:PATH for captions alone,", *ways])


def _choose_data() -> str:
    """Return the script that shows the fields which the chosen data has."""
    sized = [f"{prefix}{name}" for prefix, kind in benchmark_kinds().items() for name in kind.sized]
    constants = {
        "ofModels": list(benchmark_kinds()),
        "sized": sized,
        "builtIn": BUILT_IN,
        "library": LIBRARY,
    }
    return script("chooseData", constants)


def _is_under_way(job: Job[str] | None) -> bool:
    return job is not None and job.is_under_way


def _report_of(chosen: str | None) -> str:
    """Return the id of the report that the browser remembers, if any."""
    link = ReportLink.read(chosen or "")
    return link.report if link else ""


def _read(address: str) -> ReportLink:
    if (link := ReportLink.read(address)) is None:
        raise ConfigError("The address names no report. Choose one from the list.")
    return link


def picture_query(
    report: Report, place: int | None, libraries: Libraries, decoder: Decoder | None = None
) -> dict[str, str]:
    """Return the values of a query's link in Search; a ConfigError if the report has no such query with a picture.

    Its reference is drawn as an upload, found among the clips of libraries, or, with a decoder,
    read from its file: only for those who may name files.
    """
    if place is None or not 0 <= place < len(report.queries) or not report.queries[place].picture:
        raise ConfigError("The report has no such query. Choose one from the list.")
    row = report.row(place)
    picture = row.query.picture
    values = {"q": row.query.text, "systems": "|".join(row.search_systems)}
    if scene := picture.get("scene"):
        drawn = _upload_path(json.dumps(scene))
        if not drawn.is_file():
            write_jpeg(render(Scene.from_dict(scene), DEFAULT_SIZE, 1)[0], drawn)
        return {**values, "upload": str(drawn)}

    path = Path(picture.get("path", ""))
    for info in libraries.infos():
        for video in libraries.gallery(info.id).videos:
            if video.path == path:
                return {**values, "like": video.video_id, "gallery": info.id}
    if decoder is None:
        gr.Warning("The reference is in no library, so only the text is asked.")
        return values

    copied = _upload_path(uuid4().hex)  # which no visitor can guess
    try:
        frames = decoder.reference(path)
    except Nt2vrError as error:
        gr.Warning(f"{error} Only the text is asked.")
        return values
    write_jpeg(frames[0], copied)
    return {**values, "upload": str(copied)}


def _upload_path(key: str) -> Path:
    """Return where a reference picture is put: among the uploads, with which it is deleted."""
    name = sha256(key.encode()).hexdigest()
    path = Path(get_upload_folder()) / name / "reference.jpg"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


class FormParts:
    """The form of a new evaluation, and the progress of the one under way."""

    def __init__(
        self, systems: list[str], models: list[str], choices: list[tuple[str, str]]
    ) -> None:
        with gr.Column(elem_id="evaluate-form") as self.column:
            lead("Measure models", "Each answers the same queries, whose right clips are known.")
            with gr.Row(equal_height=True):
                wide: dict[str, Any] = {"allow_custom_value": True, "scale": 4, "min_width": 280}
                self.data = menu(
                    "evaluate-data", "Data", choices, value=GALLERY, info=BUILT_IN_DATA, **wide
                )
                narrow: dict[str, Any] = {"visible": False, "scale": 1, "min_width": 120}
                self.split = menu(
                    "evaluate-split", "Split", SPLITS, value="test", info="of the data", **narrow
                )
                sizes = {"value": SIZES[0], "info": "per kind of change"}
                self.per_kind = menu("evaluate-per-kind", "Queries", SIZES, **sizes, **narrow)
            several = {"value": list(DEFAULT_SYSTEMS), "multiselect": True, "info": CONTROLS}
            self.systems = menu("evaluate-systems", "Systems", systems, **several)
            self.model = menu(
                "evaluate-model", "Model", models, value="CLIP", info=WAYS, visible=False
            )
            chosen = [self.split, self.per_kind, self.systems, self.model]
            self.data.change(None, self.data, chosen, js=_choose_data())
            with gr.Row():
                self.start = gr.Button(
                    "Evaluate", variant="primary", elem_id="evaluate-start", scale=0, min_width=220
                )
                self.cancel = gr.Button(
                    "Cancel", elem_id="evaluate-cancel", interactive=False, scale=0, min_width=120
                )
            self.problem = problem_place("evaluate-problem")
            self.note = gr.Markdown(visible=False, elem_id="evaluate-note")
            self.job = template("evaluate-job", {})


class ReportParts:
    """The open report."""

    def __init__(self) -> None:
        with gr.Column(visible=False, elem_id="evaluate-watch") as self.column:
            with gr.Row(elem_id="evaluate-buttons"):
                self.rename = gr.Button(
                    "Rename", elem_id="evaluate-rename", size="sm", min_width=90
                )
                self.delete = gr.Button(
                    "Delete", elem_id="evaluate-delete", size="sm", min_width=90
                )
            self.confirm = Confirmation(
                "evaluate", "delete", "Delete this report permanently?", "Delete"
            )
            with gr.Row(
                visible=False, elem_id="evaluate-naming", elem_classes="nt-confirm nt-naming"
            ) as self.naming:
                bare: dict[str, Any] = {"container": False, "show_label": False, "max_lines": 1}
                named = "Name of this report"
                self.name = gr.Textbox(
                    placeholder=named, label=named, elem_id="evaluate-name", **bare
                )
                self.save_name = gr.Button("Save", size="sm", elem_id="evaluate-save-name")
            self.problem = problem_place("report-problem")
            self.report = template("evaluate-report", {})
            axes: dict[str, Any] = {
                "x": X,
                "y": Y,
                "x_lim": [None, 1],
                "y_lim": [None, 100],
                "color": "system",
            }
            self.chart = gr.ScatterPlot(
                **axes, height=300, show_label=False, visible=False, elem_id="evaluate-chart"
            )
            with gr.Row(elem_id="evaluate-filters", equal_height=True):  # style.css lays them out
                labels = {"first": "Compare", "second": "with", "order": "Sort by most"}
                self.filters: dict[str, Any] = {
                    name: menu(
                        f"evaluate-{name}",
                        labels.get(name, name.capitalize()),
                        ORDERS if name == "order" else (),
                    )
                    for name in FILTERS[:6]
                }
                find = gr.Textbox(
                    label="Find", placeholder="words of the query", elem_id="evaluate-find"
                )
                fails = gr.Checkbox(False, label="fails everywhere", elem_id="evaluate-fails")
                self.filters |= {"find": find, "fails": fails}
            label = "Breakdown: where the two systems differ by more than noise"
            with fold(label, elem_id="evaluate-breakdowns") as self.breakdown:
                self.measure = menu(
                    "evaluate-measure", "Measure", [ALL_MEASURES], value=ALL_MEASURES
                )
                self.groups = gr.Dataframe(
                    interactive=False, wrap=True, column_widths=WIDTHS, elem_id="evaluate-groups"
                )
                gr.Markdown(BREAKDOWN)
            self.queries = template("evaluate-queries", {})
            self.review = template("review", {})  # the query under review, in a dialog
