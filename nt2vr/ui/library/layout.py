"""Components of the Library tab, wired by `tab`."""

from collections.abc import Sequence
from typing import Any

import gradio as gr

from nt2vr.library.info import WINDOW_S
from nt2vr.ui.confirmation import Confirmation
from nt2vr.ui.theme import template

POLL_S = 1.0
KINDS = (
    ("Upload files", "uploads"),
    ("Folder on this machine", "folder"),
    ("Manifest with captions", "manifest"),
    ("Dataset", "dataset"),
)
PATHS = {  # kind -> the label of its path, and an example
    "uploads": ("", ""),
    "folder": ("Folder", "~/Videos"),
    "manifest": ("JSONL or CSV manifest", "~/clips/captions.jsonl"),
    "dataset": ("Folder of MSR-VTT, VATEX, Flickr30k, COCO, or of files with captions", "~/data/msrvtt"),
}


class NewParts:
    """The form of a new library."""

    def __init__(self, models: Sequence[str], default: str) -> None:
        with gr.Column(elem_id="library-form") as self.column:
            self.kind = gr.Radio(list(KINDS), value="uploads", label="What it is made from", elem_id="library-kind")
            self.files = gr.File(
                file_count="multiple",
                label="Videos and pictures",
                elem_id="library-files",
                height=180,
                type="filepath",
            )
            with gr.Row(equal_height=True):
                self.path = gr.Textbox(label="Folder", visible=False, elem_id="library-path", max_lines=1, scale=4)
                self.split = gr.Dropdown(
                    ["all", "test", "validation", "train"],
                    value="all",
                    label="Split",
                    visible=False,
                    elem_id="library-split",
                    scale=1,
                    min_width=120,
                )
            with gr.Row(equal_height=True):
                self.name = gr.Textbox(
                    label="Name", placeholder="Holiday", elem_id="library-name", max_lines=1, scale=3
                )
                self.window = gr.Number(
                    WINDOW_S,
                    label="Seconds per window (0: keep videos whole)",
                    minimum=0,
                    elem_id="library-window",
                    scale=2,
                    min_width=180,
                )
                self.model = _model_choice(models, default, "library-first-model")
            self.drawings = template("search-index", {}, elem_id="form-drawings")
            self.add = gr.Button("Add and index", variant="primary", elem_id="library-add", scale=0, min_width=220)
            self.note = gr.Markdown(visible=False, elem_id="library-note")

    @property
    def inputs(self) -> list[Any]:
        return [self.kind, self.name, self.files, self.path, self.split, self.window, self.model]


class OpenParts:
    """The open library."""

    def __init__(self, models: Sequence[str], default: str) -> None:
        with gr.Column(visible=False, elem_id="library-open") as self.column:
            with gr.Row(elem_id="library-buttons"):
                self.remove = gr.Button("Remove", elem_id="library-remove", size="sm", min_width=90)
            self.confirm = Confirmation(
                "library", "remove", "Remove this library, its index and its uploads?", "Remove"
            )
            self.info = template("library-info", {})
            self.search = template("library-posters", {"posters": []})
            with gr.Row(equal_height=True, elem_id="library-index"):
                self.model = _model_choice(models, default, "library-model")
                self.update = gr.Button("Update index", elem_id="library-update", min_width=140, scale=1)
                self.cancel = gr.Button("Cancel", elem_id="library-cancel", interactive=False, min_width=100, scale=1)
                self.check = gr.Button("Check for changes", elem_id="library-check", min_width=185, scale=1)
                self.more = gr.UploadButton(
                    "Upload more files", file_count="multiple", elem_id="library-more", min_width=160, scale=1
                )
            self.drawings = template("search-index", {}, elem_id="open-drawings")
            with gr.Row(equal_height=True):
                self.name = gr.Textbox(label="Name", elem_id="library-new-name", max_lines=1, scale=4)
                self.rename = gr.Button("Rename", elem_id="library-rename", min_width=120, scale=1)
            self.skipped = template("library-skipped", {})
            self.retry = gr.Button(
                "Read skipped files again", elem_id="library-retry", visible=False, scale=0, min_width=220
            )


class LibraryParts:
    """All components of the tab: at the left the libraries, at the right the form or the open one.

    Attributes:
        chosen: id of the open library, "" for the form.
        seen: what the page last showed of the updates.
    """

    def __init__(self, models: Sequence[str], default: str) -> None:
        self.chosen, self.seen = gr.Textbox(visible="hidden"), gr.State()
        self.timer = gr.Timer(POLL_S, active=False)
        with gr.Row(elem_id="library"):
            with gr.Column(scale=1, min_width=230, elem_id="library-side"):
                self.new = gr.Button("New library", elem_id="library-new")
                self.libraries = template("library-list", {"libraries": []}, "pick")
            with gr.Column(scale=5, min_width=320):
                self.form = NewParts(models, default)
                self.open = OpenParts(models, default)


def _model_choice(models: Sequence[str], default: str, elem_id: str) -> gr.Dropdown:
    return gr.Dropdown(
        list(models), value=default, label="Model to index with", elem_id=elem_id, scale=3, min_width=200
    )
