"""What is entered in the form of a new run; imports torch only when losses are read."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.models.card import CARD, Card, read_card
from nt2vr.settings import ASSETS
from nt2vr.ui.search.formats import short_name
from nt2vr.ui.train.fields import FieldValues, label_of
from nt2vr.ui.train.losses_table import read_losses
from nt2vr.ui.view import View
from trainer.config import FIELDS, TrainConfig


def read_form(values: FieldValues, losses: View) -> TrainConfig:
    """Build a config from values by key, JSON as text, and the table of `losses_view` as the user edited it."""
    from trainer.losses import losses_of  # noqa: PLC0415  imports torch

    settings = {key: _read_value(key, value) for key, value in values.items()}
    config = TrainConfig(**{**settings, "losses": read_losses(losses)})
    if config.encoder.trains_towers:
        # Refuses what cannot be built.
        losses_of(config)
    return config


def _read_value(key: str, value: Any) -> Any:
    """Return what was entered in a field as configs have it."""
    default = FIELDS[key].default
    if isinstance(default, Mapping):
        try:
            return json.loads(value or "{}")
        except ValueError as error:
            raise ConfigError(
                f"{label_of(key)} cannot be read as JSON ({error}). Correct it."
            ) from error
    if isinstance(default, str):
        return (value or "").strip()
    # Pages send 3 as 3.0.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def bases(folders: Iterable[Path]) -> dict[str, str]:
    """Return the models that training can start from: display name to folder, as written in a config."""
    choices = {"random weights": ""}
    for parent in folders:
        for file in sorted(parent.glob(f"*/{CARD}")):
            folder = file.parent
            try:
                card = read_card(folder)
            except CheckpointError:
                continue
            if card.capabilities.has_text_tower:
                choices[_base_label(folder, card)] = _as_in_config(folder)
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
