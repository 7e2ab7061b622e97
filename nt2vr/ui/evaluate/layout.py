"""Components of the Evaluate tab, wired by `tab` and `review`."""

from typing import Any

import gradio as gr

from nt2vr.errors import counted
from nt2vr.evaluation.built_in import NUM_CLIPS
from nt2vr.evaluation.comparison import IMPROVED, SMALLEST
from nt2vr.evaluation.intervals import LEVEL
from nt2vr.evaluation.sources import BUILT_IN, CLASSES, GALLERY, LIBRARY
from nt2vr.library.libraries import Libraries
from nt2vr.ui.confirmation import Confirmation
from nt2vr.ui.evaluate.report_link import FILTERS, HARD_PAIRS, ORDERS
from nt2vr.ui.evaluate.report_view import X, Y
from nt2vr.ui.theme import fold, lead, script, template
from nt2vr.ui.web.errors import problem_place
from nt2vr.world import WORLD

POLL_S = 1.0
DEFAULT_SYSTEMS = ("CLIP-bnl", "CLIP-con", "CLIP-neg", "CLIP boolean")
COVR = "covr:"  # before the built-in world or a folder: pictures plus texts
BUILT_IN_DATA = "Queries and videos"
OWN_DATA = (
    f"{BUILT_IN_DATA}, the path of a dataset folder or a benchmark's CSV file, words:PATH for captions alone, or "
    f"{COVR}PATH for pictures plus texts: WebVid-CoVR, CIRR, FashionIQ, CIRCO"
)
CHOOSE_DATA = script("chooseData", {"covr": COVR, "world": COVR + WORLD, "builtIn": BUILT_IN, "library": LIBRARY})
BREAKDOWN = (
    f"The ranges are {LEVEL} % intervals over queries; queries with the same relevant videos count as one. The "
    "difference is taken query by query. It is within noise if its interval includes 0, or if flipping its signs at "
    "random gives one as large in 5 % of cases. Of 20 groups without any difference, about one is not within noise by "
    f"chance. Words with fewer than {SMALLEST} queries are joined."
)
WIDTHS: list[str | int] = [115, 85, 182, 182, 182, 165]  # pixels: no head and no interval breaks
SIZES = (10, 25, 100)  # queries per kind of change; the results have 100
SPLITS = ("test", "validation", "train", "all")


def data_choices(num_gallery_clips: int, libraries: Libraries) -> list[tuple[str, str]]:
    """List the built-in data and the libraries with captions; questions of other kinds last."""
    return [
        (f"Built-in world, test scenes ({NUM_CLIPS:,} clips, rendered on first use)", WORLD),
        (f"Gallery ({num_gallery_clips} clips): every query opens in Search with its relevant clips", GALLERY),
        *(
            (f"{info.name} ({counted(info.num_clips, 'clip')}): from your libraries", f"{LIBRARY}{info.id}")
            for info in libraries.infos()
            if info.has_captions
        ),
        ("Classes: who is in a test scene of the built-in world, what they do, and where", CLASSES + WORLD),
        ("Picture plus text: edits of the built-in world's held-out scenes", f"{COVR}{WORLD}"),
    ]


class FormParts:
    """The form of a new evaluation, and the progress of the one under way."""

    def __init__(self, systems: list[str], models: list[str], choices: list[tuple[str, str]]) -> None:
        with gr.Column(elem_id="evaluate-form") as self.column:
            lead("Measure models", "Each answers the same queries, whose right clips are known.")
            with gr.Row(equal_height=True):
                self.data = gr.Dropdown(
                    choices,
                    value=GALLERY,
                    label="Data",
                    info=BUILT_IN_DATA,
                    allow_custom_value=True,
                    elem_id="evaluate-data",
                    scale=4,
                    min_width=280,
                )
                narrow: dict[str, Any] = {"visible": False, "scale": 1, "min_width": 120}
                self.split = gr.Dropdown(
                    list(SPLITS), value="test", label="Split", info="of the data", elem_id="evaluate-split", **narrow
                )
                self.per_kind = gr.Dropdown(
                    list(SIZES),
                    value=SIZES[0],
                    label="Queries",
                    info="per kind of change",
                    elem_id="evaluate-per-kind",
                    **narrow,
                )
            self.systems = gr.Dropdown(
                systems,
                value=list(DEFAULT_SYSTEMS),
                multiselect=True,
                label="Systems",
                elem_id="evaluate-systems",
                info="Two controls are added: the zero-shot base model, and the same with the negated part dropped.",
            )
            self.model = gr.Dropdown(
                models,
                value="CLIP",
                label="Model",
                info="Every way of combining a picture with a text is measured, and each of the two alone as a "
                "control.",
                visible=False,
                elem_id="evaluate-model",
            )
            chosen = [self.split, self.per_kind, self.systems, self.model]
            self.data.change(None, self.data, chosen, js=CHOOSE_DATA)
            with gr.Row():
                self.start = gr.Button("Evaluate", variant="primary", elem_id="evaluate-start", scale=0, min_width=220)
                self.cancel = gr.Button("Cancel", elem_id="evaluate-cancel", interactive=False, scale=0, min_width=120)
            self.problem = problem_place("evaluate-problem")
            self.note = gr.Markdown(visible=False, elem_id="evaluate-note")
            self.job = template("evaluate-job", {})


class Filters:
    """Which queries of the open report are listed, and in which order; named as in `report_link.FILTERS`."""

    def __init__(self) -> None:
        with gr.Row(elem_id="evaluate-filters", equal_height=True):  # style.css lays them out
            self.first = gr.Dropdown([], label="Compare", elem_id="evaluate-first")
            self.second = gr.Dropdown([], label="with", elem_id="evaluate-second")
            self.order = gr.Dropdown(list(ORDERS), value=IMPROVED, label="Sort by most", elem_id="evaluate-order")
            self.kind = gr.Dropdown([], label="Kind", elem_id="evaluate-kind")
            self.cue = gr.Dropdown([], label="Cue", elem_id="evaluate-cue")
            self.tag = gr.Dropdown([], label="Tag", elem_id="evaluate-tag")
            self.find = gr.Textbox(label="Find", placeholder="words of the query", elem_id="evaluate-find")
            self.fails = gr.Checkbox(False, label="fails everywhere", elem_id="evaluate-fails")

    @property
    def inputs(self) -> list[Any]:
        """All of them, in the order of `report_link.FILTERS`."""
        return [getattr(self, name) for name in FILTERS]


class ReportParts:
    """The open report."""

    def __init__(self) -> None:
        with gr.Column(visible=False, elem_id="evaluate-watch") as self.column:
            with gr.Row(elem_id="evaluate-buttons"):
                self.rename = gr.Button("Rename", elem_id="evaluate-rename", size="sm", min_width=90)
                self.delete = gr.Button("Delete", elem_id="evaluate-delete", size="sm", min_width=90)
            self.confirm = Confirmation("evaluate", "delete", "Delete this report permanently?", "Delete")
            with gr.Row(visible=False, elem_id="evaluate-naming", elem_classes="nt-confirm nt-naming") as self.naming:
                self.name = gr.Textbox(
                    placeholder="Name of this report",
                    container=False,
                    show_label=False,
                    label="Name of this report",
                    max_lines=1,
                    elem_id="evaluate-name",
                )
                self.save_name = gr.Button("Save", size="sm", elem_id="evaluate-save-name")
            self.problem = problem_place("report-problem")
            self.report = template("evaluate-report", {})
            self.chart = gr.ScatterPlot(
                x=X,
                y=Y,
                x_lim=[None, 1],
                y_lim=[None, 100],
                color="system",
                height=300,
                show_label=False,
                visible=False,
                elem_id="evaluate-chart",
            )
            self.filters = Filters()
            label = "Breakdown: where the two systems differ by more than noise"
            with fold(label, elem_id="evaluate-breakdowns") as self.breakdown:
                self.measure = gr.Dropdown([HARD_PAIRS], value=HARD_PAIRS, label="Measure", elem_id="evaluate-measure")
                self.groups = gr.Dataframe(
                    interactive=False, wrap=True, column_widths=WIDTHS, elem_id="evaluate-groups"
                )
                gr.Markdown(BREAKDOWN)
            self.queries = template("evaluate-queries", {})
            self.review = template("review", {})  # the query under review, in a dialog


class EvaluateParts:
    """All components of the tab: at the left the reports, at the right the form or the open report.

    Attributes:
        chosen: link to the place of a report shown last, None for the default (see `_show`); stored by the browser.
        address: hidden; the place in a report that the browser asks for.
        seen: the Job as the page last showed it.
    """

    def __init__(self, systems: list[str], models: list[str], data: list[tuple[str, str]]) -> None:
        self.chosen = gr.BrowserState(None, storage_key="nt2vr-report", secret="nt2vr")
        self.address = gr.Textbox(visible="hidden")
        self.seen, self.timer = gr.State(), gr.Timer(POLL_S, active=False)
        with gr.Row(elem_id="evaluate"):
            with gr.Column(scale=1, min_width=230, elem_id="evaluate-list"):
                self.new = gr.Button("New evaluation", elem_id="evaluate-new")
                self.reports = template("evaluate-reports", {"reports": []}, "pick")
            with gr.Column(scale=5, min_width=500):
                self.form = FormParts(systems, models, data)
                self.report = ReportParts()
