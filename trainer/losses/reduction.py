"""Reduction of a batch of losses to a scalar."""

from typing import Literal

import torch
from torch import Tensor

from trainer.losses.embedded import EmbeddedBatch

Reduction = Literal["sum", "mean"]


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
