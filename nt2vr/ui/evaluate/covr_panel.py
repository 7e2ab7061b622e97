"""Composed retrieval on the Evaluate tab: starts evaluations, shows their reports, opens queries in Search."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.utils import get_upload_folder

from nt2vr.errors import ConfigError, counted
from nt2vr.evaluation.covr.jobs import CovrEvaluations
from nt2vr.evaluation.covr.protocol import ALL
from nt2vr.evaluation.covr.report import CovrReport, CovrRow
from nt2vr.evaluation.covr.sources import WORLD, CovrData
from nt2vr.library.libraries import Libraries
from nt2vr.media.picture import write_jpeg
from nt2vr.search.galleries import Galleries
from nt2vr.ui.confirmation import Confirmation, lay_out_confirmation
from nt2vr.ui.evaluate.covr_view import (
    MEASURES,
    compared,
    covr_view,
    kinds_of,
    link_of,
    rows_view,
)
from nt2vr.ui.evaluate.view import WORD
from nt2vr.ui.job_view import job_view
from nt2vr.ui.theme import QUIET, fold, template
from nt2vr.ui.web.errors import user_errors
from nt2vr.ui.web.inputs import OpensQueries, event_value
from nt2vr.ui.web.permissions import Permissions
from nt2vr.world.drawn.render import SIZE, Renderer
from nt2vr.world.scenes import Scene

LISTED = 8  # reports, the newest
SIZES = (10, 25, 100)  # queries per kind of change; the results have 100
DATA = [("Built-in world: edits of held-out scenes", WORLD)]
OWN = "The built-in world, or the folder of WebVid-CoVR, CIRR, FashionIQ or CIRCO"
NO_REPORT: dict[str, Any] = {"rows": []}
Updates = dict[Any, Any]


@dataclass(frozen=True)
class Parts:
    """Components of the panel; `listed` holds the page of queries on display."""

    model: gr.Dropdown
    data: gr.Dropdown
    split: gr.Dropdown
    size: gr.Dropdown
    start: gr.Button
    cancel: gr.Button
    job: gr.HTML
    timer: gr.Timer
    seen: gr.State
    opened: gr.Column
    delete: gr.Button
    confirm: Confirmation
    chosen: gr.Dropdown
    measure: gr.Radio
    first: gr.Dropdown
    second: gr.Dropdown
    kind: gr.Dropdown
    report: gr.HTML
    listed: gr.HTML


class CovrPanel:
    """Panel over the app's evaluations of composed retrieval.

    Args:
        evaluations: runs them and stores their reports.
        galleries: list the models.
        libraries: show references that are clips of theirs.
        permissions: says who may delete reports, and name data of this machine.
        templates: folder of the page's templates.
    """

    _parts: Parts

    def __init__(
        self,
        evaluations: CovrEvaluations,
        galleries: Galleries,
        libraries: Libraries,
        permissions: Permissions,
        templates: Path,
    ) -> None:
        """Components are built by `build`."""
        self._evaluations, self._models = evaluations, galleries.built_in.models
        self._libraries, self._permissions, self._templates = libraries, permissions, templates

    def build(self, tab: gr.Tab, opens: OpensQueries) -> None:
        """Lay the panel out inside the open tab, folded, and wire it."""
        with fold("With a picture: composed retrieval", elem_id="composed"):
            self._parts = self._lay_out()
        p = self._parts
        filters = [p.chosen, p.first, p.second, p.kind]
        shown = [p.chosen, p.opened, p.report, p.measure, p.first, p.second, p.kind, p.listed]
        watched = [p.job, p.timer, p.seen, p.start, p.cancel]
        tab.select(self.on_visit, p.chosen, [p.model, p.data, p.split, p.delete, *shown, *watched], **QUIET)
        started = [p.data, p.split, p.size, p.model]
        p.start.click(self.on_start, started, watched, **QUIET)
        p.cancel.click(self.on_cancel, None, watched, **QUIET)
        p.timer.tick(self.on_poll, [p.chosen, p.seen], [*shown, *watched], queue=False, trigger_mode="once", **QUIET)
        p.chosen.input(self.on_choose, p.chosen, shown, **QUIET)
        p.confirm.asked_by(p.delete, p.chosen)
        p.confirm.yes.click(self.on_delete, p.chosen, shown, **QUIET)
        p.measure.input(self.on_measure, [p.chosen, p.measure], p.report, **QUIET)
        gr.on([each.input for each in (p.first, p.second, p.kind)], self.on_filter, filters, p.listed, **QUIET)
        p.listed.turn(self.on_turn, filters, p.listed, **QUIET)
        opens(p.listed.open, self.on_open)

    def _lay_out(self) -> Parts:
        names = list(self._models.names())
        with gr.Row(equal_height=True):
            model = gr.Dropdown(names, value=next(iter(names), None), label="Model", elem_id="composed-model", scale=2)
            data = gr.Dropdown(
                DATA, value=WORLD, label="Data", allow_custom_value=True, elem_id="composed-data", scale=4
            )
            split = gr.Dropdown(
                ["test", "validation", "val", "train", "train-negated"],
                value="test",
                label="Split",
                elem_id="composed-split",
                min_width=120,
                scale=1,
            )
            size = gr.Dropdown(
                [(f"{count} per kind", count) for count in SIZES],
                value=10,
                label="Built-in queries",
                elem_id="composed-size",
                min_width=180,
                scale=2,
            )
            start = gr.Button("Evaluate", variant="primary", elem_id="composed-start", scale=0, min_width=140)
            cancel = gr.Button("Cancel", elem_id="composed-cancel", interactive=False, scale=0, min_width=100)
        job = template(self._templates, "evaluate-job", {}, elem_id="composed-job")
        with gr.Column(visible=False) as opened:
            with gr.Row(equal_height=True, elem_id="composed-filters"):
                chosen = gr.Dropdown([("", "")], value="", label="Report", elem_id="composed-report-id", scale=3)
                measure = gr.Radio(
                    list(MEASURES), value=MEASURES[0], label="Measure", elem_id="composed-measure", scale=2
                )
                delete = gr.Button("Delete", elem_id="composed-delete", size="sm", scale=0, min_width=90)
            confirm = lay_out_confirmation("composed", "delete", "Delete this report permanently?", "Delete")
            report = template(self._templates, "composed-report", {})
            with gr.Row(equal_height=True):
                first = gr.Dropdown([""], value="", label="Compare", elem_id="composed-first")
                second = gr.Dropdown([""], value="", label="with", elem_id="composed-second")
                kind = gr.Dropdown([""], value="", label="Kind of change", elem_id="composed-kind")
            listed = template(self._templates, "composed-queries", NO_REPORT)
        timer, seen = gr.Timer(1.0, active=False), gr.State()
        return Parts(
            model,
            data,
            split,
            size,
            start,
            cancel,
            job,
            timer,
            seen,
            opened,
            delete,
            confirm,
            chosen,
            measure,
            first,
            second,
            kind,
            report,
            listed,
        )

    @user_errors
    def on_visit(self, chosen: str | None, request: gr.Request) -> Updates:
        """List models and reports, and open the newest."""
        p, own = self._parts, self._permissions.may("paths", request)
        return {
            p.model: gr.Dropdown(list(self._models.names())),
            p.data: gr.Dropdown(info=OWN if own else None),
            p.delete: gr.Button(interactive=self._permissions.may("delete", request)),
            p.split: gr.Dropdown(["test", "validation", *(("val", "train", "train-negated") if own else ())]),
            **self._shown(chosen or ""),
            **self._watched(),
        }

    @user_errors
    def on_start(self, data: str, split: str, size: int, model: str, request: gr.Request) -> Updates:
        """Start an evaluation."""
        name = data.strip() if isinstance(data, str) else ""  # a box with values of its own may send anything
        if not name or not model or size not in SIZES:
            raise ConfigError("Choose data, a model and a number of queries to evaluate.")
        if name != WORLD:
            self._permissions.check("paths", request)
            name = str(Path(name).expanduser())
        self._evaluations.start(CovrData(name, split, size if name == WORLD else 0), model)
        return self._watched()

    @user_errors
    def on_cancel(self) -> Updates:
        """Cancel the evaluation."""
        self._evaluations.cancel()
        return self._watched()

    @user_errors
    def on_poll(self, chosen: str | None, seen: Any) -> Any:
        """Update the progress; open the report that was waited for."""
        job = self._evaluations.job
        if job == seen:
            return gr.skip()
        is_new = job is not None and job.result
        return {**(self._shown(job.result or "") if job is not None and is_new else {}), **self._watched()}

    @user_errors
    def on_choose(self, chosen: str) -> Updates:
        """Open a report."""
        return self._shown(chosen)

    @user_errors
    def on_delete(self, chosen: str, request: gr.Request) -> Updates:
        """Delete a report, and open the newest."""
        self._permissions.check("delete", request)
        self._evaluations.archive.delete(chosen)
        return self._shown("")

    @user_errors
    def on_measure(self, chosen: str, measure: str) -> dict[str, Any]:
        """Show another measure."""
        if measure not in MEASURES:
            raise ConfigError("There is no such measure.")
        return covr_view(self._evaluations.archive.load(chosen), measure)

    @user_errors
    def on_filter(self, chosen: str, first: str, second: str, kind: str) -> dict[str, Any]:
        """List the queries from the first page."""
        return self._listed(chosen, first, second, kind, 0)

    @user_errors
    def on_turn(self, event: gr.EventData, chosen: str, first: str, second: str, kind: str) -> dict[str, Any]:
        """Turn the page."""
        return self._listed(chosen, first, second, kind, event_value(event, "page", int))

    def on_open(self, event: gr.EventData) -> Mapping[str, str]:
        """Return the values of a row's link, with its reference."""
        report = self._evaluations.archive.load(event_value(event, "id", str))
        place = event_value(event, "place", int)
        if not 0 <= place < len(report.rows):
            raise ConfigError("The report has no such query.")
        row = report.rows[place]
        return {**link_of(report, row), **self._reference(row)}

    def _reference(self, row: CovrRow) -> dict[str, str]:
        """Draw a scene as an upload, or find a file among the clips of libraries; other files are not shown."""
        if scene := row.reference.get("scene"):
            return {"upload": str(_drawn(Scene.from_dict(scene)))}
        path = Path(row.reference.get("path", ""))
        for info in self._libraries.infos():
            for video in self._libraries.gallery(info.id).videos:
                if video.path == path:
                    return {"like": video.video_id, "gallery": info.id}
        gr.Warning("The reference is in no library, so only the text is asked.")
        return {}

    def _listed(self, chosen: str, first: str, second: str, kind: str, page: int) -> dict[str, Any]:
        report = self._evaluations.archive.load(chosen)
        if {first, second} - report.systems.keys() or kind not in kinds_of(report):
            raise ConfigError("The report has no such system or kind of change.")
        return rows_view(report, chosen, first, second, kind, page)

    def _shown(self, chosen: str) -> Updates:
        """Open a report, or the newest if there is none of this id."""
        p, reports = self._parts, self._evaluations.archive.newest(LISTED)
        if not reports:
            closed = {p.opened: gr.Column(visible=False), p.chosen: gr.Dropdown([("", "")], value="")}
            return {**closed, p.report: {}, p.listed: NO_REPORT}
        chosen = chosen if chosen in reports else next(iter(reports))
        report = reports[chosen]
        first, second = compared(report)
        systems = list(report.systems)
        return {
            p.chosen: gr.Dropdown([(_label(each), report_id) for report_id, each in reports.items()], value=chosen),
            p.opened: gr.Column(visible=True),
            p.report: covr_view(report, MEASURES[0]),
            p.measure: MEASURES[0],
            p.first: gr.Dropdown(systems, value=first),
            p.second: gr.Dropdown(systems, value=second),
            p.kind: gr.Dropdown(kinds_of(report), value=ALL),
            p.listed: rows_view(report, chosen, first, second, ALL, 0),
        }

    def _watched(self) -> Updates:
        """Show the evaluation under way, and the buttons as it allows."""
        p, job = self._parts, self._evaluations.job
        is_busy = job is not None and job.is_under_way
        return {
            p.job: job_view(job, WORD),
            p.timer: gr.Timer(active=is_busy),
            p.seen: job,
            p.start: gr.Button(interactive=not is_busy),
            p.cancel: gr.Button(interactive=job is not None and job.state == "running"),
        }


def _label(report: CovrReport) -> str:
    queries = counted(len(report.rows), "query", "queries")
    return f"{report.name} · {report.model} · {queries} · {report.created[:16].replace('T', ' ')}"


def _drawn(scene: Scene) -> Path:
    """Draw a scene's middle frame into the folder of uploads, where it is deleted with them."""
    name = hashlib.sha256(scene.content.encode() + str(scene.look).encode()).hexdigest()
    path = Path(get_upload_folder()) / name / "reference.jpg"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file():
        write_jpeg(Renderer(SIZE).frames(scene, 1)[0], path)
    return path
