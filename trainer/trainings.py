"""Trainings that extensions add: of something other than the towers, which `trainer.learner` trains."""

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from nt2vr.extension import load, trainings
from nt2vr.progress import Progress, ShouldStop
from nt2vr.registry import pick

if TYPE_CHECKING:
    from trainer.config.config import TrainConfig
    from trainer.runs.run_folder import RunFolder, State


class TrainingKind(ABC):
    """What a run does if the config's `train` names it. Only its method `train` imports torch.

    All methods raise an Nt2vrError for what they refuse.

    Attributes:
        links_to_base: whether its checkpoints link to the files of the base instead of copying them.
        search_options: options that `nt2vr search` needs, so that the model differs from its base.
    """

    links_to_base = False
    search_options: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def loss_names(self, config: "TrainConfig") -> list[str]:
        """Return the names of the losses in the metrics."""

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


def training_of(config: "TrainConfig") -> TrainingKind | None:
    """Return the extension's training that a config chooses; None where towers are trained."""
    if config.encoder.trains_towers:
        return None
    training: TrainingKind = load(pick("training", config.encoder.train, trainings()).reference)
    return training


def loss_names(config: "TrainConfig") -> list[str]:
    """Return the names of the losses in the metrics of a run."""
    training = training_of(config)
    if training is None:
        return list(config.objective.losses)
    return training.loss_names(config)


def num_processes() -> int:
    """Return the number of processes that torchrun starts; 1 without it."""
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        return 1
    return int(os.environ["WORLD_SIZE"])
