"""Training of a fusion over frozen towers.

Every candidate that a person would call almost right is a negative: the reference, its twin, and its other edits.
"""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from nt2vr.models.fusion import Fusion
from nt2vr.progress import Progress, silent
from nt2vr.search.references import Weights
from trainer.fusion.config import FusionConfig
from trainer.fusion.data import FusionData
from trainer.fusion.losses import hn_nce, hn_nce_as_code, info_nce, weighted_targets


def train_fusion(
    data: FusionData, weights: Weights, config: FusionConfig, progress: Progress = silent
) -> tuple[Fusion, list[float]]:
    """Train a fusion from the weights of `parts`; return it with the loss of every step.

    Equal arguments give equal weights on the same machine.
    """
    torch.manual_seed(config.seed)
    model = Fusion(data.clips.shape[1], weights.wanted, weights.unwanted, config.hidden, config.blocks)
    optimizer = torch.optim.AdamW(model.parameters(), config.learning_rate, weight_decay=config.weight_decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, config.steps)
    loss_of, losses = LOSSES[config.loss], []
    for step, rows in enumerate(batches(data, config), start=1):
        loss = loss_of(model, data, rows, config)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        progress(step, config.steps, "training the fusion")
    return model.rounded(), losses


def batches(data: FusionData, config: FusionConfig) -> Iterator[Tensor]:
    """Yield the rows of each step's triplets; every family, target or triplet once before any is drawn again."""
    generator = torch.Generator().manual_seed(config.seed)
    groups, count = groups_of(data, config)
    order = torch.zeros(0, dtype=torch.long)
    for _ in range(config.steps):
        if len(order) < config.batch:
            order = torch.randperm(count, generator=generator)
        rows = torch.isin(groups, order[: config.batch]).nonzero()[:, 0]
        if config.iterate == "targets":
            drawn = rows[torch.randperm(len(rows), generator=generator)].tolist()
            rows = torch.tensor(sorted({int(groups[row]): row for row in drawn}.values()))
        yield rows
        order = order[config.batch :]


def groups_of(data: FusionData, config: FusionConfig) -> tuple[Tensor, int]:
    """Return the group of each triplet, of which a step draws `batch`, and the number of groups."""
    match config.iterate:
        case "targets":
            groups = torch.unique(data.targets, return_inverse=True)[1]
            return groups, int(groups.max()) + 1
        case "triplets":
            return torch.arange(len(data.targets)), len(data.targets)
    return data.references, len(data.pictures)


def _info_nce(model: Fusion, data: FusionData, rows: Tensor, config: FusionConfig) -> Tensor:
    """Ask triplets among their targets, all clips of their families, and random others."""
    own = torch.isin(data.families, data.references[rows])
    own[data.targets[rows]] = True
    others = (~own).nonzero()[:, 0]
    drawn = others[torch.randint(len(others), (config.random_clips,))] if len(others) else others
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
    clips[targets] = _targets(data, rows, wanted, config)
    return info_nce(queries @ clips.T, targets, masked, config.temperature)


def _hn_nce(model: Fusion, data: FusionData, rows: Tensor, config: FusionConfig) -> Tensor:
    """Ask triplets among each other's targets, as CoVR does."""
    targets, references = data.targets[rows], data.references[rows]
    sources = references if data.sources is None else data.sources[rows]
    right = [set(data.right[row]) for row in rows.tolist()]
    noisy = torch.tensor([[target in those for target in targets.tolist()] for those in right])
    noisy.fill_diagonal_(False)
    hard = (sources[:, None] == sources) & ~torch.eye(len(rows), dtype=torch.bool)
    queries, wanted = _queries(model, data, rows)
    scores = queries @ _targets(data, rows, wanted, config).T
    if config.hn_nce == "as_code":
        return hn_nce_as_code(scores, config.temperature) / 2
    return hn_nce(scores, hard, noisy, config.temperature) / (2 * len(rows))


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


def _targets(data: FusionData, rows: Tensor, wanted: Tensor, config: FusionConfig) -> Tensor:
    """Return the embeddings of the triplets' targets, (Q, D)."""
    if not config.weigh_frames:
        return data.clips[data.targets[rows]]
    assert data.frames is not None, "loaded where they are needed"
    return weighted_targets(data.frames[data.targets[rows]], wanted)


LOSSES: dict[str, Callable[[Fusion, FusionData, Tensor, FusionConfig], Tensor]] = {
    "info_nce": _info_nce,
    "hn_nce": _hn_nce,
}
