"""W2VV++ and SEA: texts read as words, and videos projected into the spaces of the texts."""

from pathlib import Path

from nt2vr.extension import Extension

HERE = Path(__file__).parent

EXTENSION = Extension(
    name="sea",
    presets=HERE / "presets",
)
