"""Trains a fusion over frozen towers, and adds it to a checkpoint folder.

    python -m trainer.fusion.__main__ FOLDER

Every candidate that a person would call almost right is a negative: the reference, its twin, and its other edits.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from nt2vr.evaluation.covr.protocol import choose_weights, embed_queries, measure, summarise, vectors_of
from nt2vr.evaluation.covr.sources import covr_world
from nt2vr.models.card import read_card, write_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.fusion import INPUTS, Fusion, PartWeights, save_fusion
from nt2vr.progress import Progress, progress_bar, silent
from nt2vr.search.references import TRAINING_FREE, Weights
from nt2vr.settings import prepare_environment
from trainer.fusion.data import FusionData, load_families
from trainer.fusion.losses import hn_nce, info_nce, weighted_targets


@dataclass(frozen=True)
class FusionConfig:
    """How a fusion is trained.

    Attributes:
        families: number of training families.
        hidden: units of the hidden layer; 0 for a linear fusion.
        steps: optimizer steps.
        batch: families per step; a step asks all of their queries.
        random_clips: further candidates per step, of other families.
        learning_rate: at the start; decays to 0 along a cosine.
        weight_decay: pulls the correction to zero, and so the fusion to `parts`.
        temperature: of the loss.
        loss: "info_nce" or "hn_nce".
        weigh_frames: whether frames of targets are weighted by their similarity to the wanted part, as in CoVR.
        seed: of weights, batches and families.
    """

    families: int = 1_000
    hidden: int = 0
    steps: int = 300
    batch: int = 64
    random_clips: int = 1_000
    learning_rate: float = 3e-3
    weight_decay: float = 0.05
    temperature: float = 0.02
    loss: Literal["info_nce", "hn_nce"] = "info_nce"
    weigh_frames: bool = False
    seed: int = 1


class FusionModule(nn.Module):
    """The trainable twin of `Fusion`."""

    def __init__(self, embed_dim: int, weights: PartWeights, hidden: int = 0) -> None:
        """Start at `parts`: the last layer is zero."""
        super().__init__()
        self.weights = weights
        widths = [INPUTS * embed_dim, *([hidden] if hidden else []), embed_dim]
        layers = [nn.Linear(*pair) for pair in pairwise(widths)]
        nn.init.zeros_(layers[-1].weight)
        nn.init.zeros_(layers[-1].bias)
        self.layers = nn.ModuleList(layers)

    def forward(self, picture: Tensor, wanted: Tensor, unwanted: Tensor) -> Tensor:
        """Return unit vectors (Q, D) of queries."""
        hidden: Tensor = torch.cat([picture, wanted, unwanted, picture * wanted, picture * unwanted], dim=-1)
        for number, layer in enumerate(self.layers):
            hidden = layer(hidden.relu() if number else hidden)
        return normalize(picture + self.weights.wanted * wanted - self.weights.unwanted * unwanted + hidden, dim=-1)

    def frozen(self) -> Fusion:
        """Return the fusion with the current weights, rounded to the half precision of its file."""
        layers = ((layer.weight, layer.bias) for layer in self.layers if isinstance(layer, nn.Linear))
        rounded = tuple(
            (matrix.detach().half().float().numpy(), bias.detach().half().float().numpy()) for matrix, bias in layers
        )
        return Fusion(self.weights, rounded)


def train_fusion(
    data: FusionData, weights: PartWeights, config: FusionConfig, progress: Progress = silent
) -> tuple[Fusion, list[float]]:
    """Train a fusion; equal arguments give equal weights on the same machine.

    Args:
        data: the triplets.
        weights: of `parts`, which it starts from.
        config: how.
        progress: called after every step.

    Returns:
        The fusion, and the loss of every step.
    """
    torch.manual_seed(config.seed)
    model = FusionModule(data.clips.shape[1], weights, config.hidden)
    optimizer = torch.optim.AdamW(model.parameters(), config.learning_rate, weight_decay=config.weight_decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, config.steps)
    loss_of, losses = LOSSES[config.loss], []
    for step, families in enumerate(_batches(data, config), start=1):
        loss = loss_of(model, data, families, config)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        progress(step, config.steps, "training the fusion")
    return model.frozen(), losses


def _batches(data: FusionData, config: FusionConfig) -> Iterator[Tensor]:
    """Yield the families of each step, every family once before any is drawn again."""
    generator = torch.Generator().manual_seed(config.seed)
    count, order = len(data.pictures), torch.zeros(0, dtype=torch.long)
    for _ in range(config.steps):
        if len(order) < config.batch:
            order = torch.randperm(count, generator=generator)
        yield order[: config.batch]
        order = order[config.batch :]


def _info_nce(model: FusionModule, data: FusionData, families: Tensor, config: FusionConfig) -> Tensor:
    """Ask all triplets of some families among all of their clips, and random ones of other families."""
    rows = torch.isin(data.references, families).nonzero()[:, 0]
    own = torch.isin(data.families, families)
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
    wanted, unwanted = _texts(data, rows)
    clips = data.clips[candidates]
    clips[targets] = _targets(data, rows, wanted, config)
    queries = model(data.pictures[data.references[rows]], wanted, unwanted)
    return info_nce(queries @ clips.T, targets, masked, config.temperature)


def _hn_nce(model: FusionModule, data: FusionData, families: Tensor, config: FusionConfig) -> Tensor:
    """Ask all triplets of some families among each other's targets, as CoVR does."""
    rows = torch.isin(data.references, families).nonzero()[:, 0]
    targets, references = data.targets[rows], data.references[rows]
    right = [set(data.right[row]) for row in rows.tolist()]
    noisy = torch.tensor([[target in those for target in targets.tolist()] for those in right])
    noisy.fill_diagonal_(False)
    hard = (references[:, None] == references) & ~torch.eye(len(rows), dtype=torch.bool)
    wanted, unwanted = _texts(data, rows)
    queries = model(data.pictures[references], wanted, unwanted)
    return hn_nce(queries @ _targets(data, rows, wanted, config).T, hard, noisy, config.temperature) / (2 * len(rows))


def _texts(data: FusionData, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Draw one text per triplet: wanted and unwanted parts, (Q, D) each."""
    drawn = torch.randint(data.wanted.shape[1], (len(rows),))
    return data.wanted[rows, drawn], data.unwanted[rows, drawn]


def _targets(data: FusionData, rows: Tensor, wanted: Tensor, config: FusionConfig) -> Tensor:
    """Return the embeddings of the triplets' targets, (Q, D)."""
    if not config.weigh_frames:
        return data.clips[data.targets[rows]]
    assert data.frames is not None, "loaded where they are needed"
    return weighted_targets(data.frames[data.targets[rows]], wanted)


LOSSES: dict[str, Callable[[FusionModule, FusionData, Tensor, FusionConfig], Tensor]] = {
    "info_nce": _info_nce,
    "hn_nce": _hn_nce,
}


def add_fusion(
    folder: Path, fusion: Fusion, weights: Weights, config: FusionConfig, metrics: Mapping[str, float] | None = None
) -> None:
    """Write a fusion into a checkpoint folder, and its entry and weights into the card."""
    hidden = len(fusion.layers[0][0]) if len(fusion.layers) > 1 else 0
    entry = {
        "hidden": hidden,
        "weights": fusion.num_weights,
        "data": f"built-in world, {config.families} families",
        "training": asdict(config),
        "metrics": {name: round(value, 4) for name, value in (metrics or {}).items()},
        "fingerprint": fusion.fingerprint,
    }
    save_fusion(folder, fusion)
    write_card(folder, replace(read_card(folder), composition=asdict(weights), fusion=entry))


def fuse(folder: Path, config: FusionConfig, cache: Path, progress: Progress = silent) -> dict[str, float]:
    """Choose weights on validation scenes, train a fusion, measure it on both splits, and add it to the folder.

    Args:
        folder: of the checkpoint.
        config: how to train.
        cache: folder for embeddings.
        progress: called while clips are drawn, and after every step.

    Returns:
        Metrics such as "test/fusion/remove actor/R@1", as in the card.
    """
    encoder = read_checkpoint(folder)
    validation = embed_queries(covr_world(cache, "validation"), encoder, progress=progress)
    weights = choose_weights(validation)
    data = load_families(
        encoder, config.families, config.seed, cache, with_frames=config.weigh_frames, progress=progress
    )
    fusion, _ = train_fusion(data, weights.parts, config, progress)
    test = embed_queries(covr_world(cache, "test"), encoder, progress=progress)
    metrics: dict[str, float] = {}
    for split, asked in (("validation", validation), ("test", test)):
        for system in (*TRAINING_FREE, "fusion"):
            table = summarise(asked.queries, measure(vectors_of(asked, system, weights, fusion), asked))
            metrics |= {f"{split}/{system}/{row}/R@1": values["R@1"] for row, values in table.items()}
            removals = [values["violations@5"] for row, values in table.items() if row.startswith("remove")]
            metrics[f"{split}/{system}/remove/violations@5"] = sum(removals) / len(removals)
    add_fusion(folder, fusion, weights, config, metrics)
    return metrics


def main() -> None:
    """Add a fusion to a checkpoint folder from the command line."""
    default = FusionConfig()
    parser = argparse.ArgumentParser(prog="python -m trainer.fusion.__main__", description="Train a fusion.")
    parser.add_argument("folder", type=Path, help="checkpoint folder, which gets the fusion")
    parser.add_argument("--families", type=int, default=default.families, help="training families")
    parser.add_argument("--steps", type=int, default=default.steps)
    parser.add_argument("--hidden", type=int, default=default.hidden, help="units of a hidden layer; 0: linear")
    parser.add_argument("--loss", choices=sorted(LOSSES), default=default.loss)
    parser.add_argument("--weigh-frames", action="store_true", help="weigh frames of targets by the text")
    parser.add_argument("--seed", type=int, default=default.seed)
    parser.add_argument("--cache", type=Path, help="folder for embeddings (default: FOLDER/../.frames)")
    options = parser.parse_args()
    prepare_environment()
    cache = options.cache or options.folder.resolve().parent / ".frames"
    names = ("families", "steps", "hidden", "loss", "weigh_frames", "seed")
    config = FusionConfig(**{name: getattr(options, name) for name in names})
    with progress_bar() as progress:
        metrics = fuse(options.folder, config, cache, progress)
    sys.stdout.writelines(f"{name}: {value:.1f}\n" for name, value in metrics.items())


if __name__ == "__main__":
    main()
