"""Configs of trainings as stored, JSON with all keys and types checked, and changes as typed: losses.bnl.m4=-.1."""

import json
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from nt2vr.datasets.load import kind_and_path
from nt2vr.errors import MAX_QUOTED, ConfigError, did_you_mean, quoted
from nt2vr.files import parse_json, with_schema, without_schema, write_json
from nt2vr.models.catalog import Catalog
from nt2vr.negation.generate.verb_changes import Rule
from nt2vr.settings import Settings, resolve_path
from nt2vr.world import WORLD
from trainer.config import TrainConfig
from trainer.options import check_kind


def load_config(path: Path, changes: Mapping[str, Any] = MappingProxyType({})) -> TrainConfig:
    """Read a config; fields left out have their defaults, and `changes` are values by key: losses.bnl.m4."""
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read as JSON ({error}). Name a config file.") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path} must hold one JSON object.")
    config = build_config(without_schema(data, path), str(path))
    return build_config(changed(asdict(config), changes), str(path)) if changes else config


def build_config(data: Mapping[str, Any], source: str) -> TrainConfig:
    """Build a config from JSON values; errors name their `source`."""
    known = [f.name for f in fields(TrainConfig)]
    if unknown := sorted(set(data) - set(known)):
        near = did_you_mean(unknown[0], known)
        raise ConfigError(
            f"{source} has unknown keys: {', '.join(unknown)[:MAX_QUOTED]}.{near} Known keys: {', '.join(known)}."
        )
    for key, value in data.items():
        check_kind(key, value, getattr(TrainConfig(), key))
    return TrainConfig(**data)


def anchored(config: TrainConfig, data_dir: Path | None = None) -> TrainConfig:
    """Make relative paths absolute, so that the run finds its files from any working directory.

    The base may be the name of a model of the data folder, default NT2VR_DATA or ~/.cache/nt2vr; a ConfigError refuses
    one that is neither that nor a path.
    """
    kind, colon, data = config.data.partition(":") if kind_and_path(config.data)[0] else ("", "", config.data)
    return replace(
        config,
        base=_base_folder(config.base, data_dir),
        words={key: _anchored(value) if key == "vectors" else value for key, value in config.words.items()},
        data=config.data if config.data == WORLD else f"{kind}{colon}{_anchored(data)}",
        verb_changes=config.verb_changes if config.verb_changes in get_args(Rule) else _anchored(config.verb_changes),
    )


def names_files(config: TrainConfig) -> bool:
    """Whether a config names files besides its base and its data."""
    return config.verb_changes not in get_args(Rule) or bool(config.words.get("vectors"))


def _base_folder(base: str, data_dir: Path | None) -> str:
    """Return the folder of a base, which may be the name of a model, in any letter case: "clip", "ViT-B-32/openai"."""
    path = resolve_path(base)
    if not base or path.is_absolute() or path.exists():
        return _anchored(base)
    models = Catalog.of(Settings.read(data_dir))
    if models.named(base):
        return str(models.folder(base).absolute())
    near = did_you_mean(base, models.names())
    raise ConfigError(f"No model or checkpoint folder is called {quoted(base)}.{near} `nt2vr models list` has names.")


def _anchored(path: str) -> str:
    return path if not path or resolve_path(path).is_absolute() else str(Path(path).absolute())


def save_config(config: TrainConfig, path: Path) -> None:
    """Write a config with all its fields, atomically."""
    write_json(path, with_schema(asdict(config)), indent=2)


def parse_change(text: str) -> tuple[str, Any]:
    """Parse KEY=VALUE; the value is JSON, a number such as -.1, or a plain string."""
    key, value = _split(text, "KEY=VALUE")
    return key, _value(value)


def parse_choices(text: str) -> tuple[str, list[Any]]:
    """Parse KEY=VALUE,VALUE."""
    key, values = _split(text, "KEY=VALUE,VALUE")
    if not values:
        raise ConfigError(f"The grid has no value of {quoted(key)}. Name some.")
    return key, [_value(each) for each in values.split(",")]


def _split(text: str, form: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise ConfigError(f"Expected {form}, not {quoted(text)}.")
    return key, value  # which may be empty: base= is random weights


def _value(text: str) -> Any:
    for read in (json.loads, float):
        with suppress(ValueError):
            return read(text)
    return text


def changed(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a config's data with other values by key, which may be dotted: losses.bnl.m4."""
    result = deepcopy(dict(data))
    for key, value in changes.items():
        place = result
        *parents, last = key.split(".")
        for parent in parents:
            place = place.setdefault(parent, {})
            if not isinstance(place, dict):
                raise ConfigError(f"{quoted(key)} is no setting: {parent} has no parts. Correct the key.")
        place[last] = value
    return result
