"""The runs at the left of the Train tab, with the start that waits, and the trash."""

from dataclasses import dataclass

import gradio as gr

from nt2vr.media.limits import bytes_in
from nt2vr.ui.theme import template
from nt2vr.ui.train.view import Runs, runs_view, trash_text
from nt2vr.ui.view import View
from nt2vr.ui.web.inputs import Components, Updates
from trainer.runs.manager import Run, RunManager


@dataclass
class RunList:
    manager: RunManager

    def build(self) -> None:
        with gr.Column(scale=1, min_width=230, elem_id="train-list"):
            self.new = gr.Button("New run", elem_id="train-new")
            self.runs = template("train-runs", {"runs": []}, "pick")
            with gr.Column(visible=False, elem_id="train-trash") as self._trash:
                self._trash_size = gr.Markdown()
                self.empty = gr.Button("Empty trash", size="sm", elem_id="train-empty-trash")

    @property
    def shown(self) -> Components:
        """The components that `show_trash` updates."""
        return [self._trash, self._trash_size]

    def show_runs(self, runs: Runs, chosen: Run | None, waiting: View) -> Updates:
        """List the runs, of which one may be open, and the start that waits."""
        return {self.runs: {**runs_view(runs, chosen), "waiting": waiting}}

    def show_trash(self) -> Updates:
        text = trash_text(bytes_in(self.manager.trash))
        return {self._trash: gr.Column(visible=bool(text)), self._trash_size: text}
