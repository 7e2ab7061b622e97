"""Template data for the list of runs and for one run. Knows nothing about Gradio."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from trainer.manager import Run
from trainer.trash import TRASH_DAYS
from trainer.ui.curves import Rows, loss_charts, validation_charts

WORDS = {
    "preparing": "preparing",
    "running": "training",
    "stopping": "stopping after the current step",
    "stopped": "stopped",
    "finished": "finished",
    "failed": "failed",
    "interrupted": "interrupted",
}


def runs_view(runs: Sequence[Run], chosen: str) -> dict[str, Any]:
    """Return the list of runs, with the open one marked."""
    return {
        "runs": [
            {
                "id": run.run_id,
                "name": run.name,
                "state": run.status.state,
                "word": WORDS[run.status.state],
                "share": percent(run),
                "chosen": run.run_id == chosen,
            }
            for run in runs
        ]
    }


def run_view(run: Run, rows: Rows, log: str) -> dict[str, Any]:
    """Return one run: its progress, its curves and the end of its log."""
    config, status = run.config, run.status
    charts: list[list[dict[str, Any]]] = []
    if config is not None:
        charts = [validation_charts(rows, config.epochs), loss_charts(rows, config.losses, run.num_steps)]
    return {
        "id": run.run_id,
        "name": run.name,
        "state": status.state,
        "word": WORDS[status.state],
        "share": percent(run),
        "done": progress_text(run),
        "left": left_text(status.eta_s),
        "error": status.error or "" if status.state == "failed" else "",
        "charts": charts,
        "log": log,
    }


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


def left_text(eta_s: float | None) -> str:
    """Format the estimated time left, no more precisely than it can be known."""
    if eta_s is None:
        return ""
    if eta_s < 90:
        return f"{eta_s:.0f} s left"
    if eta_s < 90 * 60:
        return f"{eta_s / 60:.0f} min left"
    hours = timedelta(seconds=eta_s) / timedelta(hours=1)
    return f"{hours:.1f} h left"


def trash_text(num_bytes: int) -> str:
    """Say how much space deleted runs take; empty if none."""
    if not num_bytes:
        return ""
    size = f"{num_bytes / 1e9:.1f} GB" if num_bytes >= 1e9 else f"{max(1, round(num_bytes / 1e6))} MB"
    return f"Trash: {size}, deleted {TRASH_DAYS} days after each run."


def percent(run: Run) -> str:
    """Format a run's progress as a width in percent, without the sign."""
    if run.status.state == "finished":
        return "100"
    if run.status.state == "preparing":
        return f"{100 * min(1.0, run.status.done / run.status.total):.1f}" if run.status.total else "0"
    return f"{100 * min(1.0, run.status.step / run.num_steps):.1f}" if run.num_steps else "0"
