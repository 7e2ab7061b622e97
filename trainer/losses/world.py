"""Losses of denials, words and orders, which must know what each clip shows: for the built-in world only."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import softplus

from trainer.inputs import Denied, EmbeddedBatch, Labels, Order, Truth, Video, given
from trainer.loss_settings import option


@dataclass(frozen=True)
class ComposedLoss:
    """Rank every clip that fits a negated sentence above all others, and above hard ones by a margin.

        s_i = logit_scale · cos(sentence, clip i)       a: the clips that fit
        contrast = mean_a -log(exp s_a / (exp s_a + Σ exp s_i))                i: all clips that do not fit
        hard = mean_i softplus(s_i - mean_a s_a + logit_scale · hard_margin)   i: clips that show both parts
        loss = contrast + hard_weight · hard

    Each term is a mean over the sentences that have it; a sentence that no clip fits, that every
    clip fits, or whose truth is unknown has none. No gradient reaches the temperature: only the
    contrastive loss may change it.
    """

    inputs = (Video, Denied, Truth)

    hard_weight: float = option(1.0, "weight of the hard-clip term; 0 turns it off")
    hard_margin: float = option(0.1, "margin between fitting and hard clips, in cosine units")

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        scale = batch.logit_scale.detach()
        truth = batch.of(Truth)
        is_usable = _is_mixed(truth.fitting)  # (B,)
        scores = (scale * batch.of(Denied) @ truth.pool.T)[is_usable]  # (b, P)
        fitting = truth.fitting[is_usable]
        both = truth.both[is_usable]
        if not len(scores):
            return scores.sum()
        loss = contrast(scores, fitting)
        if not self.hard_weight or not both.any():
            return loss
        margin = scale * self.hard_margin
        return loss + self.hard_weight * hard_term(scores, fitting, both, margin=margin)


def hard_term(scores: Tensor, fitting: Tensor, both: Tensor, margin: Tensor) -> Tensor:
    """Rank what fits, on average, above each clip that shows both parts by a margin, given (b, P) scores; a scalar."""
    fitting_scores = mean_of(scores, fitting)[:, None]  # (b, 1)
    excess = softplus(scores - fitting_scores + margin)  # (b, P)
    has_hard = both.any(dim=1)
    return mean_of(excess, both)[has_hard].mean()


def contrast(scores: Tensor, right: Tensor) -> Tensor:
    """Rank what is right in each row of (B, P) scores, some but not all of it, above all that is wrong; a scalar."""
    wrong = scores.masked_fill(right, -torch.inf).logsumexp(dim=1, keepdim=True)  # (B, 1)
    return mean_of(softplus(wrong - scores), right).mean()


def _is_mixed(right: Tensor) -> Tensor:
    """Return whether some, but not all, of each row is right: (B, P) bool to (B,) bool."""
    return right.any(dim=1) & ~right.all(dim=1)


def mean_of(values: Tensor, chosen: Tensor) -> Tensor:
    """Average the chosen values of each row, (B, P) and (B, P) bool: (B,); 0 where none are chosen."""
    counts = chosen.sum(dim=1).clamp(min=1)
    return (values * chosen).sum(dim=1) / counts


@dataclass(frozen=True)
class LabelsLoss:
    """Rank the words that a clip shows above all others, and the clips that show a word above all others.

        s_il = logit_scale · cos(clip i, word l)              (B, L)
        loss_i = mean over shown l of -log(exp s_il / (exp s_il + Σ exp s_im))      m: words that clip i does not show
        loss = (mean_i loss_i + mean_l loss_l) / 2            loss_l likewise over the clips

    No gradient reaches the temperature: only the contrastive loss may change it.

    Source: Yang et al., "Unified Contrastive Learning in Image-Text-Label Space", CVPR 2022, Eq. 2
    and 3, where all that is shown stays in the denominators; with twenty words per clip, these
    would compete.
    """

    inputs = (Video, Labels)

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        labels = batch.of(Labels)
        scale = batch.logit_scale.detach()
        scores = scale * given(batch.video) @ labels.text.T  # (B, L)
        of_clips = _contrast_of_usable(scores, labels.is_shown)
        of_words = _contrast_of_usable(scores.T, labels.is_shown.T)
        return (of_clips + of_words) / 2


def _contrast_of_usable(scores: Tensor, right: Tensor) -> Tensor:
    """Return `contrast` of the rows in which some, but not all, are right; 0 if there are none."""
    is_usable = _is_mixed(right)
    if not is_usable.any():
        return scores.sum() * 0.0
    return contrast(scores[is_usable], right[is_usable])


@dataclass(frozen=True)
class OrderLoss:
    """Tell clips that differ in the order of their frames apart by their sentences, and the sentences by the clips.

        s_ij = logit_scale · cos(sentence i, clip j)
        loss = mean_i (log(1 + exp(s_ir - s_ii)) + log(1 + exp(s_ri - s_ii))) / 2      r: i in the other order

    It is at least ln 2 for what does not know the order, such as the mean of frames. No gradient
    reaches the temperature.
    """

    inputs = (Video, Order)

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        order = batch.of(Order)
        scale = batch.logit_scale.detach()
        width = order.text.shape[-1]
        text = order.text.reshape(-1, 2, width)  # (P / 2, 2, D)
        video = order.video.reshape(-1, 2, width)  # (P / 2, 2, D)
        scores = scale * text @ video.mT  # (P / 2, 2 sentences, 2 clips)
        if not len(scores):
            return order.text.sum() * 0.0

        right = scores.diagonal(dim1=1, dim2=2)  # (P / 2, 2)
        # The score of each sentence with the clip of the other one.
        wrong = scores.flip(2).diagonal(dim1=1, dim2=2)  # (P / 2, 2)
        of_sentences = softplus(wrong - right)
        of_clips = softplus(wrong.flip(1) - right)
        return (of_sentences + of_clips).mean() / 2
