"""Retrieval loss: fine-tunes CLIP*, and is the primary loss of CLIP-snl and CLIP-bnl."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor
from torch.nn.functional import relu

from trainer.losses.embedded import EmbeddedBatch, given
from trainer.options import option

Reduction = Literal["sum", "mean"]


@dataclass(frozen=True)
class RetrievalLoss:
    """Pull a caption closer to its video than to any other in the batch, by a margin.

        loss = max(0, margin + s(x#, q) - s(x⁺, q))     x# the hardest negative video in the batch

    Over several spaces, as in SEA, it is the sum of each one's loss, with a hardest negative of its own.

    Source: Wang et al., "Learn to Understand Negation in Video Retrieval", ACM MM 2022, Eq. 2; W2VV++ has the same.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"video"})

    margin: float = option(0.2, "margin, m0 in the paper, in cosine units")
    both_directions: bool = option(False, "also compare each video with its hardest negative caption (VSE++)")
    reduction: Reduction = option("sum", "reduction over the batch; the paper's public implementation sums")

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        pairs = (each.chunk(batch.spaces, dim=-1) for each in (given(batch.video), batch.caption))
        losses = (self._losses(batch.spaces * video @ caption.T) for video, caption in zip(*pairs, strict=True))
        return reduced(torch.stack([*losses]).sum(dim=0), self.reduction)

    def _losses(self, scores: Tensor) -> Tensor:
        """Return the loss of each caption (B,), given the cosines (videos, captions) in one space."""
        own = scores.diagonal()
        others = scores.masked_fill(torch.eye(len(scores), dtype=torch.bool, device=scores.device), -torch.inf)
        losses = relu(self.margin + others.amax(dim=0) - own)
        if self.both_directions:
            losses = losses + relu(self.margin + others.amax(dim=1) - own)
        return losses


def reduced(losses: Tensor, reduction: Reduction) -> Tensor:
    """Sum or average (B,) losses."""
    return losses.sum() if reduction == "sum" else losses.mean()


def over_negatable(losses: Tensor, batch: EmbeddedBatch, reduction: Reduction, rescale: bool) -> Tensor:
    """Reduce (B,) losses of negated captions; captions that could not be negated count as 0.

        sum · B / n     n: number of captions that could be negated
        mean            sum / n

    The factor B / n comes from nT2VR's public implementation; the paper does not mention it. `rescale` turns it on.
    That code applies it to the mean too, so that the fewer captions of a batch can be negated, the more each counts.
    """
    if batch.negatable is None:
        return reduced(losses, reduction)
    loss = reduced(torch.where(batch.negatable, losses, 0.0), reduction)
    return loss * len(losses) / batch.negatable.sum().clamp(min=1) if rescale or reduction == "mean" else loss
