"""Contrastive losses with negated captions: CoN-CLIP's and NegCLIP's."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from nt2vr.errors import ConfigError
from nt2vr.papers.con_clip.distractors import Distractors
from trainer.inputs import EmbeddedBatch, InputFactory, Negated, Video, given
from trainer.loss_settings import option


@dataclass(frozen=True)
class ConClipLoss:
    """Tell captions c from their negations c⁻, and videos v from distractors d, which show what c⁻ describes.

        L1 = cross_entropy(scale · v [c; c⁻]ᵀ)        own caption among all captions and negations
        L2 = cross_entropy(scale · c [v; d]ᵀ)         own video among all videos and distractors
        L3 = cross_entropy(scale · d [c⁻; c]ᵀ)        own negation, for the distractor
        loss = mean of the terms that are on, each a mean over the batch

    Captions that cannot be negated have neither c⁻ nor d. Distractors are mined, see `trainer.inputs.distractors`, so
    L3 takes it on trust that c⁻ fits d.

    Source: Singh et al., "Learn 'No' to Say 'Yes' Better: Improving Vision-Language Models via Negations", WACV 2025,
    section 4.2; its Table 6 turns terms off.
    """

    images: bool = option(True, "L1: each video chooses its caption among all captions and their negations")
    captions: bool = option(True, "L2: each caption chooses its video among all videos and distractors")
    distractors: bool = option(True, "L3: each distractor chooses its negated caption among all captions")

    def __post_init__(self) -> None:
        if not (self.images or self.captions or self.distractors):
            raise ConfigError("The loss con has no term left. Turn on images, captions or distractors.")

    @property
    def inputs(self) -> tuple[InputFactory, ...]:
        """Videos and negated captions, and distractors for the terms that have them."""
        if self.captions or self.distractors:
            return (Video, Negated, Distractors)
        return (Video, Negated)

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        video, negated, terms = given(batch.video), _negated(batch), list[Tensor]()
        if self.images:
            terms.append(_chosen(batch, video, batch.caption, negated))
        if self.captions or self.distractors:
            distractor = _negatable(batch.of(Distractors), batch)
            if self.captions:
                terms.append(_chosen(batch, batch.caption, video, distractor))
            if self.distractors and len(distractor):
                terms.append(_chosen(batch, distractor, negated, batch.caption))
        return torch.stack(terms).mean() if terms else video.sum() * 0.0


@dataclass(frozen=True)
class NegClipLoss:
    """Match videos and captions, with negated captions c⁻ as further wrong answers of the videos.

        loss = (cross_entropy(scale · v [c; c⁻]ᵀ) + cross_entropy(scale · c vᵀ)) / 2

    NegCLIP's loss without its hard negative images. CoN-CLIP's code computes this without distractors.

    Source: Yuksekgonul et al., "When and Why Vision-Language Models Behave like Bags-Of-Words, and What to Do About
    It?", ICLR 2023.
    """

    inputs: ClassVar[tuple[InputFactory, ...]] = (
        Video,
        Negated,
    )

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        video, negated = given(batch.video), _negated(batch)
        return (_chosen(batch, video, batch.caption, negated) + _chosen(batch, batch.caption, video, video[:0])) / 2


def _negated(batch: EmbeddedBatch) -> Tensor:
    """Return the negations of the captions that can be negated: (N, D)."""
    return _negatable(batch.of(Negated).text, batch)


def _negatable(rows: Tensor, batch: EmbeddedBatch) -> Tensor:
    """Return the rows of captions that can be negated: (N, D)."""
    negatable = batch.of(Negated).negatable
    return rows if negatable is None else rows[negatable]


def _chosen(batch: EmbeddedBatch, asked: Tensor, right: Tensor, wrong: Tensor) -> Tensor:
    """Cross-entropy of each asked row's own `right` row among all rows of `right` and `wrong`."""
    scores = batch.logit_scale * asked @ torch.cat([right, wrong]).T  # (B, B + N)
    return cross_entropy(scores, torch.arange(len(scores), device=scores.device))
