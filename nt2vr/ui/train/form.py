"""New-run form as data, derived from TrainConfig and the losses; imports torch only when losses are needed."""

import inspect
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.models.card import CARD, Card, read_card
from nt2vr.models.device import gflops_per_second, resolve_device
from nt2vr.presets import preset_files
from nt2vr.progress import duration_text
from nt2vr.settings import ASSETS, resolve_path
from nt2vr.ui.search.formats import short_name
from nt2vr.ui.view import View
from trainer.config import CHOICES, FIELDS, TrainConfig
from trainer.teaching import changes_by_depth

# The preset whose settings depend on the depth of its base.
TEACHING = "teach-text"
# GFLOP per second of the two cores on which steps were timed.
BENCHMARKED = 70.0
# Begins the data of presets that need one's own.
OWN_DATA = "path/to"


class PresetCard(NamedTuple):
    """A preset to begin with: its title, what it does, and seconds per step on two cores and on a GPU."""

    title: str
    about: str
    on_cpu_s: float
    on_gpu_s: float


FIRST = {  # presets to begin with
    "stage": PresetCard(
        title="Watch it learn",
        about="The built-in CLIP learns “not” in minutes, and Search shows each of its checkpoints.",
        on_cpu_s=0.38,
        # It was not run on a GPU: CLIP-neg's steps, which do more.
        on_gpu_s=0.3,
    ),
    "teach-text": PresetCard(
        title="Teach it “not”",
        about="Any CLIP learns negation from sentences alone; ViT-B/32 takes about half an hour on two cores.",
        on_cpu_s=0.3,
        on_gpu_s=0.1,
    ),
    "own-videos": PresetCard(
        title="Your own videos",
        about="A CLIP learns what captioned videos or pictures show, and “not”. Enter their folder as data.",
        on_cpu_s=0.5,
        on_gpu_s=0.1,
    ),
    "clip-bnl": PresetCard(
        title="The paper's CLIP-bnl",
        about="The loss of the paper, on the built-in world.",
        on_cpu_s=0.7,
        on_gpu_s=0.1,
    ),
    "clip-neg": PresetCard(
        title="Strongest: CLIP-neg",
        about="Learns on the built-in world what each sentence excludes.",
        on_cpu_s=2.4,
        on_gpu_s=0.3,
    ),
}

RESTS = "Times are estimates: steps timed on two cores, or on a GPU, and scaled by how fast this machine computes now."


@dataclass(frozen=True)
class Field:
    key: str
    default: Any  # default value, of the type that values must have
    help: str = ""
    choices: tuple[str, ...] = ()  # allowed values; empty if they cannot be listed

    @property
    def info(self) -> str:
        """The help's first clause, then as Markdown's strong text all of it, which style.css shows at use."""
        text = in_words(self.help)
        first = re.split("[.;,] ", text, maxsplit=1)[0]
        if first == text:
            return text
        return f"{first} **{text}**"


def config_fields() -> list[Field]:
    """Return the settings of a config by flat key, section by section."""
    fields = []
    for key, info in FIELDS.items():
        fields.append(
            Field(
                key=key,
                default=info.default,
                help=info.description or "",
                choices=CHOICES.get(key, ()),
            )
        )
    return fields


def in_words(sentence: str) -> str:
    """Write the keys of a config in a sentence as the form labels them: num_clips is “Number of clips”."""
    return re.sub(
        r"\b\w+_\w+\b",
        lambda key: f"“{label_of(key[0])}”" if key[0] in FIELDS else key[0],
        sentence,
    )


def label_of(key: str) -> str:
    return key.replace("num_", "number_of_").replace("_", " ").capitalize()


def presets() -> dict[str, dict[str, Any]]:
    """Return the shipped configs by model name, as form values: `FIRST`, then those that need no data of one's own."""
    configs = {}
    for name, path in preset_files().items():
        configs[name] = json.loads(path.read_text(encoding="utf-8"))
    teaching = configs[TEACHING]
    teaching |= changes_by_depth(resolve_path(teaching["base"]))
    rest = sorted(
        configs.keys() - FIRST.keys(),
        key=lambda stem: (OWN_DATA in configs[stem].get("data", ""), stem),
    )
    order = [*(stem for stem in FIRST if stem in configs), *rest]
    defaults = TrainConfig().flat()
    return {configs[stem]["name"]: defaults | configs[stem] for stem in order}


def presets_view(presets: Mapping[str, Mapping[str, Any]], chosen: str, device: str = "") -> View:
    """Show the presets to begin with, one perhaps chosen, with estimated times if there is a `device`.

    The time rests on the seconds per step of docs/lab/benchmarks.md: on a GPU as they are, on a CPU
    scaled by its speed.
    """
    cards = []
    for (name, config), card in zip(presets.items(), FIRST.values(), strict=False):
        cards.append(
            {
                "name": name,
                "title": card.title,
                "about": card.about,
                "chosen": name == chosen,
                "time": _time_text(config, card, device),
            }
        )
    return {"presets": cards, "chosen": chosen, "rests": RESTS if device else ""}


def _time_text(config: Mapping[str, Any], card: PresetCard, device: str) -> str:
    """Say how long a preset takes on a device; without one, how many steps it has."""
    if OWN_DATA in config["data"]:
        return "depends on your data"

    steps_per_epoch = config["passes"] * (config["num_clips"] // config["batch_size"])
    steps = config["epochs"] * steps_per_epoch
    if not device:
        return f"{steps:,} steps"

    step_s = card.on_gpu_s
    if resolve_device(device) == "cpu":
        step_s = card.on_cpu_s * BENCHMARKED / gflops_per_second(device)
    return f"about {duration_text(steps * step_s)} here"


def bases(folders: Iterable[Path]) -> dict[str, str]:
    """Return the models that training can start from: display name to folder, as written in a config."""
    choices = {"random weights": ""}
    for parent in folders:
        for file in sorted(parent.glob(f"*/{CARD}")):
            try:
                card = read_card(file.parent)
            except CheckpointError:
                continue
            if card.capabilities.has_text_tower:
                choices[_base_label(file.parent, card)] = _as_in_config(file.parent)
    return choices


def _base_label(folder: Path, card: Card) -> str:
    """Name a model to start from; of a run's epoch, the run and the epoch, too."""
    if folder.parent.name != "checkpoints":
        return card.name
    run = folder.parent.parent.name
    return f"{short_name(run)}, epoch {card.training.epoch}"


def _as_in_config(folder: Path) -> str:
    """Write a folder as configs do: a shipped one relative to the project."""
    path = folder.resolve()
    root = ASSETS.parent
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def read_form(values: Mapping[str, Any], losses: Mapping[str, Any]) -> TrainConfig:
    """Build a config from values by key, JSON as text, and the table of `losses_view` as the user edited it."""
    from trainer.losses import losses_of  # noqa: PLC0415  imports torch

    read = dict(values)
    for key, value in values.items():
        default = FIELDS[key].default
        if isinstance(default, Mapping):
            try:
                read[key] = json.loads(value or "{}")
            except ValueError as error:
                raise ConfigError(
                    f"{label_of(key)} cannot be read as JSON ({error}). Correct it."
                ) from error
        elif isinstance(default, str):
            read[key] = (value or "").strip()
        elif isinstance(value, float) and value.is_integer():  # pages send 3 as 3.0
            read[key] = int(value)
    config = TrainConfig(**{**read, "losses": _read_losses(losses)})
    if config.encoder.trains_towers:
        # Refuses what cannot be built.
        losses_of(config)
    return config


def loss_fields() -> dict[str, tuple[str, list[Field]]]:
    """Return each loss's one-line description, its weight and its own fields."""
    from trainer.loss_settings import help_of  # noqa: PLC0415
    from trainer.losses import LOSSES, Weight  # noqa: PLC0415  imports torch

    weight = Field("weight", 1.0, Weight.model_fields["weight"].description or "")
    described = {}
    for name, kind in LOSSES.items():
        helps = help_of(kind)
        hints = get_type_hints(kind)
        settings = []
        for field in fields(kind):
            choices = [choice for choice in get_args(hints[field.name]) if isinstance(choice, str)]
            settings.append(
                Field(
                    key=field.name,
                    default=field.default,
                    help=helps[field.name],
                    choices=tuple(choices),
                )
            )
        purpose = (inspect.getdoc(kind) or "").partition("\n")[0]
        described[name] = (purpose, [weight, *settings])
    return described


def losses_view(losses: Mapping[str, Mapping[str, Any]]) -> View:
    """Return the table of all losses, with those of a config selected and filled in, of which it may have none."""
    rows = []
    for name, (purpose, settings) in loss_fields().items():
        values = {field.key: field.default for field in settings} | dict(losses.get(name, {}))
        cells = [_cell(field, values[field.key]) for field in settings]
        rows.append({"name": name, "help": purpose, "on": name in losses, "fields": cells})
    return {"losses": rows, "has_none": not losses}


def _cell(field: Field, value: Any) -> View:
    """Return one input of the table: a switch, a choice or a number."""
    cell = {"key": field.key, "label": field.key.replace("_", " "), "help": field.help}
    if isinstance(field.default, bool):
        return {**cell, "switch": True, "on": value}
    if field.choices:
        return {**cell, "choice": True, "value": value, "choices": list(field.choices)}
    return {
        **cell,
        "number": True,
        "value": f"{value:g}" if isinstance(value, int | float) else value,
    }


def _read_losses(table: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the selected losses in config form; invalid numbers pass through for `build_losses` to reject."""
    losses: dict[str, dict[str, Any]] = {}
    try:
        for row in table.get("losses", ()):
            if row["on"]:
                settings = {cell["key"]: _value_of(cell) for cell in row["fields"]}
                losses.setdefault(row["name"], {}).update(settings)
    except (TypeError, LookupError, AttributeError) as error:
        raise ConfigError("The table of losses cannot be read. Reload the page.") from error
    return losses


def _value_of(cell: Mapping[str, Any]) -> Any:
    """Return what was entered in a cell of the table."""
    if "switch" in cell:
        return bool(cell["on"])
    value = cell["value"]
    if "number" in cell:
        with suppress(TypeError, ValueError):
            value = float(value)
    return value
