"""CLIP's own loss."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from trainer.inputs import EmbeddedBatch, Video, given


@dataclass(frozen=True)
class ContrastiveLoss:
    """Match each video with its caption among all in the batch, and each caption with its video (symmetric InfoNCE).

        s = logit_scale · cos(video, caption)                   (B, B)
        loss = (cross_entropy(s, diagonal) + cross_entropy(sᵀ, diagonal)) / 2

    Source: Radford et al., "Learning Transferable Visual Models From Natural Language Supervision",
    ICML 2021, Fig. 3.
    """

    inputs = (Video,)

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        scores = batch.logit_scale * given(batch.video) @ batch.caption.T  # (B, B)
        right = torch.arange(len(scores), device=scores.device)
        return (cross_entropy(scores, right) + cross_entropy(scores.T, right)) / 2
