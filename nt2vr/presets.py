"""Files of presets and sweeps, the trainer's own and those of extensions. Imports no trainer, as help lists them."""

from collections.abc import Iterator
from pathlib import Path

from nt2vr.extension import extensions
from nt2vr.settings import PACKAGE

# The trainer's own; all are in `preset_files`.
PRESETS = PACKAGE.parent / "trainer" / "configs"


def preset_files() -> dict[str, Path]:
    """Return the presets by name, in alphabetical order."""
    return _by_name(path for folder in _folders() for path in folder.glob("*.json"))


def sweep_files() -> dict[str, Path]:
    """Return the sweeps that ship by name, in alphabetical order."""
    return _by_name(path for folder in _folders() for path in (folder / "sweeps").glob("*.json"))


def _folders() -> Iterator[Path]:
    yield PRESETS
    for extension in extensions():
        if extension.presets is not None:
            yield extension.presets


def _by_name(paths: Iterator[Path]) -> dict[str, Path]:
    return {path.stem: path for path in sorted(paths, key=lambda path: path.stem)}
