"""Confirmation row shown before something is deleted."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from nt2vr.ui.theme import script

SHOW, HIDE = script("show", True), script("show", False)


@dataclass(frozen=True)
class Confirmation:
    """The row and its buttons; hidden until asked for."""

    row: gr.Row
    yes: gr.Button
    no: gr.Button

    def asked_by(self, button: gr.Button, about: Any) -> None:
        """Show the row on a click of the button; hide it on an answer, or when the value of `about` changes.

        `about` names what is open. The row stays while a tab is refreshed, so no late answer of the server removes it.
        """
        button.click(None, None, self.row, js=SHOW, api_visibility="private")
        for event in (self.yes.click, self.no.click, about.change):
            event(None, None, self.row, js=HIDE, api_visibility="private")


def lay_out_confirmation(prefix: str, action: str, question: str, answer: str) -> Confirmation:
    """Lay the row out; the ids are `prefix`-confirm, `prefix`-`action`-now and `prefix`-keep."""
    with gr.Row(visible=False, elem_id=f"{prefix}-confirm", elem_classes="nt-confirm", equal_height=True) as row:
        gr.Markdown(question)
        yes = gr.Button(answer, variant="stop", size="sm", elem_id=f"{prefix}-{action}-now")
        no = gr.Button("Keep it", size="sm", elem_id=f"{prefix}-keep")
    return Confirmation(row, yes, no)
