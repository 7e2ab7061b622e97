"""Contrast over sentences that deny something, whose right clips are known. Not the paper's; a part of CLIP-neg's."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, softplus

from trainer.losses.embedded import EmbeddedBatch, given


@dataclass(frozen=True)
class ComposedLoss:
    """Find a clip that fits a denying sentence among all that do not; order the hard ones with a term of their own.

        s_i = logit_scale · cos(sentence, clip i)       a: the clip the sentence was made for
        contrast = -log(exp s_a / (exp s_a + Σ exp s_i))                       i: all clips that do not fit
        hard = mean softplus(s_i - s_a + logit_scale · hard_margin)            i: clips that show both parts
        loss = contrast + hard_weight · hard

    Other clips that fit count as neither right nor wrong. Each term is a mean over the sentences that have it: a
    sentence that its own clip does not fit (a negated caption, or one whose truth is not known) has none. The
    temperature is taken as it is: the contrastive loss alone may change it.

    Args:
        hard_weight: of the second term; 0 turns it off.
        hard_margin: by how much a right clip shall be nearer than a hard one, in cosine units.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"video", "denied", "truth"})

    hard_weight: float = 1.0
    hard_margin: float = 0.1

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        """Return the loss of the batch, a scalar; 0 if no sentence can be used."""
        denied = given(batch.denied)
        truth = given(denied.truth)
        scale = batch.logit_scale.detach()
        scores = scale * denied.text @ truth.pool.T  # (B, P)
        own = torch.arange(len(scores), device=scores.device)
        usable = truth.fitting[own, own]  # (B,)
        scores, own, fitting, both = scores[usable], own[usable], truth.fitting[usable], truth.both[usable]
        if not len(own):
            return denied.text.sum() * 0.0
        others = fitting.scatter(1, own[:, None], False)
        loss = cross_entropy(scores.masked_fill(others, -torch.inf), own)
        if not self.hard_weight or not both.any():
            return loss
        right = scores.gather(1, own[:, None])
        excess = softplus(scores - right + scale * self.hard_margin) * both
        numbers = both.sum(dim=1)
        hard = excess.sum(dim=1)[numbers > 0] / numbers[numbers > 0]
        return loss + self.hard_weight * hard.mean()
