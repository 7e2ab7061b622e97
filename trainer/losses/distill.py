"""Negation distillation: the text tower learns the difference of two embeddings. Not the paper's; CLIP-neg's."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from trainer.losses.embedded import EmbeddedBatch, Parts, given
from trainer.options import option


@dataclass(frozen=True)
class DistillLoss:
    """Embed a denying sentence as the frozen starting model T0 embeds (wanted part) minus (unwanted part).

        target = normalise(T0(wanted) - alpha · (T0(unwanted) - mean T0(unwanted)))
        target = normalise(mean video - T0(unwanted))                                   where nothing is wanted
        loss = mean (1 - cos(sentence, target)) + keep · mean (1 - cos(caption, T0(caption)))

    The mean of the unwanted parts is what they share, being short phrases; to subtract it would say nothing. A
    sentence that wants nothing starts from the middle of all videos, so that what it denies is all that orders
    them; a training on captions alone takes the middle of many captions instead. It needs no video, and no gradient
    reaches the visual tower, nor T0.
    """

    alpha: float = option(
        0.5, "amount of the unwanted that is taken away; more excludes better and costs R@k on composed queries"
    )
    keep: float = option(1.0, "weight of the term that holds affirmative captions where they were")

    @property
    def needs(self) -> frozenset[str]:
        """The frozen model looks at captions only where they are to be kept."""
        return frozenset({"denied", "parts", "kept"} if self.keep else {"denied", "parts"})

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        """Return the loss of the batch, a scalar."""
        denied = given(batch.denied)
        parts = given(denied.parts)
        loss = (1 - (denied.text * self.target(parts)).sum(dim=-1)).mean()
        if not self.keep:
            return loss
        return loss + self.keep * (1 - (batch.caption * given(parts.caption)).sum(dim=-1)).mean()

    def target(self, parts: Parts) -> Tensor:
        """Return where the sentences belong: (B, D), L2-normalised."""
        with_wanted = parts.wanted - self.alpha * (parts.unwanted - parts.unwanted_mean)
        return normalize(torch.where(parts.pure[:, None], parts.video_mean - parts.unwanted, with_wanted), dim=-1)
