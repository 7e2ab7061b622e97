"""Runs as template data. Independent of Gradio."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from nt2vr.media.picture import write_jpeg
from nt2vr.media.store import LIMITS
from nt2vr.progress import duration_text, percent_text
from nt2vr.ui.train.curves import Rows, loss_charts, validation_charts
from trainer.runs.manager import Run

if TYPE_CHECKING:  # imports torch
    import numpy as np
    from numpy.typing import NDArray

    from nt2vr.datasets.covr import CovrSet
    from trainer.data.clips import Clips
    from trainer.fusion.preview import ShownTriplet
    from trainer.mined import Quadruple

WORDS = {"running": "training", "stopping": "stopping after the current step"}  # for states that say it otherwise


def runs_view(runs: Sequence[Run], chosen: str) -> dict[str, Any]:
    """Return the list of runs, with the open one marked."""
    return {"runs": [{**_summary(run), "chosen": run.run_id == chosen} for run in runs]}


def run_view(run: Run, tell: Callable[[str], str] = str) -> dict[str, Any]:
    """Return one run's progress; `tell` is how an error is told to this visitor, who may not learn every path."""
    status = run.status
    return {
        **_summary(run),
        "done": progress_text(run),
        "left": "" if status.eta_s is None else f"{duration_text(status.eta_s)} left",
        "error": tell(status.error or "") if status.state == "failed" else "",
        "under_way": run.is_under_way,
    }


def _summary(run: Run) -> dict[str, Any]:
    state = run.status.state
    word, share = WORDS.get(state, state), percent(run)
    return {"id": run.run_id, "name": run.name, "state": state, "word": word, "share": share}


def curves_view(run: Run, rows: Rows, log: str, others: Sequence[tuple[Run, Rows]] = ()) -> dict[str, Any]:
    """Return a run's curves, with those of other runs for comparison, and the end of its log."""
    config = run.config
    charts: list[list[dict[str, Any]]] = []
    beside = {other.run_id: measured for other, measured in others}
    if config is not None:
        charts = [
            validation_charts(rows, config.epochs, beside),
            loss_charts(rows, config.loss_names, run.num_steps, beside),
        ]
    return {
        "id": run.run_id,
        "name": run.name,
        "legend": [
            {"number": number, "name": other.name, "id": other.run_id} for number, (other, _) in enumerate(others, 1)
        ],
        "charts": charts,
        "log": log,
    }


def comparable(runs: Sequence[Run], run: Run | None) -> list[tuple[str, str]]:
    """List the runs that a run's curves can be compared with, as labels and ids."""
    return [
        (f"{other.name} · {other.run_id}", other.run_id)
        for other in runs
        if run is not None and other.run_id != run.run_id and other.config is not None
    ]


def progress_text(run: Run) -> str:
    """Format a run's progress: the current epoch and the steps taken, or the current step of its preparation."""
    status = run.status
    if status.state == "preparing" and status.doing:
        counted = f": {status.done:,} of {status.total:,}" if status.total else ""
        resumed = f" · resumes after step {status.step:,}" if status.step else ""
        return f"{status.doing}{counted}{resumed}"
    if run.config is None or not status.step:
        return ""
    return f"epoch {status.epoch} of {run.config.epochs} · step {status.step:,} of {run.num_steps:,}"


def trash_text(num_bytes: int) -> str:
    """Format the space that deleted runs take; empty if none."""
    if not num_bytes:
        return ""
    size = f"{num_bytes / 1e9:.1f} GB" if num_bytes >= 1e9 else f"{max(1, round(num_bytes / 1e6))} MB"
    return f"Trash: {size}, deleted {LIMITS['trash'].days} days after each run."


def percent(run: Run) -> str:
    """Format a run's progress as a width in percent, without the sign."""
    if run.status.state == "finished":
        return "100"
    if run.status.state == "preparing":
        return percent_text(run.status.done, run.status.total)
    return percent_text(run.status.step, run.num_steps)


def mined_view(mined: Sequence["Quadruple"], clips: "Clips") -> dict[str, Any]:
    """Show each quadruple as two pictures, the middle frames of the clip and of the distractor, with their texts."""

    def picture(row: int) -> str:
        frames = clips.frames[row]
        return _inline(frames[len(frames) // 2])

    return {
        "title": "Mined distractors",
        "note": f"Mined by similarity alone among {len(clips):,} {clips.unit}: nobody has checked them. "
        "At the left a clip with its caption, at the right the negated caption with its distractor.",
        "mined": [
            {
                **{name: getattr(each, name) for name in ("caption", "negated", "shown")},
                "sought": f"sought: {each.subject}, not {each.denied}",
                "clip": picture(each.clip),
                "distractor": picture(each.distractor),
            }
            for each in mined
        ],
    }


def triplets_view(shown: Sequence["ShownTriplet"], dataset: "CovrSet") -> dict[str, Any]:
    """Show each triplet as two pictures, of the reference and of the target, with the text and both captions."""
    return {
        "title": "Triplets",
        "note": f"{len(shown)} of the {len(dataset.samples):,} triplets of {dataset.name}. At the left the reference, "
        "at the right what the text makes of it.",
        "mined": [
            {
                "caption": each.sample.before,
                "clip": _inline(each.reference),
                "negated": each.sample.text,
                "sought": each.sample.caption,
                "shown": each.sample.caption or each.sample.targets[0],
                "distractor": _inline(each.target),
            }
            for each in shown
        ],
    }


def _inline(picture: "NDArray[np.uint8]") -> str:
    write_jpeg(picture, file := BytesIO())
    return f"data:image/jpeg;base64,{b64encode(file.getvalue()).decode()}"
