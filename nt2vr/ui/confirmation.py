"""Confirmation row shown before something is deleted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from nt2vr.ui.theme import script


@dataclass(frozen=True)
class Confirmation:
    """The row and its buttons; hidden until asked for."""

    row: gr.Row
    yes: gr.Button
    no: gr.Button

    def asked_by(self, button: gr.Button, about: Any, left_by: Sequence[Any]) -> None:
        """Show the row on a click of the button; hide it on an answer, an event of `left_by`, or when `about` changes.

        `about` names what is open. The row stays while a tab is refreshed, so no late answer of the server removes it.
        """
        row = self.row.elem_id
        button.click(None, about, self.row, js=script("askAbout", row))
        about.change(None, about, self.row, js=script("dropUnlessAbout", row))
        for event in (self.yes.click, self.no.click, *left_by):
            event(None, None, self.row, js=script("show", False))


def lay_out_confirmation(prefix: str, action: str, question: str, answer: str) -> Confirmation:
    """Lay the row out; the ids are `prefix`-confirm, `prefix`-`action`-now and `prefix`-keep."""
    with gr.Row(visible=False, elem_id=f"{prefix}-confirm", elem_classes="nt-confirm", equal_height=True) as row:
        gr.Markdown(question)
        yes = gr.Button(answer, variant="stop", size="sm", elem_id=f"{prefix}-{action}-now")
        no = gr.Button("Keep it", size="sm", elem_id=f"{prefix}-keep")
    return Confirmation(row, yes, no)
