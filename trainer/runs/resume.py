"""Saved state for resuming a run, in one atomic file. All later steps depend on it alone.

On a CPU, a run killed at any moment reaches the same numbers as an uninterrupted one; on a GPU, as
far as its kernels are deterministic.
"""

import logging
import math
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch

from nt2vr.errors import CheckpointError, ConfigError, reason_of
from nt2vr.evaluation.metric_names import Metrics
from nt2vr.files import atomic_write, with_schema, without_schema
from nt2vr.world import WORLD
from nt2vr.world.drawn.clips import LOOK
from trainer.config import TrainConfig
from trainer.data.digests import Digests, difference
from trainer.optimizer import Trainable
from trainer.runs.run_folder import MetricsWriter, RunFolder

logger = logging.getLogger(__name__)
# Minimum interval between saves.
SAVE_EVERY_S = 30.0
# Maximum share of the time spent on saving.
SAVE_SHARE = 0.05
# What config.json limits, and a learner's config counts in the data that there are.
COUNTED = ("num_clips", "num_captions")
# One dict per step, in order.
Losses = list[Metrics]
# A "learning_rate", with the "epoch" and the "step" from which it is used.
Change = Mapping[str, float | int]


@dataclass(frozen=True)
class Position:
    """Progress of a run between two steps; `best_epoch` is 0 before the first."""

    epoch: int = 1
    best: float = -math.inf
    best_epoch: int = 0
    finished: bool = False

    def after_epoch(self, value: float, config: TrainConfig) -> "Position":
        position = self
        if value > self.best:
            position = replace(self, best=value, best_epoch=self.epoch)

        patience = config.validation.patience
        epochs_without_gain = self.epoch - max(position.best_epoch, config.negation.not_epochs)
        is_out_of_patience = 0 < patience <= epochs_without_gain
        is_last = self.epoch == config.batches.epochs
        return replace(position, epoch=self.epoch + 1, finished=is_out_of_patience or is_last)


@dataclass(frozen=True)
class Saved:
    """What resume.pt holds.

    Attributes:
        config: flat values of the learner's config.
        metrics_bytes: length of metrics.jsonl; a resumed run rewrites everything beyond it.
        recent: losses of the steps since the last line of metrics.
        learner: `Trainable.state_dict`; None at the start, and once the run has finished.
        look: version of the built-in world's drawings; runs of 0.2.0 saw the first one.
        changes: lower learning rates at which a run that diverged went on; `config` has the last.
        data: digests of a dataset's clips; empty for the built-in world, and for runs begun with
            0.2.0 or earlier.
        asks_as_evaluation: whether validation searches a dataset with the queries that an
            evaluation generates; False for runs begun with 0.2.0 or earlier.
    """

    config: Mapping[str, Any]
    position: Position = Position()
    metrics_bytes: int = 0
    recent: Losses | tuple[()] = ()
    learner: Mapping[str, Any] | None = None
    look: int = 1
    changes: tuple[Change, ...] = ()
    data: Digests = field(default_factory=dict)
    asks_as_evaluation: bool = False

    @property
    def steps(self) -> int:
        """Steps taken so far."""
        if self.learner:
            return int(self.learner["steps"])
        return 0

    @property
    def last_epoch(self) -> int:
        """Epoch of the last step; 0 before the first."""
        return math.ceil(self.steps / TrainConfig(**self.config).steps_per_epoch)


def read_saved(run: RunFolder, config: TrainConfig, data: Digests) -> Saved:
    """Read a run's saved state; before the first save, return that of the start.

    Args:
        run: the run's folder.
        config: as the learner has it, with the number of clips that there are.
        data: digests of the clips.

    Raises:
        ConfigError: if the state is one of another config, or of other data.
    """
    saved = read_state(run)
    if saved is None:
        return Saved(config.flat(), look=LOOK, data=data, asks_as_evaluation=True)

    different = _different(saved, config)
    if saved.learner is None and not saved.position.finished:
        # Nothing has been trained yet, so the clips had not been counted.
        different = [name for name in different if name not in COUNTED]
        saved = replace(saved, config=config.flat(), data=data)

    if not config.dataset.is_world and set(different).issubset(COUNTED):
        _check_data(run, saved, config, data)
    if different:
        raise _other_config(run, different)
    if saved.data:
        return saved
    return replace(saved, data=data)


def _different(saved: Saved, config: TrainConfig) -> list[str]:
    """Return the flat keys of values that differ; fields that are newer than the state count too."""
    before = TrainConfig(**saved.config).flat()
    return [name for name, value in config.flat().items() if before[name] != value]


def _other_config(run: RunFolder, names: Sequence[str]) -> ConfigError:
    return ConfigError(
        f"{run.resume} belongs to a run whose config differs in {', '.join(names)}. "
        "Restore that config, or name another folder."
    )


def _check_data(run: RunFolder, saved: Saved, config: TrainConfig, data: Digests) -> None:
    """Raise a ConfigError if the clips are not those that the run was started with."""
    reason = ""
    if saved.data:
        reason = difference(saved.data, data)
    # Runs begun with 0.2.0 or earlier have no digests, so only the counts can be compared.
    else:
        for name in _different(saved, config):
            unit = name.removeprefix("num_")
            count = getattr(config.dataset, name)
            count_before = saved.config[name]
            reason = f"it had {count_before:,} {unit} and now has {count:,}"
    if reason:
        raise ConfigError(
            f"The data of {run.path.name} has changed since the run was started: {reason}. "
            f"Restore {config.dataset.data}, or delete the run and start it again."
        )


def resumed_config(run: RunFolder, config: TrainConfig, saved: Saved | None) -> TrainConfig:
    """Return a run's config with the learning rate that it was last resumed at.

    Raises:
        ConfigError: if config.json asks for fewer clips than the run was started with.
    """
    if saved is None:
        return config
    if saved.learner:
        counts = saved.config
        fewer = [name for name in COUNTED if getattr(config.dataset, name) < counts.get(name, 0)]
        if fewer:
            raise _other_config(run, fewer)
    if not saved.changes:
        return config
    return config.replace(learning_rate=saved.changes[-1]["learning_rate"])


def change_learning_rate(run: RunFolder, config: TrainConfig, learning_rate: float) -> None:
    """Let a run that diverged go on from its last save at another learning rate.

    The change is recorded at once, in the metrics and in resume.pt, so that it holds however the
    run is resumed from here on. What was written after the save is undone.
    """
    saved = read_state(run) or Saved(config.flat(), look=LOOK, asks_as_evaluation=True)
    rewind(run, saved.metrics_bytes)
    for epoch in run.checkpoint_epochs():
        if epoch >= saved.position.epoch:
            shutil.rmtree(run.checkpoint(epoch))

    change = {"epoch": saved.position.epoch, "step": saved.steps, "learning_rate": learning_rate}
    with closing(MetricsWriter(run, config, saved.steps)) as metrics:
        metrics.append(change)
    saved = replace(
        saved,
        config={**saved.config, "learning_rate": learning_rate},
        changes=(*saved.changes, change),
        metrics_bytes=run.metrics.stat().st_size,
    )
    write_saved(run, saved)
    logger.info("From step %d on, the learning_rate is %g.", saved.steps, learning_rate)


def read_state(run: RunFolder) -> Saved | None:
    """Read resume.pt, if there is one.

    Raises:
        CheckpointError: if it cannot be read.
        ConfigError: if the run was trained on a former built-in world.
    """
    if not run.resume.exists():
        return None
    try:
        stored = torch.load(run.resume, map_location="cpu", weights_only=True)
        fields = without_schema(stored, run.resume, CheckpointError)
        # 0.2.0 and earlier stored it, the same number in every run.
        fields.pop("held_out", None)
        saved = Saved(**{**fields, "position": Position(**fields["position"])})
        TrainConfig(**saved.config)
    except CheckpointError:
        raise
    # Damaged files fail in many ways: in zip, in pickle, as missing keys.
    except Exception as error:
        raise CheckpointError(
            f"{run.resume} cannot be read ({reason_of(error)}). Delete it to train from the start."
        ) from error
    if saved.config["data"] == WORLD and saved.look != LOOK:
        raise ConfigError(
            f"{run.path.name} was trained on the former built-in world, whose clips and words no "
            "longer exist. Its curves and checkpoints stay; start a new run to train on today's."
        )
    return saved


def rewind(run: RunFolder, metrics_bytes: int) -> None:
    """Undo everything a run wrote after its last save.

    Checkpoints stay, since new ones would be identical.
    """
    if run.metrics.exists():
        os.truncate(run.metrics, min(metrics_bytes, run.metrics.stat().st_size))
    for partial in run.path.glob("checkpoints/.*.partial"):
        shutil.rmtree(partial)
    # A process that was killed while writing leaves them.
    for leftover in run.path.glob(".*.partial*"):
        leftover.unlink()


def write_saved(run: RunFolder, saved: Saved) -> None:
    """Replace resume.pt."""
    fields = {**vars(saved), "position": asdict(saved.position)}
    with atomic_write(run.resume) as partial:
        torch.save(with_schema(fields), partial)


class Saver:
    """Saves a run, spending at most `SAVE_SHARE` of its time on it."""

    def __init__(self, run: RunFolder, learner: Trainable, saved: Saved) -> None:
        self._run = run
        self._learner = learner
        # What does not change from one save to the next.
        self._constant = replace(
            saved, config=learner.config.flat(), learner=None, recent=(), look=LOOK
        )
        self._due = time.monotonic() + SAVE_EVERY_S

    @property
    def due(self) -> bool:
        return time.monotonic() >= self._due

    def save(self, position: Position, recent: Losses) -> None:
        """Replace resume.pt; without the learner's state if the run has finished."""
        began = time.monotonic()
        metrics = self._run.metrics
        num_bytes = 0
        if metrics.exists():
            num_bytes = metrics.stat().st_size
        saved = replace(self._constant, position=position, metrics_bytes=num_bytes)
        if not position.finished:
            saved = replace(saved, recent=recent, learner=self._learner.state_dict())
        write_saved(self._run, saved)
        now = time.monotonic()
        self._due = now + max(SAVE_EVERY_S, (now - began) / SAVE_SHARE)
