"""The open library: its facts and posters, its index, its name, and the skipped files."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from nt2vr.library.source import LibraryInfo
from nt2vr.library.update import IndexJob
from nt2vr.ui.job_view import is_under_way
from nt2vr.ui.library.index_models import IndexModels
from nt2vr.ui.library.media import Media
from nt2vr.ui.library.view import (
    info_view,
    library_redactor,
    posters_view,
    removal_text,
    skipped_view,
)
from nt2vr.ui.theme import Confirmation, script, template
from nt2vr.ui.view import View
from nt2vr.ui.web.errors import problem_place
from nt2vr.ui.web.inputs import Components, Updates
from nt2vr.ui.web.permissions import Permissions, Visitor

# Clips of a library whose posters are read every second while it is indexed.
MOST_WATCHED = 1_000


@dataclass
class LibraryPanel:
    """The open library, in a column of its own."""

    media: Media
    permissions: Permissions
    models: IndexModels

    def build(self) -> None:
        with gr.Column(visible=False, elem_id="library-open") as self.column:
            with gr.Row(elem_id="library-buttons"):
                self.move = gr.Button("Move…", elem_id="library-elsewhere", size="sm", min_width=76)
                self.remove = gr.Button("Remove", elem_id="library-remove", size="sm", min_width=90)
            self.confirm = Confirmation(
                prefix="library", action="remove", question="", answer="Remove"
            )
            self.problem = problem_place("open-problem")
            self.info = template("library-info", {})
            with gr.Row(equal_height=True, visible=False, elem_id="library-place") as self.move_row:
                self.folder = _textbox(
                    "library-new-path", "If its folder was moved, where is it now?", min_width=300
                )
                self.find_files = _button("library-move", "Find its files", 140)
            self.posters = template("library-posters", {"posters": []})
            with gr.Row(equal_height=True, elem_id="library-index"):
                self._build_index()
            self.notice = template("search-index", {}, elem_id="open-drawings")
            self.models.teaching.build(self.notice, "library-teach")
            with gr.Row(equal_height=True):
                self.name = _textbox("library-new-name", "Name")
                self.rename = _button("library-rename", "Rename", 120)
            self.skipped = template("library-skipped", {})
            self.retry = gr.Button(
                "Read skipped files again",
                elem_id="library-retry",
                min_width=220,
                scale=0,
                visible=False,
            )

    def _build_index(self) -> None:
        self.model = self.models.menu("library-model")
        self.update = _button("library-update", "Update index", 140)
        self.cancel = _button("library-cancel", "Cancel", 100, interactive=False)
        self.upload_more = gr.UploadButton(
            "Upload more files",
            min_width=160,
            scale=1,
            file_count="multiple",
            elem_id="library-more",
        )

    @property
    def shown(self) -> Components:
        """The components that `show` and `follow` update, and what is said of the model."""
        return [
            self.column,
            self.confirm.question,
            self.posters,
            self.skipped,
            self.retry,
            self.name,
            self.upload_more,
            *self.visited,
            self.move,
            self.move_row,
            self.folder,
            self.find_files,
            self.info,
            self.update,
            self.cancel,
        ]

    @property
    def visited(self) -> Components:
        """The components that `visit` updates."""
        return [self.model, self.notice]

    def visit(self, model: str | None, library_id: str, visitor: Visitor) -> Updates:
        """List the models, and say what there is to say of the chosen one."""
        model = self.models.existing(model)
        notice = self.models.notice(model, library_id, visitor) if library_id else {}
        return {self.model: self.models.choices(model), self.notice: notice}

    def wire_move(self, chosen: gr.Textbox) -> None:
        """Ask where the files are now, and forget the answer once another library is `chosen`."""
        clear = "() => ''"
        gr.on((chosen.change, self.folder.input), None, None, self.problem, js=clear)
        chosen.change(None, None, self.folder, js=clear)
        self.move.click(None, None, self.move_row, js=script("show", True))

    def show(self, info: LibraryInfo, visitor: Visitor) -> Updates:
        """Show what a library has, and what this visitor may do with it."""
        is_uploaded = info.source.kind == "uploads"
        skipped = self.media.libraries.skipped(info.id)
        may_name_paths = self.permissions.may("paths", visitor)
        may_move = may_name_paths and not is_uploaded
        return {
            self.column: gr.Column(visible=True),
            self.confirm.question: removal_text(info),
            self.posters: self._posters(info),
            self.skipped: skipped_view(skipped, library_redactor(info.source, may_name_paths)),
            self.retry: gr.Button(visible=any(not file.duplicate_of for file in skipped)),
            self.name: info.name,
            self.upload_more: gr.UploadButton(visible=is_uploaded),
            self.move: gr.Button(visible=may_move and info.available),
            self.move_row: gr.Row(visible=may_move and not info.available),
        }

    def show_nothing(self) -> Updates:
        return {
            self.column: gr.Column(visible=False),
            self.posters: {},
            self.skipped: {},
            self.name: "",
        }

    def follow(self, info: LibraryInfo | None, job: IndexJob | None, visitor: Visitor) -> Updates:
        """Show how far the update of the open library is, and enable what can be done meanwhile.

        Args:
            info: of the open library; None for the form.
            job: its last update.
        """
        is_busy = is_under_way(job)
        can_cancel = (
            job is not None
            and job.state in ("waiting", "running")
            and self.permissions.may_cancel(job.session, visitor)
        )
        updates: Updates = {
            self.info: {},
            self.update: gr.Button(interactive=not is_busy),
            self.find_files: gr.Button(interactive=not is_busy),
            self.cancel: gr.Button(interactive=can_cancel),
        }
        if info is None:
            return updates
        updates[self.info] = info_view(info, job, self.permissions.may("paths", visitor))
        # Posters appear as they are made.
        if is_busy and info.num_clips < MOST_WATCHED:
            updates[self.posters] = self._posters(info)
        return updates

    def _posters(self, info: LibraryInfo) -> View:
        videos = self.media.galleries.searcher(info.id).gallery.videos
        return posters_view(info, videos, self.media.urls)


def _button(elem_id: str, text: str, min_width: int, **options: Any) -> gr.Button:
    return gr.Button(text, elem_id=elem_id, min_width=min_width, scale=1, **options)


def _textbox(elem_id: str, label: str, **options: Any) -> gr.Textbox:
    return gr.Textbox(label=label, elem_id=elem_id, max_lines=1, scale=4, **options)
