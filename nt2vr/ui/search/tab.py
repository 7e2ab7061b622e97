"""The Search tab: its components, and what their events do.

A late answer never overwrites what a person has typed since. Every search goes through one event, which runs one at a
time and last the newest, and what an answer or a link writes into inputs is applied in the browser, only where they
still hold what they held before: see assets/ui/search.js.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr
from gradio.context import LocalContext

from nt2vr.errors import ConfigError, NotIndexedError, Nt2vrError
from nt2vr.library.galleries import Galleries
from nt2vr.media.decode import Decoder
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer
from nt2vr.search.epochs import Question, Recording
from nt2vr.search.strategies import STRATEGIES, STRENGTHS
from nt2vr.settings import ASSETS
from nt2vr.ui.library.indexing import Indexing, index_view, wire_indexing
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.clip import ClipPanel
from nt2vr.ui.search.examples import examples_view, lay_out_picture_examples, own_examples, status_line
from nt2vr.ui.search.models import MoreModels
from nt2vr.ui.search.references import References, beside, remark
from nt2vr.ui.search.results import (
    Marked,
    columns_view,
    downloads,
    offers_view,
    parts_view,
    system_choices,
    understood_view,
    with_corrections,
)
from nt2vr.ui.search.state import (
    DEFAULT_QUERY,
    K_CHOICES,
    MAX_COLUMNS,
    NAMES,
    PRIVATE,
    QUIET,
    SearchState,
    dropped_systems,
    read_chosen,
    with_clip,
)
from nt2vr.ui.search.watch import Watch, key_of
from nt2vr.ui.theme import TEMPLATES, fold, script, template
from nt2vr.ui.web.errors import problem, warn
from nt2vr.ui.web.inputs import OpensQueries, Updates, event_value
from nt2vr.ui.web.permissions import Permissions
from nt2vr.world.offers import offered_words
from trainer.runs.manager import RunManager

MENU_BUTTON = (
    '<button type="button" popovertarget="menu" aria-label="More" title="Downloads, keys, models …">⋯</button>'
)
NO_REFERENCES: dict[str, Any] = {"references": []}


def gallery_choices(galleries: Galleries) -> list[tuple[str, str]]:
    """List the galleries with their keys."""
    return [("Built-in world", ""), *((info.name, info.id) for info in galleries.shelf.infos())]


def menu_style() -> str:
    """Group the menu of systems by model, and describe each strategy in it."""
    others = "".join(
        f'#systems li[aria-label*=" {name}"]::after {{ content: "{strategy.meaning}"; }}'
        f'#systems li[aria-label*=" {name}"] {{ padding-left: 42px; border-top: 0; font-weight: 400; }}'
        for name, strategy in STRATEGIES.items()
        if name != "plain"
    )
    return f'#systems li::after {{ content: "{STRATEGIES["plain"].meaning}"; }}{others}'


def built_in_stories() -> list[dict[str, Any]]:
    """Read the shipped stories for talks: `query`, `systems`, `k`, and a `note` for the speaker."""
    stories: list[dict[str, Any]] = json.loads((TEMPLATES / "stories.json").read_text(encoding="utf-8"))
    return stories


class Controls:
    """Inputs above the results.

    Attributes:
        reference: the references as chips, with weights; takes further ones that are pasted or dropped.
        with_picture: opens the dialog for files.
        state: hidden; see `SearchState.hidden`.
        link: hidden; the link that the page was opened with, for the browser to apply.
        ask: hidden; every change of it starts a search.
        shown: the components that show a value of SearchState, by its name, in the order of search.js.
    """

    def __init__(self, galleries: Galleries, media: Media) -> None:
        """Lay out query, references, examples, and the choice of gallery and systems."""
        start = SearchState()
        with gr.Row(equal_height=True, elem_id="ask"):
            self.gallery = gr.Dropdown(
                gallery_choices(galleries),
                value=start.gallery,
                label="Gallery",
                elem_id="gallery",
                min_width=150,
                scale=0,
                container=False,
            )
            self.query = gr.Textbox(
                start.q,
                label="Query",
                lines=1,
                max_lines=3,
                elem_id="query",
                scale=10,
                placeholder="What clips should show, and what not: a man playing the guitar and not singing",
                autofocus=True,
                container=False,
            )
            self.with_picture = gr.Button("+ picture", elem_id="with-picture", min_width=110, scale=0)
            # whether a phone shows what else can be chosen; wider pages always do
            gr.Checkbox(False, label="Options", elem_id="options", min_width=100, scale=1, container=False)
            self.find = gr.Button("Search", variant="primary", elem_id="search-button", scale=0)
            gr.HTML(MENU_BUTTON, elem_id="menu-button")
        template("words", {"words": offered_words()})
        self.reference = template("reference", NO_REFERENCES)
        with gr.Row(elem_id="choices"):
            self.examples = template("examples", examples_view(galleries.built_in))
            self.picture_examples = lay_out_picture_examples(galleries.built_in, media)
            self.systems = gr.Dropdown(
                system_choices(galleries.built_in.system_names()),
                value=list(start.systems),
                multiselect=True,
                max_choices=MAX_COLUMNS,
                label="Systems to compare, one per column; the first is the baseline",
                elem_id="systems",
                min_width=100,
                container=False,
            )
            counts = [(f"top {count}", count) for count in K_CHOICES]
            self.k = gr.Dropdown(
                counts, value=start.k, label="Results", elem_id="k", min_width=90, scale=0, container=False
            )
        self.ask = gr.Textbox(visible="hidden")  # a State is not in the browser
        self.link, self.state = gr.JSON(visible="hidden"), gr.JSON(start.hidden, elem_id="state", visible="hidden")
        components = (self.query, self.gallery, self.systems, self.k, self.reference)
        self.shown = dict(zip(("q", "gallery", "systems", "k", "references"), components, strict=True))


class Results:
    """The answer, and how to correct it.

    Attributes:
        problem: why there is no new answer; what is shown stays.
        parts: the wanted and the unwanted part, whose words move by a click or a drag.
        menu: what is seldom needed.
        sliders: one per strategy of STRENGTHS, for the systems whose name does not fix it.
        systems_added: events after which a model has joined the chosen systems.
        answer: the Answer on display.
        marked: relevant clips of its query, if that is a judged one.
        index: what a library lacks of its index, and the progress of indexing it.
        indexing: ticks while a library is being indexed for a search.
    """

    def __init__(self, more_models: MoreModels, systems: gr.Dropdown, page: gr.Blocks) -> None:
        """Lay out what shows an answer, and the panels that correct it and add models to `systems`."""
        self.problem = gr.HTML(elem_id="problem")
        self.understood = template("understood", {})
        with gr.Column(elem_id="menu"):
            self.menu = template("menu", {}, elem_id="menu-links")
            with fold("Correct this, or change the weights", elem_id="correct"):
                self.parts = template("parts", {})
                with gr.Row():
                    self.wanted = gr.Textbox(label="Wanted", elem_id="wanted", placeholder="a man singing")
                    self.unwanted = gr.Textbox(
                        label="Unwanted, separated by commas", elem_id="unwanted", placeholder="the guitar, a dog"
                    )
                self.sliders = [
                    gr.Slider(
                        *strength.slider[:2],
                        value=strength.default,
                        step=strength.slider[2],
                        elem_id=strength.word,
                        label=f"{strength.symbol}, {strength.meaning} in “{name}”",
                        visible="hidden",
                    )
                    for name, strength in STRENGTHS.items()
                ]
            self.systems_added = more_models.build(systems, page)
        self.index = template("search-index", {})
        self.columns = template("columns", {"columns": [], "waiting": True}, "pick", "flights", "epochs")
        self.detail = template("detail", {})
        self.stage = template("stage", {"stories": built_in_stories()})
        self.answer, self.marked, self.indexing = gr.State(), gr.State(Marked()), gr.Timer(1.0, active=False)


@dataclass(frozen=True)
class Answering:
    """Searches, and shows the answer in `results`; for the others see `SearchTab`."""

    galleries: Galleries
    media: Media
    indexing: Indexing
    permissions: Permissions
    marked: Callable[[str, str, str], Marked]
    references: References
    watch: Watch
    results: Results

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
            return {self.results.problem: problem(error)}

    def _answered(
        self, asked: SearchState, previous: Answer | None, boxes: tuple[str, str], request: gr.Request
    ) -> Updates:
        wanted, unwanted = boxes
        searcher = self.galleries.searcher(asked.gallery)
        state, query, parsed = self._understood(asked, previous, boxes)
        is_replayed = self.watch.replays(state.q, state.gallery) and not state.flip
        state = state if is_replayed else replace(state, replay="")
        answer, lacking = self._search(state, query)
        flips = bool(state.flip) or (query.unwanted and previous is not None and previous.denied == query)
        other = self._search(replace(state, flip="" if state.flip else "1"), query)[0] if flips else None
        marked = Marked() if state.flip else self.marked(state.judged, state.q, state.gallery)
        state = state if marked.video_ids or state.flip else replace(state, judged="")
        held = {"wanted": wanted, "unwanted": unwanted, **asked.hidden}
        understood = understood_view(answer, state, held, parsed, remark(searcher, answer, state.references))
        videos = () if state.references or searcher.is_library else searcher.gallery.videos
        r, job = self.results, self.indexing.under_way(state.gallery) if state.gallery else None
        drawings = self.indexing.drawings(state.gallery, state.systems, self.permissions, request, again=not lacking)
        return {
            r.answer: answer,
            r.marked: marked,
            r.parts: parts_view(answer, parsed),
            r.menu: downloads(answer),
            r.understood: {**understood, **offers_view(answer, videos), **self.watch.offers(request, state.gallery)},
            r.columns: self._columns(answer, state, marked, other),
            **self.watch.awake(),
            r.index: index_view(answer, lacking, job, self.permissions.refusal(request, "import"), drawings=drawings),
            r.indexing: gr.Timer(active=job is not None),
        }

    def _understood(
        self, asked: SearchState, previous: Answer | None, boxes: tuple[str, str]
    ) -> tuple[SearchState, Query, Query]:
        understand = self.galleries.searcher(asked.gallery).understand
        state, query, parsed = with_corrections(asked, previous, boxes, understand)
        return state if query.unwanted else replace(state, flip=""), query, parsed

    def _search(self, state: SearchState, query: Query) -> tuple[Answer, NotIndexedError | None]:
        """Search; an answer without columns comes with the reason."""
        searcher, literal = self.galleries.searcher(state.gallery), state.literal.split("|")
        given = self.references.resolve(state.references, state.gallery)
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
        view["flies"] = key_of(state.q, state.gallery, state.references)
        given = self.references.resolve(state.references, state.gallery)
        question = Question(searcher, answer.query, state.k, given, state.moved, state.literal.split("|"))
        key = key_of(replace(state, systems=()))
        return self.watch.columns(view, answer, key, question, view_of, bool(state.replay))


@dataclass
class SearchTab:
    """Search tab over the galleries."""

    galleries: Galleries
    media: Media
    indexing: Indexing
    decoder: Decoder  # decodes uploads, which are untrusted
    permissions: Permissions
    head: gr.HTML  # the page's head, which names the gallery
    # returns the relevant clips of a judged query, given its name in links, its text and the gallery
    marked: Callable[[str, str, str], Marked]
    runs: RunManager  # trains models
    _watch: Watch = field(init=False)
    _references: References = field(init=False)
    controls: Controls = field(init=False)  # laid out by `build`, as `results` are
    results: Results = field(init=False)
    _answering: Answering = field(init=False)

    def build(self, page: gr.Blocks, tabs: gr.Tabs) -> OpensQueries:
        """Lay the tab out inside the open page and wire it.

        Returns:
            Lets an event of another tab open a query here; takes the event and a handler that returns a link's values.
        """
        self._references = References(self.galleries, self.media, self.decoder)
        self.controls = c = Controls(self.galleries, self.media)
        clips = [video.video_id for video in self.galleries.built_in.gallery.videos]
        recording = Recording.of_gallery(ASSETS / "recording.json", clips)
        self._watch = Watch(self.galleries, self.permissions, self.runs, recording)
        self._watch.build()
        more_models = MoreModels(self.galleries.built_in, self.permissions)
        self.results = r = Results(more_models, c.systems, page)
        given = self.galleries, self.media, self.indexing, self.permissions, self.marked
        self._answering = Answering(*given, self._references, self._watch, r)
        self._wire_inputs(page)
        self._wire_search()
        self._wire_clips()
        self._watch.wire(page, c.query, c.systems, c.ask, r.columns, r.answer)
        opens = self._opens(tabs)
        for event in (r.stage.open, c.picture_examples.open):
            opens(event, lambda data: dict(parse_qsl(event_value(data, "link", str))))
        opens(self._watch.panel.replay, self._watch.replay_link)
        return opens

    def _asks(self, event: Any) -> None:
        """Search once an event of the server has succeeded."""
        event.success(None, outputs=self.controls.ask, js="nt2vr.ask")

    def _wire_inputs(self, page: gr.Blocks) -> None:
        """Wire what leads to a search by a change of `ask`."""
        c, r = self.controls, self.results
        loaded = [c.link, c.gallery, c.systems, c.examples, self.head]
        restored = page.load(self.on_load, c.ask, loaded, js="nt2vr.settings", **QUIET)
        shown = list(c.shown.values())
        restore = script("restore", {name: component.value for name, component in c.shown.items()})
        restored.success(None, inputs=[c.link, c.ask, *shown], outputs=[c.ask, c.state, *shown], js=restore)
        c.examples.take(None, outputs=[c.query, c.ask], js="nt2vr.take")
        c.with_picture.click(None, js="nt2vr.chooseFiles")
        c.reference.edited(None, outputs=c.ask, js="nt2vr.ask")
        added = c.reference.added(self.on_added, c.reference, [c.reference, r.problem, c.ask], **PRIVATE)
        added.then(None, js="nt2vr.pictureRead")
        liked = r.detail.like(self.on_like, [r.answer, c.reference], [c.reference, r.detail], **PRIVATE)
        for event in (liked, *r.systems_added):
            self._asks(event)
        r.understood.literal(None, inputs=c.state, outputs=[c.state, c.ask], js="nt2vr.literal")
        r.understood.take(None, outputs=[c.query, c.ask], js="nt2vr.take")
        r.understood.flip(None, inputs=c.state, outputs=[c.state, c.ask], js="nt2vr.flip")
        r.parts.correct(None, outputs=[r.wanted, r.unwanted, c.ask], js="nt2vr.correct")
        for slider in r.sliders:
            moved = script("moved", slider.elem_id)
            slider.release(None, inputs=[slider, c.state], outputs=[c.state, c.ask], js=moved)

    def _wire_search(self) -> None:
        c, r = self.controls, self.results
        parts, asked = [r.wanted, r.unwanted], {**c.shown, "hidden": c.state}
        asking = (
            *(c.find.click, c.query.submit, r.wanted.submit, r.unwanted.submit),
            *(c.ask.change, c.systems.input, c.k.input),
        )
        gr.on(asking, None, outputs=r.problem, js="() => ''")  # not by an answer, which may be an older one
        answered = gr.on(
            asking,
            self._answering.on_search,
            [r.answer, *parts],
            [
                *(r.answer, r.marked, r.problem, r.understood, r.parts, r.menu, r.columns),
                *(r.index, r.indexing, self._watch.timer),
            ],
            inputs_kwargs=asked,
            trigger_mode="always_last",
            show_progress="minimal",
            show_progress_on=r.columns,
            **PRIVATE,
        )
        settled = [*parts, *r.sliders, c.state]
        answered.success(None, inputs=[r.understood, *parts, c.state], outputs=settled, js="nt2vr.settle")
        wire_indexing(self.indexing, self.permissions, c.gallery, c.systems, r.index, r.indexing, c.ask)

    def _wire_clips(self) -> None:
        c, r = self.controls, self.results
        panel = ClipPanel(self.galleries, self.media, self.permissions)
        for clips in (r.columns, r.detail):
            clips.pick(panel.on_pick, r.answer, r.detail, **QUIET)
        r.detail.why(panel.on_why, r.answer, r.detail, **QUIET)
        r.detail.match(panel.on_match, r.answer, r.detail, **QUIET)
        r.detail.backwards(panel.on_backwards, r.answer, r.detail, **QUIET)
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
        c, r = self.controls, self.results
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

        def on_back(address: str) -> Updates:
            return opened(dict(parse_qsl(address.removeprefix("?"))))

        def on_gallery(address: str, *_: Any) -> Any:
            if not address:
                return gr.skip()
            updates = opened(dict(parse_qsl(address)))
            del updates[c.reference]  # is searched for in the other gallery, too
            return {**updates, c.ask: f"{time.monotonic()}"}

        def opens(event: Any, link_of: Callable[..., Mapping[str, str]]) -> None:
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

        Returns the values by name, each menu's choices, and what is said of the gallery.
        """
        c = self.controls
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
            c.examples: examples_view(searcher),
            self.head: status_line(self.galleries, gallery, LocalContext.request.get(None)),
        }
        return {"shown": shown, "hidden": state.hidden}, choices, about

    def on_load(self, remembered: str, request: gr.Request) -> Updates:
        """Read the page's link, or the settings that the browser remembers, for the browser to apply."""
        link = request.query_params
        values, choices, about = self._opened(link if NAMES & link.keys() else dict(parse_qsl(remembered)))
        return {
            **{menu: gr.Dropdown(choice) for menu, choice in choices.items()},
            **about,
            self.controls.link: values,
        }

    def on_like(self, answer: Answer | None, references: dict[str, Any], event: gr.EventData) -> tuple[Any, Any]:
        clip, wanted = event_value(event, "id", str), event_value(event, "wanted", int)
        chosen = with_clip(read_chosen(references), clip, answer.gallery if answer else "", bool(wanted))
        return self._references.view(chosen), {}

    def on_added(self, references: dict[str, Any], event: gr.EventData) -> Updates:
        """Make uploaded pictures and videos references, and search; what is shown stays if one cannot be read."""
        c, paths = self.controls, event_value(event, "paths", str).split("\n")
        try:
            chosen = self._references.with_uploads(read_chosen(references), paths)
        except Nt2vrError as error:
            return {self.results.problem: problem(error)}
        return {c.reference: self._references.view(chosen), c.ask: f"{time.monotonic()}"}
