"""Components of the Search tab; `tab` wires them."""

import json
from collections.abc import Sequence
from typing import Any

import gradio as gr

from nt2vr.library.galleries import Galleries
from nt2vr.search.searcher import CONCURRENT
from nt2vr.search.strategies import STRATEGIES, STRENGTHS
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.column_view import Marked, short_name
from nt2vr.ui.search.gallery_view import examples_view
from nt2vr.ui.search.more_models import MoreModels
from nt2vr.ui.search.picture_examples import lay_out_picture_examples
from nt2vr.ui.search.state import K_CHOICES, MAX_COLUMNS, SearchState
from nt2vr.ui.theme import TEMPLATES, fold, template
from nt2vr.world.offers import offered_words

# options of events that search: as many run at a time as searches do
PRIVATE: dict[str, Any] = {"api_visibility": "private", "concurrency_limit": CONCURRENT}
QUIET: dict[str, Any] = {"show_progress": "hidden", **PRIVATE}
MENU_BUTTON = (
    '<button type="button" popovertarget="menu" aria-label="More" title="Downloads, keys, models …">⋯</button>'
)
NO_REFERENCES: dict[str, Any] = {"references": []}


def gallery_choices(galleries: Galleries) -> list[tuple[str, str]]:
    """List the galleries with their keys."""
    return [("Built-in world", ""), *((info.name, info.id) for info in galleries.shelf.infos())]


def system_choices(names: Sequence[str]) -> list[tuple[str, str]]:
    """List systems under their short names."""
    return [(short_name(name), name) for name in names]


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
        self.stage = template("stage", {"stories": built_in_stories()}, "slide")
        self.answer, self.marked, self.indexing = gr.State(), gr.State(Marked()), gr.Timer(1.0, active=False)
