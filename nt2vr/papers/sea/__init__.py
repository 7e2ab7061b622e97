"""W2VV++ and SEA: texts read as words, and videos projected into the spaces of the texts."""

from pathlib import Path

from nt2vr.extension import Extension

HERE = Path(__file__).parent

EXTENSION = Extension(
    name="sea",
    settings={"text side": "nt2vr.papers.sea.settings:TextSideSettings"},
    text_sides={"words": "nt2vr.papers.sea.words:Words"},
    presets=HERE / "presets",
)
