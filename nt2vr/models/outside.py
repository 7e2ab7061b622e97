"""Models from outside: objects in Python, checked before they are used, and adapted if they are no `Encoder`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from nt2vr.errors import ConfigError, quoted
from nt2vr.models.card import Card
from nt2vr.models.encoder import Encoder, Frames, Vectors, encode_each_frame

# Of the length of an embedding.
UNIT_TOLERANCE = 1e-3
# What a model must have besides its card, and `encode_video` or `encode_frames`.
ATTRIBUTES = (
    "embed_dim",
    "name",
    "visual_fingerprint",
    "text_fingerprint",
    "num_frames",
    "image_size",
)
METHODS = ("encode_text", "pool")


class _PassedOn:
    """An attribute of a wrapper's model, or that of `Encoder` if the model has none."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, wrapper: "WrappedEncoder | None", owner: type) -> Any:
        # `help` looks at the class.
        if wrapper is None:
            return self
        if hasattr(wrapper.encoder, self._name):
            return getattr(wrapper.encoder, self._name)
        return getattr(super(WrappedEncoder, wrapper), self._name)


class WrappedEncoder(Encoder):
    """Passes everything on to another model, which may lack what has a default in `Encoder`.

    The model need not be an `Encoder`: one of version 0.2.0 has `encode_text`, `encode_frames` and
    `pool`, and may pass on what else it has by a `__getattr__` of its own.
    """

    card: Any = _PassedOn()
    embed_dim: Any = _PassedOn()
    composers: Any = _PassedOn()
    given_videos: Any = _PassedOn()
    num_bytes: Any = _PassedOn()
    capabilities: Any = _PassedOn()
    batch_size: Any = _PassedOn()
    frame_reader: Any = _PassedOn()
    encode_text: Any = _PassedOn()
    pool: Any = _PassedOn()
    unseen_words: Any = _PassedOn()
    encode_tokens: Any = _PassedOn()
    composed: Any = _PassedOn()
    query_name: Any = _PassedOn()
    set_precision: Any = _PassedOn()
    move_to: Any = _PassedOn()

    def __init__(self, encoder: Any) -> None:
        self.encoder = encoder

    def encode_video(self, frames: Frames, seconds: Vectors | None = None) -> Vectors:
        if hasattr(self.encoder, "encode_video"):
            stored: Vectors = self.encoder.encode_video(frames, seconds)
            return stored
        # Version 0.2.0 encoded single frames.
        return encode_each_frame(self.encoder.encode_frames, frames)

    @property
    def stored_shape(self) -> tuple[int, int]:
        # Version 0.2.0 had the width of a row alone.
        width = getattr(self.encoder, "frame_dim", self.embed_dim)
        shape: tuple[int, int] = getattr(self.encoder, "stored_shape", (self.num_frames, width))
        return shape

    def words_read(self, text: str) -> str:
        # Version 0.2.0 called it `reads`.
        for method in ("words_read", "reads"):
            if hasattr(self.encoder, method):
                return str(getattr(self.encoder, method)(text))
        return ""

    def prepare_texts(self, texts: Sequence[str]) -> None:
        # By `encode_text` of the wrapped model, which may change the texts that a model of its own
        # remembers.
        if hasattr(self.encoder, "cached_texts"):
            self.encode_text(texts)

    def as_scored(self) -> Encoder:
        if not self.capabilities.weighs_frames or not hasattr(self.encoder, "as_scored"):
            return self
        scored: Encoder = self.encoder.as_scored()
        return scored


def check_encoder(model: Any) -> Encoder:
    """Return a model from outside as an `Encoder`, or raise a ConfigError that says in what it is none."""
    _check_members(model)
    _check_identity(model)
    encoder = model if isinstance(model, Encoder) else WrappedEncoder(model)
    # Nobody here knows the queries of a model that takes no others.
    if not encoder.capabilities.given_queries_only:
        _check_text_embeddings(encoder)
    return encoder


def _check_members(model: Any) -> None:
    """Raise a ConfigError if a model lacks an attribute or a method that it needs."""
    kind = type(model).__name__
    missing = [name for name in ATTRIBUTES if not hasattr(model, name)]
    missing += [name for name in METHODS if not callable(getattr(model, name, None))]
    # Version 0.2.0 encoded single frames.
    encode = getattr(model, "encode_video", None)
    if not callable(encode) and not callable(getattr(model, "encode_frames", None)):
        missing.append("encode_video")
    if not isinstance(getattr(model, "card", None), Card):
        missing.append("an nt2vr.Card")
    if missing:
        raise ConfigError(
            f"{kind} is not a model: it lacks {', '.join(missing)}. See nt2vr.Encoder."
        )


def _check_identity(model: Any) -> None:
    """Raise a ConfigError if a model and its card disagree about what the model is, or do not say it."""
    card = model.card
    expected = {
        "name": card.name,
        **card.fingerprints,
        "image_size": card.framing.image_size,
        "num_frames": card.framing.frames,
    }
    for attribute, on_card in expected.items():
        value = getattr(model, attribute)
        if not value or value != on_card:
            kind = type(model).__name__
            raise ConfigError(
                f"The {attribute} of {kind} is {quoted(value)}, on its card {quoted(on_card)}. Give both the same."
            )


def _check_text_embeddings(encoder: Encoder) -> None:
    """Raise a ConfigError if a model does not embed a text as one vector of length 1."""
    embeddings = encoder.encode_text(["a dog"])
    shape = (1, encoder.embed_dim)
    if getattr(embeddings, "dtype", None) != np.float32 or np.shape(embeddings) != shape:
        raise ConfigError(
            f"encode_text of {encoder.name} must return float32 {shape} for one text."
        )
    length = float(np.linalg.norm(embeddings))
    # NaN is refused, too.
    if not abs(length - 1) < UNIT_TOLERANCE:
        raise ConfigError(
            f"encode_text of {encoder.name} returns vectors that are not of length 1. Normalise them."
        )
