"""The Search tab: its components, and what their events do.

Whatever asks for a search, the browser writes down all of it as one request, see
assets/ui/search.js. Its answer fills in the inputs that nobody has changed since.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

import gradio as gr

from nt2vr.errors import ConfigError, NotIndexedError, Nt2vrError
from nt2vr.library.galleries import Galleries
from nt2vr.media.decode import Decoder
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer
from nt2vr.search.epochs import Recording
from nt2vr.search.searcher import MAX_K, SearchPlan
from nt2vr.search.strategies import STRATEGIES, STRENGTHS
from nt2vr.settings import ASSETS
from nt2vr.ui.library.indexing import Indexing, index_view, wire_indexing
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.clip import ClipPanel
from nt2vr.ui.search.examples import (
    examples_view,
    lay_out_picture_examples,
    own_examples,
    status_line,
)
from nt2vr.ui.search.models import MoreModels
from nt2vr.ui.search.references import References, beside, remark
from nt2vr.ui.search.results import (
    Marked,
    columns_view,
    downloads,
    folded,
    headline,
    legends_view,
    part_texts,
    parts_view,
    sliders_view,
    system_choices,
    understood_view,
    with_corrections,
)
from nt2vr.ui.search.state import (
    DEFAULT_QUERY,
    K_CHOICES,
    MAX_COLUMNS,
    PRIVATE,
    QUIET,
    Request,
    SearchState,
    read_chosen,
    with_clip,
)
from nt2vr.ui.search.suggest import way_out_view
from nt2vr.ui.search.watch import Watch, key_of
from nt2vr.ui.theme import TEMPLATES, fold, menu, script, template
from nt2vr.ui.web.errors import problem, warn
from nt2vr.ui.web.inputs import OpensQueries, Updates, event_value
from nt2vr.ui.web.later_parts import LaterParts
from nt2vr.ui.web.permissions import Permissions
from nt2vr.world.offers import offered_words
from trainer.runs.manager import RunManager

MENU_BUTTON = (
    '<button type="button" popovertarget="menu" aria-label="More"'
    ' title="Downloads, keys, models …">⋯</button>'
)
JS_ONLY: dict[str, Any] = {"api_visibility": "private"}
TO_SEARCH = "() => ({ __type__: 'update', selected: 'search' })"


def gallery_choices(galleries: Galleries) -> list[tuple[str, str]]:
    return [("Built-in world", ""), *((info.name, info.id) for info in galleries.libraries.infos())]


def menu_style() -> str:
    """Group the menu of systems by model, and describe each strategy in it."""
    others = "".join(
        f'#systems li[aria-label*=" {name}"]::after {{ content: "{strategy.meaning}"; }}'
        f'#systems li[aria-label*=" {name}"] {{ padding-left: 30px; border-top: 0; font-weight: 400; }}'
        for name, strategy in STRATEGIES.items()
        if name != "plain"
    )
    return f'#systems li::after {{ content: "{STRATEGIES["plain"].meaning}"; }}{others}'


def built_in_stories() -> list[dict[str, Any]]:
    """Read the shipped stories for talks: `query`, `systems`, `k`, and a `note` for the speaker."""
    stories: list[dict[str, Any]] = json.loads(
        (TEMPLATES / "stories.json").read_text(encoding="utf-8")
    )
    return stories


class Controls:
    """Inputs above the results: query, references, examples, and the choice of gallery and systems."""

    def __init__(self, galleries: Galleries, media: Media) -> None:
        start, bare = SearchState(), dict[str, Any](container=False)
        with gr.Row(equal_height=True, elem_id="ask"):
            choices, place = gallery_choices(galleries), {"min_width": 150, "scale": 0, **bare}
            self.gallery = menu("gallery", "Gallery", choices, value="", **place)
            example = "Describe what clips should show, and what not: a man playing the guitar and not singing"
            place = {"elem_id": "query", "scale": 10, **bare}
            self.query = gr.Textbox(
                start.q, label="Query", max_lines=3, placeholder=example, **place
            )
            # chips; takes what is pasted or dropped, too
            self.reference = template("reference", {"references": []})
            self.with_picture = gr.Button(
                "+ picture", elem_id="with-picture", min_width=110, scale=0
            )
            # whether a phone shows what else can be chosen; wider pages always do
            gr.Checkbox(
                False, label="Options", elem_id="options", min_width=100, scale=1, container=False
            )
            self.find = gr.Button("Search", variant="primary", elem_id="search-button", scale=0)
            gr.HTML(MENU_BUTTON, elem_id="menu-button")
        template("words", {"words": offered_words()})
        with gr.Row(elem_id="choices"):
            self.examples = template("examples", examples_view(galleries.built_in))
            self.picture_examples = lay_out_picture_examples(galleries.built_in, media)
            names = system_choices(galleries.built_in.system_names(folds=True))
            label = "Systems to compare, one per column; the first is the baseline"
            several: dict[str, Any] = {
                "multiselect": True,
                "max_choices": MAX_COLUMNS,
                "min_width": 100,
                **bare,
            }
            self.systems = menu("systems", label, names, value=list(start.systems), **several)
            counts = [(f"top {count}", count) for count in K_CHOICES]
            self.k = menu("k", "Results", counts, value=start.k, min_width=90, scale=0, **bare)
        # a change of it starts a search: a number, or a link to be opened; a State is not in the
        # browser
        self.ask = gr.Textbox(visible="hidden")
        self.request = gr.Textbox(
            visible="hidden", elem_id="request"
        )  # as the browser asks, see `Request`


class Results:
    """The answer, and the panels that correct it and add models."""

    def __init__(
        self, more_models: MoreModels, systems: gr.Dropdown, page: gr.Blocks, later: LaterParts
    ) -> None:
        self.problem = gr.HTML(elem_id="problem")  # why there is no new answer; what is shown stays
        self.understood = template("understood", {})
        with gr.Column(elem_id="menu"):  # what is seldom needed
            self.menu = template("menu", {}, elem_id="menu-links")
            with fold("Correct this, or change the weights", elem_id="correct"):
                self.parts = template("parts", {})  # whose words move by a click or a drag
                with gr.Row():
                    label, example = "Unwanted, separated by commas", "the guitar, a dog"
                    self.wanted = gr.Textbox(
                        label="Wanted", elem_id="wanted", placeholder="a man singing"
                    )
                    self.unwanted = gr.Textbox(label=label, elem_id="unwanted", placeholder=example)
                self.sliders = []  # one per strategy, for the systems whose name does not fix it
                for name, each in STRENGTHS.items():
                    label, (low, high, step) = (
                        f"{each.symbol}, {each.meaning} in “{name}”",
                        each.slider,
                    )
                    hidden: dict[str, Any] = {
                        "elem_id": each.word,
                        "label": label,
                        "visible": "hidden",
                    }
                    self.sliders.append(gr.Slider(low, high, each.default, step=step, **hidden))
            self.systems_added = more_models.build(
                systems, page, later
            )  # events after which a model has joined them
        self.index = template(
            "search-index", {}
        )  # what a library lacks of its index, and how far that has come
        self.columns = template(
            "columns", {"columns": [], "waiting": True}, "pick", "flights", "epochs"
        )
        self.detail = template("detail", {})
        self.stage = template("stage", {})
        self.answer = gr.State()  # the Answer on display
        self.indexing = gr.Timer(
            1.0, active=False
        )  # ticks while a library is being indexed for a search
        # what the browser is to fill in
        self.answered = gr.HTML({}, html_template="", visible="hidden")


@dataclass
class SearchTab:
    """Search tab over the galleries."""

    galleries: Galleries
    media: Media
    indexing: Indexing
    decoder: Decoder  # decodes uploads, which are untrusted
    permissions: Permissions
    head: gr.HTML  # the page's head, which names the gallery
    # returns the relevant clips of a judged query, given its name in links, its text and the
    # gallery
    marked: Callable[[str, str, str], Marked]
    runs: RunManager  # trains models
    _watch: Watch = field(init=False)
    _references: References = field(init=False)
    controls: Controls = field(init=False)  # laid out by `build`, as `results` are
    results: Results = field(init=False)

    def build(self, page: gr.Blocks, tabs: gr.Tabs, later: LaterParts) -> OpensQueries:
        """Lay the tab out inside the open page and wire it; return what lets another tab's event open a query here.

        What is seldom opened is one of the parts that are sent `later`.
        """
        self._references = References(self.galleries, self.media, self.decoder)
        self.controls = c = Controls(self.galleries, self.media)
        clips = [video.video_id for video in self.galleries.built_in.gallery.videos]
        recording = Recording.of_gallery(ASSETS / "recording.json", clips)
        self._watch = Watch(self.galleries, self.permissions, self.runs, recording)
        self._watch.build()
        more_models = MoreModels(self.galleries.built_in, self.permissions, self.runs)
        self.results = r = Results(more_models, c.systems, page, later)
        self._wire(page)
        visits = page.load, tabs.select, *(event.success for event in more_models.started)
        self._watch.wire(visits, c.query, c.systems, c.ask, r.columns, r.answer)
        wire_indexing(
            self.indexing, self.permissions, c.gallery, c.systems, r.index, r.indexing, c.ask
        )
        r.understood.back(None, None, tabs, js=TO_SEARCH, **JS_ONLY)

        def opens(event: Any, link_of: Callable[..., Mapping[str, str]]) -> None:
            def on_open(data: gr.EventData, request: gr.Request) -> Updates:
                link = {
                    **link_of(data, request),
                    "at": f"{time.monotonic()}",
                }  # the same one may be opened again
                return {c.ask: f"?{urlencode(link)}", tabs: gr.Tabs(selected="search")}

            event(on_open, None, [c.ask, tabs], **PRIVATE)

        opens(self._watch.panel.replay, self._watch.replay_link)
        return opens

    def _wire(self, page: gr.Blocks) -> None:
        """Have all that asks for a search write one request, and answer the newest; let inputs and clips be chosen."""
        c, r = self.controls, self.results
        inputs = [c.query, c.gallery, c.systems, c.k, c.reference, r.wanted, r.unwanted]
        asking = (
            *(
                c.ask.change,
                c.find.click,
                c.query.submit,
                r.wanted.submit,
                r.unwanted.submit,
            ),
            *(c.systems.input, c.k.input, c.examples.ask, c.picture_examples.ask, c.reference.ask),
            *(r.understood.ask, r.parts.ask, r.stage.ask, r.columns.ask),
        )
        sent = [
            c.request,
            c.query,
            r.problem,
        ]  # the problem is not cleared by an answer, which may be an older one
        for event in asking:
            event(None, [c.ask, *inputs], sent, js="nt2vr.send", **JS_ONLY)
        page.load(None, [c.ask, *inputs], sent, js="nt2vr.sendFirst", **JS_ONLY)
        found = [
            r.answer,
            r.answered,
            r.problem,
            r.understood,
            r.parts,
            r.menu,
            r.columns,
            r.index,
            r.indexing,
        ]
        found += [self._watch.timer, c.gallery, c.systems, c.examples, self.head]
        newest: dict[str, Any] = {
            "trigger_mode": "always_last",
            "show_progress": "minimal",
            **PRIVATE,
        }
        asked = [c.request, r.answer]
        answered = c.request.change(
            self.on_search, asked, found, show_progress_on=r.columns, **newest
        )
        shown = [*inputs, *r.sliders]
        answered.success(None, [r.answered, *shown], shown, js="nt2vr.settle", **JS_ONLY)
        c.with_picture.click(None, js="nt2vr.chooseFiles")
        c.gallery.input(None, [c.gallery, c.query, c.k, c.ask], c.ask, js="nt2vr.enter", **JS_ONLY)
        added = c.reference.added(
            self.on_added, c.reference, [c.reference, r.problem, c.ask], **PRIVATE
        )
        added.then(None, js="nt2vr.pictureRead")
        liked = r.detail.like(
            self.on_like, [r.answer, c.reference], [c.reference, r.detail], **PRIVATE
        )
        for event in (liked, *r.systems_added):
            event.success(None, outputs=c.ask, js="nt2vr.ask", **JS_ONLY)
        for slider in r.sliders:
            slider.release(None, slider, c.ask, js=script("moved", slider.elem_id), **JS_ONLY)
        panel = ClipPanel(self.galleries, self.media, self.permissions, self.first_answer)
        for clips in (r.columns, r.detail):
            clips.pick(panel.on_pick, r.answer, r.detail, **QUIET)
        r.detail.why(panel.on_why, r.answer, r.detail, **QUIET)
        r.detail.match(panel.on_match, r.answer, r.detail, **QUIET)
        r.detail.backwards(panel.on_backwards, r.answer, r.detail, **QUIET)
        r.detail.close(dict, None, r.detail, **QUIET)

        def on_systems(chosen: list[str], request: gr.Request) -> tuple[gr.Dropdown, Any]:
            names = self.galleries.built_in.system_names(chosen, folds=True)
            return gr.Dropdown(system_choices(names)), self._watch.run_notes(request)

        # new models and libraries appear without a restart
        listed = [c.systems, self._watch.notes]
        c.systems.focus(on_systems, c.systems, listed, queue=False, **QUIET)
        c.gallery.focus(
            lambda: gr.Dropdown(gallery_choices(self.galleries)),
            None,
            c.gallery,
            queue=False,
            **QUIET,
        )

    def first_views(self) -> dict[str, Any]:
        """Return what the panels show for the default query, whoever asks, by their elem_id."""
        shown, _ = self._answered(SearchState(), None, None)
        understood = shown[self.results.understood]
        views = {
            # Whether to offer a training depends on who asks.
            "understood": {name: understood[name] for name in understood if name != "trains"},
            "columns": shown[self.results.columns],
        }
        plain: dict[str, Any] = json.loads(json.dumps(views))
        return plain

    def first_answer(self) -> Answer:
        """Return the answer that pages open with."""
        state = SearchState()
        query = self.galleries.searcher(state.gallery).understand(state.q)
        return self._search(state, query)[0]

    def on_search(self, sent: str, previous: Answer | None, visitor: gr.Request) -> Updates:
        """Search, after opening the request's link; if that fails, what is shown stays."""
        r, shown = self.results, Updates()
        try:
            asked = Request.of(sent)
            state, filled = SearchState.of_link(asked.link), dict[str, Any]()
            if asked.opened:
                state, shown = self._opened(asked, visitor)
                filled = {
                    "q": state.q,
                    "gallery": state.gallery,
                    "systems": state.systems,
                    "k": state.k,
                }
            if asked.references is not None:
                state = replace(state, references=tuple(asked.references))
            if asked.opened:
                filled["references"] = self._references.view(state.references)
            shown[r.answered] = {"number": asked.number, "inputs": filled}
            found, settled = self._answered(state, previous, visitor)
        except Nt2vrError as error:
            return {**shown, r.problem: problem(error)}
        settled["inputs"] |= filled
        return {**shown, **found, r.answered: {"number": asked.number, **settled}}

    def _opened(self, asked: Request, visitor: gr.Request) -> tuple[SearchState, Updates]:
        """Read a link as far as its gallery, systems and clips still exist, and return what the page says of these."""
        c, link = self.controls, asked.link
        try:
            gallery = self.galleries.key(link.get("gallery", ""))
        except Nt2vrError as error:
            gallery = ""
            warn(error)
        searcher = self.galleries.searcher(gallery)
        query = own_examples(searcher.gallery)[0] if gallery and "q" not in link else DEFAULT_QUERY
        state = SearchState.of_link({**link, "gallery": gallery}, query)
        names = self.galleries.built_in.system_names(state.systems, folds=True)
        state, dropped = state.shown_of(names, self.galleries.default_systems(gallery))
        if dropped:
            warn(ConfigError(dropped))
        known = self._references.known(state.references)
        if len(known) < len(state.references):
            gr.Warning("A clip that the link refers to is not in this gallery.")
        if upload := link.get("upload"):  # the reference of a report's query
            try:
                known = self._references.with_uploads(known, [upload])
            except Nt2vrError as error:
                warn(error)
        return replace(state, references=known), {
            c.gallery: gr.Dropdown(gallery_choices(self.galleries)),
            c.systems: gr.Dropdown(system_choices(names)),
            c.examples: examples_view(searcher),
            self.head: status_line(self.galleries, gallery, visitor),
        }

    def _answered(
        self, state: SearchState, previous: Answer | None, visitor: gr.Request | None
    ) -> tuple[Updates, dict[str, Any]]:
        """Search; return what shows the answer, and what the browser fills in."""
        searcher = self.galleries.searcher(state.gallery)
        state, query, parsed = with_corrections(state, searcher.understand)
        if state.flip or not self._watch.replays(state.q, state.gallery):
            state = replace(state, replay="")
        answer, panel, lacking = self._search(state, query)
        was_flipped = previous is not None and previous.denied == query
        flips = bool(state.flip or (query.unwanted and was_flipped and not state.replay))
        other = self._search(state.turned, query)[0] if flips else None
        state, marked = self._marked(state)
        videos = () if state.references or searcher.is_library else searcher.gallery.videos
        said = remark(searcher, answer, state.references)
        urls = partial(self.media.urls, state.gallery)
        view_of = partial(
            columns_view, video_of=searcher.video, urls=urls, marked=marked, other=other
        )
        view = view_of(answer) | beside(state.references, state.gallery, answer)
        view["flies"] = key_of(state.q, state.gallery, state.references)
        key = key_of(replace(state, systems=()))
        columns = self._watch.columns(
            view, answer, key, searcher, panel, view_of, bool(state.replay)
        )
        understood = understood_view(answer, state, parsed, said, headline(columns["columns"]))
        columns["cue"] = next((each["cue"] for each in understood["said"] if "cue" in each), "")
        r, job = self.results, self.indexing.under_way(state.gallery)
        drawings = self.indexing.drawings(
            state.gallery, state.systems, self.permissions, visitor, is_indexed=not lacking
        )
        trainings = self._watch.offers(visitor, state.q, state.gallery)
        found = {
            r.answer: answer,
            r.parts: parts_view(answer, parsed),
            r.menu: downloads(answer),
            r.understood: understood
            | way_out_view(
                answer, videos, lambda text: searcher.understand(text, False), searcher.video
            )
            | trainings
            | legends_view(columns),
            r.columns: columns,
            **self._watch.awake(),
            r.index: index_view(
                answer, lacking, job, self.permissions.refusal(visitor, "import"), drawings=drawings
            ),
            r.indexing: gr.Timer(active=True)
            if job
            else gr.skip(),  # it stops by itself when the job has ended
            self.head: status_line(
                self.galleries, state.gallery, visitor
            ),  # models may have loaded meanwhile
        }
        boxes = dict(zip(("wanted", "unwanted"), part_texts(query), strict=True))
        return found, {"link": state.link, "inputs": boxes, "sliders": sliders_view(answer, state)}

    def _marked(self, state: SearchState) -> tuple[SearchState, Marked]:
        """Return the relevant clips of a judged query, which is one until the sentence changes."""
        if state.flip:
            return state, Marked()
        marked = self.marked(state.judged, state.q, state.gallery)
        return state if marked.video_ids else replace(state, judged=""), marked

    def _search(
        self, state: SearchState, query: Query
    ) -> tuple[Answer, SearchPlan | None, NotIndexedError | None]:
        """Search; return also what it was asked with, or why the answer has no columns."""
        searcher, literal = self.galleries.searcher(state.gallery), state.literal.split("|")
        given = self._references.resolve(state.references, state.gallery)
        asked, denied = (query.affirmed, query) if state.flip else (query, None)
        try:
            checked = searcher.checked(asked, given)
            k = MAX_K if searcher.is_library else state.k  # what is folded makes room for others
            panel = searcher.plan(state.systems, k, given, state.strengths, literal)
        except NotIndexedError as error:
            return Answer(asked, (), gallery=state.gallery, denied=denied), None, error
        answer = replace(searcher.answer(checked, panel), denied=denied)
        if searcher.is_library:
            answer = replace(
                answer, rankings=tuple(folded(each, state.k) for each in answer.rankings)
            )
        return answer, replace(panel, k=state.k), None

    def on_like(
        self, answer: Answer | None, references: dict[str, Any], event: gr.EventData
    ) -> tuple[Any, Any]:
        clip, wanted = event_value(event, "id", str), event_value(event, "wanted", int)
        chosen = with_clip(
            read_chosen(references), clip, answer.gallery if answer else "", bool(wanted)
        )
        return self._references.view(chosen), {}

    def on_added(self, references: dict[str, Any], event: gr.EventData) -> Updates:
        """Make uploaded pictures and videos references, and search; what is shown stays if one cannot be read."""
        c, paths = self.controls, event_value(event, "paths", str).split("\n")
        try:
            chosen = self._references.with_uploads(read_chosen(references), paths)
        except Nt2vrError as error:
            return {self.results.problem: problem(error)}
        return {c.reference: self._references.view(chosen), c.ask: f"{time.monotonic()}"}
