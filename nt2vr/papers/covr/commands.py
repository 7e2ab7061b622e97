"""The command `nt2vr covr`."""

import sys
from pathlib import Path

from nt2vr.cli import THIS, Machine
from nt2vr.errors import printable
from nt2vr.evaluation.tables import aligned
from nt2vr.papers.covr.api import evaluate_covr, submit_covr
from nt2vr.papers.covr.data import CovrData
from nt2vr.progress import progress_bar


def covr(
    *,
    model: str = "CLIP",
    data: str = "world",
    split: str = "test",
    queries: int = 0,
    submit: Path | None = None,
    system: str = "sum",
    machine: Machine = THIS,
) -> None:
    """Evaluate retrieval by a picture plus a text, and print the table.

    Args:
        model: name or folder of a model
        data: world, or the folder of WebVid-CoVR, CIRR, FashionIQ or CIRCO
        split: test or validation scenes, or the dataset's split
        queries: queries per kind of change in the built-in world, at most 100; default: 100, or
            50 for validation scenes
        submit: measure nothing, and write what the dataset's test server takes to this file
        system: what --submit writes: a row of the table
    """
    chosen = CovrData(data, split, queries)
    with progress_bar() as progress:
        if submit:
            files = submit_covr(
                model,
                data=chosen,
                file=submit,
                system=system,
                data_dir=machine.data_dir,
                device=machine.device,
                progress=progress,
            )
            for file in files:
                sys.stdout.write(f"{printable(str(file))}\n")
            return
        evaluation = evaluate_covr(
            model, data=chosen, data_dir=machine.data_dir, device=machine.device, progress=progress
        )
    for remark in evaluation.remarks:
        sys.stderr.write(f"{printable(remark)}\n")
    sys.stdout.write(aligned(evaluation.table))
