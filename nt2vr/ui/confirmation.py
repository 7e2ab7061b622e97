"""A row that asks once more before something is deleted."""

from dataclasses import dataclass

import gradio as gr

from nt2vr.ui.theme import QUIET


@dataclass(frozen=True)
class Confirmation:
    """The row and its answers; it is hidden until asked for."""

    row: gr.Row
    yes: gr.Button
    no: gr.Button

    def asked_by(self, button: gr.Button) -> None:
        """Show the row on a click of the button, and hide it once the answer is no."""
        button.click(lambda: gr.Row(visible=True), None, self.row, **QUIET)
        self.no.click(lambda: gr.Row(visible=False), None, self.row, **QUIET)


def lay_out_confirmation(prefix: str, action: str, question: str, answer: str) -> Confirmation:
    """Lay the row out.

    Args:
        prefix: begins the elements' ids.
        action: what is confirmed, for the id of the answer: "delete" or "remove".
        question: the sentence.
        answer: the button that confirms.
    """
    with gr.Row(visible=False, elem_id=f"{prefix}-confirm", elem_classes="nt-confirm", equal_height=True) as row:
        gr.Markdown(question)
        yes = gr.Button(answer, variant="stop", size="sm", elem_id=f"{prefix}-{action}-now")
        no = gr.Button("Keep it", size="sm", elem_id=f"{prefix}-keep")
    return Confirmation(row, yes, no)
