"""Going on where a run ended: all that its next steps depend on, in one file that is written whole.

On a CPU, a run that was killed at any moment goes on to the very numbers of one that was not; on a GPU, as nearly as
its kernels repeat themselves.
"""

import math
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import torch

from nt2vr.errors import CheckpointError, ConfigError, reason_of
from nt2vr.files import atomic_write, with_schema, without_schema
from trainer.config import TrainConfig
from trainer.learner import Learner
from trainer.run_folder import RunFolder

SAVE_EVERY_S = 30.0  # at most
SAVE_SHARE = 0.05  # of the time may be spent on it
Losses = list[dict[str, float]]  # of steps, in order


@dataclass(frozen=True)
class Position:
    """Where a run is, between two steps.

    Attributes:
        epoch: the one under way, 1 is the first.
        best: highest value of the watched metric.
        best_epoch: which epoch reached it; 0 before any did.
        finished: whether there is nothing left to do.
    """

    epoch: int = 1
    best: float = -math.inf
    best_epoch: int = 0
    finished: bool = False

    def after_epoch(self, value: float, config: TrainConfig) -> "Position":
        """Where it is once an epoch has ended, and been measured by the watched metric."""
        best, best_epoch = (value, self.epoch) if value > self.best else (self.best, self.best_epoch)
        out_of_patience = 0 < config.patience <= self.epoch - max(best_epoch, config.not_epochs)
        return Position(self.epoch + 1, best, best_epoch, out_of_patience or self.epoch == config.epochs)


@dataclass(frozen=True)
class Saved:
    """What the file holds.

    Attributes:
        config: of the run, as a dictionary.
        position: where it is.
        metrics_bytes: length of metrics.jsonl: what it has beyond will come again.
        recent: losses of steps that no line of it tells of yet.
        learner: `Learner.state_dict`; None once the run has finished.
    """

    config: Mapping[str, Any]
    position: Position = Position()
    metrics_bytes: int = 0
    recent: Losses | tuple[()] = ()
    learner: Mapping[str, Any] | None = None


def read_saved(run: RunFolder, config: TrainConfig) -> Saved | None:
    """Read what a run has saved; None if it has not.

    Raises:
        CheckpointError: if the file is damaged or written by a newer nT2VR.
        ConfigError: if it belongs to another config.
    """
    if not run.resume.exists():
        return None
    try:
        data = torch.load(run.resume, map_location="cpu", weights_only=True)
        data = without_schema(data, run.resume, CheckpointError)
        saved = Saved(**{**data, "position": Position(**data["position"])})
        before = TrainConfig(**saved.config)
    except CheckpointError:
        raise
    except Exception as error:  # damaged files fail in many ways: in zip, in pickle, as missing keys
        raise CheckpointError(
            f"{run.resume} cannot be read ({reason_of(error)}). Delete it to train from the start again."
        ) from error
    names = [field.name for field in fields(config)]
    if other := [name for name in names if getattr(before, name) != getattr(config, name)]:
        raise ConfigError(
            f"{run.resume} belongs to a run whose config differs in {', '.join(other)}. "
            "Put that config back, or name another folder."
        )
    return saved


def rewind(run: RunFolder, metrics_bytes: int) -> None:
    """Take back what a run wrote after it was saved; a checkpoint would come out the same, and stays."""
    if run.metrics.exists():
        os.truncate(run.metrics, min(metrics_bytes, run.metrics.stat().st_size))
    for partial in run.path.glob("checkpoints/.*.partial"):
        shutil.rmtree(partial)
    for leftover in run.path.glob(".*.partial*"):  # of a process that was killed while it wrote
        leftover.unlink()


class Saver:
    """Saves a run, in between not so often that it would cost much."""

    def __init__(self, run: RunFolder, learner: Learner) -> None:
        """Start the clock."""
        self._run, self._learner = run, learner
        self._due = time.monotonic() + SAVE_EVERY_S

    @property
    def due(self) -> bool:
        """Whether it is time again."""
        return time.monotonic() >= self._due

    def save(self, position: Position, recent: Losses) -> None:
        """Replace the file, whole. Of a finished run only that it has finished is kept: nothing can go on from it."""
        began = time.monotonic()
        metrics = self._run.metrics
        saved = Saved(asdict(self._learner.config), position, metrics.stat().st_size if metrics.exists() else 0)
        if not position.finished:
            saved = replace(saved, recent=recent, learner=self._learner.state_dict())
        with atomic_write(self._run.resume) as partial:
            torch.save(with_schema({**vars(saved), "position": asdict(position)}), partial)
        now = time.monotonic()
        self._due = now + max(SAVE_EVERY_S, (now - began) / SAVE_SHARE)
