"""The Search tab: wires its components to the galleries' searchers. They hold all logic.

A late answer never overwrites what a person has typed since. Every search goes through one event, which runs one at a
time and last the newest, and what an answer or a link writes into inputs is applied in the browser, only where they
still hold what they held before: see assets/ui/search.js.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr
from gradio.context import LocalContext

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.library.galleries import Galleries
from nt2vr.media.decode import Decoder
from nt2vr.search.answers import Answer
from nt2vr.search.epochs import Recording
from nt2vr.settings import ASSETS
from nt2vr.ui.library.indexing import Indexing, wire_indexing
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.answering import Answering
from nt2vr.ui.search.clip_panel import ClipPanel
from nt2vr.ui.search.column_view import Marked
from nt2vr.ui.search.gallery_view import examples_view, own_examples, status_line
from nt2vr.ui.search.layout import PRIVATE, QUIET, Controls, Results, gallery_choices, system_choices
from nt2vr.ui.search.more_models import MoreModels
from nt2vr.ui.search.references import References
from nt2vr.ui.search.state import DEFAULT_QUERY, NAMES, SearchState, dropped_systems, read_chosen, with_clip
from nt2vr.ui.search.watch import Watch
from nt2vr.ui.theme import script
from nt2vr.ui.web.errors import problem, warn
from nt2vr.ui.web.inputs import OpensQueries, Updates, event_value
from nt2vr.ui.web.permissions import Permissions
from trainer.runs.manager import RunManager


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
        self._watch.wire(page, c, r)
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
