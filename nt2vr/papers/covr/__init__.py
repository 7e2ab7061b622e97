"""CoVR: retrieval by a picture plus a text that says what should be different."""

from pathlib import Path

from nt2vr.extension import Command, Extension

EXTENSION = Extension(
    name="covr",
    presets=Path(__file__).parent / "presets",
    benchmarks={"covr": "nt2vr.papers.covr.kind:KIND"},
    composers={"fusion": "nt2vr.papers.covr.fusion:Fusion"},
    strategies={"fusion": "nt2vr.papers.covr.strategy:FUSION"},
    trainings={"fusion": "nt2vr.papers.covr.training_kind:FUSION"},
    api={
        "CovrData": "nt2vr.papers.covr.benchmark:CovrData",
        "evaluate_covr": "nt2vr.papers.covr.api:evaluate_covr",
        "submit_covr": "nt2vr.papers.covr.api:submit_covr",
    },
    commands=(
        Command(
            "covr",
            "nt2vr.papers.covr.commands:covr",
            help="Evaluate retrieval by a picture plus a text, and print the table.",
        ),
    ),
)
