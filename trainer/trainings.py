"""Trainings that extensions add, of something else than the towers, which `trainer.learner` trains by losses."""

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from nt2vr.extension import extensions, load
from nt2vr.progress import Progress, ShouldStop
from nt2vr.registry import pick

if TYPE_CHECKING:
    from trainer.config.config import TrainConfig
    from trainer.runs.run_folder import RunFolder, State

TOWERS = ("all", "text", "visual", "head")  # values of `train` that need no extension


class Training(ABC):
    """What a run does if `train` chooses it; an Nt2vrError says what it cannot do. Only `train` imports torch."""

    @abstractmethod
    def check_data(self, config: "TrainConfig") -> None:
        """Refuse data that is missing, or of another kind; its path is absolute."""

    @abstractmethod
    def check_start(self, config: "TrainConfig") -> None:
        """Refuse a new run that would fail as it starts. No video is decoded."""

    @abstractmethod
    def train(
        self,
        run: "RunFolder",
        config: "TrainConfig",
        cache: Path,
        should_stop: ShouldStop,
        progress: Progress,
    ) -> "State":
        """Train to the end of a run, from where it was saved, with a checkpoint per epoch."""


def training_of(config: "TrainConfig") -> Training | None:
    """Return the training of an extension that a config chooses; None for one of towers."""
    train = config.encoder.train
    if train in TOWERS:
        return None
    references = {
        name: reference
        for extension in extensions()
        for name, reference in extension.trainings.items()
    }
    training: Training = load(pick("training", train, references))
    return training


def num_processes() -> int:
    """Return the number of processes that torchrun starts; 1 without it."""
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        return 1
    return int(os.environ["WORLD_SIZE"])
