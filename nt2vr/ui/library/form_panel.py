"""The form of a new library."""

from dataclasses import dataclass

import gradio as gr

from nt2vr.library.source import WINDOW_S
from nt2vr.ui.library.index_models import IndexModels
from nt2vr.ui.theme import lead, menu, script, template
from nt2vr.ui.web.errors import problem_place
from nt2vr.ui.web.inputs import Components, Updates
from nt2vr.ui.web.permissions import Visitor

KINDS = (
    ("Upload files", "uploads"),
    ("Folder on this machine", "folder"),
    ("Manifest with captions", "manifest"),
    ("Dataset", "dataset"),
)
# By kind: the label of its path, and an example.
PATHS = {
    "uploads": ("", ""),
    "folder": ("Folder", "~/Videos"),
    "manifest": ("Captions file: CSV, TSV, JSONL or JSON", "~/clips/captions.jsonl"),
    "dataset": (
        "Folder of MSR-VTT, VATEX, Flickr30k, COCO, or of files with captions",
        "~/data/msrvtt",
    ),
}


@dataclass
class NewLibraryForm:
    """The form of a new library."""

    models: IndexModels

    def build(self) -> None:
        with gr.Column(elem_id="library-form") as self.column:
            lead(
                "Search your own videos",
                "Drop them anywhere on this page, or name a folder, whose files stay there.",
            )
            self.kind = gr.Radio(
                KINDS,
                value="uploads",
                label="Where the videos come from",
                elem_id="library-kind",
            )
            self.files = gr.File(
                label="Videos and pictures",
                height=180,
                type="filepath",
                file_count="multiple",
                elem_id="library-files",
            )
            self._build_path()
            self.problem = problem_place("library-problem")
            self._build_options()
            self.notice = template("search-index", {}, elem_id="form-drawings")
            self.add = gr.Button(
                "Add and index", elem_id="library-add", min_width=220, scale=0, variant="primary"
            )
            self.note = gr.Markdown(visible=False, elem_id="library-note")

    def _build_path(self) -> None:
        with gr.Row(equal_height=True):
            self.path = gr.Textbox(
                label="Folder", visible=False, elem_id="library-path", max_lines=1, scale=4
            )
            self.split = menu(
                "library-split",
                label="Split",
                choices=["all", "test", "validation", "train"],
                value="all",
                scale=1,
                min_width=120,
                visible=False,
            )

    def _build_options(self) -> None:
        with gr.Row(equal_height=True):
            self.name = gr.Textbox(
                label="Name", placeholder="Holiday", elem_id="library-name", max_lines=1, scale=3
            )
            self.window = gr.Number(
                WINDOW_S,
                label="Seconds per window (0: whole)",
                minimum=0,
                scale=3,
                min_width=180,
                elem_id="library-window",
            )
            self.model = self.models.menu("library-first-model")

    @property
    def inputs(self) -> Components:
        """What a library is added with, in the order of `LibraryTab.on_add`."""
        return [
            self.kind,
            self.name,
            self.files,
            self.path,
            self.split,
            self.window,
            self.model,
        ]

    @property
    def visited(self) -> Components:
        """The components that `visit` updates."""
        return [self.add, self.note, self.model, self.notice]

    def visit(self, model: str | None, visitor: Visitor) -> Updates:
        """List the models, of which one is chosen, and say what this visitor may not do."""
        permissions = self.models.permissions
        may_add = permissions.may("import", visitor) or permissions.may("paths", visitor)
        refusal = permissions.refusal(visitor, "import", "paths", "delete")
        model = self.models.existing(model)
        return {
            self.add: gr.Button(interactive=may_add),
            self.note: gr.Markdown(refusal, visible=bool(refusal)),
            self.model: self.models.choices(model),
            self.notice: self.models.drawings_notice(model, 0, visitor),
        }

    def wire_fields(self) -> None:
        """Show the fields that the chosen kind of library has, and take a problem away once one changes."""
        of_kind = [self.files, self.path, self.split, self.window]
        self.kind.change(None, self.kind, of_kind, js=script("chooseKind", PATHS))
        corrected = (
            self.files.change,
            self.kind.change,
            self.path.input,
            self.name.input,
            self.window.input,
        )
        gr.on(corrected, None, None, self.problem, js="() => ''")
