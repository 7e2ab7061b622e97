"""The form of a new evaluation, and the progress of the one under way."""

from dataclasses import dataclass

import gradio as gr

from nt2vr.errors import ConfigError, counted
from nt2vr.evaluation.benchmark_kinds import (
    ModelData,
    benchmark_kinds,
    prefix_of,
    select_data,
    shipped_data,
)
from nt2vr.evaluation.built_in import NUM_CLIPS
from nt2vr.evaluation.sources import BUILT_IN, CLASSES, GALLERY, LIBRARY, Data
from nt2vr.library.libraries import Libraries
from nt2vr.search.searcher import Searcher
from nt2vr.ui.evaluate.evaluation_request import EvaluationRequest
from nt2vr.ui.evaluate.report_view import RUNNING_TEXT, LastJob
from nt2vr.ui.job_view import is_under_way, job_view
from nt2vr.ui.search.formats import system_choices
from nt2vr.ui.theme import lead, menu, script, template
from nt2vr.ui.view import Choices
from nt2vr.ui.web.errors import problem_place
from nt2vr.ui.web.inputs import Components, Updates
from nt2vr.ui.web.permissions import Permissions, Visitor
from nt2vr.world import WORLD

DEFAULT_SYSTEMS = ("CLIP-bnl", "CLIP-con", "CLIP-neg", "CLIP boolean")
BUILT_IN_DATA = "Queries and videos"
CONTROLS = (
    "Two controls are added: the zero-shot base model, and the same with the negated part dropped."
)
WAYS = "Every way of combining a picture with a text is measured, and each of the two alone as a control."
# Queries per kind of change; the results have 100.
SIZES = (10, 25, 100)


@dataclass
class EvaluationForm:
    """The form: what to measure, on which data."""

    searcher: Searcher
    libraries: Libraries
    permissions: Permissions

    def build(self) -> None:
        with gr.Column(visible=False, elem_id="evaluate-form") as self.column:
            lead(
                "Measure models",
                "All answer the same queries, for which the right clips are known.",
            )
            with gr.Row(equal_height=True):
                self._build_data()
            self._build_systems()
            with gr.Row():
                self.start = gr.Button(
                    "Evaluate", variant="primary", elem_id="evaluate-start", scale=0, min_width=220
                )
                self.cancel = gr.Button(
                    "Cancel", elem_id="evaluate-cancel", interactive=False, scale=0, min_width=120
                )
            self.problem = problem_place("evaluate-problem")
            self.note = gr.Markdown(visible=False, elem_id="evaluate-note")
            self.job = template("evaluate-job", {})
        shown_by_data = [self.split, self.per_kind, self.systems, self.model]
        self.data.change(None, self.data, shown_by_data, js=_choose_data())

    def _build_data(self) -> None:
        self.data = menu(
            "evaluate-data",
            label="Data",
            choices=self._data_choices(),
            value=GALLERY,
            info=BUILT_IN_DATA,
            allow_custom_value=True,
            scale=4,
            min_width=280,
        )
        narrow = {"visible": False, "scale": 1, "min_width": 120}
        self.split = menu(
            "evaluate-split",
            label="Split",
            choices=("test", "validation", "train", "all"),
            value="test",
            info="of the data",
            **narrow,
        )
        self.per_kind = menu(
            "evaluate-per-kind",
            label="Queries",
            choices=SIZES,
            value=SIZES[0],
            info="per kind of change",
            **narrow,
        )

    def _build_systems(self) -> None:
        self.systems = menu(
            "evaluate-systems",
            label="Systems",
            choices=system_choices(self.searcher.system_names()),
            value=list(DEFAULT_SYSTEMS),
            multiselect=True,
            info=CONTROLS,
        )
        self.model = menu(
            "evaluate-model",
            label="Model",
            choices=system_choices(self.searcher.models.names()),
            value="CLIP",
            info=WAYS,
            visible=False,
        )

    @property
    def inputs(self) -> Components:
        """The boxes, in the order of `chosen`."""
        return [self.data, self.split, self.systems, self.per_kind, self.model]

    @property
    def filled(self) -> Components:
        """The components that `fill` updates."""
        return [self.data, self.split, self.systems]

    def fill(self, requested: EvaluationRequest) -> Updates:
        """Fill in what another tab wants to have evaluated."""
        systems = system_choices(self.searcher.system_names(requested.systems))
        return {
            self.data: requested.data,
            self.split: requested.split,
            self.systems: gr.Dropdown(systems, value=requested.systems, multiselect=True),
        }

    @property
    def followed(self) -> Components:
        """The components that `follow` updates."""
        return [self.column, self.start, self.cancel, self.job]

    @property
    def visited(self) -> Components:
        """The components that `visit` updates."""
        return [self.systems, self.model, self.data, self.note]

    def visit(self, visitor: Visitor) -> Updates:
        """List data and systems, and say what this visitor may not do."""
        info = _own_data() if self.permissions.may("paths", visitor) else BUILT_IN_DATA
        refusal = self.permissions.refusal(visitor, "paths", "delete")
        return {
            self.systems: gr.Dropdown(system_choices(self.searcher.system_names())),
            self.model: gr.Dropdown(system_choices(self.searcher.models.names())),
            self.data: gr.Dropdown(self._data_choices(), info=info),
            self.note: gr.Markdown(refusal, visible=bool(refusal)),
        }

    def follow(self, job: LastJob, visitor: Visitor) -> Updates:
        """Show the evaluation under way, and the buttons as it allows."""
        can_cancel = (
            job is not None
            and job.state == "running"
            and self.permissions.may_cancel(job.session, visitor)
        )
        return {
            self.start: gr.Button(interactive=not is_under_way(job)),
            self.cancel: gr.Button(interactive=can_cancel),
            self.job: job_view(job, RUNNING_TEXT, self.permissions.redactor(visitor)),
        }

    def chosen(
        self, data: object, split: str, systems: list[str], per_kind: int, model: str
    ) -> tuple[Data | ModelData, list[str]]:
        """Return the data that were chosen, and the systems to measure on them."""
        # A box with values of its own may send anything.
        name = data.strip() if isinstance(data, str) else ""
        prefix = prefix_of(name)
        if not prefix:
            return Data(name, split=split), systems  # type: ignore[arg-type]
        if name == prefix or not model or per_kind not in SIZES:
            raise ConfigError("Choose data, a model and a number of queries to evaluate.")
        return select_data(name, split, per_kind), [model]

    def _data_choices(self) -> Choices:
        """List the built-in data and the libraries with captions; questions of other kinds last."""
        world = f"Built-in world, test scenes ({NUM_CLIPS:,} clips, rendered on first use)"
        num_shown = len(self.searcher.gallery.videos)
        gallery = (
            f"Gallery ({num_shown} clips): every query opens in Search with its relevant clips"
        )
        choices = [(world, WORLD), (gallery, GALLERY)]
        for info in self.libraries.infos():
            if info.has_captions:
                label = f"{info.name} ({counted(info.num_clips, 'clip')}): from your libraries"
                choices.append((label, f"{LIBRARY}{info.id}"))
        classes = "Classes: who is in a test scene of the built-in world, what they do, and where"
        return [*choices, (classes, CLASSES + WORLD), *shipped_data()]


def _own_data() -> str:
    """Say what data may be named by those who may name files."""
    dataset = f"{BUILT_IN_DATA}, the path of a dataset folder or a benchmark's CSV file"
    ways = [f"{prefix}PATH for {kind.path_help}" for prefix, kind in benchmark_kinds().items()]
    return " or ".join([f"{dataset}, words:PATH for captions alone,", *ways])


def _choose_data() -> str:
    """Return the script that shows the fields which the chosen data has."""
    kinds = benchmark_kinds()
    sized = []
    for prefix, kind in kinds.items():
        sized += [f"{prefix}{name}" for name in kind.sized]
    constants = {"ofModels": list(kinds), "sized": sized, "builtIn": BUILT_IN, "library": LIBRARY}
    return script("chooseData", constants)
