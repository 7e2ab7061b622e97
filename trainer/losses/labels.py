"""Contrastive loss over single words with known clips: what a tower sees before it is told in sentences."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from trainer.losses.composed import contrast
from trainer.losses.embedded import EmbeddedBatch, given


@dataclass(frozen=True)
class LabelsLoss:
    """Rank the words that a clip shows above all others, and the clips that show a word above all others.

        s_il = logit_scale · cos(clip i, word l)              (B, L)
        loss_i = mean over shown l of -log(exp s_il / (exp s_il + Σ exp s_im))      m: words that clip i does not show
        loss = (mean_i loss_i + mean_l loss_l) / 2            loss_l likewise over the clips

    No gradient reaches the temperature: only the contrastive loss may change it.

    Source: Yang et al., "Unified Contrastive Learning in Image-Text-Label Space", CVPR 2022, Eq. 2 and 3, where all
    that is shown stays in the denominators; with twenty words per clip, these would compete.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"video", "labels"})

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        """Return the mean of both directions, a scalar."""
        labels = given(batch.labels)
        scores = batch.logit_scale.detach() * given(batch.video) @ labels.text.T  # (B, L)
        return (_ranked(scores, labels.shown) + _ranked(scores.T, labels.shown.T)) / 2


def _ranked(scores: Tensor, right: Tensor) -> Tensor:
    """Return the mean over the rows in which some, but not all, are right; 0 if there are none."""
    usable = right.any(dim=1) & ~right.all(dim=1)
    return contrast(scores[usable], right[usable]) if usable.any() else scores.sum() * 0.0
