"""Mean pooling in NumPy, and a fake encoder that has it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nt2vr.models.card import Card
from nt2vr.models.encoder import FrameEncoder


def pool_by_mean(frame_embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
    means = frame_embeddings.mean(axis=-2)
    return np.asarray(means / np.linalg.norm(means, axis=-1, keepdims=True), np.float32)


class Brightness(FrameEncoder):
    """Embeds a frame as its mean brightness and a constant.

    Attributes:
        encoded: how many frames have been encoded.
    """

    embed_dim = 2

    def __init__(self, visual_fingerprint: str = "a", image_size: int = 16) -> None:
        self.card = Card(
            "brightness", frames=2, image_size=image_size, visual_fingerprint=visual_fingerprint
        )
        self.encoded = 0

    def encode_frames(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        self.encoded += len(frames)
        brightness = frames.mean(axis=(1, 2, 3))
        constant = np.full(len(frames), 100.0)
        return np.stack([brightness, constant], axis=1).astype(np.float32)

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise NotImplementedError
