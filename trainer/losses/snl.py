"""Soft negative learning: the auxiliary loss of CLIP-snl."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor
from torch.nn.functional import relu

from trainer.losses.embedded import EmbeddedBatch, given
from trainer.losses.retrieval import Reduction, over_negatable
from trainer.options import option

Pivot = Literal["video", "query"]


@dataclass(frozen=True)
class SoftNegativeLoss:
    """Push a negated caption q⁻ away like any wrong caption.

        pivot video:  loss = max(0, margin + s(x⁺, q⁻) - s(x⁺, q))      (Eq. 3)
        pivot query:  loss = max(0, margin + s(q, q⁻) - s(q, x⁺))

    Eq. 4 is the retrieval loss plus λ1 times this one; λ1 (1e-3 in the paper) is its weight in the config.

    Source: Wang et al., "Learn to Understand Negation in Video Retrieval", ACM MM 2022, Eq. 3 and 4.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"video", "negated"})

    margin: float = option(0.1, "m1 of the paper, in cosine units")
    pivot: Pivot = option("video", "embedding that the negated caption is pushed away from")
    detach_video: bool = option(True, "stop gradients to the visual tower, as in the paper's public implementation")
    rescale: bool = option(
        True, "scale by batch size / number of captions that could be negated, as in that implementation"
    )
    reduction: Reduction = option(
        "sum", "reduction over the captions that could be negated; the public implementation sums"
    )

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        video = given(batch.video).detach() if self.detach_video else given(batch.video)
        negated = given(batch.negated)
        right = (video * batch.caption).sum(dim=-1)  # (B,)
        wrong = ((video if self.pivot == "video" else batch.caption) * negated).sum(dim=-1)  # (B,)
        return over_negatable(relu(self.margin + wrong - right), batch, self.reduction, self.rescale)
