"""Runs as template data and curves. Independent of Gradio."""

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from nt2vr.errors import CheckpointError, counted
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
from nt2vr.media.limits import LIMITS
from nt2vr.models.card import read_card
from nt2vr.progress import duration_text, percent_text
from nt2vr.ui.search.formats import short_name
from nt2vr.ui.train.fields import FieldValues
from nt2vr.ui.view import Choices, Redact, View, Views
from nt2vr.world import NAME
from trainer.config import TrainConfig
from trainer.runs.manager import Run
from trainer.trainings import loss_names

Points = list[tuple[float, float]]
Runs = Sequence[Run]
Rows = Sequence[Mapping[str, float]]
# Per line; more would not be visible.
MAX_POINTS = 300


def _plots_of_extensions() -> Iterator[tuple[str, str, str]]:
    for training in trainings().values():
        for measure in training.measures:
            if measure.title:
                yield measure.name, measure.title, measure.meaning


# Plots of validation: metric, title, explanation.
VALIDATION = (
    (COMPOSED_HARD_PAIRS, "Hard pairs", "“A and not B” ranks A without B above A with B, in %"),
    (ORIGINAL_MIR, "Original MIR", "how well captions find their clips"),
    (COMPOSED_MIR, "Composed MIR", "“A and not B” finds clips with A and without B"),
    (NEGATED_DELTA_MIR, "Negated ΔMIR", "how much MIR falls when a caption is negated"),
    (TEXT_ORDER, "Text order", "“A and not B” is closer to “A and C” than to “A and B”, in %"),
    (TEXT_TARGET, "Text target", "cosine between negated sentences and their targets"),
    (TEXT_KEPT, "Text kept", "cosine between captions embedded by the model and by the base"),
    *_plots_of_extensions(),
)
# Of the metrics of the model that a run started from.
BASE_PREFIX = "base"
# What the page calls some of the states.
STATE_TEXTS = {"running": "training", "stopping": "stopping after the current step"}


def runs_view(runs: Runs, chosen: Run | None) -> View:
    return {"runs": [{**_summary(run), "chosen": run == chosen} for run in runs]}


def run_view(
    run: Run,
    redact: Redact = str,
    rows: Rows = (),
    system: str = "",
    base: str = "",
    may_evaluate: bool = False,
) -> View:
    """Return one run: its progress, what it is trained on, and where its model is used.

    Args:
        run: the run.
        redact: words an error for this visitor, who may not learn every path.
        rows: its metrics, of which the best epoch is taken.
        system: name of its model in Search and Evaluate; "" before the first checkpoint.
        base: name of the model that it started from; "" if Search does not have it.
        may_evaluate: whether this visitor may evaluate on the run's data.
    """
    status = run.status
    compared = "|".join(filter(None, (base, system)))
    return {
        **_summary(run),
        "progress": _progress_text(run),
        "time_left": "" if status.eta_s is None else f"{duration_text(status.eta_s)} left",
        "error": redact(status.error or "") if status.state == "failed" else "",
        "finished": finished_text(run, rows) if status.state == "finished" else "",
        "outcome": status.doing if status.state == "finished" else "",
        "under_way": run.is_under_way,
        "facts": facts(run.config, rows) if run.config else [],
        "system": short_name(system),
        "search": f"?{urlencode({'systems': system})}",
        "compare": f"?{urlencode({'systems': compared})}",
        "export": shlex.join(["nt2vr", "export", system, "FOLDER"]),
        "may_evaluate": may_evaluate,
    }


def _progress_text(run: Run) -> str:
    """Say how far a run is: its preparation, or its epoch and step."""
    status = run.status
    if status.state == "preparing" and status.doing:
        text = status.doing
        if status.total:
            text += f": {status.done:,} of {status.total:,}"
        if status.step:
            text += f" · resumes after step {status.step:,}"
        return text
    if run.config is None or not status.step:
        return ""
    epoch = f"epoch {status.epoch} of {run.config.batches.epochs}"
    step = f"step {status.step:,} of {run.num_steps:,}"
    return f"{epoch} · {step}"


def finished_text(run: Run, rows: Rows) -> str:
    """Say what a finished run has achieved, compared with its base where both were measured."""
    if run.config is None:
        return "Finished."

    text = f"Finished after {counted(run.config.batches.epochs, 'epoch')}."
    before = series(rows, f"{BASE_PREFIX}/{COMPOSED_HARD_PAIRS}", "epoch")
    after = dict(series(rows, COMPOSED_HARD_PAIRS, "epoch"))
    best = _best_epoch(run.config, rows)
    if not before or best is None or best.number not in after:
        return text

    failures_before = round(100 - before[-1][1])
    failures = round(100 - after[best.number])
    return (
        f"{text} When a query excludes something, its model ranks a clip with it above one without it in "
        f"{failures} of 100 pairs; before the training, in {failures_before}."
    )


class BestEpoch(NamedTuple):
    """The epoch whose model is used, and its value of the metric that decides."""

    number: float
    value: float


def _best_epoch(config: TrainConfig, rows: Rows) -> BestEpoch | None:
    """Return the best epoch so far; None before the first has been measured."""
    points = series(rows, config.validation.monitor, "epoch")
    measured = [BestEpoch(number, value) for number, value in points if number > 0]
    return max(measured, key=lambda epoch: epoch.value, default=None)


def facts(config: TrainConfig, rows: Rows) -> Views:
    """Return what a run is trained on and with, and its best epoch so far, as terms and texts without any path."""
    dataset = config.dataset
    losses = config.objective.losses
    text_of = {
        "Data": NAME if dataset.is_world else Path(dataset.data).name,
        "Base": base_name(config),
        "Losses": ", ".join(_loss_text(name, losses.get(name, {})) for name in loss_names(config)),
        "Seed": str(config.run.seed),
    }
    best = _best_epoch(config, rows)
    if best is not None:
        metric = config.validation.monitor
        titles = {key: title for key, title, _ in VALIDATION}
        value = f"{titles.get(metric, metric)} {best.value:.3g}"
        text_of["Best epoch"] = f"{best.number:.0f} ({value})"
    return [{"term": term, "text": text} for term, text in text_of.items()]


def base_name(config: TrainConfig) -> str:
    """Name the model that a run starts from; of another run's epoch, that run and the epoch."""
    folder = config.encoder.base_folder
    if folder is None:
        return "random weights"
    if folder.parent.name == "checkpoints":
        epoch = folder.name.replace("epoch_", "epoch ")
        return f"{short_name(folder.parent.parent.name)} · {epoch}"
    try:
        return read_card(folder).name
    except CheckpointError:
        return folder.name


def _loss_text(name: str, settings: FieldValues) -> str:
    """Return a loss with its weight and its own settings: "distill 5 (alpha 0.8, keep 1)"."""
    text = name
    if "weight" in settings:
        text += f" {_short(settings['weight'])}"
    own_settings = [f"{key} {_short(value)}" for key, value in settings.items() if key != "weight"]
    if own_settings:
        text += f" ({', '.join(own_settings)})"
    return text


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return str(value).lower()


def _summary(run: Run) -> View:
    status = run.status
    state = status.state
    if state == "finished":
        share = "100"
    elif state == "preparing":
        share = percent_text(status.done, status.total)
    else:
        share = percent_text(status.step, run.num_steps)
    return {
        "id": run.run_id,
        "name": short_name(run.run_id),
        "state": state,
        "state_text": STATE_TEXTS.get(state, state),
        "share": share,
    }


def lower_rate_label(run: Run) -> str:
    """Return what the button says that resumes a run at a lower learning rate."""
    if run.lower_rate is None:
        return "Resume"
    return f"Resume at learning rate {run.lower_rate:g}"


def series(rows: Rows, key: str, along: str) -> Points:
    """Return a metric's values in order, at most MAX_POINTS and the last; of one measured again, the last counts."""
    value_at = {row[along]: row[key] for row in rows if key in row and along in row}
    points = sorted(value_at.items())
    step = max(1, math.ceil(len(points) / MAX_POINTS))
    # From the first on, steps of this size reach the last.
    first = (len(points) - 1) % step
    return points[first::step]


def comparable(runs: Runs, run: Run | None) -> Choices:
    """List the runs that a run's curves can be compared with, as labels and ids."""
    if run is None:
        return []
    choices = []
    for name, candidate in zip(run_names(runs), runs, strict=True):
        if candidate.run_id != run.run_id and candidate.config is not None:
            choices.append((name, candidate.run_id))
    return choices


def run_names(runs: Runs) -> list[str]:
    """Name runs as Search and Evaluate list their models; those of one name by their ids."""
    names = [short_name(run.run_id) for run in runs]
    unique_names = []
    for name, run in zip(names, runs, strict=True):
        unique_names.append(name if names.count(name) == 1 else run.run_id)
    return unique_names


def trash_text(num_bytes: int) -> str:
    if not num_bytes:
        return ""
    size = f"{max(1, round(num_bytes / 1e6))} MB"
    if num_bytes >= 1e9:
        size = f"{num_bytes / 1e9:.1f} GB"
    return f"Trash: {size}, deleted {LIMITS['trash'].days} days after each run."
