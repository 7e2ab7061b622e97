"""The Search tab: what its events do.

Many controls start a search. For each of them, the browser gathers all inputs in one request (see
assets/ui/search.js), and the answer to it fills in the inputs that nobody has changed since.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

import gradio as gr

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.library.galleries import Galleries
from nt2vr.media.decode import Decoder
from nt2vr.search.answers import Answer
from nt2vr.search.epochs import Recording
from nt2vr.settings import ASSETS
from nt2vr.ui.library.index_panel import IndexPanel
from nt2vr.ui.library.indexing import Indexing
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.answer_view import AnswerView
from nt2vr.ui.search.clip import ClipPanel
from nt2vr.ui.search.corrections import parts_view
from nt2vr.ui.search.downloads import downloads
from nt2vr.ui.search.examples import examples_view, own_examples, status_line
from nt2vr.ui.search.formats import system_choices
from nt2vr.ui.search.learning_columns import LearningColumns
from nt2vr.ui.search.more_models import MoreModels
from nt2vr.ui.search.page_search import MarkedOf, PageSearcher
from nt2vr.ui.search.references import References
from nt2vr.ui.search.state import (
    PRIVATE,
    QUIET,
    ChosenReferences,
    Request,
    SearchState,
    read_chosen,
    with_clip,
)
from nt2vr.ui.search.tab_layout import Controls, Results, gallery_choices
from nt2vr.ui.search.watch import Watch
from nt2vr.ui.theme import PRIVATE as JS_ONLY
from nt2vr.ui.theme import script
from nt2vr.ui.view import Link, View
from nt2vr.ui.web.errors import problem, warn
from nt2vr.ui.web.inputs import Components, OpensQueries, Updates, event_text, event_value
from nt2vr.ui.web.later_parts import LaterParts
from nt2vr.ui.web.permissions import Permissions, Visitor
from trainer.runs.manager import RunManager

TO_SEARCH = "() => ({ __type__: 'update', selected: 'search' })"


@dataclass
class SearchTab:
    """Search tab over the galleries.

    Attributes:
        decoder: decodes uploads, which are untrusted.
        head: the page's head, which names the gallery.
        marked: returns the relevant clips of a report's query.
        runs: trains models.
        controls: laid out by `build`, as `results` are.
    """

    galleries: Galleries
    media: Media
    indexing: Indexing
    decoder: Decoder
    permissions: Permissions
    head: gr.HTML
    marked: MarkedOf
    runs: RunManager

    def build(self, page: gr.Blocks, tabs: gr.Tabs, later: LaterParts) -> OpensQueries:
        """Lay the tab out inside the open page, and wire it; return the function by which tabs open queries here.

        Args:
            later: the parts of the page that are sent when they are opened.
        """
        galleries = self.galleries
        clips = [video.video_id for video in galleries.built_in.gallery.videos]
        recording = Recording.of_gallery(ASSETS / "recording.json", clips)
        self._references = References(galleries, self.media, self.decoder)
        self.controls = Controls(galleries, self.media)
        self._learning = LearningColumns(recording)
        self._searcher = PageSearcher(galleries, self._references, self._learning, self.marked)
        systems = self.controls.systems
        self._watch = Watch(galleries, self.permissions, self.runs)
        self._watch.build(systems, self.controls.ask)
        more_models = MoreModels(galleries.built_in, self.permissions, self.runs)
        self.results = Results(more_models, systems, page, later)

        self._wire_searches(page)
        self._wire_inputs()
        self._wire_clips()
        self._wire_choices()
        # The run that is training is shown from each visit on, and once a model is being taught.
        visits = [page.load, tabs.select, *(event.success for event in more_models.started)]
        self._watch.wire(visits, self.controls.query, self.results.columns, self.results.answer)
        self._wire_library()
        self.results.understood.back(None, None, tabs, js=TO_SEARCH, **JS_ONLY)
        opens_queries = self._opens_queries(tabs)
        opens_queries(self._watch.panel.replay, self._learning.replay_link)
        return opens_queries

    def _opens_queries(self, tabs: gr.Tabs) -> OpensQueries:
        """Return a function that wires an event of any tab so that it opens a query here.

        The function takes the event, and a function that returns the query's link.
        """
        ask = self.controls.ask

        def open_query_on(event: Any, link_of: Callable[..., Link]) -> None:
            def on_open(data: gr.EventData, request: gr.Request) -> Updates:
                # The time lets one link be opened twice in a row.
                link = {**link_of(data, request), "at": f"{time.monotonic()}"}
                return {ask: f"?{urlencode(link)}", tabs: gr.Tabs(selected="search")}

            event(on_open, None, [ask, tabs], **PRIVATE)

        return open_query_on

    @property
    def _inputs(self) -> Components:
        """The inputs that make up a request, in the order of search.js."""
        controls = self.controls
        results = self.results
        return [
            controls.query,
            controls.gallery,
            controls.systems,
            controls.k,
            controls.reference,
            results.wanted,
            results.unwanted,
        ]

    def _wire_searches(self, page: gr.Blocks) -> None:
        """Have each control that starts a search write a request, and answer the newest one."""
        controls = self.controls
        results = self.results
        searching_events = [
            controls.ask.change,
            controls.find.click,
            controls.query.submit,
            results.wanted.submit,
            results.unwanted.submit,
            controls.systems.input,
            controls.k.input,
            controls.examples.ask,
            controls.picture_examples.ask,
            controls.reference.ask,
            results.understood.ask,
            results.parts.ask,
            results.stage.ask,
            results.columns.ask,
        ]
        # Sending clears a problem; an answer may be that of an older request.
        sent = [controls.request, controls.query, results.problem]
        inputs = self._inputs
        for event in searching_events:
            event(None, [controls.ask, *inputs], sent, js="nt2vr.send", **JS_ONLY)
        page.load(None, [controls.ask, *inputs], sent, js="nt2vr.sendFirst", **JS_ONLY)

        answered = controls.request.change(
            self.on_search,
            [controls.request, results.answer],
            self._answer_outputs,
            show_progress_on=results.columns,
            trigger_mode="always_last",
            show_progress="minimal",
            **PRIVATE,
        )
        filled_in = [*inputs, *results.sliders]
        answered.success(
            None, [results.for_browser, *filled_in], filled_in, js="nt2vr.settle", **JS_ONLY
        )

    @property
    def _answer_outputs(self) -> Components:
        """The components that an answer may update."""
        results = self.results
        controls = self.controls
        return [
            results.answer,
            results.for_browser,
            results.problem,
            results.understood,
            results.parts,
            results.menu,
            results.columns,
            results.index,
            results.indexing,
            self._watch.timer,
            controls.gallery,
            controls.systems,
            controls.examples,
            self.head,
        ]

    def _wire_inputs(self) -> None:
        """Let references be added, another gallery be entered, and sliders be moved."""
        controls = self.controls
        results = self.results
        ask = controls.ask
        controls.with_picture.click(None, js="nt2vr.chooseFiles")
        controls.gallery.input(
            None,
            [controls.gallery, controls.query, controls.k, ask],
            ask,
            js="nt2vr.enter",
            **JS_ONLY,
        )
        reference = controls.reference
        added = reference.added(
            self.on_added, reference, [reference, results.problem, ask], **PRIVATE
        )
        added.then(None, js="nt2vr.pictureRead")
        liked = results.detail.like(
            self.on_like, [results.answer, reference], [reference, results.detail], **PRIVATE
        )
        for event in (liked, *results.systems_added):
            event.success(None, outputs=ask, js="nt2vr.ask", **JS_ONLY)
        for slider in results.sliders:
            slider.release(None, slider, ask, js=script("moved", slider.elem_id), **JS_ONLY)

    def _wire_clips(self) -> None:
        """Let a clip be chosen, explained and closed."""
        results = self.results
        answer = results.answer
        detail = results.detail
        panel = ClipPanel(self.galleries, self.media, self.permissions, self._searcher.first_answer)
        for clips in (results.columns, detail):
            clips.pick(panel.on_pick, answer, detail, **QUIET)
        detail.why(panel.on_why, answer, detail, **QUIET)
        detail.match(panel.on_match, answer, detail, **QUIET)
        detail.backwards(panel.on_backwards, answer, detail, **QUIET)
        detail.close(dict, None, detail, **QUIET)

    def _wire_choices(self) -> None:
        """Offer new models and libraries without a restart."""
        systems = self.controls.systems
        gallery = self.controls.gallery
        outputs = [systems, self._watch.notes]
        systems.focus(self.on_systems, systems, outputs, queue=False, **QUIET)
        gallery.focus(self.on_galleries, None, gallery, queue=False, **QUIET)

    def _wire_library(self) -> None:
        """Let the library that is searched be indexed."""
        controls = self.controls
        IndexPanel(
            self.indexing,
            self.permissions,
            controls.gallery,
            controls.systems,
            self.results.index,
            self.results.indexing,
            controls.ask,
        ).wire()

    def on_systems(self, chosen: list[str], request: gr.Request) -> tuple[gr.Dropdown, Any]:
        """List the current systems, with notes on the runs among them."""
        names = self.galleries.built_in.system_names(chosen, folds=True)
        return gr.Dropdown(system_choices(names)), self._watch.run_notes(request)

    def on_galleries(self) -> gr.Dropdown:
        return gr.Dropdown(gallery_choices(self.galleries))

    def first_views(self) -> View:
        """Return what the panels show every visitor for the default query, by their elem_id."""
        updates, _ = self._answer(SearchState(), None, None)
        understood = dict(updates[self.results.understood])
        # Whether to offer a training depends on who asks.
        del understood["may_train"]
        views = {"understood": understood, "columns": updates[self.results.columns]}
        as_json: View = json.loads(json.dumps(views))
        return as_json

    def on_search(self, sent: str, previous: Answer | None, visitor: gr.Request) -> Updates:
        """Answer a request; if that fails, the page keeps the answer before it."""
        results = self.results
        updates = Updates()
        try:
            request = Request.of(sent)
            state = SearchState.of_link(request.link)
            if request.opened:
                state, updates = self._open(request, visitor)
            if request.references is not None:
                state = replace(state, references=request.references)
            inputs = self._inputs_of(state) if request.opened else {}
            # A link is open even if its search fails.
            updates[results.for_browser] = {"number": request.number, "inputs": inputs}

            answer_updates, for_browser = self._answer(state, previous, visitor)
        except Nt2vrError as error:
            return {**updates, results.problem: problem(error)}
        for_browser["inputs"] |= inputs
        return {
            **updates,
            **answer_updates,
            results.for_browser: {"number": request.number, **for_browser},
        }

    def _inputs_of(self, state: SearchState) -> View:
        return {
            "q": state.q,
            "gallery": state.gallery,
            "systems": state.systems,
            "k": state.k,
            "references": self._references.view(state.references),
        }

    def _open(self, request: Request, visitor: Visitor) -> tuple[SearchState, Updates]:
        """Read a link, without the gallery, systems and clips that no longer exist.

        Return also the updates of the controls that depend on them.
        """
        galleries = self.galleries
        gallery = self._gallery_of(request.link)
        searcher = galleries.searcher(gallery)
        link = {**request.link, "gallery": gallery}
        if gallery and "q" not in link:
            link["q"] = own_examples(searcher.gallery)[0]
        state = SearchState.of_link(link)
        names = galleries.built_in.system_names(state.systems, folds=True)
        state, dropped = state.with_existing(names, galleries.default_systems(gallery))
        if dropped:
            warn(ConfigError(dropped))
        references = self._references_of(link, state.references)
        return replace(state, references=references), {
            self.controls.gallery: gr.Dropdown(gallery_choices(galleries)),
            self.controls.systems: gr.Dropdown(system_choices(names)),
            self.controls.examples: examples_view(searcher),
            self.head: status_line(galleries, gallery, visitor),
        }

    def _gallery_of(self, link: Link) -> str:
        """Return the key of a link's gallery; of the built-in one if there is no such gallery."""
        try:
            return self.galleries.key(link.get("gallery", ""))
        except Nt2vrError as error:
            warn(error)
            return ""

    def _references_of(self, link: Link, references: ChosenReferences) -> ChosenReferences:
        """Return those of a link's references that exist, with the uploaded one of a report's query."""
        existing = self._references.existing(references)
        if len(existing) < len(references):
            gr.Warning("A clip that the link refers to is not in this gallery.")
        upload = link.get("upload")
        if not upload:
            return existing
        try:
            return self._references.with_uploads(existing, [upload])
        except Nt2vrError as error:
            warn(error)
            return existing

    def _answer(
        self, state: SearchState, previous: Answer | None, visitor: gr.Request | None
    ) -> tuple[Updates, View]:
        """Search; return the updates that show the answer, and what the browser fills in."""
        results = self.results
        view = AnswerView(
            search=self._searcher.search(state, previous),
            searcher=self.galleries.searcher(state.gallery),
            media=self.media,
            indexing=self.indexing,
            learning=self._learning,
            permissions=self.permissions,
            visitor=visitor,
        )
        columns = view.columns()
        understood = view.understood(columns)
        # The stage asks which system understood the first cue.
        cues = [piece["cue"] for piece in understood["excluded"] if "cue" in piece]
        columns["cue"] = cues[0] if cues else ""
        job = self.indexing.under_way(state.gallery)
        updates = {
            results.answer: view.answer,
            results.parts: parts_view(view.answer, view.search.parsed),
            results.menu: downloads(view.answer),
            results.understood: understood,
            results.columns: columns,
            **self._watch.timer_updates(),
            results.index: view.index(job),
            # Models may have been loaded meanwhile.
            self.head: status_line(self.galleries, state.gallery, visitor),
        }
        if job:
            # The timer stops by itself when the job has ended.
            updates[results.indexing] = gr.Timer(active=True)
        return updates, view.for_browser()

    def on_like(
        self, answer: Answer | None, references: View, event: gr.EventData
    ) -> tuple[Any, Any]:
        """Make the enlarged clip a reference, wanted or not, and close it."""
        clip = event_text(event, "id")
        wanted = event_value(event, "wanted", int)
        gallery = answer.gallery if answer else ""
        chosen = with_clip(read_chosen(references), clip, gallery, bool(wanted))
        return self._references.view(chosen), {}

    def on_added(self, references: View, event: gr.EventData) -> Updates:
        """Make uploaded pictures and videos references, and search; if one cannot be read, say so."""
        paths = event_text(event, "paths").split("\n")
        try:
            chosen = self._references.with_uploads(read_chosen(references), paths)
        except Nt2vrError as error:
            return {self.results.problem: problem(error)}
        return {
            self.controls.reference: self._references.view(chosen),
            self.controls.ask: f"{time.monotonic()}",
        }
