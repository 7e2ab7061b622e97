"""Contrastive losses: CLIP's own, CoN-CLIP's and NegCLIP's with negated captions, and VFC's with other verbs."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from nt2vr.errors import ConfigError
from trainer.config.checked import AnySize, Positive
from trainer.inputs import Distractors, EmbeddedBatch, InputFactory, Negated, Verbs, Video, given
from trainer.losses.settings import option


@dataclass(frozen=True)
class ContrastiveLoss:
    """Match each video with its caption among all in the batch, and each caption with its video (symmetric InfoNCE).

        s = logit_scale · cos(video, caption)                   (B, B)
        loss = (cross_entropy(s, diagonal) + cross_entropy(sᵀ, diagonal)) / 2

    Source: Radford et al., "Learning Transferable Visual Models From Natural Language Supervision", ICML 2021, Fig. 3.
    """

    inputs: ClassVar[tuple[InputFactory, ...]] = (Video,)

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        scores = batch.logit_scale * given(batch.video) @ batch.caption.T  # (B, B)
        own = torch.arange(len(scores), device=scores.device)
        return (cross_entropy(scores, own) + cross_entropy(scores.T, own)) / 2


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


@dataclass(frozen=True)
class VfcLoss:
    """Match videos v with captions c, told from the same captions with another verb, and with their verb phrases p.

        t2v  = mean of hard_nce(c_i; v_i among B videos) / ln B
        v2t  = mean of hard_nce(v_i; c_i among B captions and its own n_i changed captions) / ln(B + n_i)
        verb = mean of hard_nce(v_i; p_i among the P verb phrases, beta 0) over the P videos with one / ln P
        loss = text_to_video · t2v + video_to_text · v2t + verb_phrase · verb

    Each term is divided by its value at a uniform prediction. The authors' code divides the (B,) losses v2t by a
    (B, 1) column of ln(B + n_i), whose mean is the product of two means and differs where the n_i do; here each is
    divided by its own. Fewer than two phrases make no verb term; there, the code divides by ln 1 or ln 0.

    Source: Momeni et al., "Verbs in Action: Improving Verb Understanding in Video-Language Models", ICCV 2023,
    section 3.2 and Tables 6 to 8. The authors' code weighs the terms by 1, ½ and ½, with beta 0.
    """

    inputs: ClassVar[tuple[InputFactory, ...]] = (
        Video,
        Verbs,
    )

    text_to_video: AnySize = option(2.0, "weight of captions that choose among videos")
    video_to_text: AnySize = option(1.0, "weight of videos that choose among captions and their own changed captions")
    verb_phrase: AnySize = option(1.0, "weight of videos that choose among verb phrases")
    temperature: Positive = option(0.005, "divides cosines; fixed, the model's own is not used")
    beta: AnySize = option(0.1, "weight of hard negatives over easy ones; 0 weighs all alike (InfoNCE)")

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        video, verbs = given(batch.video), batch.of(Verbs)
        size, others = len(video), ~torch.eye(len(video), dtype=torch.bool, device=video.device)
        scores = video @ batch.caption.T / self.temperature  # (videos, captions)
        changed = (video[:, None] * verbs.changed).sum(dim=-1) / self.temperature  # (B, K)
        total = scores.sum() * 0.0  # of a batch of one, in which nothing can be told from anything
        if size > 1:
            to_video = hard_nce(scores.diagonal(), scores.T, others, self.beta).mean() / math.log(size)
            texts, wrong = torch.cat([scores, changed], dim=1), torch.cat([others, verbs.is_changed], dim=1)
            lost = hard_nce(scores.diagonal(), texts, wrong, self.beta)
            to_text = (lost / (size + verbs.is_changed.sum(dim=1)).to(lost).log()).mean()
            total = self.text_to_video * to_video + self.video_to_text * to_text
        if (count := int(verbs.has_phrase.sum())) > 1:
            scores = video[verbs.has_phrase] @ verbs.phrase[verbs.has_phrase].T / self.temperature
            to_phrase = hard_nce(scores.diagonal(), scores, others[:count, :count]).mean() / math.log(count)
            total = total + self.verb_phrase * to_phrase
        return total


def hard_nce(own: Tensor, scores: Tensor, is_negative: Tensor, beta: float = 0.0) -> Tensor:
    """InfoNCE whose negatives weigh more the harder they are (HardNeg-NCE).

        w_k = n · exp(beta · s_k) / Σ exp(beta · s)        over the n negatives
        loss = -log(exp(s) / (exp(s) + Σ w_k · exp(s_k)))

    Of (N,) scores s of the right answers and (N, M) of all, divided by the temperature, with at least one wrong answer
    in each row, return (N,) losses. A beta of 0 gives InfoNCE.

    Source: Radenovic et al., "Filtering, Distillation, and Hard Negatives for Vision-Language Pre-Training",
    CVPR 2023.
    """
    ignored = ~is_negative
    weights = (beta * scores).masked_fill(ignored, -torch.inf).log_softmax(dim=1)  # logarithms, without n
    weighted = weights + scores.masked_fill(ignored, 0.0) + is_negative.sum(dim=1, keepdim=True).to(scores).log()
    return torch.cat([own[:, None], weighted], dim=1).logsumexp(dim=1) - own
