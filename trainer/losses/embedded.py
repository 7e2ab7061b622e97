"""Input of the losses: the embeddings of a batch. Knows nothing about models or data."""

from dataclasses import dataclass
from typing import TypeVar

from torch import Tensor

T = TypeVar("T")


@dataclass(frozen=True)
class EmbeddedTruth:
    """Correct and hard clips of denying sentences; sentence i was made for clip i of the batch, or fits no clip.

    Attributes:
        pool: (P, D), L2-normalised clips to compare with; the first B are those of the batch.
        fitting: (B, P) bool, True where a clip shows the wanted part and not the unwanted one.
        both: (B, P) bool, True where a clip shows both the wanted and the unwanted part.
    """

    pool: Tensor
    fitting: Tensor
    both: Tensor


@dataclass(frozen=True)
class Denied:
    """Denying sentences; fields that no loss needs are None.

    Attributes:
        text: (B, D), L2-normalised.
        parts: their parts, as the frozen starting model embeds them.
    """

    text: Tensor
    truth: EmbeddedTruth | None = None
    parts: "PartVectors | None" = None


@dataclass(frozen=True)
class PartVectors:
    """Embedded parts of denying sentences by the frozen starting model.

    Attributes:
        wanted: (B, D), L2-normalised; meaningless where `pure` is True.
        unwanted: (B, D), L2-normalised; `unwanted_mean` for idioms, which have no unwanted part.
        pure: (B,) bool, True for sentences that want nothing ("not B").
        unwanted_mean: (D,), mean of many unwanted parts, not normalised.
        video_mean: (D,), mean of many videos or, without videos, of many captions; not normalised.
        caption: the captions that `EmbeddedBatch.caption` has, L2-normalised; None if no loss needs them.
    """

    wanted: Tensor
    unwanted: Tensor
    pure: Tensor
    unwanted_mean: Tensor
    video_mean: Tensor
    caption: Tensor | None = None


@dataclass(frozen=True)
class EmbeddedVerbs:
    """Captions with another verb, and verb phrases; row i belongs to caption i.

    Attributes:
        changed: (B, K, D), L2-normalised captions with another verb; meaningless where `is_changed` is False.
        is_changed: (B, K) bool.
        phrase: (B, D), L2-normalised verb phrases of the captions; meaningless where `has_phrase` is False.
        has_phrase: (B,) bool.
    """

    changed: Tensor
    is_changed: Tensor
    phrase: Tensor
    has_phrase: Tensor


@dataclass(frozen=True)
class EmbeddedLabels:
    """Single words and the clips that show them.

    Attributes:
        text: (L, D), L2-normalised.
        shown: (B, L) bool, True where a clip shows what a word names.
    """

    text: Tensor
    shown: Tensor


@dataclass(frozen=True)
class EmbeddedOrder:
    """Sentences and clips of two deeds; row 2 k + 1 has those of row 2 k in the other order.

    Attributes:
        text: (P, D), L2-normalised.
        video: (P, D), L2-normalised.
    """

    text: Tensor
    video: Tensor


@dataclass(frozen=True)
class EmbeddedBatch:
    """One batch; row i of every field describes the same clip, and fields that no loss needs are None.

    Attributes:
        video: (B, D), L2-normalised, pooled over frames.
        caption: (B, D), L2-normalised; always present, fewer rows with `keep_share`.
        logit_scale: scalar factor of cosines before a softmax (1 / temperature).
        negated: (B, D), L2-normalised captions with one thing denied in each.
        negatable: (B,) bool, True for captions that could be negated; None if all could.
        denied: denying sentences made separately from the captions.
        distractor: (B, D), L2-normalised videos that show what `negated` describes; meaningless where not negatable.
        verbs: captions with another verb, and verb phrases.
        labels: words that some clips of the batch show.
        order: two deeds in either order.
        spaces: K, number of spaces of equal length that a vector joins; each part is of length 1 / √K.
    """

    video: Tensor | None
    caption: Tensor
    logit_scale: Tensor
    negated: Tensor | None = None
    negatable: Tensor | None = None
    denied: Denied | None = None
    distractor: Tensor | None = None
    verbs: EmbeddedVerbs | None = None
    labels: EmbeddedLabels | None = None
    order: EmbeddedOrder | None = None
    spaces: int = 1


def given(value: T | None) -> T:
    """Return a value that the loss needs."""
    if value is None:
        raise ValueError("The batch lacks what this loss needs (see its `needs`).")
    return value
