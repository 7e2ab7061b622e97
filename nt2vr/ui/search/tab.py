"""The Search tab: wires its components to the galleries' searchers. They hold all logic.

A late answer never overwrites what a person has typed since. Every search goes through one event, which runs one at a
time and last the newest, and what an answer or a link writes into inputs is applied in the browser, only where they
still hold what they held before.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr

from nt2vr.errors import NotIndexedError
from nt2vr.media.decode import Decoder
from nt2vr.search.answers import Answer
from nt2vr.search.galleries import Galleries
from nt2vr.search.searcher import CONCURRENT
from nt2vr.search.why import explain
from nt2vr.ui.library.indexing import Indexing, index_view, wire_indexing
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.clip_view import detail_view, film_view
from nt2vr.ui.search.column_view import Marked, columns_view, no_marks
from nt2vr.ui.search.epochs import key_of
from nt2vr.ui.search.layout import (
    EXAMPLES,
    Controls,
    Results,
    gallery_choices,
    lay_out_controls,
    lay_out_results,
    system_choices,
)
from nt2vr.ui.search.link import DEFAULTS, NAMES, link_values, read_parts, read_strengths, write_parts
from nt2vr.ui.search.link_reader import LinkReader, Opened
from nt2vr.ui.search.map_panel import MapPanel
from nt2vr.ui.search.references import References, beside, read_chosen, remark, with_clip
from nt2vr.ui.search.scripts import (
    ASK,
    CHOOSE,
    DRAW,
    MOVED,
    NOTHING,
    REMEMBERED,
    RESTORE,
    SETTLE,
)
from nt2vr.ui.search.view import corrected, part_texts, understood_view
from nt2vr.ui.search.watch import Trainings, Watch
from nt2vr.ui.search.why_view import chosen_columns, why_view
from nt2vr.ui.web.errors import user_errors
from nt2vr.ui.web.inputs import OpensQueries, event_value
from nt2vr.ui.web.permissions import Permissions

BROWSER_ONLY: dict[str, Any] = {"fn": None, "api_visibility": "private"}
PRIVATE: dict[str, Any] = {"api_visibility": "private", "concurrency_limit": CONCURRENT}
QUIET: dict[str, Any] = {"show_progress": "hidden", **PRIVATE}


@dataclass
class SearchTab:
    """Search tab over the galleries.

    Attributes:
        galleries: have the searchers, which answer queries.
        media: knows the URLs of clips.
        indexing: indexes libraries that are searched by a model for the first time.
        decoder: decodes uploads, which are untrusted.
        templates: folder of the page's templates.
        permissions: says who may add models and index libraries.
        marked: returns the relevant clips of a judged query, given its name in links, its text and the gallery.
        words: known words, offered while typing.
        stories: queries to draw one from.
        trainings: trains models; None if the trainer is left out.
    """

    galleries: Galleries
    media: Media
    indexing: Indexing
    decoder: Decoder
    templates: Path
    permissions: Permissions
    marked: Callable[[str, str, str], Marked] = no_marks
    words: Sequence[str] = ()
    stories: Sequence[str] = EXAMPLES
    trainings: Trainings | None = None
    _watch: Watch = field(init=False)
    _links: LinkReader = field(init=False)
    _references: References = field(init=False)
    _controls: Controls = field(init=False)
    _results: Results = field(init=False)

    def build(self, page: gr.Blocks, tabs: gr.Tabs) -> OpensQueries:
        """Lay the tab out inside the open page and wire it.

        Returns:
            Lets an event of another tab open a query here; takes the event and a handler that returns a link's values.
        """
        self._references = References(self.galleries, self.media, self.decoder)
        self._links = LinkReader(self.galleries, self._references)
        searcher = self.galleries.built_in
        self._controls = lay_out_controls(self.galleries, self.templates, self.words, self.media)
        self._watch = Watch(self.galleries, self.permissions, self.trainings)
        self._watch.build(self.templates)
        self._results = lay_out_results(searcher, self._controls.systems, self.templates, self.permissions, page)
        self._wire_searches(page)
        self._wire_clips()
        self._watch.wire(page, self._controls, self._results, QUIET)
        opens = self._opens(tabs)
        for event in (self._results.stage.open, self._controls.picture_examples.open):
            opens(event, lambda data: dict(parse_qsl(event_value(data, "link", str))))
        return opens

    @property
    def returned_to_report(self) -> Any:
        """The event of Back and Forward to the address of a report, which is not Search's."""
        return self._results.understood.report

    @property
    def _linked(self) -> list[Any]:
        """Components with a value in links, in the order of DEFAULTS."""
        c = self._controls
        return [
            c.query,
            c.gallery,
            c.systems,
            c.k,
            *self._results.strengths,
            c.reference,
            c.judged,
            c.literal,
            c.parts,
        ]

    def _wire_searches(self, page: gr.Blocks) -> None:
        c, r = self._controls, self._results
        controls = self._linked
        restored = page.load(self.on_load, c.judged, [c.link, c.gallery, c.systems], js=REMEMBERED, **QUIET)
        restored.success(inputs=[c.link, c.ask, *controls], outputs=[c.ask, *controls], js=RESTORE, **BROWSER_ONLY)
        queries = json.dumps([self.stories, *([example] for example in EXAMPLES)])
        draw = f"(number) => ({DRAW})({queries}[number])"
        c.examples.click(inputs=c.examples, outputs=[c.query, c.ask], js=draw, **BROWSER_ONLY)
        liked = r.detail.like(self.on_like, [r.answer, c.reference], [c.reference, r.detail], **PRIVATE)
        added = c.reference.added(self.on_added, c.reference, c.reference, **PRIVATE)
        added.then(js="() => dispatchEvent(new Event('nt2vr-read'))", **BROWSER_ONLY)
        left = r.understood.literal(self.on_literal, c.literal, c.literal, **PRIVATE)
        moved = r.understood.correct(self.on_correct, None, [r.wanted, r.unwanted], **PRIVATE)
        for event in (liked, added, left, moved, *r.systems_added):
            event.success(outputs=c.ask, js=ASK, **BROWSER_ONLY)
        c.reference.edited(outputs=c.ask, js=ASK, **BROWSER_ONLY)
        c.with_picture.click(js=CHOOSE, **BROWSER_ONLY)
        clicked = (c.find.click, c.query.submit, r.wanted.submit, r.unwanted.submit)
        for slider, strength in zip(r.sliders, r.strengths, strict=True):
            slider.release(inputs=slider, outputs=[strength, c.ask], js=MOVED, **BROWSER_ONLY)
        changed = (c.ask.change, c.gallery.input, c.systems.input, c.k.input)
        answered = gr.on(
            (*clicked, *changed),
            self.on_search,
            [*self._linked, r.answer, r.wanted, r.unwanted],
            [r.answer, r.understood, r.columns, r.index, r.indexing, self._watch.timer],
            trigger_mode="always_last",
            show_progress="minimal",
            show_progress_on=r.columns,
            **PRIVATE,
        )
        parts = [r.wanted, r.unwanted]
        answered.success(
            inputs=[r.understood, *parts, *r.strengths],
            outputs=[*parts, *r.sliders, c.literal, c.parts],
            js=SETTLE,
            **BROWSER_ONLY,
        )
        answered.failure(outputs=[r.understood, r.columns, r.index], js=NOTHING, **BROWSER_ONLY)
        wire_indexing(self.indexing, self.permissions, c.gallery, r.index, r.indexing, c.ask, QUIET)

    def _wire_clips(self) -> None:
        c, r = self._controls, self._results
        MapPanel(self.galleries, self.media, self.marked).wire(r.map, r.answer, c.judged, **QUIET)
        for clips in (r.columns, r.detail, r.map):
            clips.pick(self.on_pick, r.answer, r.detail, **QUIET)
        r.detail.why(self.on_why, r.answer, r.detail, **QUIET)
        r.detail.close(dict, None, r.detail, **QUIET)
        c.systems.focus(  # new models and libraries appear without a restart
            lambda chosen: gr.Dropdown(system_choices(self.galleries.built_in.system_names(chosen))),
            c.systems,
            c.systems,
            queue=False,
            **QUIET,
        )
        c.gallery.focus(lambda: gr.Dropdown(gallery_choices(self.galleries)), None, c.gallery, queue=False, **QUIET)

    def _opens(self, tabs: gr.Tabs) -> OpensQueries:
        c, outputs = self._controls, [*self._linked, self._results.answer, tabs]

        def opened(values: Mapping[str, str]) -> dict[Any, Any]:
            return self._shown(self._links.open(values)) | {tabs: gr.Tabs(selected="search")}

        @user_errors
        def on_back(address: str) -> dict[Any, Any]:
            return opened(dict(parse_qsl(address.removeprefix("?"))))

        def opens(event: Any, link_of: Callable[..., Mapping[str, str]]) -> None:
            @user_errors
            def on_open(data: gr.EventData) -> dict[Any, Any]:
                return opened(link_of(data))

            event(on_open, None, outputs, **PRIVATE).success(outputs=c.ask, js=ASK, **BROWSER_ONLY)

        back = self._results.understood.back(
            on_back, c.ask, outputs, js="() => location.search", trigger_mode="always_last", **PRIVATE
        )
        back.success(outputs=c.ask, js=ASK, **BROWSER_ONLY)
        return opens

    def _shown(self, opened: Opened) -> dict[Any, Any]:
        """Fill the controls; without a previous answer, the next search takes the link's parts and literal words."""
        c = self._controls
        return dict(zip(self._linked, opened.values.values(), strict=True)) | {
            c.systems: gr.Dropdown(opened.systems, value=opened.values["systems"]),
            c.gallery: gr.Dropdown(opened.galleries, value=opened.values["gallery"]),
            self._results.answer: None,
        }

    @user_errors
    def on_load(self, remembered: str, request: gr.Request) -> dict[Any, Any]:
        """Read the page's link, or the settings that the browser remembers, for RESTORE to apply."""
        c, link = self._controls, request.query_params
        opened = self._links.open(link if NAMES & link.keys() else dict(parse_qsl(remembered)))
        return {
            c.gallery: gr.Dropdown(opened.galleries),
            c.systems: gr.Dropdown(opened.systems),
            c.link: list(opened.values.values()),
        }

    @user_errors
    def on_search(
        self,
        text: str,
        gallery: str,
        systems: list[str],
        k: int,
        alpha: str,
        lambda_: str,
        t: str,
        references: dict[str, Any],
        judged: str,
        literal: str,
        parts: str,
        previous: Answer | None,
        wanted: str,
        unwanted: str,
        request: gr.Request,
    ) -> dict[Any, Any]:
        """Search; as long as the sentence stays the same, with its parts and words as corrected by the person."""
        searcher, r, chosen = self.galleries.searcher(gallery), self._results, read_chosen(references)
        query = parsed = searcher.understand(text, editing=bool(chosen))
        if previous is not None:
            same = previous.query.text == text
            literal, parts = (literal, write_parts(wanted, unwanted)) if same else ("", "")
        if parts and not any(  # the boxes may hold the parts from before references came or went
            parts == write_parts(*part_texts(searcher.understand(text, editing)))
            for editing in (bool(chosen), not chosen)
        ):
            query = corrected(text, *read_parts(parts))
        else:
            parts = ""
        strengths, given = read_strengths((alpha, lambda_, t)), self._references.resolve(chosen, gallery)
        problem: NotIndexedError | None = None
        try:
            answer = searcher.search(query, systems or [], k, given, strengths, literal.split("|"))
        except NotIndexedError as error:
            answer, problem = Answer(query, (), gallery=gallery), error
        marked = self.marked(judged, text, gallery)
        kept = [asdict(each) for each in chosen if each.clip and each.gallery == gallery]
        values = (
            text,
            gallery,
            systems,
            k,
            alpha,
            lambda_,
            t,
            kept,
            judged if marked.video_ids else "",
            literal,
            parts,
        )
        link = link_values(dict(zip(DEFAULTS, values, strict=True)))
        job = self.indexing.under_way(gallery) if gallery else None
        return {
            r.answer: answer,
            r.understood: understood_view(
                answer, (wanted, unwanted), link, strengths, remark(searcher, answer, chosen), parsed
            )
            | {"trains": self._watch.offers(request)},
            r.columns: self._watch.columns(
                columns_view(answer, searcher.video, lambda video: self.media.urls(gallery, video), marked)
                | beside(chosen, gallery, answer),
                answer,
                key_of(link | {"systems": ""}, chosen),
            ),
            **self._watch.awake(),
            r.index: index_view(answer, problem, job, self.permissions.refusal(request, "import")),
            r.indexing: gr.Timer(active=job is not None),
        }

    @user_errors
    def on_pick(self, answer: Answer | None, event: gr.EventData) -> dict[str, Any]:
        """Enlarge a clip."""
        return {} if answer is None else self._enlarged(answer, event_value(event, "id", str))

    @user_errors
    def on_why(self, answer: Answer | None, event: gr.EventData) -> dict[str, Any]:
        """Explain the scores of the enlarged clip under one or two systems."""
        if answer is None:
            return {}
        video_id = event_value(event, "id", str)
        columns = chosen_columns(event_value(event, "columns", str), len(answer.rankings))
        detail = self._enlarged(answer, video_id)
        whys = explain(answer, video_id, self.galleries.encoder, columns)
        video = self.galleries.searcher(answer.gallery).video(video_id)
        return {**detail, "why": why_view(answer, columns, whys, video, detail)}

    def _enlarged(self, answer: Answer, video_id: str) -> dict[str, Any]:
        searcher = self.galleries.searcher(answer.gallery)
        video = searcher.video(video_id)
        verdict, urls = answer.verdict(video_id) or "", self.media.urls(answer.gallery, video)
        film = film_view(answer, video, searcher.gallery.videos)
        return detail_view(video, answer.see(video_id), verdict, urls, film, answer.judged_by)

    @user_errors
    def on_literal(self, literal: str, event: gr.EventData) -> str:
        """Take one more word as typed."""
        return "|".join(filter(None, (*literal.split("|"), event_value(event, "word", str))))

    @user_errors
    def on_correct(self, event: gr.EventData) -> tuple[str, str]:
        """Take the parts as a click on a word has left them."""
        return event_value(event, "wanted", str), event_value(event, "unwanted", str)

    @user_errors
    def on_like(self, answer: Answer | None, references: dict[str, Any], event: gr.EventData) -> tuple[Any, Any]:
        """Search for more like a clip, or for less."""
        clip, wanted = event_value(event, "id", str), event_value(event, "wanted", int)
        chosen = with_clip(read_chosen(references), clip, answer.gallery if answer else "", bool(wanted))
        return self._references.view(chosen), {}

    @user_errors
    def on_added(self, references: dict[str, Any], event: gr.EventData) -> dict[str, Any]:
        """Make uploaded pictures and videos references."""
        paths = event_value(event, "paths", str).split("\n")
        return self._references.view(self._references.with_uploads(read_chosen(references), paths))
