"""Training of a fusion: a reference picture and a text become one vector."""

import logging
import os
import shutil
from collections.abc import Generator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor, nn

from nt2vr.errors import counted
from nt2vr.evaluation.metric_names import Metrics, recall
from nt2vr.files import atomic_folder
from nt2vr.models.card import CARD, read_card, write_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.papers.covr.compositions import PARTS, CompositionWeights
from nt2vr.papers.covr.dataset_triplets import load_dataset
from nt2vr.papers.covr.embedded_queries import EmbeddedQueries, vectors_of
from nt2vr.papers.covr.fusion import FILE, Fusion, save_fusion
from nt2vr.papers.covr.fusion_data import FusionData, batches, groups_of
from nt2vr.papers.covr.losses import LOSSES
from nt2vr.papers.covr.measures import measure, summarise
from nt2vr.papers.covr.presentation import ALL, VIOLATIONS
from nt2vr.papers.covr.settings import PREFIX, FusionSettings, fusion_settings
from nt2vr.papers.covr.weights import choose_weights
from nt2vr.papers.covr.world_triplets import load_world
from nt2vr.progress import Progress, ShouldStop, stoppable
from trainer.config import TrainConfig
from trainer.loop import go_on
from trainer.optimizer import Trainable, build_optimizer
from trainer.runs.resume import Change, read_saved
from trainer.runs.run_folder import RunFolder, State

logger = logging.getLogger(__name__)
TRACKED = (recall(1), recall(5), recall(10), VIOLATIONS)


def train_run(
    run: RunFolder, config: TrainConfig, cache: Path, should_stop: ShouldStop, progress: Progress
) -> State:
    """Train the fusion that a config describes, to the end of the run, with a checkpoint per epoch."""
    assert config.encoder.base_folder, "guaranteed by the config"
    encoder = read_checkpoint(config.encoder.base_folder, "auto")
    load = load_world if config.dataset.is_world else load_dataset
    data = load(encoder, config=config, cache=cache, progress=stoppable(progress, should_stop))
    settings = fusion_settings(config)
    _, num_groups = groups_of(data.triplets, settings)
    settings.check_groups(data.name, num_groups, config.batches.batch_size)
    weights = choose_weights(data.validation)
    learner = FusionLearner(config.replace(num_clips=num_groups), data.triplets, weights)
    saved = read_saved(run, learner.config, data.digests)
    logger.info("Training %s on %s.", config.encoder.name, data.name)
    validator = partial(
        FusionValidator,
        learner=learner,
        validation=data.validation,
        data=data.name,
        changes=saved.changes,
    )
    return go_on(
        learner,
        run=run,
        saved=saved,
        validator=validator,
        draw_batches=learner.draw,
        should_stop=should_stop,
    )


class FusionLearner(Trainable):
    """A fusion in training, over frozen towers; it starts at the weights of the training-free `parts`.

    Every candidate that a person would call almost right is a negative: the reference, its twin,
    and its other edits. The config's `num_clips` is the number of groups that there are.
    """

    def __init__(self, config: TrainConfig, data: FusionData, weights: CompositionWeights) -> None:
        torch.manual_seed(config.run.seed)
        self.weights = weights
        self.settings = fusion_settings(config)
        self._data = data
        self._module = Fusion(
            width=data.clips.shape[1],
            wanted=weights.wanted,
            unwanted=weights.unwanted,
            hidden=self.settings.hidden,
            blocks=self.settings.blocks,
        )
        optimizer = build_optimizer(self._module, nn.ModuleList(), config)
        super().__init__(config, {"fusion": self._module}, optimizer)

    @property
    def fusion(self) -> Fusion:
        return self._module.rounded()

    def draw(self, epoch: int, done: int = 0) -> Generator[Tensor]:
        drawn = batches(
            self._data,
            settings=self.settings,
            batch_size=self.config.batches.batch_size,
            steps=self.config.batches_per_epoch,
            seed=1_000 * self.config.run.seed + epoch,
        )
        yield from islice(drawn, done, None)

    def loss(self, batch: Tensor) -> tuple[Tensor, Metrics]:
        name = self.settings.loss
        loss = LOSSES[name](self._module, self._data, batch, self.settings)
        return loss, {name: loss.item()}


class FusionValidator:
    """Measures the fusion on held-out queries, and writes its checkpoints, see `Validates`; `parts` once."""

    def __init__(
        self,
        learner: FusionLearner,
        validation: EmbeddedQueries,
        data: str,
        changes: Sequence[Change],
    ) -> None:
        self._learner = learner
        self._validation = validation
        self._data = data
        self._changes = tuple(changes)
        self.held_out = counted(len(validation.queries), "held-out query", "held-out queries")
        self.controls = self._measure(PARTS, prefix=f"{PARTS}/{PREFIX}")

    def measure(self) -> Metrics:
        return self._measure(Fusion.name, PREFIX)

    def _measure(self, system: str, prefix: str) -> Metrics:
        vectors = vectors_of(
            self._validation,
            system=system,
            weights=self._learner.weights,
            composers={Fusion.name: self._learner.fusion},
        )
        outcome = measure(vectors, self._validation)
        means = summarise(self._validation.queries, outcome)[ALL]
        return {f"{prefix}{name}": means[name] for name in TRACKED if name in means}

    def write(self, epoch: int, folder: Path, metrics: Metrics) -> None:
        learner = self._learner
        base = learner.config.encoder.base_folder
        assert base, "guaranteed by the config"
        card = read_card(base)
        card = card.replace(
            name=learner.config.encoder.name,
            base=card.name,
            epoch=epoch,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            changes=self._changes,
            metrics={**card.metrics, **metrics},
        )
        with atomic_folder(folder) as unfinished:
            for file in base.iterdir():
                if file.is_file() and file.name not in (CARD, FILE):
                    _link(file, unfinished / file.name)
            write_card(unfinished, card)
            add_fusion(
                unfinished,
                fusion=learner.fusion,
                weights=learner.weights,
                settings=learner.settings,
                metrics=metrics,
                data=self._data,
            )


def _link(file: Path, target: Path) -> None:
    """Link a file, which is never changed in place; copy it where the file system has no links."""
    try:
        os.link(file.resolve(), target)
    except OSError:
        shutil.copyfile(file, target)


def add_fusion(
    folder: Path,
    fusion: Fusion,
    weights: CompositionWeights,
    settings: FusionSettings,
    metrics: Metrics,
    data: str,
) -> None:
    """Write a fusion into a checkpoint folder, and its entry and weights into the card."""
    entry = {
        "hidden": fusion.hidden,
        "blocks": fusion.blocks,
        "weights": sum(parameter.numel() for parameter in fusion.parameters()),
        "data": data,
        "training": settings.as_dict(),
        "metrics": {name: round(value, 4) for name, value in metrics.items()},
        "fingerprint": fusion.fingerprint,
    }
    save_fusion(folder, fusion)
    write_card(folder, read_card(folder).replace(composition=asdict(weights), fusion=entry))
