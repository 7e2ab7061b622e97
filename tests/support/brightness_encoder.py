"""An encoder for tests of libraries."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nt2vr.models.card import Card
from nt2vr.models.encoder import FrameEncoder


class BrightnessEncoder(FrameEncoder):
    """Embeds a frame as the point on the quarter circle that its brightness says; counts what it embeds."""

    embed_dim = 2
    card = Card("brightness", frames=4, image_size=16, visual_fingerprint="brightness")

    def __init__(self) -> None:
        self.num_clips = 0

    def encode_frames(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        assert frames.shape[1:] == (16, 16, 3)
        self.num_clips += len(frames) // self.num_frames
        angle = frames.mean(axis=(1, 2, 3)) / 255 * np.pi / 2
        return np.stack([np.cos(angle), np.sin(angle)], axis=-1).astype(np.float32)

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        angles = np.linspace(0, np.pi / 2, len(texts))
        return np.stack([np.cos(angles), np.sin(angles)], axis=-1).astype(np.float32)
