"""Configs as files: presets, a run's config.json, and changes as people type them."""

import json
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from nt2vr.errors import ConfigError, quoted
from nt2vr.files import stored_json, with_schema, without_schema, write_json
from nt2vr.presets import preset_files
from trainer.config.config import ConfigChanges, TrainConfig


def preset_or_file(path: Path) -> Path:
    """Return the config file itself, or the preset of that name; a folder of that name hides no preset."""
    if path.is_file():
        return path
    preset = preset_files().get(str(path))
    if preset is None:
        names = ", ".join(preset_files())
        raise ConfigError(
            f"{quoted(str(path))} is neither a config file nor a preset. Name a file or one of: {names}."
        )
    return preset


def load_config(path: Path, changes: ConfigChanges = MappingProxyType({})) -> TrainConfig:
    """Read a config; fields left out have their defaults, and `changes` are values by key: losses.bnl.m4."""
    try:
        values = stored_json(path)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{path} cannot be read as JSON ({error}). Name a config file."
        ) from error
    if not isinstance(values, dict):
        raise ConfigError(f"{path} must hold one JSON object.")
    config = TrainConfig(**without_schema(values, path))
    if not changes:
        return config
    return config.with_changes(changes)


def save_config(config: TrainConfig, path: Path) -> None:
    write_json(path, with_schema(config.flat()), indent=2)


def parse_change(text: str) -> tuple[str, Any]:
    """Parse KEY=VALUE; the value is JSON, a number such as -.1, or a plain string."""
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise ConfigError(f"Expected KEY=VALUE, not {quoted(text)}.")
    # The value may be empty: base= stands for random weights.
    return key, parse_value(value)


def parse_value(text: str) -> Any:
    """Parse JSON, a number such as -.1, or a plain string."""
    for read in (json.loads, float):
        with suppress(ValueError):
            return read(text)
    return text
