"""Config files of trainings: presets, JSON read with all keys and types checked, and paths made absolute."""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from nt2vr.errors import MAX_QUOTED, ConfigError
from nt2vr.files import parse_json, with_schema, without_schema, write_json
from nt2vr.settings import resolve_path
from trainer.changes import changed
from trainer.config import WORLD, TrainConfig
from trainer.options import check_kind

PRESETS = Path(__file__).parent / "configs"


def preset_or_file(path: Path) -> Path:
    """Return the path itself if it exists, otherwise the shipped preset of that name, if any."""
    preset = PRESETS / f"{path}.json"
    return preset if preset.is_file() and not path.exists() else path


def load_config(path: Path, changes: Mapping[str, Any] = MappingProxyType({})) -> TrainConfig:
    """Read a config, and change it; fields that the file leaves out have their defaults.

    Args:
        changes: value by key, which may name a part of a field: losses.bnl.m4.
    """
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
        raise ConfigError(
            f"{source} has unknown keys: {', '.join(unknown)[:MAX_QUOTED]}. Known keys: {', '.join(known)}."
        )
    for key, value in data.items():
        check_kind(key, value, getattr(TrainConfig(), key))
    return TrainConfig(**data)


def anchored(config: TrainConfig) -> TrainConfig:
    """Make relative paths absolute, so that the run finds its data and its base from any working directory."""
    return replace(
        config, base=_anchored(config.base), data=config.data if config.data == WORLD else _anchored(config.data)
    )


def _anchored(path: str) -> str:
    return path if not path or resolve_path(path).is_absolute() else str(Path(path).absolute())


def save_config(config: TrainConfig, path: Path) -> None:
    """Write a config with all its fields, atomically."""
    write_json(path, with_schema(asdict(config)), indent=2)
