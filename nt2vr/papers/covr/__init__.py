"""CoVR: retrieval by a picture plus a text that says what should be different. See README.md."""

from pathlib import Path

from nt2vr.extension import Command, Extension, Measure, TrainingReference

EXTENSION = Extension(
    name="covr",
    presets=Path(__file__).parent / "presets",
    benchmarks={"covr": "nt2vr.papers.covr.kind:KIND"},
    composers={"fusion": "nt2vr.papers.covr.fusion:Fusion"},
    strategies={"fusion": "nt2vr.papers.covr.strategy:FUSION"},
    settings={"picture plus text": "nt2vr.papers.covr.settings:PictureSettings"},
    trainings={
        "fusion": TrainingReference(
            "nt2vr.papers.covr.training_kind:FUSION",
            measures=(
                Measure(
                    "fusion/R@1",
                    title="Fusion R@1",
                    meaning="a picture and a text find their clip first, in %",
                ),
                Measure("fusion/R@5"),
                Measure("fusion/R@10"),
            ),
        )
    },
    api={
        "CovrData": "nt2vr.papers.covr.data:CovrData",
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
