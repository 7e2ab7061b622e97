"""CoN-CLIP: contrastive learning with negated captions and distractors. See README.md."""

from pathlib import Path

from nt2vr.extension import Extension

HERE = Path(__file__).parent

EXTENSION = Extension(
    name="con_clip",
    losses={
        "con": "nt2vr.papers.con_clip.loss:ConClipLoss",
        "negclip": "nt2vr.papers.con_clip.loss:NegClipLoss",
    },
    presets=HERE / "presets",
    # CC-Neg's own file, by its suffix.
    question_files={".pt": "nt2vr.papers.con_clip.benchmarks:read_cc_neg"},
)
