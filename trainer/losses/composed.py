"""Contrastive loss over negated sentences with known correct clips. Used by CLIP-neg; not from the paper."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import softplus

from trainer.losses.embedded import EmbeddedBatch, EmbeddedTruth, given
from trainer.options import option


@dataclass(frozen=True)
class ComposedLoss:
    """Rank every clip that fits a denying sentence above all others, and above hard ones by a margin.

        s_i = logit_scale · cos(sentence, clip i)       a: the clips that fit
        contrast = mean_a -log(exp s_a / (exp s_a + Σ exp s_i))                i: all clips that do not fit
        hard = mean_i softplus(s_i - mean_a s_a + logit_scale · hard_margin)   i: clips that show both parts
        loss = contrast + hard_weight · hard

    Each term is a mean over the sentences that have it; a sentence that no clip fits, that every clip fits, or whose
    truth is unknown has none. No gradient reaches the temperature: only the contrastive loss may change it.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"video", "denied", "truth"})

    hard_weight: float = option(1.0, "weight of the hard-clip term; 0 turns it off")
    hard_margin: float = option(0.1, "margin between fitting and hard clips, in cosine units")

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        """Return the loss of the batch, a scalar; 0 if no sentence can be used."""
        denied = given(batch.denied)
        truth = given(denied.truth)
        scale = batch.logit_scale.detach()
        return self.of_scores(scale * denied.text @ truth.pool.T, truth, scale)

    def of_scores(self, scores: Tensor, truth: EmbeddedTruth, scale: Tensor) -> Tensor:
        """Return the loss of (B, P) scores, however they come about."""
        usable = truth.fitting.any(dim=1) & ~truth.fitting.all(dim=1)  # (B,)
        scores, fitting, both = scores[usable], truth.fitting[usable], truth.both[usable]
        if not len(scores):
            return scores.sum()
        loss = contrast(scores, fitting)
        if not self.hard_weight or not both.any():
            return loss
        excess = softplus(scores - mean_of(scores, fitting)[:, None] + scale * self.hard_margin)
        hard = mean_of(excess, both)[both.any(dim=1)]
        return loss + self.hard_weight * hard.mean()


def contrast(scores: Tensor, right: Tensor) -> Tensor:
    """Rank what is right in each row of (B, P) scores, some but not all of it, above all that is wrong; a scalar."""
    wrong = scores.masked_fill(right, -torch.inf).logsumexp(dim=1, keepdim=True)  # (B, 1)
    return mean_of(softplus(wrong - scores), right).mean()


def mean_of(values: Tensor, chosen: Tensor) -> Tensor:
    """Return each row's mean over its chosen values: (B, P) and (B, P) bool to (B,); 0 if none are chosen."""
    return (values * chosen).sum(dim=1) / chosen.sum(dim=1).clamp(min=1)
