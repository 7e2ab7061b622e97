"""The Search tab: wires its components to the galleries' searchers. They hold all logic.

A late answer never overwrites what a person has typed since. Every search goes through one event, which runs one at a
time and last the newest, and what an answer or a link writes into inputs is applied in the browser, only where they
still hold what they held before: see assets/ui/search.js.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr
from gradio.context import LocalContext

from nt2vr.errors import ConfigError, NotIndexedError, Nt2vrError
from nt2vr.language.query import Query
from nt2vr.media.decode import Decoder
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.backwards import scored_backwards
from nt2vr.search.galleries import Galleries
from nt2vr.search.learning import Question
from nt2vr.search.match import match
from nt2vr.search.recording import Recording
from nt2vr.search.references import Reference
from nt2vr.search.searcher import CONCURRENT
from nt2vr.search.why import explain
from nt2vr.ui.library.indexing import Indexing, index_view, wire_indexing
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.clip_view import backwards_view, detail_view, film_view
from nt2vr.ui.search.column_view import Marked, columns_view, no_marks
from nt2vr.ui.search.epochs import key_of
from nt2vr.ui.search.gallery_view import examples_view, own_examples, status_line
from nt2vr.ui.search.layout import (
    Controls,
    Results,
    gallery_choices,
    system_choices,
)
from nt2vr.ui.search.map_panel import MapPanel
from nt2vr.ui.search.match_view import asks, lines_of, match_view, with_change
from nt2vr.ui.search.more_models import MoreModels
from nt2vr.ui.search.references import References, beside, remark
from nt2vr.ui.search.state import (
    DEFAULT_QUERY,
    MAX_COLUMNS,
    NAMES,
    SearchState,
    dropped_systems,
    read_chosen,
    with_clip,
)
from nt2vr.ui.search.versus import MOST, with_second, woven
from nt2vr.ui.search.view import downloads, offers_view, parts_view, understood_view, with_corrections
from nt2vr.ui.search.watch import Watch
from nt2vr.ui.search.why_view import chosen_columns, why_view
from nt2vr.ui.theme import script
from nt2vr.ui.trainings import Trainings
from nt2vr.ui.web.errors import sentence, user_errors, warn
from nt2vr.ui.web.inputs import OpensQueries, event_value
from nt2vr.ui.web.permissions import Permissions

BROWSER_ONLY: dict[str, Any] = {"fn": None, "api_visibility": "private"}
PRIVATE: dict[str, Any] = {"api_visibility": "private", "concurrency_limit": CONCURRENT}
QUIET: dict[str, Any] = {"show_progress": "hidden", **PRIVATE}
Updates = dict[Any, Any]  # component -> its new value


@dataclass
class SearchTab:
    """Search tab over the galleries.

    Attributes:
        decoder: decodes uploads, which are untrusted.
        templates: folder of the page's templates.
        marked: returns the relevant clips of a judged query, given its name in links, its text and the gallery.
        words: known words, offered while typing.
        stories: queries of the built-in gallery to draw one from.
        head: the page's head, which names the gallery.
        trainings: trains models; None if the trainer is left out.
    """

    galleries: Galleries
    media: Media
    indexing: Indexing
    decoder: Decoder
    templates: Path
    permissions: Permissions
    head: gr.HTML
    marked: Callable[[str, str, str], Marked] = no_marks
    words: Sequence[str] = ()
    stories: Sequence[str] = ()
    trainings: Trainings | None = None
    _watch: Watch = field(init=False)
    _references: References = field(init=False)
    _controls: Controls = field(init=False)
    _results: Results = field(init=False)

    def build(self, page: gr.Blocks, tabs: gr.Tabs) -> OpensQueries:
        """Lay the tab out inside the open page and wire it.

        Returns:
            Lets an event of another tab open a query here; takes the event and a handler that returns a link's values.
        """
        self._references = References(self.galleries, self.media, self.decoder)
        self._controls = c = Controls(self.galleries, self.templates, self.words, self.stories, self.media)
        clips = [video.video_id for video in self.galleries.built_in.gallery.videos]
        recording = Recording.of_gallery(self.templates.parent / "recording.json", clips)
        self._watch = Watch(self.galleries, self.permissions, self.trainings, recording)
        self._watch.build(self.templates)
        more_models = MoreModels(self.galleries.built_in, MAX_COLUMNS, self.permissions, self.templates)
        self._results = r = Results(more_models, c.systems, self.templates, page)
        self._wire_inputs(page)
        self._wire_search()
        self._wire_clips()
        self._watch.wire(page, c, r, QUIET)
        opens = self._opens(tabs)
        for event in (r.stage.open, c.picture_examples.open):
            opens(event, lambda data: dict(parse_qsl(event_value(data, "link", str))))
        opens(self._watch.replay, self._watch.replay_link)
        return opens

    @property
    def returned_to_report(self) -> Any:
        """The event of Back and Forward to the address of a report, which is not Search's."""
        return self._results.understood.report

    def _asks(self, event: Any) -> None:
        """Search once an event of the server has succeeded."""
        event.success(outputs=self._controls.ask, js="nt2vr.ask", **BROWSER_ONLY)

    def _wire_inputs(self, page: gr.Blocks) -> None:
        """Wire what leads to a search by a change of `ask`."""
        c, r = self._controls, self._results
        loaded = [c.link, c.gallery, c.systems, c.examples, self.head]
        restored = page.load(self.on_load, c.ask, loaded, js="nt2vr.settings", **QUIET)
        shown = list(c.shown.values())
        restore = script("restore", {name: component.value for name, component in c.shown.items()})
        restored.success(inputs=[c.link, c.ask, *shown], outputs=[c.ask, c.state, *shown], js=restore, **BROWSER_ONLY)
        c.examples.take(outputs=[c.query, c.ask], js="nt2vr.take", **BROWSER_ONLY)
        c.with_picture.click(js="nt2vr.chooseFiles", **BROWSER_ONLY)
        c.reference.edited(outputs=c.ask, js="nt2vr.ask", **BROWSER_ONLY)
        added = c.reference.added(self.on_added, c.reference, [c.reference, r.problem, c.ask], **PRIVATE)
        added.then(js="nt2vr.pictureRead", **BROWSER_ONLY)
        liked = r.detail.like(self.on_like, [r.answer, c.reference], [c.reference, r.detail], **PRIVATE)
        for event in (liked, *r.systems_added):
            self._asks(event)
        r.understood.literal(inputs=c.state, outputs=[c.state, c.ask], js="nt2vr.literal", **BROWSER_ONLY)
        r.understood.take(outputs=[c.query, c.ask], js="nt2vr.take", **BROWSER_ONLY)
        for event in (r.understood.versus, r.menu.versus):
            event(inputs=c.state, outputs=[c.state, c.ask], js="nt2vr.versus", **BROWSER_ONLY)
        r.understood.flip(inputs=c.state, outputs=[c.state, c.ask], js="nt2vr.flip", **BROWSER_ONLY)
        r.parts.correct(outputs=[r.wanted, r.unwanted, c.ask], js="nt2vr.correct", **BROWSER_ONLY)
        for slider in r.sliders:
            moved = script("moved", slider.elem_id)
            slider.release(inputs=[slider, c.state], outputs=[c.state, c.ask], js=moved, **BROWSER_ONLY)

    def _wire_search(self) -> None:
        c, r = self._controls, self._results
        answered = gr.on(
            (
                *(c.find.click, c.query.submit, r.wanted.submit, r.unwanted.submit),
                *(c.ask.change, c.systems.input, c.k.input),
            ),
            self.on_search,
            [r.answer, r.wanted, r.unwanted],
            [
                *(r.answer, r.marked, r.problem, r.understood, r.parts, r.menu, r.columns),
                *(r.index, r.indexing, self._watch.timer),
            ],
            inputs_kwargs={**c.shown, "hidden": c.state},
            trigger_mode="always_last",
            show_progress="minimal",
            show_progress_on=r.columns,
            **PRIVATE,
        )
        parts = [r.wanted, r.unwanted]
        answered.success(
            inputs=[r.understood, *parts, c.state],
            outputs=[*parts, *r.sliders, c.state],
            js="nt2vr.settle",
            **BROWSER_ONLY,
        )
        wire_indexing(self.indexing, self.permissions, c.gallery, c.systems, r.index, r.indexing, c.ask, QUIET)

    def _wire_clips(self) -> None:
        c, r = self._controls, self._results
        draw = MapPanel(self.galleries, self.media).on_draw
        r.map.draw(draw, [r.answer, r.marked], r.map, trigger_mode="always_last", **QUIET)
        for clips in (r.columns, r.detail, r.map):
            clips.pick(self.on_pick, r.answer, r.detail, **QUIET)
        r.detail.why(self.on_why, r.answer, r.detail, **QUIET)
        r.detail.match(self.on_match, r.answer, r.detail, **QUIET)
        r.detail.backwards(self.on_backwards, r.answer, r.detail, **QUIET)
        r.detail.close(dict, None, r.detail, **QUIET)
        r.stage.ahead(self.on_ahead, None, r.stage, trigger_mode="always_last", **QUIET)
        c.systems.focus(  # new models and libraries appear without a restart
            lambda chosen: gr.Dropdown(system_choices(self.galleries.built_in.system_names(chosen))),
            c.systems,
            c.systems,
            queue=False,
            **QUIET,
        )
        c.gallery.focus(lambda: gr.Dropdown(gallery_choices(self.galleries)), None, c.gallery, queue=False, **QUIET)

    def _opens(self, tabs: gr.Tabs) -> OpensQueries:
        c, r = self._controls, self._results
        outputs = [*c.shown.values(), c.state, r.answer, tabs, c.examples, self.head]

        def opened(link: Mapping[str, str]) -> Updates:
            values, choices, about = self._opened(link)
            shown = {component: values["shown"][name] for name, component in c.shown.items()}
            return {
                **shown,
                **{menu: gr.Dropdown(choice, value=shown[menu]) for menu, choice in choices.items()},
                **about,
                c.state: values["hidden"],
                r.answer: None,  # so that the next search takes the link's parts and literal words
                tabs: gr.Tabs(selected="search"),
            }

        @user_errors
        def on_back(address: str) -> Updates:
            return opened(dict(parse_qsl(address.removeprefix("?"))))

        @user_errors
        def on_gallery(address: str, *_: Any) -> Any:
            if not address:
                return gr.skip()
            updates = opened(dict(parse_qsl(address)))
            del updates[c.reference]  # is searched for in the other gallery, too
            return {**updates, c.ask: f"{time.monotonic()}"}

        def opens(event: Any, link_of: Callable[..., Mapping[str, str]]) -> None:
            @user_errors
            def on_open(data: gr.EventData) -> Updates:
                return opened(link_of(data))

            self._asks(event(on_open, None, outputs, **PRIVATE))

        self._asks(
            r.understood.back(on_back, c.ask, outputs, js="nt2vr.address", trigger_mode="always_last", **PRIVATE)
        )
        left = [c.ask, c.gallery, c.query, c.k]
        c.gallery.input(on_gallery, left, [*outputs, c.ask], js="nt2vr.enter", **QUIET)
        return opens

    def _opened(self, link: Mapping[str, str]) -> tuple[dict[str, Any], Updates, Updates]:
        """Read a link as far as its gallery and clips still exist.

        Returns:
            The values that components show and that are hidden, by name; each menu's choices; and what is said of the
            gallery.
        """
        c = self._controls
        names = self.galleries.built_in.system_names(link.get("systems", "").split("|"))
        try:
            gallery = self.galleries.key(link.get("gallery", ""))
        except Nt2vrError as error:
            gallery = ""
            warn(error)
        searcher = self.galleries.searcher(gallery)
        query = own_examples(searcher.gallery)[0] if gallery and "q" not in link else DEFAULT_QUERY
        default = self.galleries.default_systems(gallery)
        state = SearchState.of_link({**link, "gallery": gallery}, names, query, default)
        if dropped := dropped_systems(link, names):
            warn(ConfigError(dropped))
        known = self._references.known(state.references)
        if len(known) < len(state.references):
            gr.Warning("A clip that the link refers to is not in this gallery.")
        if upload := link.get("upload"):  # the reference of a report's query
            try:
                known = self._references.with_uploads(known, [upload])
            except Nt2vrError as error:
                warn(error)
        shown = {name: getattr(state, name) for name in c.shown} | {"references": self._references.view(known)}
        choices = {c.gallery: gallery_choices(self.galleries), c.systems: system_choices(names)}
        about = {
            c.examples: examples_view(searcher, self.stories),
            self.head: status_line(self.galleries, gallery, LocalContext.request.get(None)),
        }
        return {"shown": shown, "hidden": state.hidden}, choices, about

    @property
    def gallery(self) -> gr.Dropdown:
        """The gallery that is searched."""
        return self._controls.gallery

    @user_errors
    def on_load(self, remembered: str, request: gr.Request) -> Updates:
        """Read the page's link, or the settings that the browser remembers, for the browser to apply."""
        link = request.query_params
        values, choices, about = self._opened(link if NAMES & link.keys() else dict(parse_qsl(remembered)))
        return {
            **{menu: gr.Dropdown(choice) for menu, choice in choices.items()},
            **about,
            self._controls.link: values,
        }

    @user_errors
    def on_search(
        self, previous: Answer | None, wanted: str, unwanted: str, request: gr.Request, **sent: Any
    ) -> Updates:
        """Search; as long as the sentence stays the same, with its parts and words as the person corrected them.

        Args:
            previous: the answer on display.
            wanted: text of the box that shows its wanted part; `unwanted` likewise.
            sent: what `SearchState.of_page` takes.
        """
        try:
            return self._answered(SearchState.of_page(**sent), previous, (wanted, unwanted), request)
        except Nt2vrError as error:  # what is shown stays
            return {self._results.problem: _alert(error)}

    def _answered(
        self, asked: SearchState, previous: Answer | None, boxes: tuple[str, str], request: gr.Request
    ) -> Updates:
        wanted, unwanted = boxes
        searcher = self.galleries.searcher(asked.gallery)
        state, query, parsed = with_corrections(asked, previous, boxes, searcher.understand)
        state = state if query.unwanted else replace(state, flip="")
        is_replayed = self._watch.replays(state.q, state.gallery) and not (state.flip or state.versus)
        state = state if is_replayed else replace(state, replay="")
        second = searcher.understand(state.versus, bool(state.references)) if state.versus.strip() else None
        shown = replace(state, systems=state.systems[:MOST]) if second else state
        answer, problem = self._search(shown, query)
        if second:
            answer = replace(answer, beside=self._search(replace(shown, flip=""), second)[0])
        flips = bool(state.flip) or (query.unwanted and previous is not None and previous.denied == query)
        other = self._search(replace(state, flip="" if state.flip else "1"), query)[0] if flips else None
        marked = Marked() if state.flip else self.marked(state.judged, state.q, state.gallery)
        state = state if marked.video_ids or state.flip else replace(state, judged="")
        held = {"wanted": wanted, "unwanted": unwanted, **asked.hidden}
        understood = understood_view(answer, state, held, parsed, remark(searcher, answer, state.references))
        videos = () if state.references or searcher.is_library else searcher.gallery.videos
        r, job = self._results, self.indexing.under_way(state.gallery) if state.gallery else None
        drawings = self.indexing.drawings(state.gallery, state.systems, self.permissions, request, again=not problem)
        return {
            r.answer: answer,
            r.marked: marked,
            r.problem: "",
            r.parts: parts_view(answer, parsed),
            r.menu: downloads(answer),
            r.understood: {**understood, **offers_view(answer, videos), **self._watch.offers(request, state.gallery)},
            r.columns: self._columns(answer, state, marked, other),
            **self._watch.awake(),
            r.index: index_view(answer, problem, job, self.permissions.refusal(request, "import"), drawings=drawings),
            r.indexing: gr.Timer(active=job is not None),
        }

    def _search(self, state: SearchState, query: Query) -> tuple[Answer, NotIndexedError | None]:
        """Search; an answer without columns comes with the reason."""
        searcher, literal = self.galleries.searcher(state.gallery), state.literal.split("|")
        given = self._references.resolve(state.references, state.gallery)
        asked, denied = (query.affirmed, query) if state.flip else (query, None)
        try:
            answer = searcher.search(asked, state.systems, state.k, given, state.moved, literal)
        except NotIndexedError as error:
            return Answer(asked, (), gallery=state.gallery, denied=denied), error
        return replace(answer, denied=denied), None

    def _columns(self, answer: Answer, state: SearchState, marked: Marked, other: Answer | None) -> dict[str, Any]:
        searcher, urls = self.galleries.searcher(state.gallery), partial(self.media.urls, state.gallery)
        view_of = partial(columns_view, video_of=searcher.video, urls=urls, marked=marked, other=other)
        view = view_of(answer) | beside(state.references, state.gallery, answer)
        view["flies"] = key_of(state.q, state.versus, state.gallery, state.references)
        given = self._references.resolve(state.references, state.gallery)
        question = Question(searcher, answer.query, state.k, given, state.moved, state.literal.split("|"))
        key = key_of(replace(state, systems=()))
        learning = self._watch.columns(view, answer, key, question, view_of, bool(state.replay))
        return woven(learning, answer, partial(view_of, marked=Marked(), other=None))

    @user_errors
    def on_pick(self, answer: Answer | None, event: gr.EventData, request: gr.Request) -> dict[str, Any]:
        """Enlarge a clip."""
        return {} if answer is None else self._enlarged(answer, event_value(event, "id", str), request)

    @user_errors
    def on_why(self, answer: Answer | None, event: gr.EventData, request: gr.Request) -> dict[str, Any]:
        """Explain the scores of the enlarged clip under one or two systems."""
        if answer is None:
            return {}
        video_id = event_value(event, "id", str)
        columns = chosen_columns(event_value(event, "columns", str), [seen.rank for seen in answer.see(video_id)])
        detail = self._enlarged(answer, video_id, request)
        whys = explain(answer, video_id, self.galleries.encoder, columns)
        video = self.galleries.searcher(answer.gallery).video(video_id)
        return {**detail, "why": why_view(answer, columns, whys, video, detail)}

    @user_errors
    def on_match(self, answer: Answer | None, event: gr.EventData, request: gr.Request) -> dict[str, Any]:
        """Score captions for the enlarged clip with the systems on display, after adding one by rules if asked to."""
        if answer is None:
            return {}
        video_id, change = event_value(event, "id", str), event_value(event, "change", str)
        searcher = self.galleries.searcher(answer.gallery)
        video, lines = searcher.video(video_id), lines_of(event_value(event, "lines", str))
        lines = with_change(searcher, video, lines, change)
        systems = [ranking.system.name for ranking in answer.rankings]
        found = match(searcher, Reference((), video_id), lines, systems) if asks(lines) else None
        return {**self._enlarged(answer, video_id, request), "match": match_view(lines, found)}

    @user_errors
    def on_backwards(self, answer: Answer | None, event: gr.EventData, request: gr.Request) -> dict[str, Any]:
        """Score the enlarged clip with its frames in reverse order, while it is played so."""
        if answer is None:
            return {}
        video_id, answers = event_value(event, "id", str), [answer, *([answer.beside] if answer.beside else [])]
        seen = [one for each in answers for one in each.see(video_id)]
        scores = [one for each in answers for one in scored_backwards(each, video_id, self.galleries.encoder)]
        return backwards_view(self._enlarged(answer, video_id, request), seen, scores)

    def _enlarged(self, answer: Answer, video_id: str, request: gr.Request) -> dict[str, Any]:
        searcher = self.galleries.searcher(answer.gallery)
        video = searcher.video(video_id)
        verdict, urls = answer.verdict(video_id) or "", self.media.urls(answer.gallery, video)
        film = film_view(answer, video, searcher.gallery.videos)
        tells = self.permissions.may("paths", request) and not self.permissions.space_owner
        view = detail_view(video, answer.see(video_id), verdict, urls, film, answer.judged_by, tells)
        return with_second(view, answer, video, urls) if answer.beside else view

    @user_errors
    def on_ahead(self, event: gr.EventData) -> dict[str, Any]:
        """Search for the next story, so that its models are loaded, and name its clips for the browser to fetch."""
        link, searcher = dict(parse_qsl(event_value(event, "link", str))), self.galleries.built_in
        state = SearchState.of_link(link, searcher.system_names(link.get("systems", "").split("|")))
        found: tuple[Ranking, ...] = ()
        with suppress(Nt2vrError):  # the story itself will tell
            found = self._search(state, searcher.understand(state.q))[0].rankings
        clips = {hit.video_id for ranking in found for hit in ranking.hits}
        urls = [self.media.urls("", searcher.video(clip))["src"] for clip in sorted(clips)]
        return {**self._results.stage.value, "ahead": urls}

    @user_errors
    def on_like(self, answer: Answer | None, references: dict[str, Any], event: gr.EventData) -> tuple[Any, Any]:
        """Search for more like a clip, or for less."""
        clip, wanted = event_value(event, "id", str), event_value(event, "wanted", int)
        chosen = with_clip(read_chosen(references), clip, answer.gallery if answer else "", bool(wanted))
        return self._references.view(chosen), {}

    @user_errors
    def on_added(self, references: dict[str, Any], event: gr.EventData) -> Updates:
        """Make uploaded pictures and videos references, and search; one that cannot be read leaves all as it is."""
        c, paths = self._controls, event_value(event, "paths", str).split("\n")
        try:
            added = self._references.view(self._references.with_uploads(read_chosen(references), paths))
        except Nt2vrError as error:
            return {self._results.problem: _alert(error)}
        return {c.reference: added, c.ask: f"{time.monotonic()}"}


def _alert(error: Nt2vrError) -> str:
    """Say above the results why there are no others."""
    return f'<p role="alert">{sentence(error)}</p>'
