"""A model that is no checkpoint: it sees a picture's mean colour, and reads the words red, green and blue."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nt2vr.models.card import Card
from nt2vr.models.encoder import FrameEncoder

WORDS = ("red", "green", "blue")
Vectors = NDArray[np.float32]


class ColourModel(FrameEncoder):
    """An `Encoder` of nothing but NumPy.

    Attributes:
        gain: what the words' colours are multiplied by.
        batches: the texts of each call.
    """

    embed_dim = 4

    def __init__(
        self, name: str = "Colours", fingerprint: str = "colours-1", gain: float = 1.0
    ) -> None:
        self.card = Card(
            name,
            frames=1,
            image_size=8,
            visual_fingerprint=fingerprint,
            text_fingerprint=fingerprint,
        )
        self.gain = gain
        self.batches: list[list[str]] = []

    def encode_text(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(list(texts))
        colours = np.zeros((len(texts), len(WORDS)), np.float32)
        for row, text in enumerate(texts):
            for column, word in enumerate(WORDS):
                if word in text.split():
                    colours[row, column] = self.gain
        return _unit(colours)

    def encode_frames(self, frames: NDArray[np.uint8]) -> Vectors:
        return _unit(frames.mean(axis=(1, 2), dtype=np.float32) / 255)


def _unit(colours: Vectors) -> Vectors:
    """Append a constant, so that black is not the zero vector, and normalise."""
    rows = np.hstack([colours, np.full((len(colours), 1), 0.1, np.float32)])
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)
