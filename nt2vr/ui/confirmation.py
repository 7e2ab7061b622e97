"""Confirmation row shown before something is deleted."""

from collections.abc import Sequence
from typing import Any

import gradio as gr

from nt2vr.ui.theme import script


class Confirmation:
    """The row and its buttons, hidden until asked for: `prefix`-confirm, `prefix`-`action`-now and `prefix`-keep."""

    def __init__(self, prefix: str, action: str, question: str, answer: str) -> None:
        self._id = f"{prefix}-confirm"
        with gr.Row(visible=False, elem_id=self._id, elem_classes="nt-confirm", equal_height=True) as self.row:
            self.question = gr.Markdown(question)
            self.yes = gr.Button(answer, variant="stop", size="sm", elem_id=f"{prefix}-{action}-now")
            self.no = gr.Button("Keep it", size="sm", elem_id=f"{prefix}-keep")

    def asked_by(self, button: gr.Button, about: Any, left_by: Sequence[Any]) -> None:
        """Show the row on a click of the button; hide it on an answer, an event of `left_by`, or when `about` changes.

        `about` names what is open. The row stays while a tab is refreshed, so no late answer of the server removes it.
        """
        button.click(None, about, self.row, js=script("askAbout", self._id))
        about.change(None, about, self.row, js=script("dropUnlessAbout", self._id))
        for event in (self.yes.click, self.no.click, *left_by):
            event(None, None, self.row, js=script("show", False))
