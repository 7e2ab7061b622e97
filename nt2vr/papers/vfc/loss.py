"""VFC's loss: contrast with captions of another verb, and with verb phrases."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from nt2vr.papers.vfc.verbs_input import Verbs
from nt2vr.sections import AnySize, Positive
from trainer.inputs import EmbeddedBatch, InputFactory, Video, given
from trainer.loss_settings import option


@dataclass(frozen=True)
class VfcLoss:
    """Match videos v with captions c, told from the same captions with another verb, and with their verb phrases p.

        t2v  = mean of hard_nce(c_i; v_i among B videos) / ln B
        v2t  = mean of hard_nce(v_i; c_i among B captions and its own n_i changed captions) / ln(B + n_i)
        verb = mean of hard_nce(v_i; p_i among the P verb phrases, beta 0) over the P videos with one / ln P
        loss = text_to_video · t2v + video_to_text · v2t + verb_phrase · verb

    Each term is divided by its value at a uniform prediction. The authors' code divides the (B,)
    losses v2t by a (B, 1) column of ln(B + n_i), whose mean is the product of two means and differs
    where the n_i do; here each is divided by its own. Fewer than two phrases make no verb term;
    there, the code divides by ln 1 or ln 0.

    Source: Momeni et al., "Verbs in Action: Improving Verb Understanding in Video-Language Models",
    ICCV 2023, section 3.2 and Tables 6 to 8. The authors' code weighs the terms by 1, ½ and ½, with
    beta 0.
    """

    inputs: ClassVar[tuple[InputFactory, ...]] = (
        Video,
        Verbs,
    )

    text_to_video: AnySize = option(2.0, "weight of captions that choose among videos")
    video_to_text: AnySize = option(
        1.0, "weight of videos that choose among captions and their own changed captions"
    )
    verb_phrase: AnySize = option(1.0, "weight of videos that choose among verb phrases")
    temperature: Positive = option(0.005, "divides cosines; fixed, the model's own is not used")
    beta: AnySize = option(
        0.1, "weight of hard negatives over easy ones; 0 weighs all alike (InfoNCE)"
    )

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        video, verbs = given(batch.video), batch.of(Verbs)
        size, others = len(video), ~torch.eye(len(video), dtype=torch.bool, device=video.device)
        scores = video @ batch.caption.T / self.temperature  # (videos, captions)
        changed = (video[:, None] * verbs.changed).sum(dim=-1) / self.temperature  # (B, K)
        total = scores.sum() * 0.0  # of a batch of one, in which nothing can be told from anything
        if size > 1:
            to_video = hard_nce(scores.diagonal(), scores.T, others, self.beta).mean() / math.log(
                size
            )
            texts, wrong = (
                torch.cat([scores, changed], dim=1),
                torch.cat([others, verbs.is_changed], dim=1),
            )
            lost = hard_nce(scores.diagonal(), texts, wrong, self.beta)
            to_text = (lost / (size + verbs.is_changed.sum(dim=1)).to(lost).log()).mean()
            total = self.text_to_video * to_video + self.video_to_text * to_text
        if (count := int(verbs.has_phrase.sum())) > 1:
            scores = video[verbs.has_phrase] @ verbs.phrase[verbs.has_phrase].T / self.temperature
            to_phrase = hard_nce(
                scores.diagonal(), scores, others[:count, :count]
            ).mean() / math.log(count)
            total = total + self.verb_phrase * to_phrase
        return total


def hard_nce(own: Tensor, scores: Tensor, is_negative: Tensor, beta: float = 0.0) -> Tensor:
    """InfoNCE whose negatives weigh more the harder they are (HardNeg-NCE).

        w_k = n · exp(beta · s_k) / Σ exp(beta · s)        over the n negatives
        loss = -log(exp(s) / (exp(s) + Σ w_k · exp(s_k)))

    Of (N,) scores s of the right answers and (N, M) of all, divided by the temperature, with at
    least one wrong answer in each row, return (N,) losses. A beta of 0 gives InfoNCE.

    Source: Radenovic et al., "Filtering, Distillation, and Hard Negatives for Vision-Language
    Pre-Training", CVPR 2023.
    """
    ignored = ~is_negative
    weights = (
        (beta * scores).masked_fill(ignored, -torch.inf).log_softmax(dim=1)
    )  # logarithms, without n
    weighted = (
        weights
        + scores.masked_fill(ignored, 0.0)
        + is_negative.sum(dim=1, keepdim=True).to(scores).log()
    )
    return torch.cat([own[:, None], weighted], dim=1).logsumexp(dim=1) - own
