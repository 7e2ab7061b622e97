"""Components of the Train tab, wired by `tab`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from nt2vr.ui.confirmation import Confirmation, lay_out_confirmation
from nt2vr.ui.theme import template
from trainer.ui.form import Field

DEFAULT_PRESET = "CLIP-neg"
MAX_BESIDE = 4  # runs in the charts of another: more lines are hard to tell apart
# always visible, in this order; the rest is under “All other settings”
FIRST = ("name", "base", "data", "train", "epochs", "batch_size", "learning_rate", "num_clips")


@dataclass(frozen=True)
class NewRunParts:
    """Components of the new-run form."""

    column: gr.Column
    preset: gr.Dropdown
    values: list[gr.components.Component]
    losses: gr.HTML
    mined: gr.HTML
    start: gr.Button


@dataclass(frozen=True)
class ListParts:
    """The list of runs, and the trash."""

    new: gr.Button
    runs: gr.HTML
    trash: gr.Column
    trash_size: gr.Markdown
    empty: gr.Button


@dataclass(frozen=True)
class RunParts:
    """The open run and its buttons."""

    column: gr.Column
    run: gr.HTML
    beside: gr.Dropdown
    curves: gr.HTML
    stop: gr.Button
    resume: gr.Button
    delete: gr.Button
    confirm: Confirmation


def lay_out_list(templates: Path) -> ListParts:
    new = gr.Button("New run", elem_id="train-new")
    runs = template(templates, "train-runs", {"runs": []}, "pick")
    with gr.Column(visible=False, elem_id="train-trash") as trash:
        trash_size = gr.Markdown()
        empty = gr.Button("Empty trash", size="sm", elem_id="train-empty-trash")
    return ListParts(new, runs, trash, trash_size, empty)


def lay_out_form(
    fields: Sequence[Field],
    presets: Mapping[str, Mapping[str, Any]],
    bases: Sequence[tuple[str, str]],
    templates: Path,
) -> NewRunParts:
    """Lay out the form, with the values of the default preset.

    Args:
        fields: those of `FIRST`, then all others.
        bases: label and value of each base model.
    """
    num_first = sum(field.key in FIRST for field in fields)

    def inputs(some: Sequence[Field]) -> list[gr.components.Component]:
        return [_input(field, presets[DEFAULT_PRESET][field.key], bases) for field in some]

    with gr.Column(visible=False, elem_id="train-form") as column:
        with gr.Row(equal_height=True):
            preset = gr.Dropdown(
                list(presets),
                value=DEFAULT_PRESET,
                label="Preset",
                info="fills in the form below",
                elem_id="train-preset",
                scale=4,
            )
            start = gr.Button("Start training", variant="primary", elem_id="train-start", scale=1, min_width=200)
        with gr.Group(), gr.Row(elem_classes=["nt-fields", "nt-first"]):
            values = inputs(fields[:num_first])
        losses = template(templates, "train-losses", {"losses": []})
        mined = template(templates, "train-mined", {})
        with gr.Accordion("All other settings", open=False, elem_id="train-more"):  # noqa: SIM117
            with gr.Row(elem_classes="nt-fields"):
                values += inputs(fields[num_first:])
    return NewRunParts(column, preset, values, losses, mined, start)


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


def lay_out_run(templates: Path) -> RunParts:
    with gr.Column(visible=False, elem_id="train-watch") as column:
        with gr.Row(elem_id="train-buttons"):
            stop = gr.Button("Stop", elem_id="train-stop", size="sm", min_width=90)
            resume = gr.Button("Resume", elem_id="train-resume", size="sm", min_width=90)
            delete = gr.Button("Delete", elem_id="train-delete", size="sm", min_width=90)
        confirm = lay_out_confirmation(
            "train", "delete", "Move this run, with all its checkpoints, to the trash?", "Move to trash"
        )
        run = template(templates, "train-run", {})
        beside = gr.Dropdown(
            [],
            value=[],
            multiselect=True,
            max_choices=MAX_BESIDE,
            visible=False,
            label="Compare its curves with",
            elem_id="train-beside",
        )
        curves = template(templates, "train-curves", {})
    return RunParts(column, run, beside, curves, stop, resume, delete, confirm)
