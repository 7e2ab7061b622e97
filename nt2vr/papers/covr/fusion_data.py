"""What a fusion is trained on: triplets, embedded; and which of them a step draws."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from nt2vr.papers.covr.embedded_queries import EmbeddedQueries
from nt2vr.papers.covr.settings import FusionSettings
from trainer.data.digests import Digests


@dataclass(frozen=True, eq=False)
class FusionData:
    """Triplets of a reference, texts and a target, embedded.

    Attributes:
        pictures: (R, D), one frame of each family's reference.
        wanted: (Q, K, D), embeddings of the wanted parts of K texts; zeros for none.
        unwanted: (Q, K, D), sums of those of their unwanted parts.
        references: (Q,), family of each triplet.
        targets: (Q,), rows of `clips`.
        clips: (V, D): twins and edited scenes, then the references themselves.
        families: (V,), family of each clip.
        right: rows of `clips` that are right for each triplet.
        sources: (Q,), equal for triplets whose references have the same caption; None: for those of
            the same family.
        frames: (V - R, F, D), frames of the clips but the references; None unless targets are
            weighted by frame.
        tokens: (U, T, D) in half precision, of each different text; None unless a fusion attends to
            them.
        token_rows: (Q, K), rows of `tokens`.
        reference_frames: (R, F, D); None where each reference is one picture.
    """

    pictures: Tensor
    wanted: Tensor
    unwanted: Tensor
    references: Tensor
    targets: Tensor
    clips: Tensor
    families: Tensor
    right: Sequence[Sequence[int]]
    sources: Tensor | None = None
    frames: Tensor | None = None
    tokens: Tensor | None = None
    token_rows: Tensor | None = None
    reference_frames: Tensor | None = None


class LoadedData(NamedTuple):
    """What a run is trained on.

    Attributes:
        validation: the queries that it is validated with.
        name: of the data, with its size.
        digests: of a dataset's triplets; empty for the built-in world.
    """

    triplets: FusionData
    validation: EmbeddedQueries
    name: str
    digests: Digests


def batches(
    data: FusionData, settings: FusionSettings, batch_size: int, steps: int, seed: int
) -> Iterator[Tensor]:
    """Yield the rows of each step's triplets; every family, target or triplet once before any is drawn again."""
    generator = torch.Generator().manual_seed(seed)
    groups, count = groups_of(data, settings)
    order = torch.zeros(0, dtype=torch.long)
    for _ in range(steps):
        if len(order) < batch_size:
            order = torch.randperm(count, generator=generator)
        rows = torch.isin(groups, order[:batch_size]).nonzero()[:, 0]
        if settings.iterate == "targets":
            # One triplet of each target: the last in a random order.
            shuffled = rows[torch.randperm(len(rows), generator=generator)].tolist()
            last_of_target = {int(groups[row]): row for row in shuffled}
            rows = torch.tensor(sorted(last_of_target.values()))
        yield rows
        order = order[batch_size:]


def groups_of(data: FusionData, settings: FusionSettings) -> tuple[Tensor, int]:
    """Return the group of each triplet, of which a step draws `batch`, and the number of groups."""
    if settings.iterate == "families":
        return data.references, len(data.pictures)
    if settings.iterate == "triplets":
        return torch.arange(len(data.targets)), len(data.targets)
    targets, groups = torch.unique(data.targets, return_inverse=True)
    return groups, len(targets)
