"""A run that trains a fusion: its learner, its measures and its checkpoints. The loop is that of all runs."""

import logging
import os
import shutil
from collections.abc import Generator, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from nt2vr.errors import ConfigError
from nt2vr.evaluation.covr import ALL, EmbeddedQueries, choose_weights, measure, summarise, vectors_of
from nt2vr.files import atomic_folder
from nt2vr.models.card import CARD, FUSION, read_card, write_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.fusion import Fusion
from nt2vr.progress import Progress, ShouldStop, stoppable
from nt2vr.search.references import Weights
from trainer.config import TrainConfig
from trainer.distributed import world_size
from trainer.fusion.__main__ import add_fusion
from trainer.fusion.data import FusionData, load
from trainer.fusion.train import LOSSES, batches, groups_of
from trainer.loop import go_on
from trainer.optimizer import build_optimizer, clip_gradients, rate_at, restore
from trainer.runs.metrics import check_tensorboard
from trainer.runs.resume import read_saved
from trainer.runs.run_folder import RunFolder, State

logger = logging.getLogger(__name__)
TRACKED = ("R@1", "R@5", "R@10", "violations@5")


def train_run(run: RunFolder, config: TrainConfig, cache: Path, should_stop: ShouldStop, progress: Progress) -> State:
    """Train the fusion that a config describes, to the end of the run, with a checkpoint per epoch."""
    assert config.base_folder, "guaranteed by the config"
    check_tensorboard(config)
    if world_size() > 1:
        raise ConfigError("A fusion is trained by one process. Start the run without torchrun.")
    base = config.base_folder
    settings = config.fusion_config
    encoder = read_checkpoint(base, "auto")
    reported = stoppable(progress, should_stop)
    data, validation, name = load(encoder, config.data, settings, cache, config.num_clips, reported)
    count = groups_of(data, settings)[1]
    if count < config.batch_size:
        what = {"targets": "distinct targets"}.get(settings.iterate, settings.iterate)
        raise ConfigError(f"{name} has {count} {what}, fewer than batch_size ({config.batch_size}). Lower it.")
    weights = choose_weights(validation)
    learner = FusionLearner(replace(config, num_clips=count), data, weights)
    saved = read_saved(run, learner.config)
    logger.info("Training %s on %s.", config.name, name)
    validator = partial(FusionValidator, learner, validation, name)
    return go_on(learner, run, saved, validator, learner.draw, should_stop)


class FusionLearner:
    """A fusion in training: its optimizer steps.

    Attributes:
        config: with the number of groups that there are as `num_clips`.
        weights: of the training-free combinations; the fusion starts at those of `parts`.
    """

    device = "cpu"

    def __init__(self, config: TrainConfig, data: FusionData, weights: Weights) -> None:
        """Build fusion and optimizer; equal seeds give equal weights."""
        torch.manual_seed(config.seed)
        self.config, self.weights, self.steps = config, weights, 0
        self._data, self._settings = data, config.fusion_config
        hidden, blocks = self._settings.hidden, self._settings.blocks
        self._module = Fusion(data.clips.shape[1], weights.wanted, weights.unwanted, hidden, blocks)
        self._optimizer = build_optimizer(self._module, nn.ModuleList(), config)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._optimizer, lambda step: rate_at(step, config))

    @property
    def fusion(self) -> Fusion:
        """The fusion as it is now."""
        return self._module.rounded()

    @property
    def state(self) -> dict[str, float]:
        return {"learning_rate": float(self._schedule.get_last_lr()[0])}

    def draw(self, epoch: int, done: int) -> Generator[Tensor]:
        """Draw the batches of an epoch after the first `done`, as rows of triplets."""
        seed, steps = 1_000 * self.config.seed + epoch, self.config.batches_per_epoch
        yield from islice(batches(self._data, replace(self._settings, seed=seed, steps=steps)), done, None)

    def start_epoch(self) -> None:
        self._module.train()

    def step(self, batches: Iterable[Tensor]) -> dict[str, float]:
        self._optimizer.zero_grad()
        values = []
        for rows in batches:
            loss = LOSSES[self._settings.loss](self._module, self._data, rows, self._settings)
            (loss * self.config.loss_scale / self.config.accumulate).backward()  # type: ignore[no-untyped-call]
            values.append(loss.item())
        clip_gradients(self._module.parameters(), self.config)
        self._optimizer.step()
        self._schedule.step()
        self.steps += 1
        return {self._settings.loss: sum(values) / len(values)}

    def state_dict(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "fusion": self._module.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "schedule": self._schedule.state_dict(),
            "random": torch.get_rng_state(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.steps = state["steps"]
        self._module.load_state_dict(state["fusion"])
        restore(self._optimizer, state["optimizer"])
        self._schedule.load_state_dict(state["schedule"])

    def load_random_state(self, state: Mapping[str, Any]) -> None:
        torch.set_rng_state(state["random"])


class FusionValidator:
    """Measures the fusion on held-out queries, and writes its checkpoints, see `Validates`; `parts` once."""

    def __init__(self, learner: FusionLearner, validation: EmbeddedQueries, data: str) -> None:
        self._learner, self._validation, self._data = learner, validation, data
        self.controls = {f"parts/{name}": value for name, value in self._measured("parts").items()}

    def _measured(self, system: str) -> dict[str, float]:
        """Measure a system by the means over the kinds of queries."""
        fusion = self._learner.fusion if system == "fusion" else None
        vectors = vectors_of(self._validation, system, self._learner.weights, fusion)
        table = summarise(self._validation.queries, measure(vectors, self._validation))[ALL]
        return {f"fusion/{name}": table[name] for name in TRACKED if name in table}

    def check_early(self) -> None:
        """Warn of nothing: a fusion starts at `parts`."""

    def measure(self) -> dict[str, float]:
        return self._measured("fusion")

    def write(self, epoch: int, folder: Path, metrics: Mapping[str, float]) -> None:
        """Write the base with the fusion as a checkpoint. Files of the base are linked where that works."""
        config = self._learner.config
        assert config.base_folder, "guaranteed by the config"
        card = read_card(config.base_folder)
        created = datetime.now(UTC).isoformat(timespec="seconds")
        card = replace(card, name=config.name, base=card.name, epoch=epoch, created=created)
        with atomic_folder(folder) as unfinished:
            for file in config.base_folder.iterdir():
                if file.is_file() and file.name not in (CARD, FUSION):
                    _link(file, unfinished / file.name)
            write_card(unfinished, replace(card, metrics={**card.metrics, **metrics}))
            weights, settings = self._learner.weights, config.fusion_config
            add_fusion(unfinished, self._learner.fusion, weights, settings, metrics, self._data)


def _link(file: Path, place: Path) -> None:
    """Link a file that is never changed in place, or copy it where the file system has no links."""
    try:
        os.link(file.resolve(), place)
    except OSError:
        shutil.copyfile(file, place)
