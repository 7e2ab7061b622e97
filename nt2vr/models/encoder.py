"""The encoder Protocol, the interface of models for search, evaluation and training."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, quoted
from nt2vr.models.card import Card

CACHED_TEXTS = 1024  # texts: 2 MB at 512 dimensions
IDENTITY = ("name", "visual_fingerprint", "text_fingerprint", "image_size")  # an encoder and its card say the same


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


class ClipEncoder(Encoder, Protocol):
    """An encoder that takes whole clips, each as one embedding: `encode_frames` refuses, and `pool` does nothing."""

    batch: int  # clips that are best encoded at once
    num_bytes: int  # of its weights in memory

    def encode_clips(
        self, frames: NDArray[np.uint8], seconds: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """Embed (N, F, H, W, 3) frames, at these (N, F) seconds of their clips, if known: (N, D), L2-normalised."""

    def composed(self, picture: NDArray[np.uint8], text: str) -> NDArray[np.float32] | None:
        """Embed a picture (H, W, 3) and a text as one query: (D,), L2-normalised; None if it does not."""


def takes_clips(encoder: Encoder) -> TypeGuard[ClipEncoder]:
    return hasattr(encoder, "encode_clips")


def encode_videos(
    encoder: Encoder, clips: Sequence[NDArray[np.uint8]], seconds: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """Encode the (F, H, W, 3) frames of N clips, for `pool`: (N, F, D), or (N, 1, D) by what takes whole clips."""
    if takes_clips(encoder):
        return encoder.encode_clips(np.stack(clips), seconds)[:, None]
    return encoder.encode_frames(np.concatenate(clips)).reshape(len(clips), len(clips[0]), -1)


def encode_unknown(
    cached: dict[str, NDArray[np.float32]],
    texts: Sequence[str],
    encode: Callable[[list[str]], NDArray[np.float32]],
    batch: int = 64,
) -> tuple[NDArray[np.float32], dict[str, NDArray[np.float32]]]:
    """Return the embeddings of texts (N, D), of which unknown ones are encoded, and the latest CACHED_TEXTS."""
    new = [text for text in dict.fromkeys(texts) if text not in cached]
    parts = [encode(new[start : start + batch]) for start in range(0, len(new), batch)]
    known = {**cached, **dict(zip(new, (row for part in parts for row in part), strict=True))}
    rows = np.array([known[text] for text in texts], np.float32)
    return rows, dict(list(known.items())[-CACHED_TEXTS:])


def check_encoder(model: Any) -> Encoder:
    """Return a model from outside, or raise a ConfigError that says in what it is no `Encoder`."""
    kind, card = type(model).__name__, getattr(model, "card", None)
    methods = ("encode_text", "encode_frames", "pool", "unseen_words")
    lacking = [name for name in Encoder.__annotations__ if not hasattr(model, name)]
    lacking += [name for name in methods if not callable(getattr(model, name, None))]
    if lacking or not isinstance(card, Card):
        raise ConfigError(f"{kind} is no model: it lacks {', '.join(lacking) or 'an nt2vr.Card'}. See nt2vr.Encoder.")
    told = {name: (getattr(model, name), getattr(card, name)) for name in IDENTITY}
    for name, (own, on_card) in {**told, "num_frames": (model.num_frames, card.frames)}.items():
        if own != on_card or not own:
            raise ConfigError(
                f"The {name} of {kind} is {quoted(own)}, on its card {quoted(on_card)}. Give both the same."
            )
    if not card.queries:  # of which nobody knows one here
        found, size = model.encode_text(["a dog"]), model.embed_dim
        if getattr(found, "dtype", None) != np.float32 or np.shape(found) != (1, size):
            raise ConfigError(f"encode_text of {model.name} must return float32 (1, {size}) for one text.")
        if not abs(float(np.linalg.norm(found)) - 1) < 1e-3:  # neither NaN
            raise ConfigError(f"encode_text of {model.name} returns vectors that are not of length 1. Normalise them.")
    return cast(Encoder, model)
