"""Components of the Train tab, wired by `tab`."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from nt2vr.ui.confirmation import Confirmation
from nt2vr.ui.theme import template
from nt2vr.ui.train.form import Field

DEFAULT_PRESET = "CLIP-neg"
MAX_BESIDE = 4  # runs in the charts of another: more lines are hard to tell apart
# always visible, in this order; the rest is under “All other settings”
FIRST = ("name", "base", "data", "train", "epochs", "batch_size", "learning_rate", "num_clips")


class ListParts:
    """The list of runs, and the trash."""

    def __init__(self) -> None:
        self.new = gr.Button("New run", elem_id="train-new")
        self.runs = template("train-runs", {"runs": []}, "pick")
        with gr.Column(visible=False, elem_id="train-trash") as self.trash:
            self.trash_size = gr.Markdown()
            self.empty = gr.Button("Empty trash", size="sm", elem_id="train-empty-trash")


class FormParts:
    """The form of a new run, with the values of the default preset.

    Args:
        fields: those of `FIRST`, then all others.
        bases: label and value of each base model.
    """

    def __init__(
        self, fields: Sequence[Field], presets: Mapping[str, Mapping[str, Any]], bases: Sequence[tuple[str, str]]
    ) -> None:
        num_first = sum(field.key in FIRST for field in fields)

        def inputs(some: Sequence[Field]) -> list[gr.components.Component]:
            return [_input(field, presets[DEFAULT_PRESET][field.key], bases) for field in some]

        with gr.Column(visible=False, elem_id="train-form") as self.column:
            with gr.Row(equal_height=True):
                self.preset = gr.Dropdown(
                    list(presets),
                    value=DEFAULT_PRESET,
                    label="Preset",
                    info="fills in the form below",
                    elem_id="train-preset",
                    scale=4,
                )
                self.start = gr.Button(
                    "Start training", variant="primary", elem_id="train-start", scale=1, min_width=200
                )
            with gr.Group(), gr.Row(elem_classes=["nt-fields", "nt-first"]):
                self.values = inputs(fields[:num_first])  # the inputs of the fields, in their order
            self.losses = template("train-losses", {"losses": []})
            self.mined = template("train-mined", {})
            with gr.Accordion("All other settings", open=False, elem_id="train-more"):  # noqa: SIM117
                with gr.Row(elem_classes="nt-fields"):
                    self.values += inputs(fields[num_first:])


def _input(field: Field, value: Any, bases: Sequence[tuple[str, str]]) -> gr.components.Component:
    common: dict[str, Any] = {"label": field.label, "info": field.help, "elem_id": f"train-{field.key}"}
    common["min_width"] = 220
    if field.key == "base":
        return gr.Dropdown(list(bases), value=value, allow_custom_value=True, **common)
    if field.choices:
        return gr.Dropdown(list(field.choices), value=value, **common)
    if isinstance(field.default, bool):
        return gr.Checkbox(value, **common)
    if isinstance(field.default, int | float):
        return gr.Number(value, **common)
    if field.is_json:
        return gr.Textbox(json.dumps(value), lines=2, max_lines=4, elem_classes="nt-json", **common)
    return gr.Textbox(value, max_lines=1, **common)


class RunParts:
    """The open run and its buttons."""

    def __init__(self) -> None:
        with gr.Column(visible=False, elem_id="train-watch") as self.column:
            with gr.Row(elem_id="train-buttons"):
                self.stop = gr.Button("Stop", elem_id="train-stop", size="sm", min_width=90)
                self.resume = gr.Button("Resume", elem_id="train-resume", size="sm", min_width=90)
                self.delete = gr.Button("Delete", elem_id="train-delete", size="sm", min_width=90)
            self.confirm = Confirmation(
                "train", "delete", "Move this run, with all its checkpoints, to the trash?", "Move to trash"
            )
            self.run = template("train-run", {})
            self.beside = gr.Dropdown(
                [],
                value=[],
                multiselect=True,
                max_choices=MAX_BESIDE,
                visible=False,
                label="Compare its curves with",
                elem_id="train-beside",
            )
            self.curves = template("train-curves", {})
