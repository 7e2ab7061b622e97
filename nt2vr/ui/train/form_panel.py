"""The form of a new run: presets, settings and losses."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gradio as gr

from nt2vr.errors import Nt2vrError
from nt2vr.registry import pick
from nt2vr.settings import ASSETS, Settings, resolve_path
from nt2vr.ui.later_starts import StartChoice
from nt2vr.ui.theme import lead, menu, template
from nt2vr.ui.train.fields import Field, FieldValues, config_fields, in_words, label_of
from nt2vr.ui.train.form import bases, read_form
from nt2vr.ui.train.losses_table import losses_view
from nt2vr.ui.train.presets import FIRST as FIRST_PRESETS
from nt2vr.ui.train.presets import presets, presets_view
from nt2vr.ui.view import Choices, Options, View
from nt2vr.ui.web.errors import problem_place
from nt2vr.ui.web.inputs import Components, event_text
from nt2vr.ui.web.permissions import Permissions, Visitor
from nt2vr.world import WORLD
from trainer.config import TrainConfig, load_config, names_files
from trainer.teaching import BY_DEPTH, PRESET, changes_by_depth

# Always visible, in this order; the rest is under “All other settings”.
FIRST = ("name", "base", "data", "train", "epochs", "batch_size", "learning_rate", "num_clips")


class RunForm:
    """The form of a new run, with the first preset's values; a run may start from those in the folder `runs`."""

    def __init__(self, runs: Path, settings: Settings, permissions: Permissions) -> None:
        self._runs = runs
        self._settings = settings
        self._permissions = permissions
        self._presets = presets()
        fields = {field.key: field for field in config_fields() if field.key != "losses"}
        self.fields = [fields[key] for key in dict.fromkeys([*FIRST, *fields])]

    def build(self) -> None:
        first_preset = next(iter(self._presets))
        with gr.Column(visible=False, elem_id="train-form") as self.column:
            lead("Teach a model", "Choose what to begin with. Everything can be changed below.")
            cards = presets_view(self._presets, first_preset)
            self.presets = template("train-presets", cards, "pick")
            with gr.Row(equal_height=True):
                more = list(self._presets)[len(FIRST_PRESETS) :]
                self.preset = menu(
                    "train-preset", label="More presets", choices=more, value=None, scale=4
                )
                self.start = gr.Button(
                    "Start training",
                    elem_id="train-start",
                    variant="primary",
                    scale=1,
                    min_width=200,
                )
            self.problem = problem_place("train-problem")
            self.choice = StartChoice("train-choice")
            self._build_fields(self._presets[first_preset])

    def _build_fields(self, values: FieldValues) -> None:
        choices = self.bases(None)
        self._boxes: dict[str, gr.components.Component] = {}
        with gr.Group(), gr.Row(elem_classes=["nt-fields", "nt-first"]):
            self._build_boxes(self.fields[: len(FIRST)], values, choices)
        self.losses = template("train-losses", {"losses": []})
        with gr.Accordion("All other settings", open=False, elem_id="train-more"):  # noqa: SIM117
            with gr.Row(elem_classes="nt-fields"):
                self._build_boxes(self.fields[len(FIRST) :], values, choices)

    def _build_boxes(self, fields: Sequence[Field], values: FieldValues, bases: Choices) -> None:
        for field in fields:
            self._boxes[field.key] = _input(field, values[field.key], bases)

    @property
    def base(self) -> Any:
        return self._boxes["base"]

    @property
    def boxes_by_depth(self) -> Components:
        """The boxes that `on_base` fills in."""
        return [self._boxes[key] for key in BY_DEPTH]

    @property
    def filled(self) -> Components:
        """What a run is started with, as `read` takes it."""
        return [*self._boxes.values(), self.losses]

    @property
    def shown(self) -> Components:
        """The components that `on_preset` updates, in its order."""
        return [self.presets, self.preset, *self.filled]

    def refresh(self, cards: View, losses: View, visitor: Visitor) -> Any:
        """Return the base models, the presets with estimated times, and the table of losses if it is still empty.

        Times and losses import torch.
        """
        name = str(cards.get("chosen"))
        preset = pick("preset", name, self._presets)
        table = gr.skip()
        if not losses.get("losses"):
            table = losses_view(preset["losses"])
        times = presets_view(self._presets, name, self._settings.device)
        return gr.Dropdown(choices=self.bases(visitor)), times, table

    def on_pick_preset(self, event: gr.EventData) -> list[Any]:
        return self.on_preset(event_text(event, "id"))

    def on_preset(self, name: str) -> list[Any]:
        preset = pick("preset", name, self._presets)
        values = []
        for field in self.fields:
            value = preset[field.key]
            if isinstance(value, Mapping):
                value = json.dumps(value)
            values.append(value)
        cards = presets_view(self._presets, name, self._settings.device)
        has_card = any(card["chosen"] for card in cards["presets"])
        more = gr.Dropdown(value=None if has_card else name)
        return [cards, more, *values, losses_view(preset["losses"])]

    def on_base(self, cards: View, base: str) -> list[Any]:
        """If the preset teaches “not”, fill in what depends on the depth of its base."""
        preset = load_config(PRESET).flat()
        if cards.get("chosen") != preset["name"]:
            return [gr.skip() for _ in BY_DEPTH]
        preset |= changes_by_depth(resolve_path(base))
        return [preset[key] for key in BY_DEPTH]

    def read(self, filled: Sequence[Any], visitor: Visitor) -> TrainConfig:
        """Read the form, as far as this visitor may start a run with it."""
        self._permissions.check("train", visitor)
        *values, losses = filled
        keys = [field.key for field in self.fields]
        by_key = dict(zip(keys, values, strict=True))
        is_offered = by_key["base"] in dict(self.bases(visitor)).values()
        if by_key["data"] != WORLD or not is_offered:
            # This comes before the form is read, which looks at both.
            self._permissions.check("paths", visitor)
        with fields_in_words():
            config = read_form(by_key, losses)
        if names_files(config):
            self._permissions.check("paths", visitor)
        return config

    def bases(self, visitor: Visitor) -> Choices:
        """List the models to start from: those of the data folder, whose values are paths, only to who may train."""
        folders = [ASSETS / "models"]
        if self._permissions.may("train", visitor):
            folders.append(self._settings.data_dir / "models")
            folders += self._runs.glob("[!.]*/checkpoints")
        return list(bases(folders).items())


@contextmanager
def fields_in_words() -> Iterator[None]:
    """Have errors within the block name fields as the form labels them."""
    try:
        yield
    except Nt2vrError as error:
        raise type(error)(in_words(str(error))) from error


def _input(field: Field, value: Any, bases: Choices) -> gr.components.Component:
    common: Options = {
        "label": label_of(field.key),
        "info": field.info,
        "elem_id": f"train-{field.key}",
        "min_width": 220,
    }
    if field.key == "base":
        return gr.Dropdown(bases, value=value, allow_custom_value=True, **common)
    if field.choices:
        return gr.Dropdown(field.choices, value=value, **common)
    if isinstance(field.default, bool):
        return gr.Checkbox(value, **common)
    if isinstance(field.default, int | float):
        return gr.Number(value, **common)
    if isinstance(field.default, Mapping):
        return gr.Textbox(json.dumps(value), lines=2, max_lines=4, elem_classes="nt-json", **common)
    return gr.Textbox(value, max_lines=1, **common)
