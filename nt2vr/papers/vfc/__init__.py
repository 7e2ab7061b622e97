"""VFC, verb-focused contrastive learning, of “Verbs in Action”. See README.md."""

from pathlib import Path

from nt2vr.extension import Command, Extension

HERE = Path(__file__).parent

EXTENSION = Extension(
    name="vfc",
    losses={"vfc": "nt2vr.papers.vfc.loss:VfcLoss"},
    settings={"verbs": "nt2vr.papers.vfc.settings:VerbSettings"},
    presets=HERE / "presets",
    # A CSV file is recognised by a column that no other benchmark has: a picture of SVO-Probes, the
    # first answer of NExT-QA.
    tables={"pos_image_id": "nt2vr.papers.vfc.benchmarks:read_svo_probes"},
    questions={"a0": "nt2vr.papers.vfc.benchmarks:read_next_qa"},
    class_groups={"Kinetics-verb": HERE / "kinetics-verb.txt"},
    commands=(
        Command(
            "queries verbs",
            "nt2vr.papers.vfc.commands:change_verbs",
            help="Give captions another verb, as hard negatives of the loss vfc.",
        ),
    ),
)
