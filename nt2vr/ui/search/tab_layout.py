"""The components of the Search tab: the inputs above the results, and the panels of an answer."""

import json

import gradio as gr

from nt2vr.library.galleries import Galleries
from nt2vr.search.strategies import STRATEGIES, STRENGTHS, Strength
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.examples import examples_view, lay_out_picture_examples
from nt2vr.ui.search.formats import system_choices
from nt2vr.ui.search.more_models import MoreModels
from nt2vr.ui.search.state import K_CHOICES, MAX_COLUMNS, SearchState
from nt2vr.ui.theme import TEMPLATES, fold, menu, template
from nt2vr.ui.view import Choices, Views
from nt2vr.ui.web.later_parts import LaterParts
from nt2vr.world.offers import offered_words

PLACEHOLDER = (
    "Describe what clips should show, and what not: a man playing the guitar and not singing"
)
MENU_BUTTON = (
    '<button type="button" popovertarget="menu" aria-label="More"'
    ' title="Downloads, keys, models …">⋯</button>'
)
# How a strategy other than the plain one looks in the menu of systems: indented, below its model.
STRATEGY_STYLE = (
    '#systems li[aria-label*=" {name}"]::after {{ content: "{meaning}"; }}'
    '#systems li[aria-label*=" {name}"] {{ padding-left: 30px; border-top: 0; font-weight: 400; }}'
)


def gallery_choices(galleries: Galleries) -> Choices:
    return [("Built-in world", ""), *((info.name, info.id) for info in galleries.libraries.infos())]


def menu_style() -> str:
    """Group the menu of systems by model, and describe each strategy in it."""
    style = f'#systems li::after {{ content: "{STRATEGIES["plain"].meaning}"; }}'
    for name, strategy in STRATEGIES.items():
        if name != "plain":
            style += STRATEGY_STYLE.format(name=name, meaning=strategy.meaning)
    return style


def built_in_stories() -> Views:
    """Read the shipped stories for talks: `query`, `systems`, `k`, and a `note` for the speaker."""
    text = (TEMPLATES / "stories.json").read_text(encoding="utf-8")
    stories: Views = json.loads(text)
    return stories


class Controls:
    """Inputs above the results: query, references, examples, and the choice of gallery and systems.

    Attributes:
        reference: the references as chips; takes what is pasted or dropped, too.
        ask: a change of it starts a search. It holds a number, or a link to be opened. A `gr.State`
            would not be in the browser.
        request: what the browser asks for, see `Request`.
    """

    def __init__(self, galleries: Galleries, media: Media) -> None:
        with gr.Row(equal_height=True, elem_id="ask"):
            self.gallery = menu(
                "gallery",
                "Gallery",
                gallery_choices(galleries),
                value="",
                min_width=150,
                scale=0,
                container=False,
            )
            self.query = gr.Textbox(
                SearchState().q,
                label="Query",
                max_lines=3,
                placeholder=PLACEHOLDER,
                elem_id="query",
                scale=10,
                container=False,
            )
            self.reference = template("reference", {"references": []})
            self.with_picture = gr.Button(
                "+ picture", elem_id="with-picture", min_width=110, scale=0
            )
            # Whether a phone shows the choices below; wider pages always do.
            gr.Checkbox(
                False, label="Options", elem_id="options", min_width=100, scale=1, container=False
            )
            self.find = gr.Button("Search", variant="primary", elem_id="search-button", scale=0)
            gr.HTML(MENU_BUTTON, elem_id="menu-button")
        template("words", {"words": offered_words()})
        with gr.Row(elem_id="choices"):
            self.examples = template("examples", examples_view(galleries.built_in))
            self.picture_examples = lay_out_picture_examples(galleries.built_in, media)
            self._choose_systems(galleries)
        self.ask = gr.Textbox(visible="hidden")
        self.request = gr.Textbox(visible="hidden", elem_id="request")

    def _choose_systems(self, galleries: Galleries) -> None:
        """Lay out the choice of systems, and of how many clips each of them shows."""
        start = SearchState()
        self.systems = menu(
            "systems",
            "Systems to compare, one per column; the first is the baseline",
            system_choices(galleries.built_in.system_names(folds=True)),
            value=list(start.systems),
            multiselect=True,
            max_choices=MAX_COLUMNS,
            min_width=100,
            container=False,
        )
        counts = [(f"top {count}", count) for count in K_CHOICES]
        self.k = menu("k", "Results", counts, value=start.k, min_width=90, scale=0, container=False)


class Results:
    """The answer, and the panels that correct it and add models.

    Attributes:
        problem: why there is no new answer; what is shown stays.
        parts: the parts of the query, whose words move by a click or a drag.
        sliders: one per strategy, for the systems whose name does not fix its strength.
        systems_added: events after which a model has joined the systems.
        index: which clips of a library are not indexed, and how far its update is.
        answer: the Answer on display.
        indexing: ticks while a library is being indexed for a search.
        for_browser: what the browser is to fill in.
    """

    def __init__(
        self, more_models: MoreModels, systems: gr.Dropdown, page: gr.Blocks, later: LaterParts
    ) -> None:
        self.problem = gr.HTML(elem_id="problem")
        self.understood = template("understood", {})
        # What is seldom needed is in a menu.
        with gr.Column(elem_id="menu"):
            self.menu = template("menu", {}, elem_id="menu-links")
            with fold("Correct this, or change the weights", elem_id="correct"):
                self._build_corrections()
            self.systems_added = more_models.build(systems, page, later)
        self.index = template("search-index", {})
        self.columns = template(
            "columns", {"columns": [], "waiting": True}, "pick", "flights", "epochs"
        )
        self.detail = template("detail", {})
        self.stage = template("stage", {})
        self.answer = gr.State()
        self.indexing = gr.Timer(1.0, active=False)
        self.for_browser = gr.HTML({}, html_template="", visible="hidden")

    def _build_corrections(self) -> None:
        self.parts = template("parts", {})
        with gr.Row():
            self.wanted = gr.Textbox(label="Wanted", elem_id="wanted", placeholder="a man singing")
            self.unwanted = gr.Textbox(
                label="Unwanted, separated by commas",
                elem_id="unwanted",
                placeholder="the guitar, a dog",
            )
        self.sliders = [_slider(strategy, strength) for strategy, strength in STRENGTHS.items()]


def _slider(strategy: str, strength: Strength) -> gr.Slider:
    low, high, step = strength.slider
    return gr.Slider(
        low,
        high,
        strength.default,
        step=step,
        label=f"{strength.symbol}, {strength.meaning} in “{strategy}”",
        elem_id=strength.word,
        visible="hidden",
    )
