"""What a loss sees: the embeddings of a batch, not the model nor the data."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class EmbeddedBatch:
    """Row i of each belongs together.

    Attributes:
        video: (B, D), L2-normalised, pooled over frames.
        caption: (B, D), L2-normalised.
        logit_scale: scalar, what cosines are multiplied with before a softmax (1 / temperature).
    """

    video: Tensor
    caption: Tensor
    logit_scale: Tensor
