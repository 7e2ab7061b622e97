"""Pooling of a video's frame embeddings into one; shared by training and search."""

from collections.abc import Callable

from torch import Tensor
from torch.nn.functional import normalize

from nt2vr.errors import CheckpointError, quoted
from nt2vr.models.card import MEAN, RAW_MEAN, Card

Pooling = Callable[[Tensor], Tensor]  # (..., F, D) frame embeddings -> (..., D), L2-normalised


def mean(frame_embeddings: Tensor) -> Tensor:
    """Average the frames."""
    return normalize(frame_embeddings.mean(dim=-2), dim=-1)


POOLINGS: dict[str, Pooling] = {
    MEAN: mean,
    RAW_MEAN: mean,  # of embeddings as the tower returns them, as in nT2VR's code: see `Card.normalises_frames`
}


def pooling_of(card: Card) -> Pooling:
    """Return the pooling that a card names."""
    try:
        return POOLINGS[card.pooling]
    except (KeyError, TypeError):  # TypeError: an unhashable value in the JSON
        raise CheckpointError(
            f"{card.name} pools frames by {quoted(card.pooling)}, but only {' and '.join(POOLINGS)} are supported. "
            "Choose another checkpoint."
        ) from None
