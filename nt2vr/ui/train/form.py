"""New-run form as data, derived from TrainConfig and the losses; imports torch only when losses are needed."""

import inspect
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.models.card import CARD, read_card
from nt2vr.settings import ASSETS
from trainer.config import CHOICES, PRESETS, TrainConfig, build_config
from trainer.options import help_of


@dataclass(frozen=True)
class Field:
    key: str
    default: Any  # default value, of the type that values must have
    help: str = ""
    choices: tuple[str, ...] = ()  # allowed values; empty if they cannot be listed

    @property
    def label(self) -> str:
        return self.key.replace("num_", "number_of_").replace("_", " ").capitalize()

    @property
    def is_json(self) -> bool:
        """True if the field holds a mapping, which is edited as JSON."""
        return isinstance(self.default, Mapping)


def config_fields() -> list[Field]:
    helps, defaults = help_of(TrainConfig), asdict(TrainConfig())
    return [Field(key, default, helps[key], CHOICES.get(key, ())) for key, default in defaults.items()]


def in_words(sentence: str) -> str:
    """Write the keys of a config in a sentence as the form labels them: num_clips is “Number of clips”."""
    labels = {field.key: field.label for field in config_fields() if "_" in field.key}
    return re.sub(r"\b\w+_\w+\b", lambda key: f"“{labels[key[0]]}”" if key[0] in labels else key[0], sentence)


def presets() -> dict[str, dict[str, Any]]:
    """Return the shipped configs by model name, as form values; some leave values for the user to fill in."""
    configs = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(PRESETS.glob("*.json"))]
    return {config["name"]: asdict(TrainConfig()) | config for config in configs}


def bases(folders: Iterable[Path]) -> dict[str, str]:
    """Return the models that training can start from: display name to folder, as written in a config."""
    found = {"random weights": ""}
    for folder in (card.parent for parent in folders for card in sorted(parent.glob(f"*/{CARD}"))):
        try:
            card = read_card(folder)
        except CheckpointError:
            continue
        of_run = folder.parent.name == "checkpoints"
        name = f"{card.name} · {folder.parent.parent.name}, epoch {card.epoch}" if of_run else card.name
        path = folder.resolve()
        found[name] = str(path.relative_to(ASSETS.parent) if path.is_relative_to(ASSETS.parent) else path)
    return found


def read_form(values: Mapping[str, Any], losses: Mapping[str, Any]) -> TrainConfig:
    """Build a config from values by key, JSON as text, and the table of `losses_view` as the user edited it."""
    from trainer.losses import losses_of  # noqa: PLC0415  imports torch

    by_key = {field.key: field for field in config_fields()}
    read = {key: _read(by_key[key], value) for key, value in values.items()}
    config = build_config({**read, "losses": read_losses(losses)})
    if config.train != "fusion":
        losses_of(config)  # refuses what cannot be built
    return config


def _read(field: Field, value: Any) -> Any:
    if field.is_json:
        try:
            return json.loads(value or "{}")
        except ValueError as error:
            raise ConfigError(f"{field.label} cannot be read as JSON ({error}). Correct it.") from error
    if isinstance(field.default, str):
        return (value or "").strip()
    return int(value) if isinstance(value, float) and value.is_integer() else value  # pages send 3 as 3.0


def loss_fields() -> dict[str, tuple[str, list[Field]]]:
    """Return each loss's one-line description, its weight and its own fields."""
    from trainer.losses import LOSSES, Weight  # noqa: PLC0415  imports torch

    found = {}
    for name, kind in LOSSES.items():
        helps, hints = help_of(kind), get_type_hints(kind)
        own = [Field(f.name, f.default, helps[f.name], _choices(hints[f.name])) for f in fields(kind)]
        purpose = (inspect.getdoc(kind) or "").partition("\n")[0]
        found[name] = purpose, [Field("weight", 1.0, help_of(Weight)["weight"]), *own]
    return found


def _choices(hint: Any) -> tuple[str, ...]:
    return tuple(choice for choice in get_args(hint) if isinstance(choice, str))


def losses_view(losses: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the table of all losses, with those of a config selected and filled in; a fusion's config has none."""
    rows = [
        {
            "name": name,
            "help": purpose,
            "on": name in losses,
            "fields": [_cell(field, losses.get(name, {}).get(field.key, field.default)) for field in own],
        }
        for name, (purpose, own) in loss_fields().items()
    ]
    return {"losses": rows, "fusion": not losses}


def _cell(field: Field, value: Any) -> dict[str, Any]:
    """Return one input of the table: a switch, a choice or a number."""
    cell = {"key": field.key, "label": field.key.replace("_", " "), "help": field.help}
    if isinstance(field.default, bool):
        return {**cell, "switch": True, "on": value}
    if field.choices:
        return {**cell, "choice": True, "value": value, "choices": list(field.choices)}
    return {**cell, "number": True, "value": f"{value:g}" if isinstance(value, int | float) else value}


def read_losses(table: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the selected losses in config form; invalid numbers pass through for `build_losses` to reject."""
    try:
        return {
            row["name"]: {cell["key"]: _value(cell) for cell in row["fields"]}
            for row in table.get("losses", ())
            if row["on"]
        }
    except (TypeError, LookupError, AttributeError) as error:
        raise ConfigError("The table of losses cannot be read. Reload the page.") from error


def _value(cell: Mapping[str, Any]) -> Any:
    if "switch" in cell:
        return bool(cell["on"])
    if "choice" in cell:
        return cell["value"]
    try:
        return float(cell["value"])
    except (TypeError, ValueError):
        return cell["value"]
