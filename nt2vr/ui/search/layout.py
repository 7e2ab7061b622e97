"""Components of the Search tab, wired by `tab`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from nt2vr.search.galleries import Galleries
from nt2vr.search.searcher import DEFAULT_K, DEFAULT_SYSTEMS, Searcher
from nt2vr.search.strategies import STRENGTHS
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.column_view import MEANINGS, short_name
from nt2vr.ui.search.link import DEFAULT_QUERY, K_CHOICES, MAX_COLUMNS, SLIDERS
from nt2vr.ui.search.more_models import MoreModels
from nt2vr.ui.search.picture_examples import lay_out_picture_examples
from nt2vr.ui.search.stage import lay_out_stage
from nt2vr.ui.theme import fold, template
from nt2vr.ui.web.permissions import Permissions

EXAMPLES = (
    DEFAULT_QUERY,
    "a girl, no bike",
    "a boy is snowboarding without a snowman",
    "a woman is singing but not playing the piano",
    "not dancing",
    "a girl is reading a book, and there isn't a cat",
    "a man is cooking instead of drinking coffee",
    "a woman is surfing rather than swimming",
)


SURPRISE = "Surprise me"
NO_REFERENCES: dict[str, Any] = {"references": []}
INTRO = (
    "<p>Find clips by what they show <em>and what they do not</em><span>, and compare how models rank them</span>.</p>"
)


@dataclass(frozen=True)
class Controls:
    """Inputs above the results.

    Attributes:
        reference: the references as chips, with weights; takes further ones that are pasted or dropped.
        with_picture: opens the dialog for files.
        options: whether a phone shows what else can be chosen; wider pages always do.
        judged: hidden; the query of an evaluation report that was opened here.
        literal: hidden; words to ask for as typed, separated by "|".
        parts: hidden; the query's parts as corrected by the person, as in links.
        link: hidden; values of the link that the page was opened with, for the browser to apply.
        ask: hidden; every change of it starts a search.
    """

    query: gr.Textbox
    reference: gr.HTML
    with_picture: gr.Button
    options: gr.Checkbox
    find: gr.Button
    examples: gr.Dataset
    picture_examples: gr.HTML
    gallery: gr.Dropdown
    systems: gr.Dropdown
    k: gr.Dropdown
    judged: gr.Textbox
    literal: gr.Textbox
    parts: gr.Textbox
    link: gr.JSON
    ask: gr.Textbox


@dataclass(frozen=True)
class Results:
    """The answer, and how to correct it.

    Attributes:
        sliders: one per strategy of STRENGTHS, for the systems whose name does not fix it.
        strengths: hidden; what the sliders were moved to, empty until then.
        systems_added: events after which a model has joined the chosen systems.
        answer: the Answer on display.
        index: what a library lacks of its index, and the progress of indexing it.
        map: of the gallery, opened on demand.
        indexing: ticks while a library is being indexed for a search.
    """

    understood: gr.HTML
    wanted: gr.Textbox
    unwanted: gr.Textbox
    sliders: Sequence[gr.Slider]
    strengths: Sequence[gr.Textbox]
    systems_added: Sequence[Any]
    answer: gr.State
    index: gr.HTML
    columns: gr.HTML
    map: gr.HTML
    detail: gr.HTML
    stage: gr.HTML
    indexing: gr.Timer


def gallery_choices(galleries: Galleries) -> list[tuple[str, str]]:
    """List the galleries with their keys."""
    return [("Built-in world", ""), *((info.name, info.id) for info in galleries.shelf.infos())]


def system_choices(names: Sequence[str]) -> list[tuple[str, str]]:
    """List systems under their short names."""
    return [(short_name(name), name) for name in names]


def menu_style() -> str:
    """Group the menu of systems by model, and describe each strategy in it."""
    others = "".join(
        f'#systems li[aria-label*=" {strategy}"]::after {{ content: "{meaning}"; }}'
        f'#systems li[aria-label*=" {strategy}"] {{ padding-left: 42px; border-top: 0; font-weight: 400; }}'
        for strategy, meaning in MEANINGS.items()
        if strategy != "plain"
    )
    return f'#systems li::after {{ content: "{MEANINGS["plain"]}"; }}{others}'


def lay_out_controls(galleries: Galleries, templates: Path, words: Sequence[str], media: Media) -> Controls:
    """Build query, references, examples, and the choice of gallery and systems."""
    gr.HTML(INTRO, elem_id="intro")
    with gr.Row(equal_height=True):
        query = gr.Textbox(
            DEFAULT_QUERY,
            label="Query",
            container=False,
            lines=1,
            max_lines=3,
            elem_id="query",
            scale=10,
            placeholder="a man playing the guitar and not singing",
            autofocus=True,
        )
        with_picture = gr.Button("+ picture", elem_id="with-picture", min_width=110, scale=0)
        options = gr.Checkbox(False, label="Options", container=False, elem_id="options", min_width=100, scale=1)
        find = gr.Button("Search", variant="primary", elem_id="search-button", scale=1)
    template(templates, "words", {"words": list(words)})
    reference = template(templates, "reference", NO_REFERENCES)
    with gr.Row():
        examples = gr.Dataset(
            components=[query],
            samples=[[SURPRISE], *([example] for example in EXAMPLES)],
            label="Examples",
            elem_id="examples",
        )
        picture_examples = lay_out_picture_examples(templates, galleries.built_in, media)
    with gr.Row(equal_height=True):
        gallery = gr.Dropdown(
            gallery_choices(galleries),
            value="",
            label="Gallery",
            container=False,
            elem_id="gallery",
            min_width=170,
            scale=2,
        )
        systems = gr.Dropdown(
            system_choices(galleries.built_in.system_names()),
            value=list(DEFAULT_SYSTEMS),
            multiselect=True,
            max_choices=MAX_COLUMNS,
            label="Systems to compare, one per column; the first is the baseline",
            container=False,
            elem_id="systems",
            scale=8,
        )
        k = gr.Dropdown(
            [(f"top {count}", count) for count in K_CHOICES],
            value=DEFAULT_K,
            label="Results",
            container=False,
            elem_id="k",
            min_width=100,
            scale=1,
        )
    judged, literal, parts, ask = (gr.Textbox(visible="hidden") for _ in range(4))  # a State is not in the browser
    link = gr.JSON(visible="hidden")
    return Controls(
        query,
        reference,
        with_picture,
        options,
        find,
        examples,
        picture_examples,
        gallery,
        systems,
        k,
        judged,
        literal,
        parts,
        link,
        ask,
    )


def lay_out_results(
    searcher: Searcher, systems: gr.Dropdown, templates: Path, permissions: Permissions, page: gr.Blocks
) -> Results:
    """Build what shows an answer, and the panels that correct it and add models to `systems`."""
    understood = template(templates, "understood", {}, "report-link")
    with gr.Row():
        with fold("Correct this, or change the weights", elem_id="correct"):
            with gr.Row():
                wanted = gr.Textbox(label="Wanted", elem_id="wanted", placeholder="a man singing")
                unwanted = gr.Textbox(
                    label="Unwanted, separated by commas", elem_id="unwanted", placeholder="the guitar, a dog"
                )
            sliders = [
                gr.Slider(
                    *SLIDERS[strategy][:2],
                    value=strength.default,
                    step=SLIDERS[strategy][2],
                    elem_id=strength.word,
                    label=f"{strength.symbol}, {strength.meaning} in “{strategy}”",
                    visible="hidden",
                )
                for strategy, strength in STRENGTHS.items()
            ]
            strengths = [gr.Textbox(visible="hidden") for _ in sliders]  # a Number turns None into 0
        added = MoreModels(searcher, MAX_COLUMNS, permissions, templates).build(systems, page)
    index = template(templates, "search-index", {})
    columns = template(templates, "columns", {"columns": []}, "pick", "epochs")
    detail = template(templates, "detail", {})
    stage = lay_out_stage(templates)
    gallery_map = template(templates, "map", {})
    indexing = gr.Timer(1.0, active=False)
    return Results(
        understood,
        wanted,
        unwanted,
        sliders,
        strengths,
        added,
        gr.State(),
        index,
        columns,
        gallery_map,
        detail,
        stage,
        indexing,
    )
