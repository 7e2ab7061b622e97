"""The encoder Protocol, the interface of models for search, evaluation and training."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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
        ...

    def encode_frames(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Embed (N, S, S, 3) RGB frames, already resized by `picture.fit`: (N, D), for `pool`.

        They are L2-normalised, unless the card pools raw embeddings.
        """
        ...

    def pool(self, frame_embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
        """Pool the frame embeddings of videos: (..., F, D) to (..., D), L2-normalised."""
        ...

    def unseen_words(self, text: str) -> tuple[str, ...]:
        """List the words of a text that never occurred in training."""
        ...
