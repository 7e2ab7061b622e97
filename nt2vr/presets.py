"""Files of presets and sweeps, the trainer's own and those of extensions. Imports no trainer, as help lists them."""

from pathlib import Path

from nt2vr.extension import extensions
from nt2vr.settings import PACKAGE

# The trainer's own; all are in `preset_files`.
PRESETS = PACKAGE.parent / "trainer" / "configs"


def preset_files() -> dict[str, Path]:
    """Return the presets by name, in alphabetical order."""
    return _by_name("*.json")


def sweep_files() -> dict[str, Path]:
    """Return the sweeps that ship by name, in alphabetical order."""
    return _by_name("sweeps/*.json")


def _by_name(pattern: str) -> dict[str, Path]:
    """Return the files of a pattern in all folders of presets."""
    paths = list(PRESETS.glob(pattern))
    for extension in extensions():
        if extension.presets is not None:
            paths += extension.presets.glob(pattern)
    return {path.stem: path for path in sorted(paths, key=lambda path: path.stem)}
