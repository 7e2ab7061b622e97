"""Input of the losses: the embeddings of a batch. Knows nothing about models or data."""

from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from torch import Tensor

T = TypeVar("T")


class EmbeddedTruth(NamedTuple):
    """Correct and hard clips of denying sentences; sentence i was made for clip i of the batch, or fits no clip."""

    pool: Tensor  # (P, D), L2-normalised clips to compare with; the first B are those of the batch
    fitting: Tensor  # (B, P) bool, True where a clip shows the wanted part and not the unwanted one
    both: Tensor  # (B, P) bool, True where a clip shows both the wanted and the unwanted part


class Denied(NamedTuple):
    """Denying sentences; fields that no loss needs are None."""

    text: Tensor  # (B, D), L2-normalised
    truth: EmbeddedTruth | None = None
    parts: "PartVectors | None" = None  # their parts, as the frozen starting model embeds them


class PartVectors(NamedTuple):
    """Embedded parts of denying sentences by the frozen starting model."""

    wanted: Tensor  # (B, D), L2-normalised; meaningless where `pure` is True
    unwanted: Tensor  # (B, D), L2-normalised; `unwanted_mean` for idioms, which have no unwanted part
    pure: Tensor  # (B,) bool, True for sentences that want nothing ("not B")
    unwanted_mean: Tensor  # (D,), mean of many unwanted parts, not normalised
    video_mean: Tensor  # (D,), mean of many videos or, without videos, of many captions; not normalised
    # the captions that `EmbeddedBatch.caption` has, L2-normalised; None if no loss needs them
    caption: Tensor | None = None


@dataclass(frozen=True)
class EmbeddedVerbs:
    """Captions with another verb, and verb phrases; row i belongs to caption i."""

    changed: Tensor  # (B, K, D), L2-normalised captions with another verb; meaningless where `is_changed` is False
    is_changed: Tensor  # (B, K) bool
    phrase: Tensor  # (B, D), L2-normalised verb phrases of the captions; meaningless where `has_phrase` is False
    has_phrase: Tensor  # (B,) bool


class EmbeddedLabels(NamedTuple):
    text: Tensor  # (L, D), L2-normalised
    shown: Tensor  # (B, L) bool, True where a clip shows what a word names


class EmbeddedOrder(NamedTuple):
    """Sentences and clips of two deeds; row 2 k + 1 has those of row 2 k in the other order."""

    text: Tensor  # (P, D), L2-normalised
    video: Tensor  # (P, D), L2-normalised


@dataclass(frozen=True)
class EmbeddedBatch:
    """One batch; row i of every field describes the same clip, and fields that no loss needs are None."""

    video: Tensor | None  # (B, D), L2-normalised, pooled over frames
    caption: Tensor  # (B, D), L2-normalised; always present, fewer rows with `keep_share`
    logit_scale: Tensor  # scalar factor of cosines before a softmax (1 / temperature)
    negated: Tensor | None = None  # (B, D), L2-normalised captions with one thing denied in each
    negatable: Tensor | None = None  # (B,) bool, True for captions that could be negated; None if all could
    denied: Denied | None = None  # denying sentences made separately from the captions
    # (B, D), L2-normalised videos that show what `negated` describes; meaningless where not negatable
    distractor: Tensor | None = None
    verbs: EmbeddedVerbs | None = None  # captions with another verb, and verb phrases
    labels: EmbeddedLabels | None = None  # words that some clips of the batch show
    order: EmbeddedOrder | None = None  # two deeds in either order
    spaces: int = 1  # K, number of spaces of equal length that a vector joins; each part is of length 1 / √K


def given(value: T | None) -> T:
    """Return a value that the loss needs."""
    if value is None:
        raise ValueError("The batch lacks what this loss needs (see its `needs`).")
    return value
