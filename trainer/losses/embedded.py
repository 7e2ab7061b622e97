"""The input of losses: embeddings of a batch, without model or data."""

from dataclasses import dataclass
from typing import TypeVar

from torch import Tensor

T = TypeVar("T")


@dataclass(frozen=True)
class Truth:
    """What is known of clips and denying sentences; sentence i was made for clip i of the batch, or fits no clip.

    Attributes:
        pool: (P, D), L2-normalised: clips to tell apart, the first B those of the batch.
        fitting: (B, P) bool, whether a clip shows the wanted and not the unwanted.
        both: (B, P) bool, whether it shows the wanted and the unwanted too.
    """

    pool: Tensor
    fitting: Tensor
    both: Tensor


@dataclass(frozen=True)
class Denied:
    """Sentences that deny something; what no loss needs is None.

    Attributes:
        text: (B, D), L2-normalised.
        truth: which clips they are right for.
        parts: how the frozen starting model embeds their parts.
    """

    text: Tensor
    truth: Truth | None = None
    parts: "Parts | None" = None


@dataclass(frozen=True)
class Parts:
    """Parts of denying sentences, embedded by the frozen starting model.

    Attributes:
        wanted: (B, D), L2-normalised; of no meaning where `pure`.
        unwanted: (B, D), L2-normalised.
        pure: (B,) bool, whether the sentence wants nothing ("not B").
        unwanted_mean: (D,), the mean of many unwanted parts, not normalised.
        video_mean: (D,), the mean of many videos, not normalised; where there are none, of many captions.
        caption: (B, D), the captions of the batch, L2-normalised; None where no loss needs it.
    """

    wanted: Tensor
    unwanted: Tensor
    pure: Tensor
    unwanted_mean: Tensor
    video_mean: Tensor
    caption: Tensor | None = None


@dataclass(frozen=True)
class EmbeddedBatch:
    """Row i of each belongs together; what no loss needs is None.

    Attributes:
        video: (B, D), L2-normalised, pooled over frames.
        caption: (B, D), L2-normalised; it is always there.
        logit_scale: scalar, what cosines are multiplied with before a softmax (1 / temperature).
        negated: (B, D), L2-normalised: the captions, one thing in each denied.
        negatable: (B,) bool, which captions could be; None for all.
        denied: other sentences that deny something.
    """

    video: Tensor | None
    caption: Tensor
    logit_scale: Tensor
    negated: Tensor | None = None
    negatable: Tensor | None = None
    denied: Denied | None = None


def given(value: T | None) -> T:
    """Return what a batch must have for a loss.

    Raises:
        ValueError: if it has not.
    """
    if value is None:
        raise ValueError("The batch lacks what this loss needs (see its `needs`).")
    return value
