"""Contrastive losses with negated captions: CoN-CLIP's and NegCLIP's."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from nt2vr.errors import ConfigError
from nt2vr.papers.con_clip.distractors import Distractors
from trainer.inputs import EmbeddedBatch, InputFactories, Negated, Video, given
from trainer.loss_settings import option


@dataclass(frozen=True)
class ConClipLoss:
    """Tell captions c from their negations c⁻, and videos v from distractors d, which show what c⁻ describes.

        L1 = cross_entropy(scale · v [c; c⁻]ᵀ)     each video chooses its caption, among captions and negations
        L2 = cross_entropy(scale · c [v; d]ᵀ)      each caption its video, among videos and distractors
        L3 = cross_entropy(scale · d [c⁻; c]ᵀ)     each distractor its negation, among negations and captions
        loss = mean of the terms that are on

    There are B captions c and videos v. N of the captions have a negation and a distractor; c⁻ and d are
    of these alone. A caption that cannot be negated has neither. With L2 or L3, one without a
    distractor has no negation either, so that L1 has as many negations as the others have distractors.
    Each term is a mean over its B or N rows.

    Distractors are mined (see distractors.py), so L3 assumes that d fits c⁻ without knowing it.

    Source: Singh et al., "Learn 'No' to Say 'Yes' Better: Improving Vision-Language Models via
    Negations", WACV 2025, section 4.2; its Table 6 turns terms off.
    """

    images: bool = option(
        True, "L1: each video chooses its caption among all captions and their negations"
    )
    captions: bool = option(
        True, "L2: each caption chooses its video among all videos and distractors"
    )
    distractors: bool = option(
        True,
        "L3: each distractor chooses its negated caption among all negated captions and captions",
    )

    def __post_init__(self) -> None:
        if not (self.images or self.captions or self.distractors):
            raise ConfigError(
                "The loss con has no term left. Turn on images, captions or distractors."
            )

    @property
    def inputs(self) -> InputFactories:
        """Videos and negated captions, and distractors for the terms that have them."""
        if self._has_distractors:
            return (Video, Negated, Distractors)
        return (Video, Negated)

    @property
    def _has_distractors(self) -> bool:
        return self.captions or self.distractors

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        video = given(batch.video)  # (B, D)
        if not self._has_distractors:
            return _choice_loss(batch, anchor=video, right=batch.caption, wrong=_negated(batch))

        # A caption without a distractor counts as one that cannot be negated.
        mined = batch.of(Distractors)
        distractor = mined.video[mined.has_distractor]  # (N, D)
        negated = batch.of(Negated).text[mined.has_distractor]  # (N, D)

        terms = []
        if self.images:
            terms.append(_choice_loss(batch, anchor=video, right=batch.caption, wrong=negated))
        if self.captions:
            terms.append(_choice_loss(batch, anchor=batch.caption, right=video, wrong=distractor))
        if self.distractors and len(distractor):
            terms.append(_choice_loss(batch, anchor=distractor, right=negated, wrong=batch.caption))
        if not terms:
            # L3 alone, in a batch without distractors: 0, with a gradient of 0 for the text tower.
            # The videos have none, since their tower is frozen.
            return batch.caption.sum() * 0.0
        return torch.stack(terms).mean()


@dataclass(frozen=True)
class NegClipLoss:
    """Match videos and captions, with negated captions c⁻ as further wrong answers of the videos.

        loss = (cross_entropy(scale · v [c; c⁻]ᵀ) + cross_entropy(scale · c vᵀ)) / 2

    NegCLIP's loss without its hard negative images. CoN-CLIP's code computes this without
    distractors.

    Source: Yuksekgonul et al., "When and Why Vision-Language Models Behave like Bags-Of-Words, and
    What to Do About It?", ICLR 2023.
    """

    inputs = (Video, Negated)

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        video = given(batch.video)  # (B, D)
        no_distractors = video[:0]  # (0, D)
        to_text = _choice_loss(batch, anchor=video, right=batch.caption, wrong=_negated(batch))
        to_video = _choice_loss(batch, anchor=batch.caption, right=video, wrong=no_distractors)
        return (to_text + to_video) / 2


def _negated(batch: EmbeddedBatch) -> Tensor:
    """Return the negations of the captions that can be negated: (N, D)."""
    negated = batch.of(Negated)
    if negated.negatable is None:
        return negated.text
    return negated.text[negated.negatable]


def _choice_loss(batch: EmbeddedBatch, anchor: Tensor, right: Tensor, wrong: Tensor) -> Tensor:
    """Average the cross-entropy of each anchor's own row of `right` among all rows of `right` and `wrong`: ().

    Args:
        batch: for its temperature.
        anchor: (A, D), what chooses.
        right: (A, D), of which row i is the right answer of anchor i.
        wrong: (W, D), further answers.
    """
    answers = torch.cat([right, wrong])  # (A + W, D)
    scores = batch.logit_scale * anchor @ answers.T  # (A, A + W)
    own_rows = torch.arange(len(scores), device=scores.device)  # (A,)
    return cross_entropy(scores, own_rows)
