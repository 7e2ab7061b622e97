"""Runs as template data and curves. Independent of Gradio."""

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

import pandas as pd

from nt2vr.errors import CheckpointError
from nt2vr.evaluation.metric_names import (
    COMPOSED_HARD_PAIRS,
    COMPOSED_MIR,
    NEGATED_DELTA_MIR,
    ORIGINAL_MIR,
    TEXT_KEPT,
    TEXT_ORDER,
    TEXT_TARGET,
)
from nt2vr.extension import trainings
from nt2vr.media.store import LIMITS
from nt2vr.models.card import read_card
from nt2vr.progress import duration_text, percent_text
from nt2vr.ui.search.results import short_name
from nt2vr.world import NAME
from trainer.config import TrainConfig
from trainer.runs.manager import Run
from trainer.trainings import loss_names

Points = list[tuple[float, float]]
Rows = Sequence[Mapping[str, float]]
MAX_POINTS = 300  # per line; more would not be visible
VALIDATION = (  # metric, title, explanation
    (COMPOSED_HARD_PAIRS, "Hard pairs", "“A and not B” ranks A without B above A with B, in %"),
    (ORIGINAL_MIR, "Original MIR", "how well captions find their clips"),
    (COMPOSED_MIR, "Composed MIR", "“A and not B” finds clips with A and without B"),
    (NEGATED_DELTA_MIR, "Negated ΔMIR", "how much MIR falls when a caption is negated"),
    (TEXT_ORDER, "Text order", "“A and not B” is closer to “A and C” than to “A and B”, in %"),
    (TEXT_TARGET, "Text target", "cosine between negated sentences and their targets"),
    (TEXT_KEPT, "Text kept", "cosine between captions embedded by the model and by the base"),
    *(
        (measure.name, measure.title, measure.meaning)
        for training in trainings().values()
        for measure in training.measures
        if measure.title
    ),
)
CONTROLS = ("base", "drop", "parts")  # prefixes of the metrics of what a model is compared with
WORDS = {
    "running": "training",
    "stopping": "stopping after the current step",
}  # for states that say it otherwise


def runs_view(runs: Sequence[Run], chosen: Run | None) -> dict[str, Any]:
    return {"runs": [{**_summary(run), "chosen": run == chosen} for run in runs]}


def run_view(
    run: Run,
    tell: Callable[[str], str] = str,
    rows: Rows = (),
    system: str = "",
    may_evaluate: bool = False,
) -> dict[str, Any]:
    """Return one run: its progress, what it is trained on, and where its model is used.

    Args:
        run: the run.
        tell: how an error is told to this visitor, who may not learn every path.
        rows: its metrics, of which the best epoch is taken.
        system: name of its model in Search and Evaluate; "" before the first checkpoint.
        may_evaluate: whether this visitor may evaluate on the run's data.
    """
    status, done = run.status, ""
    if status.state == "preparing" and status.doing:
        counted = f": {status.done:,} of {status.total:,}" if status.total else ""
        done = f"{status.doing}{counted}" + (
            f" · resumes after step {status.step:,}" if status.step else ""
        )
    elif run.config is not None and status.step:
        done = f"epoch {status.epoch} of {run.config.batches.epochs} · step {status.step:,} of {run.num_steps:,}"
    return {
        **_summary(run),
        "done": done,
        "left": "" if status.eta_s is None else f"{duration_text(status.eta_s)} left",
        "error": tell(status.error or "") if status.state == "failed" else "",
        "outcome": status.doing if status.state == "finished" else "",
        "under_way": run.is_under_way,
        "facts": facts(run.config, rows) if run.config else [],
        "system": system,
        "search": f"?{urlencode({'systems': system})}",
        "export": shlex.join(["nt2vr", "export", system, "FOLDER"]),
        "may_evaluate": may_evaluate,
    }


def facts(config: TrainConfig, rows: Rows) -> list[dict[str, str]]:
    """Return what a run is trained on and with, and its best epoch so far, as terms and texts without any path."""
    named = {
        "Data": NAME if config.dataset.is_world else Path(config.dataset.data).name,
        "Base": base_name(config),
        "Losses": ", ".join(
            _loss_text(name, config.objective.losses.get(name, {})) for name in loss_names(config)
        ),
        "Seed": str(config.run.seed),
    }
    measured = [point for point in series(rows, config.validation.monitor, "epoch") if point[0] > 0]
    if measured:
        epoch, value = max(measured, key=lambda point: point[1])
        named["Best epoch"] = f"{epoch:.0f} ({config.validation.monitor} {value:.3g})"
    return [{"term": term, "text": text} for term, text in named.items()]


def base_name(config: TrainConfig) -> str:
    """Name the model that a run starts from; of another run's epoch, that run and the epoch."""
    folder = config.encoder.base_folder
    if folder is None:
        return "random weights"
    if folder.parent.name == "checkpoints":
        return f"{folder.parent.parent.name} · {folder.name.replace('epoch_', 'epoch ')}"
    try:
        return read_card(folder).name
    except CheckpointError:
        return folder.name


def _loss_text(name: str, settings: Mapping[str, Any]) -> str:
    """Return a loss with its weight and its own settings: "distill 5 (alpha 0.8, keep 1)"."""
    own = ", ".join(f"{key} {_short(value)}" for key, value in settings.items() if key != "weight")
    weight = f" {_short(settings['weight'])}" if "weight" in settings else ""
    return f"{name}{weight} ({own})" if own else f"{name}{weight}"


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).lower()


def _summary(run: Run) -> dict[str, Any]:
    status, share = run.status, percent_text(run.status.step, run.num_steps)
    if status.state in ("finished", "preparing"):
        share = "100" if status.state == "finished" else percent_text(status.done, status.total)
    word = WORDS.get(status.state, status.state)
    # The name by which Search and Evaluate list its model, too.
    name = short_name(run.run_id)
    return {"id": run.run_id, "name": name, "state": status.state, "word": word, "share": share}


def lower_rate_label(run: Run) -> str:
    """Return what the button says that resumes a run at a lower learning rate."""
    return "Resume" if run.lower_rate is None else f"Resume at learning rate {run.lower_rate:g}"


@dataclass(frozen=True, eq=False)
class Curve:
    """One plot: the columns `x`, "value" and "line" of its points, with the full extent of its x axis."""

    title: str
    note: str
    x: str  # "epoch" or "step"
    end: int
    points: pd.DataFrame


def curves(run: Run, rows: Rows, others: Mapping[str, Rows] = MappingProxyType({})) -> list[Curve]:
    """Return curves of validation and of each loss, with other runs by their ids; base and control are level lines."""
    if run.config is None:
        return []
    lines, found = {run.name: rows, **others}, []
    plots = [(*each, "epoch", run.config.batches.epochs) for each in VALIDATION]
    plots += [
        (name, name, "loss, unweighted", "step", max(1, run.num_steps))
        for name in loss_names(run.config)
    ]
    for metric, title, note, x, end in plots:
        points = {name: series(of, metric, x) for name, of in lines.items()}
        if own := points[run.name]:
            title = f"{title}: {own[-1][1]:.3g}"
        for prefix in CONTROLS:
            if level := series(rows, f"{prefix}/{metric}", x):
                points[prefix] = [(0, level[-1][1]), (end, level[-1][1])]
        if len(frame := _frame(points, x, end)):
            found.append(Curve(title, note, x, end, frame))
    return found


def series(rows: Rows, key: str, along: str) -> Points:
    """Return a metric's values in order, at most MAX_POINTS and the last; of one measured again, the last counts."""
    points = sorted({row[along]: row[key] for row in rows if key in row and along in row}.items())
    return points[:: -math.ceil(len(points) / MAX_POINTS) or -1][::-1]


def _frame(lines: Mapping[str, Points], x: str, end: int) -> pd.DataFrame:
    drawn = []
    for name, line in lines.items():
        # a line of a single point would not be drawn: it becomes a dash
        dash = [(line[0][0] + end / 50, line[0][1])] if len(line) == 1 else []
        drawn += [(at, value, name) for at, value in [*line, *dash]]
    return pd.DataFrame(drawn, columns=[x, "value", "line"])


def comparable(runs: Sequence[Run], run: Run | None) -> list[tuple[str, str]]:
    """List the runs that a run's curves can be compared with, as labels and ids."""
    return [
        (f"{other.name} · {other.run_id}", other.run_id)
        for other in runs
        if run is not None and other.run_id != run.run_id and other.config is not None
    ]


def trash_text(num_bytes: int) -> str:
    if not num_bytes:
        return ""
    size = (
        f"{num_bytes / 1e9:.1f} GB" if num_bytes >= 1e9 else f"{max(1, round(num_bytes / 1e6))} MB"
    )
    return f"Trash: {size}, deleted {LIMITS['trash'].days} days after each run."
