"""W2VV++ and SEA: texts read as words, and videos projected into the spaces of the texts. See README.md."""

from pathlib import Path

from nt2vr.extension import Extension, Pooling

HERE = Path(__file__).parent

EXTENSION = Extension(
    name="sea",
    settings={
        "text side": "nt2vr.papers.sea.settings:TextSideSettings",
        "video input": "nt2vr.papers.sea.settings:VideoInputSettings",
    },
    text_sides={"words": "nt2vr.papers.sea.words:Words"},
    video_inputs={"features": "nt2vr.papers.sea.features:Features"},
    poolings={
        "projected": Pooling("nt2vr.papers.sea.poolings:Projection", normalises_frames=False),
        "unit_projected": Pooling(
            "nt2vr.papers.sea.poolings:UnitProjection", normalises_frames=True
        ),
    },
    presets=HERE / "presets",
)
