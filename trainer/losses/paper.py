"""Losses of the nT2VR paper: retrieval, which fine-tunes CLIP*, and the auxiliary ones of CLIP-snl and CLIP-bnl."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import relu

from nt2vr.errors import ConfigError
from trainer.inputs import EmbeddedBatch, Negated, Video, given
from trainer.loss_settings import option

Reduction = Literal["sum", "mean"]


@dataclass(frozen=True)
class RetrievalLoss:
    """Pull a caption closer to its video than to any other in the batch, by a margin.

        loss = max(0, margin + s(x#, q) - s(x⁺, q))     x# the hardest negative video in the batch

    Over several spaces, as in SEA, it is the sum of each one's loss, with a hardest negative of its
    own.

    Source: Wang et al., "Learn to Understand Negation in Video Retrieval", ACM MM 2022, Eq. 2;
    W2VV++ has the same.
    """

    inputs = (Video,)

    margin: float = option(0.2, "margin, m0 in the paper, in cosine units")
    both_directions: bool = option(
        False, "also compare each video with its hardest negative caption (VSE++)"
    )
    reduction: Reduction = option(
        "sum", "reduction over the batch; the paper's public implementation sums"
    )

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        videos = given(batch.video).chunk(batch.spaces, dim=-1)
        captions = batch.caption.chunk(batch.spaces, dim=-1)
        losses = []
        for video, caption in zip(videos, captions, strict=True):
            # Cosines in one space: each part has length 1 / √spaces.
            losses.append(self._loss_of_space(batch.spaces * video @ caption.T))
        return reduced(torch.stack(losses).sum(dim=0), self.reduction)

    def _loss_of_space(self, scores: Tensor) -> Tensor:
        """Return the loss of each caption: (B videos, B captions) to (B,)."""
        right = scores.diagonal()
        is_right = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
        wrong = scores.masked_fill(is_right, -torch.inf)
        losses = relu(self.margin + wrong.amax(dim=0) - right)
        if self.both_directions:
            losses = losses + relu(self.margin + wrong.amax(dim=1) - right)
        return losses


def reduced(losses: Tensor, reduction: Reduction) -> Tensor:
    """Sum or average (B,) losses."""
    if reduction == "sum":
        return losses.sum()
    return losses.mean()


def over_negatable(
    losses: Tensor, batch: EmbeddedBatch, reduction: Reduction, rescale: bool
) -> Tensor:
    """Reduce (B,) losses of negated captions; captions that could not be negated count as 0.

        sum · B / n     n: number of captions that could be negated
        mean            sum / n

    The factor B / n, turned on by `rescale`, comes from nT2VR's public implementation, which
    applies it to the mean too: the fewer captions of a batch can be negated, the more each counts.
    The paper does not mention it.
    """
    negatable = batch.of(Negated).negatable
    if negatable is None:
        return reduced(losses, reduction)
    loss = reduced(torch.where(negatable, losses, 0.0), reduction)
    if not rescale and reduction == "sum":
        return loss
    return loss * len(losses) / negatable.sum().clamp(min=1)


def _videos_of(batch: EmbeddedBatch, detached: bool) -> Tensor:
    video = given(batch.video)
    return video.detach() if detached else video


Pivot = Literal["video", "query"]


@dataclass(frozen=True)
class SoftNegativeLoss:
    """Push a negated caption q⁻ away like any wrong caption.

        pivot video:  loss = max(0, margin + s(x⁺, q⁻) - s(x⁺, q))      (Eq. 3)
        pivot query:  loss = max(0, margin + s(q, q⁻) - s(q, x⁺))

    Eq. 4 is the retrieval loss plus λ1 times this one; λ1 (1e-3 in the paper) is its weight in the
    config.

    Source: Wang et al., "Learn to Understand Negation in Video Retrieval", ACM MM 2022, Eq. 3 and
    4.
    """

    inputs = (Video, Negated)

    margin: float = option(0.1, "m1 of the paper, in cosine units")
    pivot: Pivot = option("video", "embedding that the negated caption is pushed away from")
    detach_video: bool = option(
        True, "stop gradients to the visual tower, as in the paper's public implementation"
    )
    rescale: bool = option(
        True,
        "scale by batch size / number of captions that could be negated, as in that implementation",
    )
    reduction: Reduction = option(
        "sum", "reduction over the captions that could be negated; the public implementation sums"
    )

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        video = _videos_of(batch, self.detach_video)
        negated = batch.of(Negated).text
        pivot = video if self.pivot == "video" else batch.caption
        right = (video * batch.caption).sum(dim=-1)  # (B,)
        wrong = (pivot * negated).sum(dim=-1)  # (B,)
        losses = relu(self.margin + wrong - right)
        return over_negatable(losses, batch, self.reduction, self.rescale)


@dataclass(frozen=True)
class BidirectionalLoss:
    """Keep a negated caption q⁻ farther from the video than its caption q, but not too far: most of it still holds.

        pivot video:  gap = s(x⁺, q) - s(x⁺, q⁻)      loss = max(0, m1 - gap) + max(0, gap - m2)      (Eq. 5)
        pivot query:  gap = s(q, x⁺) - s(q, q⁻)       loss = max(0, m3 - gap) + max(0, gap - m4)      (Eq. 6)

    Eq. 7 is the retrieval loss plus λ2 times the sum of both; λ2 (1e-3 in the paper) is its weight
    in the config.

    Source: Wang et al., "Learn to Understand Negation in Video Retrieval", ACM MM 2022, Eq. 5, 6
    and 7.
    """

    inputs = (Video, Negated)

    video_pivot: bool = option(True, "include Eq. 5")
    query_pivot: bool = option(True, "include Eq. 6")
    m1: float = option(0.1, "smallest allowed gap for the video, in cosine units")
    m2: float = option(0.6, "largest allowed gap for the video, in cosine units")
    m3: float = option(0.1, "smallest allowed gap for the query, in cosine units")
    m4: float = option(0.3, "largest allowed gap for the query, in cosine units")
    detach_video: bool = option(
        True, "stop gradients to the visual tower, as in the paper's public implementation"
    )
    rescale: bool = option(
        True,
        "scale by batch size / number of captions that could be negated, as in that implementation",
    )
    reduction: Reduction = option(
        "sum", "reduction over the captions that could be negated; the public implementation sums"
    )

    def __post_init__(self) -> None:
        if not (self.video_pivot or self.query_pivot):
            raise ConfigError(
                "Both halves of bnl are off. Turn on video_pivot or query_pivot, or leave bnl out."
            )
        if not (self.m1 <= self.m2 and self.m3 <= self.m4):
            raise ConfigError("bnl needs m1 not above m2, and m3 not above m4.")

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        video = _videos_of(batch, self.detach_video)
        caption = batch.caption
        negated = batch.of(Negated).text
        right = (video * caption).sum(dim=-1)  # (B,)
        losses = torch.zeros_like(right)
        if self.video_pivot:
            video_gap = right - (video * negated).sum(dim=-1)
            losses = losses + _outside(video_gap, self.m1, self.m2)
        if self.query_pivot:
            query_gap = right - (caption * negated).sum(dim=-1)
            losses = losses + _outside(query_gap, self.m3, self.m4)
        return over_negatable(losses, batch, self.reduction, self.rescale)


def _outside(gaps: Tensor, smallest: float, largest: float) -> Tensor:
    """Return how far (B,) gaps lie below the smallest or above the largest that is allowed: (B,)."""
    return relu(smallest - gaps) + relu(gaps - largest)
