"""Config files of trainings: JSON read with all keys and types checked, and paths made absolute."""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from nt2vr.errors import MAX_QUOTED, ConfigError, quoted
from nt2vr.files import parse_json, with_schema, without_schema, write_json
from nt2vr.models.catalog import Catalog
from nt2vr.registry import did_you_mean
from nt2vr.settings import Settings, resolve_path
from nt2vr.world import WORLD
from trainer.changes import changed
from trainer.config import TrainConfig
from trainer.options import check_kind


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
        near = did_you_mean(unknown[0], known)
        raise ConfigError(
            f"{source} has unknown keys: {', '.join(unknown)[:MAX_QUOTED]}.{near} Known keys: {', '.join(known)}."
        )
    for key, value in data.items():
        check_kind(key, value, getattr(TrainConfig(), key))
    return TrainConfig(**data)


def anchored(config: TrainConfig, data_dir: Path | None = None) -> TrainConfig:
    """Make relative paths absolute, so that the run finds its data and its base from any working directory.

    Args:
        data_dir: data folder of the models that the base may name; default NT2VR_DATA, or ~/.cache/nt2vr.

    Raises:
        ConfigError: if the base is neither a path nor the name of a model.
    """
    return replace(
        config,
        base=_base_folder(config.base, data_dir),
        words={**config.words, "vectors": _anchored(config.words["vectors"])}
        if "vectors" in config.words
        else config.words,
        data=config.data if config.data == WORLD else _anchored(config.data),
    )


def _base_folder(base: str, data_dir: Path | None) -> str:
    """Return the folder of a base, which may be the name of a model, in any letter case: "clip", "ViT-B-32/openai"."""
    path = resolve_path(base)
    if not base or path.is_absolute() or path.exists():
        return _anchored(base)
    models = Catalog.of(Settings.read(data_dir))
    by_key = {"".join(name.casefold().split()): name for name in models.names()}
    if name := by_key.get("".join(base.casefold().split())):
        return str(models.find(name).folders[0].absolute())
    near = did_you_mean(base, by_key.values())
    raise ConfigError(f"No model or checkpoint folder is called {quoted(base)}.{near} `nt2vr models list` has names.")


def _anchored(path: str) -> str:
    return path if not path or resolve_path(path).is_absolute() else str(Path(path).absolute())


def save_config(config: TrainConfig, path: Path) -> None:
    """Write a config with all its fields, atomically."""
    write_json(path, with_schema(asdict(config)), indent=2)
