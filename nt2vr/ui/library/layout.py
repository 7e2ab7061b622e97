"""Components of the Library tab, wired by `tab`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from nt2vr.library.info import WINDOW_S
from nt2vr.ui.confirmation import Confirmation, lay_out_confirmation
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


@dataclass(frozen=True)
class NewParts:
    """The form of a new library."""

    column: gr.Column
    kind: gr.Radio
    name: gr.Textbox
    files: gr.File
    path: gr.Textbox
    split: gr.Dropdown
    window: gr.Number
    model: gr.Dropdown
    drawings: gr.HTML
    add: gr.Button
    note: gr.Markdown

    @property
    def inputs(self) -> list[Any]:
        """What a library is made from."""
        return [self.kind, self.name, self.files, self.path, self.split, self.window, self.model]


@dataclass(frozen=True)
class OpenParts:
    """The open library."""

    column: gr.Column
    info: gr.HTML
    search: gr.HTML
    more: gr.UploadButton
    model: gr.Dropdown
    drawings: gr.HTML
    update: gr.Button
    cancel: gr.Button
    check: gr.Button
    name: gr.Textbox
    rename: gr.Button
    remove: gr.Button
    confirm: Confirmation
    retry: gr.Button
    skipped: gr.HTML


@dataclass(frozen=True)
class LibraryParts:
    """All components of the tab.

    Attributes:
        chosen: id of the open library, "" for the form.
        seen: what the page last showed of the updates.
    """

    chosen: gr.Textbox
    seen: gr.State
    timer: gr.Timer
    new: gr.Button
    libraries: gr.HTML
    form: NewParts
    open: OpenParts


def lay_out_library(templates: Path, models: Sequence[str], model: str | None) -> LibraryParts:
    """Build the components inside the open tab: at the left the libraries, at the right the form or the open one."""
    chosen, seen, timer = gr.Textbox(visible="hidden"), gr.State(), gr.Timer(POLL_S, active=False)
    with gr.Row(elem_id="library"):
        with gr.Column(scale=1, min_width=230, elem_id="library-side"):
            new = gr.Button("New library", elem_id="library-new")
            libraries = template(templates, "library-list", {"libraries": []}, "pick")
        with gr.Column(scale=5, min_width=320):
            form, opened = _lay_out_form(templates, models, model), _lay_out_open(templates, models, model)
    return LibraryParts(chosen, seen, timer, new, libraries, form, opened)


def _lay_out_form(templates: Path, models: Sequence[str], default: str | None) -> NewParts:
    with gr.Column(elem_id="library-form") as column:
        kind = gr.Radio(list(KINDS), value="uploads", label="What it is made from", elem_id="library-kind")
        files = gr.File(
            file_count="multiple", label="Videos and pictures", elem_id="library-files", height=180, type="filepath"
        )
        with gr.Row(equal_height=True):
            path = gr.Textbox(label="Folder", visible=False, elem_id="library-path", max_lines=1, scale=4)
            split = gr.Dropdown(
                ["all", "test", "validation", "train"],
                value="all",
                label="Split",
                visible=False,
                elem_id="library-split",
                scale=1,
                min_width=120,
            )
        with gr.Row(equal_height=True):
            name = gr.Textbox(label="Name", placeholder="Holiday", elem_id="library-name", max_lines=1, scale=3)
            window = gr.Number(
                WINDOW_S,
                label="Seconds per window (0: keep videos whole)",
                minimum=0,
                elem_id="library-window",
                scale=2,
                min_width=180,
            )
            model = _model_choice(models, default, "library-first-model")
        drawings = template(templates, "search-index", {}, elem_id="form-drawings")
        add = gr.Button("Add and index", variant="primary", elem_id="library-add", scale=0, min_width=220)
        note = gr.Markdown(visible=False, elem_id="library-note")
    return NewParts(column, kind, name, files, path, split, window, model, drawings, add, note)


def _model_choice(models: Sequence[str], default: str | None, elem_id: str) -> gr.Dropdown:
    return gr.Dropdown(
        list(models), value=default, label="Model to index with", elem_id=elem_id, scale=3, min_width=200
    )


def _lay_out_open(templates: Path, models: Sequence[str], default: str | None) -> OpenParts:
    with gr.Column(visible=False, elem_id="library-open") as column:
        with gr.Row(elem_id="library-buttons"):
            remove = gr.Button("Remove", elem_id="library-remove", size="sm", min_width=90)
        confirm = lay_out_confirmation(
            "library", "remove", "Remove this library, its index and its uploads?", "Remove"
        )
        info = template(templates, "library-info", {})
        search = template(templates, "library-posters", {"posters": []})
        with gr.Row(equal_height=True, elem_id="library-index"):
            model = _model_choice(models, default, "library-model")
            update = gr.Button("Update index", elem_id="library-update", min_width=140, scale=1)
            cancel = gr.Button("Cancel", elem_id="library-cancel", interactive=False, min_width=100, scale=1)
            check = gr.Button("Check for changes", elem_id="library-check", min_width=185, scale=1)
            more = gr.UploadButton(
                "Upload more files", file_count="multiple", elem_id="library-more", min_width=160, scale=1
            )
        drawings = template(templates, "search-index", {}, elem_id="open-drawings")
        with gr.Row(equal_height=True):
            name = gr.Textbox(label="Name", elem_id="library-new-name", max_lines=1, scale=4)
            rename = gr.Button("Rename", elem_id="library-rename", min_width=120, scale=1)
        skipped = template(templates, "library-skipped", {})
        retry = gr.Button("Read skipped files again", elem_id="library-retry", visible=False, scale=0, min_width=220)
    return OpenParts(
        column,
        info,
        search,
        more,
        model,
        drawings,
        update,
        cancel,
        check,
        name,
        rename,
        remove,
        confirm,
        retry,
        skipped,
    )
