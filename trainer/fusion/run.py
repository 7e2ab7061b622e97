"""A run that trains a fusion: its learner, its measures and its checkpoints. The loop is that of all runs."""

import logging
import os
import shutil
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor, nn

from nt2vr.errors import ConfigError, counted
from nt2vr.evaluation.covr import ALL, EmbeddedQueries, choose_weights, measure, summarise, vectors_of
from nt2vr.files import atomic_folder
from nt2vr.models.card import CARD, FUSION, read_card, write_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.fusion import Fusion, save_fusion
from nt2vr.progress import Progress, ShouldStop, stoppable
from nt2vr.search.references import Weights
from trainer.config import TrainConfig
from trainer.distributed import world_size
from trainer.fusion.data import FusionData, load
from trainer.fusion.losses import hn_nce, hn_nce_as_code, info_nce, weighted_targets
from trainer.loop import go_on
from trainer.optimizer import Steps, build_optimizer
from trainer.options import FusionSettings
from trainer.runs.resume import read_saved
from trainer.runs.run_folder import RunFolder, State, check_tensorboard

logger = logging.getLogger(__name__)
TRACKED = ("R@1", "R@5", "R@10", "violations@5")


def train_run(run: RunFolder, config: TrainConfig, cache: Path, should_stop: ShouldStop, progress: Progress) -> State:
    """Train the fusion that a config describes, to the end of the run, with a checkpoint per epoch."""
    assert config.base_folder and config.fusion_settings, "guaranteed by the config"
    check_tensorboard(config)
    if world_size() > 1:
        raise ConfigError("A fusion is trained by one process. Start the run without torchrun.")
    encoder = read_checkpoint(config.base_folder, "auto")
    data, validation, name = load(encoder, config, cache, stoppable(progress, should_stop))
    count = groups_of(data, config.fusion_settings)[1]
    if count < config.batch_size:
        what = {"targets": "distinct targets"}.get(iterate := config.fusion_settings.iterate, iterate)
        raise ConfigError(f"{name} has {count} {what}, fewer than batch_size ({config.batch_size}). Lower it.")
    learner = FusionLearner(replace(config, num_clips=count), data, choose_weights(validation))
    saved = read_saved(run, learner.config)
    logger.info("Training %s on %s.", config.name, name)
    validator = partial(FusionValidator, learner, validation, name)
    return go_on(learner, run, saved, validator, learner.draw, should_stop)


class FusionLearner(Steps):
    """A fusion in training, over frozen towers.

    Every candidate that a person would call almost right is a negative: the reference, its twin, and its other edits.

    Attributes:
        config: with the number of groups that there are as `num_clips`.
        weights: of the training-free combinations; the fusion starts at those of `parts`.
    """

    def __init__(self, config: TrainConfig, data: FusionData, weights: Weights) -> None:
        """Build fusion and optimizer; equal seeds give equal weights."""
        torch.manual_seed(config.seed)
        assert config.fusion_settings, "a fusion is trained"
        self.weights, self.settings, self._data = weights, config.fusion_settings, data
        size, blocks = data.clips.shape[1], self.settings.blocks
        self._module = Fusion(size, weights.wanted, weights.unwanted, self.settings.hidden, blocks)
        optimizer = build_optimizer(self._module, nn.ModuleList(), config)
        super().__init__(config, {"fusion": self._module}, optimizer)

    @property
    def fusion(self) -> Fusion:
        return self._module.rounded()

    def draw(self, epoch: int, done: int = 0) -> Generator[Tensor]:
        config, seed = self.config, 1_000 * self.config.seed + epoch
        drawn = batches(self._data, self.settings, config.batch_size, config.batches_per_epoch, seed)
        yield from islice(drawn, done, None)

    def loss(self, batch: Tensor) -> tuple[Tensor, dict[str, float]]:
        loss = LOSSES[self.settings.loss](self._module, self._data, batch, self.settings)
        return loss, {self.settings.loss: loss.item()}


class FusionValidator:
    """Measures the fusion on held-out queries, and writes its checkpoints, see `Validates`; `parts` once."""

    def __init__(self, learner: FusionLearner, validation: EmbeddedQueries, data: str) -> None:
        self._learner, self._validation, self._data = learner, validation, data
        self.held_out = counted(len(validation.queries), "held-out query", "held-out queries")
        self.controls = {f"parts/{name}": value for name, value in self._measured("parts").items()}

    def _measured(self, system: str) -> dict[str, float]:
        fusion = self._learner.fusion if system == "fusion" else None
        vectors = vectors_of(self._validation, system, self._learner.weights, fusion)
        table = summarise(self._validation.queries, measure(vectors, self._validation))[ALL]
        return {f"fusion/{name}": table[name] for name in TRACKED if name in table}

    def measure(self) -> dict[str, float]:
        return self._measured("fusion")

    def write(self, epoch: int, folder: Path, metrics: Mapping[str, float]) -> None:
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
            learner = self._learner
            add_fusion(unfinished, learner.fusion, learner.weights, learner.settings, metrics, self._data)


def _link(file: Path, place: Path) -> None:
    """Link a file that is never changed in place, or copy it where the file system has no links."""
    try:
        os.link(file.resolve(), place)
    except OSError:
        shutil.copyfile(file, place)


def add_fusion(
    folder: Path,
    fusion: Fusion,
    weights: Weights,
    settings: FusionSettings,
    metrics: Mapping[str, float],
    data: str,
) -> None:
    """Write a fusion into a checkpoint folder, and its entry and weights into the card."""
    entry = {
        "hidden": fusion.hidden,
        "blocks": fusion.blocks,
        "weights": sum(each.numel() for each in fusion.parameters()),
        "data": data,
        "training": asdict(settings),
        "metrics": {name: round(value, 4) for name, value in metrics.items()},
        "fingerprint": fusion.fingerprint,
    }
    save_fusion(folder, fusion)
    write_card(folder, replace(read_card(folder), composition=asdict(weights), fusion=entry))


def batches(data: FusionData, settings: FusionSettings, batch_size: int, steps: int, seed: int) -> Iterator[Tensor]:
    """Yield the rows of each step's triplets; every family, target or triplet once before any is drawn again."""
    generator = torch.Generator().manual_seed(seed)
    groups, count = groups_of(data, settings)
    order = torch.zeros(0, dtype=torch.long)
    for _ in range(steps):
        if len(order) < batch_size:
            order = torch.randperm(count, generator=generator)
        rows = torch.isin(groups, order[:batch_size]).nonzero()[:, 0]
        if settings.iterate == "targets":
            drawn = rows[torch.randperm(len(rows), generator=generator)].tolist()
            rows = torch.tensor(sorted({int(groups[row]): row for row in drawn}.values()))
        yield rows
        order = order[batch_size:]


def groups_of(data: FusionData, settings: FusionSettings) -> tuple[Tensor, int]:
    """Return the group of each triplet, of which a step draws `batch`, and the number of groups."""
    match settings.iterate:
        case "targets":
            groups = torch.unique(data.targets, return_inverse=True)[1]
            return groups, int(groups.max()) + 1
        case "triplets":
            return torch.arange(len(data.targets)), len(data.targets)
    return data.references, len(data.pictures)


def _info_nce(model: Fusion, data: FusionData, rows: Tensor, settings: FusionSettings) -> Tensor:
    own = torch.isin(data.families, data.references[rows])
    own[data.targets[rows]] = True
    others = (~own).nonzero()[:, 0]
    drawn = others[torch.randint(len(others), (settings.random_clips,))] if len(others) else others
    candidates = torch.cat([own.nonzero()[:, 0], torch.unique(drawn)])
    columns = torch.full((len(data.clips),), -1)
    columns[candidates] = torch.arange(len(candidates))
    targets = columns[data.targets[rows]]
    masked = torch.zeros(len(rows), len(candidates), dtype=torch.bool)
    for number, row in enumerate(rows.tolist()):
        right = columns[data.right[row]]
        masked[number, right[right >= 0]] = True
    masked[torch.arange(len(rows)), targets] = False
    queries, wanted = _queries(model, data, rows)
    clips = data.clips[candidates]
    clips[targets] = _targets(data, rows, wanted, settings)
    return info_nce(queries @ clips.T, targets, masked, settings.temperature)


def _hn_nce(model: Fusion, data: FusionData, rows: Tensor, settings: FusionSettings) -> Tensor:
    targets, references = data.targets[rows], data.references[rows]
    sources = references if data.sources is None else data.sources[rows]
    right = [set(data.right[row]) for row in rows.tolist()]
    noisy = torch.tensor([[target in those for target in targets.tolist()] for those in right])
    noisy.fill_diagonal_(False)
    hard = (sources[:, None] == sources) & ~torch.eye(len(rows), dtype=torch.bool)
    queries, wanted = _queries(model, data, rows)
    scores = queries @ _targets(data, rows, wanted, settings).T
    if settings.hn_nce == "as_code":
        return hn_nce_as_code(scores, settings.temperature) / 2
    return hn_nce(scores, hard, noisy, settings.temperature) / (2 * len(rows))


def _queries(model: Fusion, data: FusionData, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Draw one text per triplet, and return its query and its wanted part, (Q, D) each."""
    drawn = torch.randint(data.wanted.shape[1], (len(rows),))
    references, wanted = data.references[rows], data.wanted[rows, drawn]
    given = data.pictures[references], wanted, data.unwanted[rows, drawn]
    if model.cross is None:
        return model(*given), wanted
    assert data.tokens is not None and data.spelled is not None, "loaded where they are needed"
    frames = data.pictures[references, None] if data.shown is None else data.shown[references]
    return model(*given, data.tokens[data.spelled[rows, drawn]].float(), frames), wanted


def _targets(data: FusionData, rows: Tensor, wanted: Tensor, settings: FusionSettings) -> Tensor:
    if not settings.weigh_frames:
        return data.clips[data.targets[rows]]
    assert data.frames is not None, "loaded where they are needed"
    return weighted_targets(data.frames[data.targets[rows]], wanted)


LOSSES: dict[str, Callable[[Fusion, FusionData, Tensor, FusionSettings], Tensor]] = {
    "info_nce": _info_nce,
    "hn_nce": _hn_nce,
}
