"""The open report: filters, query list, review of one query. All are restored from its link."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr
from gradio.utils import get_upload_folder

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.evaluation.archive import Archive, Remark
from nt2vr.evaluation.covr import ALL
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.tables import lines_of
from nt2vr.library.galleries import Galleries
from nt2vr.library.libraries import Libraries
from nt2vr.media.picture import write_jpeg
from nt2vr.models.framing import DEFAULT_SIZE
from nt2vr.search.references import TRAINING_FREE
from nt2vr.ui.evaluate.layout import HARD_PAIRS, EvaluateParts
from nt2vr.ui.evaluate.query_views import (
    ANY,
    Home,
    Listing,
    cues_of,
    kinds_of,
    picture_systems,
    queries_view,
    review_view,
    tags_of,
)
from nt2vr.ui.evaluate.report_link import FILTERS, PAGE, ReportLink
from nt2vr.ui.evaluate.report_view import breakdown_view, measure_choices, points_of, report_view
from nt2vr.ui.library.media import Media
from nt2vr.ui.theme import QUIET, script
from nt2vr.ui.web.inputs import Updates, event_value
from nt2vr.ui.web.permissions import Permissions, Visitor
from nt2vr.world.drawn.render import render
from nt2vr.world.scenes import Scene

FIRST_KIND = "composed"  # where negation is what the query is about
Choices = Sequence[tuple[str, str]]


@dataclass
class Review:
    """The part of the Evaluate tab that shows one report."""

    archive: Archive
    galleries: Galleries
    media: Media
    permissions: Permissions
    parts: EvaluateParts

    @property
    def outputs(self) -> list[Any]:
        report = self.parts.report
        return [
            report.report,
            report.chart,
            *report.filters.inputs,
            report.breakdown,
            report.queries,
            report.review,
        ]

    def wire(self) -> None:
        """Wire filters, list and review, except for what leaves the report."""
        report, address = self.parts.report, self.parts.address
        moving = [self.parts.chosen, report.queries, report.review]
        filtered = script("filterQueries", FILTERS, [PAGE, "query"])
        for changed in report.filters.inputs:
            changed.input(None, [address, *report.filters.inputs], address, js=filtered)
        address.change(self.on_address, address, [*moving, report.filters.cue], trigger_mode="always_last", **QUIET)
        for shown in (report.queries, report.review):
            shown.show(None, None, address, js="nt2vr.here")
        noted = report.review.note(  # a tag, then a note: none may be dropped while the other is being saved
            self.on_note, None, [report.report, report.filters.tag], trigger_mode="multiple", **QUIET
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

    def on_address(self, address: str, request: gr.Request) -> Any:
        """Show the place in the report that the address names; cues are those of its kind of queries."""
        if not address:  # a note was saved, and the person has left the report
            return gr.skip()
        listing = self._listing(_read(address))
        return self._moved(listing, request) | {self.parts.report.filters.cue: gr.Dropdown(_cues(listing))}

    def on_note(self, event: gr.EventData, request: gr.Request) -> Updates:
        """Save tag and note of a query; the browser then asks for the list again."""
        self.permissions.check("review", request)
        link = _read(event_value(event, "link", str))
        if link.query is None:
            raise ConfigError("The note names no query. It is not saved.")
        said = Remark(event_value(event, "tag", str).strip(), event_value(event, "note", str).strip())
        self.archive.annotate(link.report, link.query, said)
        listing, report = self._listing(link), self.parts.report
        return {
            report.report: self._report_view(link.report),
            report.filters.tag: gr.Dropdown(_with(tags_of(listing.remarks), link.tag)),
        }

    def _report_view(self, report_id: str) -> dict[str, Any]:
        return report_view(self.archive.load(report_id), report_id, self.archive.files(report_id))

    def on_breakdown(self, shown: dict[str, Any], listed: dict[str, Any], key: str) -> list[Any]:
        """Break the chosen metric down by negation word, or another one if the two systems have not both."""
        report_id, first, second = str(shown.get("id", "")), str(listed.get("first")), str(listed.get("second"))
        if not report_id:
            return [gr.skip(), gr.skip()]
        report = self.archive.load(report_id)
        choices = measure_choices(report, first, second)
        keys = [known for _, known in choices]
        if not keys:
            return [gr.skip(), gr.skip()]
        key = key if key in keys else HARD_PAIRS if HARD_PAIRS in keys else keys[0]
        return [gr.Dropdown(choices, value=key), breakdown_view(report, first, second, key)]

    def on_open_picture(self, event: gr.EventData) -> Mapping[str, str]:
        link = _read(event_value(event, "link", str))
        return picture_query(self.archive.load(link.report), link.query, self.media.libraries)

    def on_open_query(self, event: gr.EventData) -> Mapping[str, str]:
        return dict(parse_qsl(event_value(event, "link", str).removeprefix("?")))

    def _moved(self, listing: Listing, visitor: Visitor) -> Updates:
        report = self.parts.report
        return {
            self.parts.chosen: listing.link.without_query.address,
            report.queries: queries_view(listing),
            report.review: review_view(listing, self.permissions.refusal(visitor, "review")),
        }

    def opened(self, link: ReportLink, visitor: Visitor) -> Updates:
        listing, parts = self._listing(link), self.parts.report
        report = self.archive.load(link.report)
        names = [(result.system, result.system) for result in report.results]
        asked, filters = listing.link, parts.filters
        values = dict(zip(filters.inputs, asked.values, strict=True))
        choices: dict[Any, Choices] = {
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

    def closed(self) -> Updates:
        parts = self.parts.report
        return {self.parts.chosen: ReportLink().address, parts.report: {}, parts.queries: {}, parts.review: {}}

    def unreadable(self, report_id: str, problem: str) -> Updates:
        """Show why a report cannot be read, and nothing else of it."""
        parts, address = self.parts.report, ReportLink(report_id).address
        return {
            **self.closed(),
            self.parts.chosen: address,
            parts.report: {"unreadable": report_id, "problem": problem},
            parts.queries: {"link": address},
            parts.breakdown: gr.Accordion(visible=False),
            parts.chart: gr.ScatterPlot(visible=False),
        }

    def _listing(self, link: ReportLink) -> Listing:
        report = self.archive.load(link.report)
        remarks = self.archive.remarks(link.report)
        return Listing.of(report, resolved(link, report), remarks, self._home(report))

    def _home(self, report: Report) -> Home | None:
        """Find the gallery with a report's videos; None if it was removed, or there never was one."""
        key = str(report.source.get("library", ""))
        try:
            searcher = self.galleries.searcher(key)
        except Nt2vrError:
            return None
        ids = frozenset(video.video_id for video in searcher.gallery.videos)
        if not searcher.key and ids.isdisjoint(report.video_ids):
            return None
        return Home(searcher.key, ids, lambda video_id: self.media.urls(key, searcher.video(video_id)))


def resolved(link: ReportLink, report: Report) -> ReportLink:
    """Replace what a link leaves open, or gets wrong, by the most telling comparison of a report."""
    names, kinds = [result.system for result in report.results], [kind for _, kind in kinds_of(report)]
    if report.is_covr:
        first, second = _best_combinations(report)
        link = replace(link, first=link.first or first, second=link.second or second, query=None)
    kind = link.kind if link.kind in kinds else FIRST_KIND if FIRST_KIND in kinds else ANY
    first = link.first if link.first in names else names[0]
    return replace(link, first=first, second=link.second if link.second in names else _best(report), kind=kind)


def _best(report: Report) -> str:
    """Return the system best at hard pairs, controls aside."""
    lines = [line for line in lines_of(report) if line.name in report.metrics]
    names = [line.name for line in lines if not line.role] or [line.name for line in lines]
    return max(names, key=lambda name: report.metrics[name].get(HARD_PAIRS, 0))


def _best_combinations(report: Report) -> tuple[str, str]:
    """Return the best way without training to combine a picture with a text, and the fusion or the ceiling."""
    recall = {each.spec["strategy"]: report.metrics[each.system].get(f"{ALL}/R@1", 0) for each in report.results}
    best = max((each for each in TRAINING_FREE if each in recall), key=recall.__getitem__, default="picture")
    last = "fusion" if "fusion" in recall else list(recall)[-1]
    names = {each.spec["strategy"]: each.system for each in report.results}
    return names[best], names[last]


def _read(address: str) -> ReportLink:
    link = ReportLink.read(address)
    if link is None:
        raise ConfigError("The address names no report. Choose one from the list.")
    return link


def _cues(listing: Listing) -> list[tuple[str, str]]:
    return _with(cues_of(listing.report, listing.link.kind or ANY), listing.link.cue)


def _with(choices: Choices, value: str) -> list[tuple[str, str]]:
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
