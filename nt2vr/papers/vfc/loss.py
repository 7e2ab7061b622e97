"""VFC's loss: contrast with captions of another verb, and with verb phrases."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from nt2vr.papers.vfc.verbs_input import Verbs
from nt2vr.sections import AnySize, Positive
from trainer.inputs import EmbeddedBatch, Video, given
from trainer.loss_settings import option


@dataclass(frozen=True)
class VfcLoss:
    """Match B videos v with their captions c and verb phrases p, and tell c from changed captions h.

    nce(a; b | others) is `hard_negative_nce` of the scores of a with its right answer b and with the
    others. Video i has n_i changed captions h_i1, h_i2, …; P videos have a verb phrase.

        t2v  = mean over i of nce(c_i; v_i | the other videos) / ln B
        v2t  = mean over i of nce(v_i; c_i | the other captions, h_i1, h_i2, …) / ln(B + n_i)
        verb = mean over i of nce(v_i; p_i | the other verb phrases), with beta 0, / ln P
        loss = text_to_video · t2v + video_to_text · v2t + verb_phrase · verb

    The logarithms are what nce is if all answers score the same, so each term is then 1. There is no
    term where nothing can be told apart: no t2v and v2t for one video, no verb for fewer than two
    verb phrases.

    The authors' code differs in three points. It weighs the terms by 1, ½ and ½, with beta 0. It
    divides the (B,) losses of v2t by a (B, 1) column of ln(B + n_i), so that their mean is a product
    of two means, which is another value where the n_i differ. For fewer than two verb phrases it
    divides 0 by 0.

    Source: Momeni et al., "Verbs in Action: Improving Verb Understanding in Video-Language Models",
    ICCV 2023, sections 3.2, 3.3 and 4.2.
    """

    inputs = (Video, Verbs)

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
        video = given(batch.video)  # (B, D)
        verbs = batch.of(Verbs)
        scores = video @ batch.caption.T / self.temperature  # (B, B), videos by captions

        # 0, and with a gradient of 0, where no term follows.
        loss = scores.sum() * 0.0
        if len(video) > 1:
            to_video = _term_within_batch(scores.T, self.beta)
            to_text = self._video_to_text_term(
                video, scores=scores, changed=verbs.changed, is_changed=verbs.is_changed
            )
            loss = self.text_to_video * to_video + self.video_to_text * to_text
        if int(verbs.has_phrase.sum()) > 1:
            phrase = verbs.phrase[verbs.has_phrase]  # (P, D)
            phrase_scores = video[verbs.has_phrase] @ phrase.T / self.temperature  # (P, P)
            to_phrase = _term_within_batch(phrase_scores, beta=0.0)
            loss = loss + self.verb_phrase * to_phrase
        return loss

    def _video_to_text_term(
        self, video: Tensor, scores: Tensor, changed: Tensor, is_changed: Tensor
    ) -> Tensor:
        """Average what videos lose, given (B, K, D) changed captions and (B, K) which of them exist: ()."""
        changed_cosines = (video[:, None] * changed).sum(dim=-1)  # (B, K)
        changed_scores = changed_cosines / self.temperature
        all_scores = torch.cat([scores, changed_scores], dim=1)  # (B, B + K)
        is_negative = torch.cat([_is_off_diagonal(scores), is_changed], dim=1)  # (B, B + K)
        losses = hard_negative_nce(all_scores, is_negative, self.beta)  # (B,)

        num_answers = len(scores) + is_changed.sum(dim=1)  # (B,)
        return (losses / num_answers.to(losses).log()).mean()


def _term_within_batch(scores: Tensor, beta: float) -> Tensor:
    """Average what rows lose that choose among the columns of (N, N) scores; the diagonal is right: ()."""
    losses = hard_negative_nce(scores, _is_off_diagonal(scores), beta)  # (N,)
    return losses.mean() / math.log(len(scores))


def _is_off_diagonal(scores: Tensor) -> Tensor:
    return ~torch.eye(len(scores), dtype=torch.bool, device=scores.device)


def hard_negative_nce(scores: Tensor, is_negative: Tensor, beta: float) -> Tensor:
    """InfoNCE whose negatives weigh more the harder they are (HardNeg-NCE).

    With s⁺ the score of the right answer, and s_1 … s_n those of the n wrong ones:

        w_k = n · exp(beta · s_k) / Σ_j exp(beta · s_j)
        loss = -log(exp(s⁺) / (exp(s⁺) + Σ_k w_k · exp(s_k)))

    A beta of 0 gives InfoNCE. All is computed in logarithms, which do not overflow.

    Args:
        scores: (N, M) scores of all answers, divided by the temperature; that of the right one is on
            the diagonal.
        is_negative: (N, M) bool, which of them are wrong answers; at least one in each row.
        beta: how much more hard negatives weigh.

    Returns:
        (N,) losses.

    Source: Radenovic et al., "Filtering, Distillation, and Hard Negatives for Vision-Language
    Pre-Training", CVPR 2023.
    """
    positive = scores.diagonal()  # (N,)
    # log(w_k / n), and -inf for what is no negative, so that exp gives 0.
    hardness = (beta * scores).masked_fill(~is_negative, -torch.inf)  # (N, M)
    log_shares = hardness.log_softmax(dim=1)
    log_num_negatives = is_negative.sum(dim=1, keepdim=True).to(scores).log()  # (N, 1)

    # Scores of what is no negative may be anything, even infinite: they must not meet -inf.
    negative_scores = scores.masked_fill(~is_negative, 0.0)
    log_negatives = log_shares + negative_scores + log_num_negatives  # (N, M)

    log_terms = torch.cat([positive[:, None], log_negatives], dim=1)  # (N, 1 + M)
    return log_terms.logsumexp(dim=1) - positive
