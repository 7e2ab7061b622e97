"""Bidirectionally constrained negation learning: the auxiliary loss of CLIP-bnl."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import relu

from nt2vr.errors import ConfigError
from trainer.losses.embedded import EmbeddedBatch, given
from trainer.losses.retrieval import Reduction, over_negatable
from trainer.options import option


@dataclass(frozen=True)
class BidirectionalLoss:
    """Keep a negated caption q⁻ farther from the video than its caption q, but not too far: most of it still holds.

        pivot video:  gap = s(x⁺, q) - s(x⁺, q⁻)      loss = max(0, m1 - gap) + max(0, gap - m2)      (Eq. 5)
        pivot query:  gap = s(q, x⁺) - s(q, q⁻)       loss = max(0, m3 - gap) + max(0, gap - m4)      (Eq. 6)

    Eq. 7 is the retrieval loss plus λ2 times the sum of both; λ2 (1e-3 in the paper) is its weight in the config.

    Source: Wang et al., "Learn to Understand Negation in Video Retrieval", ACM MM 2022, Eq. 5, 6 and 7.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"video", "negated"})

    video_pivot: bool = option(True, "include Eq. 5")
    query_pivot: bool = option(True, "include Eq. 6")
    m1: float = option(0.1, "smallest allowed gap for the video, in cosine units")
    m2: float = option(0.6, "largest allowed gap for the video, in cosine units")
    m3: float = option(0.1, "smallest allowed gap for the query, in cosine units")
    m4: float = option(0.3, "largest allowed gap for the query, in cosine units")
    detach_video: bool = option(True, "stop gradients to the visual tower, as in the paper's public implementation")
    rescale: bool = option(
        True, "scale by batch size / number of captions that could be negated, as in that implementation"
    )
    reduction: Reduction = option(
        "sum", "reduction over the captions that could be negated; the public implementation sums"
    )

    def __post_init__(self) -> None:
        if not (self.video_pivot or self.query_pivot):
            raise ConfigError("Both halves of bnl are off. Turn on video_pivot or query_pivot, or leave bnl out.")
        if not (self.m1 <= self.m2 and self.m3 <= self.m4):
            raise ConfigError("bnl needs m1 not above m2, and m3 not above m4.")

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        video = given(batch.video).detach() if self.detach_video else given(batch.video)
        caption, negated = batch.caption, given(batch.negated)
        right = (video * caption).sum(dim=-1)  # (B,)
        losses = torch.zeros_like(right)
        if self.video_pivot:
            gap = right - (video * negated).sum(dim=-1)
            losses = losses + relu(self.m1 - gap) + relu(gap - self.m2)
        if self.query_pivot:
            gap = right - (caption * negated).sum(dim=-1)
            losses = losses + relu(self.m3 - gap) + relu(gap - self.m4)
        return over_negatable(losses, batch, self.reduction, self.rescale)
