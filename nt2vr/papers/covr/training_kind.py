"""The training of a fusion, as a run's setting `train` chooses it."""

from pathlib import Path
from typing import TYPE_CHECKING

from nt2vr.datasets.files import Files
from nt2vr.datasets.load import kind_and_path
from nt2vr.errors import ConfigError
from nt2vr.papers.covr.datasets import covr_name, load_covr
from nt2vr.papers.covr.settings import fusion_settings
from nt2vr.progress import Progress, ShouldStop
from nt2vr.settings import resolve_path
from trainer.trainings import TrainingKind, num_processes

if TYPE_CHECKING:
    from trainer.config.config import TrainConfig
    from trainer.runs.run_folder import RunFolder, State


class FusionTraining(TrainingKind):
    """Trains what makes one vector of a reference picture and a text, over frozen towers."""

    links_to_base = True
    search_options = ("--image", "photo.jpg")

    def loss_names(self, config: "TrainConfig") -> list[str]:
        return [fusion_settings(config).loss]

    def check_data(self, config: "TrainConfig") -> None:
        covr_name(Files(kind_and_path(config.dataset.data)[1]))

    def check_start(self, config: "TrainConfig") -> None:
        """Refuse several processes, a logger that is not installed, and too few triplets for a batch."""
        _check_process(config)
        if config.dataset.is_world:
            return

        settings = fusion_settings(config)
        path = resolve_path(config.dataset.data)
        training = load_covr(path, "train")
        load_covr(path, "val")
        num_groups = len(training.samples)
        if settings.iterate == "targets":
            num_groups = len({sample.targets[:1] for sample in training.samples})
        settings.check_groups(training.name, num_groups, config.batches.batch_size)

    def train(
        self,
        run: "RunFolder",
        config: "TrainConfig",
        cache: Path,
        should_stop: ShouldStop,
        progress: Progress,
    ) -> "State":
        from nt2vr.papers.covr.training import train_run  # noqa: PLC0415  imports torch

        _check_process(config)
        return train_run(
            run, config=config, cache=cache, should_stop=should_stop, progress=progress
        )


def _check_process(config: "TrainConfig") -> None:
    """Refuse several processes, and a logger that is not installed."""
    from trainer.runs.loggers import check_loggers  # noqa: PLC0415  importing it takes longer

    if num_processes() > 1:
        raise ConfigError("A fusion is trained by one process. Start the run without torchrun.")
    check_loggers(config)


FUSION = FusionTraining()
