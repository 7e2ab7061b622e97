"""Shipped training configs by name."""

from pathlib import Path

from nt2vr.errors import ConfigError, did_you_mean, quoted

PRESETS = Path(__file__).parent / "configs"
SWEEPS = PRESETS / "sweeps"


def preset_names() -> list[str]:
    return sorted(path.stem for path in PRESETS.glob("*.json"))


def ready_sweeps() -> list[str]:
    """List the sweeps of the papers' tables, each with its config, and a grid or points."""
    return sorted(path.stem for path in SWEEPS.glob("*.json"))


def preset_or_file(path: Path) -> Path:
    """Return the config file itself, or the preset of that name; a folder of that name hides no preset."""
    if path.exists() and not path.is_dir():
        return path
    preset, names = PRESETS / f"{path}.json", preset_names()
    if preset.is_file():
        return preset
    what = "is a folder, not a config file" if path.is_dir() else "is neither a config file nor a preset"
    near = did_you_mean(str(path), names)
    raise ConfigError(f"{quoted(str(path))} {what}.{near} Name a file or one of: {', '.join(names)}.")
