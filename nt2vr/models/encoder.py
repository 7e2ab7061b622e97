"""The encoder Protocol, the interface of models for search, evaluation and training."""

from collections.abc import Sequence
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, quoted
from nt2vr.models.card import Card


class Encoder(Protocol):
    """Embeds texts, frames and videos into one space; safe to use from many threads at once.

    Attributes:
        num_frames: F, frames sampled per video.
        image_size: S, side of a frame in pixels.
        embed_dim: D, length of an embedding.
        visual_fingerprint: equal for equal visual towers.
        text_fingerprint: equal for equal text towers.
    """

    card: Card
    name: str
    num_frames: int
    image_size: int
    embed_dim: int
    visual_fingerprint: str
    text_fingerprint: str

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts: (N, D), L2-normalised; a text too long for the model is truncated."""

    def encode_frames(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Embed (N, S, S, 3) RGB frames, already resized by `picture.fit`: (N, D), for `pool`.

        They are L2-normalised, unless the card pools raw embeddings.
        """

    def pool(self, frame_embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
        """Pool the frame embeddings of videos: (..., F, D) to (..., D), L2-normalised."""

    def unseen_words(self, text: str) -> tuple[str, ...]:
        """List the words of a text that never occurred in training."""


METHODS = ("encode_text", "encode_frames", "pool", "unseen_words")
_PROBE = "a dog"


def check_encoder(model: Any) -> Encoder:
    """Return a model from outside, or raise a ConfigError that says in what it is no `Encoder`."""
    kind, card = type(model).__name__, getattr(model, "card", None)
    lacking = [name for name in Encoder.__annotations__ if not hasattr(model, name)]
    lacking += [name for name in METHODS if not callable(getattr(model, name, None))]
    if lacking or not isinstance(card, Card):
        raise ConfigError(f"{kind} is no model: it lacks {', '.join(lacking) or 'an nt2vr.Card'}. See nt2vr.Encoder.")
    for name in ("name", "visual_fingerprint", "text_fingerprint"):
        value = getattr(model, name)
        if not (isinstance(value, str) and value and value == getattr(card, name)):
            raise ConfigError(
                f"The {name} of {kind} is {quoted(value)}, on its card {quoted(getattr(card, name))}. Give both the "
                "same text, for a fingerprint one that changes with the weights: embeddings are stored under it."
            )
    if (model.num_frames, model.image_size) != (card.frames, card.image_size):
        raise ConfigError(f"{model.name} has other num_frames or image_size than its card. Give both the same.")
    if card.queries:  # of which nobody knows one here
        return cast(Encoder, model)
    found = model.encode_text([_PROBE])
    if not (isinstance(found, np.ndarray) and found.dtype == np.float32 and found.shape == (1, model.embed_dim)):
        raise ConfigError(
            f"encode_text of {model.name} returns {getattr(found, 'dtype', type(found).__name__)} "
            f"{tuple(getattr(found, 'shape', ()))} for one text. Return a float32 array (1, {model.embed_dim})."
        )
    if not abs(float(np.linalg.norm(found)) - 1) < 1e-3:  # neither NaN
        raise ConfigError(f"encode_text of {model.name} returns vectors that are not of length 1. Normalise them.")
    return cast(Encoder, model)
