"""The components of the Search tab: the inputs above the results, and the panels of an answer."""

import json
from typing import Any

import gradio as gr

from nt2vr.library.galleries import Galleries
from nt2vr.search.strategies import STRATEGIES, STRENGTHS
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.examples import (
    examples_view,
    lay_out_picture_examples,
)
from nt2vr.ui.search.formats import system_choices
from nt2vr.ui.search.models import MoreModels
from nt2vr.ui.search.state import (
    K_CHOICES,
    MAX_COLUMNS,
    SearchState,
)
from nt2vr.ui.theme import TEMPLATES, fold, menu, template
from nt2vr.ui.web.later_parts import LaterParts
from nt2vr.world.offers import offered_words

MENU_BUTTON = (
    '<button type="button" popovertarget="menu" aria-label="More"'
    ' title="Downloads, keys, models …">⋯</button>'
)


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
        self.stage = template("stage", {"stories": built_in_stories()})
        self.answer = gr.State()  # the Answer on display
        self.indexing = gr.Timer(
            1.0, active=False
        )  # ticks while a library is being indexed for a search
        # what the browser is to fill in
        self.answered = gr.HTML({}, html_template="", visible="hidden")
