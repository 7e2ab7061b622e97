"""The encoder, the interface of models for search, evaluation and training."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.models.capabilities import Capabilities
from nt2vr.models.card import Card
from nt2vr.models.composer import Composer
from nt2vr.models.composer import Vectors as Vectors
from nt2vr.models.framing import Framing

Frames = NDArray[np.uint8]
# Embeddings (D,) by text.
TextEmbeddings = dict[str, Vectors]
# Frames in one forward pass: more are no faster on a CPU and take more memory.
BATCH_FRAMES = 64
# Texts: 2 MB at 512 dimensions.
CACHED_TEXTS = 1024


class Encoder(ABC):
    """Embeds texts and clips into one space; safe to use from many threads at once.

    A model needs `card`, `embed_dim`, `encode_text` and `encode_video`. Everything else has a
    default, which a model overrides if it can do more, or works otherwise. Callers never ask what
    class an encoder has.

    Attributes:
        card: says what the model is. Its fingerprints change with the towers: embeddings are stored
            under them.
        embed_dim: D, length of an embedding.
        composers: what makes one query of a picture and a text by learned weights, by name; see
            `Extension.composers`.
        given_videos: embeddings (D,) by id, if the model has them from elsewhere and encodes no
            clips; otherwise None.
        num_bytes: of the weights in memory, of a model that `is_slow`.
    """

    card: Card
    embed_dim: int
    composers: Mapping[str, Composer] = MappingProxyType({})
    given_videos: Mapping[str, Vectors] | None = None
    num_bytes: int = 0

    @abstractmethod
    def encode_text(self, texts: Sequence[str]) -> Vectors:
        """Embed texts: (N, D), L2-normalised; a text too long for the model is truncated."""

    @abstractmethod
    def encode_video(self, frames: Frames, seconds: Vectors | None = None) -> Vectors:
        """Encode clips as they are stored, for `pool`: (N, F, H, W, 3) RGB to (N, R, W), with R rows per clip.

        Args:
            frames: framed by `framing`.
            seconds: (N, F), when each frame is in its clip, in the middles of equal parts; zeros
                for a picture. None if that is unknown, or if the model does not read it.
        """

    def pool(self, stored: Vectors) -> Vectors:
        """Pool stored clips: (..., R, W) to (..., D), L2-normalised. The default is the mean of the rows."""
        return normalised(stored.mean(axis=-2))

    @property
    def capabilities(self) -> Capabilities:
        """What the model can do: what its card says."""
        return self.card.capabilities

    @property
    def name(self) -> str:
        return self.card.name

    @property
    def num_frames(self) -> int:
        """F, frames sampled per clip."""
        return self.card.framing.frames

    @property
    def image_size(self) -> int:
        """Height of a frame in pixels."""
        return self.card.framing.image_size

    @property
    def framing(self) -> Framing:
        """How videos become the frames that `encode_video` takes."""
        return self.card.input_framing

    @property
    def visual_fingerprint(self) -> str:
        """Equal for equal visual towers."""
        return self.card.visual.fingerprint

    @property
    def text_fingerprint(self) -> str:
        """Equal for equal text towers."""
        return self.card.text.fingerprint

    @property
    def stored_shape(self) -> tuple[int, int]:
        """(R, W) of a clip that `encode_video` encodes; the default is an embedding per frame."""
        return self.num_frames, self.embed_dim

    @property
    def batch_size(self) -> int:
        """Clips that are best encoded at once."""
        return max(1, BATCH_FRAMES // self.num_frames)

    @property
    def frame_reader(self) -> Callable[[Vectors], Vectors] | None:
        """Function from stored rows (..., W) to vectors (..., D) that texts are compared with; None if they are such.

        Galleries keep it, and live longer than their encoder, which it should not hold without
        need.
        """
        return None if self.card.pooling.normalises_frames else normalised

    def unseen_words(self, text: str) -> tuple[str, ...]:
        """List the words of a text that never occurred in training, which a search replaces."""
        return ()

    def words_read(self, text: str) -> str:
        """Return the words of a text that the model reads, if it does not read all; otherwise nothing."""
        return ""

    def encode_tokens(self, texts: Sequence[str]) -> Vectors:
        """Embed the tokens of texts for a composer: (N, T, D), L2-normalised; zeros pad. By default, a text is one."""
        return self.encode_text(texts)[:, None]

    def composed(self, picture: Frames, text: str) -> Vectors:
        """Embed a picture (H, W, 3) and a text as one query: (D,), L2-normalised; for a model that `composes`."""
        raise NotImplementedError(f"{type(self).__name__} composes nothing")

    def query_name(self, query_id: str, text: str) -> str:
        """Return the text by which `encode_text` knows the query of a benchmark."""
        return text

    def prepare_texts(self, texts: Sequence[str]) -> None:  # noqa: B027  not every model remembers texts
        """Encode texts that are asked for next in one batch, if the model remembers them."""

    def as_scored(self) -> "Encoder":
        """Return the encoder as scores need it: one that pools nothing if it `weighs_frames`."""
        return self

    def set_precision(self, name: str) -> None:  # noqa: B027  not every model can choose
        """Encode in FLOAT32 or BF16 of `device` from now on, if the model can choose; nothing else may be using it."""

    def move_to(self, device: str) -> None:  # noqa: B027  not every model has a device
        """Move the model to another device, in place, if it has one; nothing else may be using it."""


class FrameEncoder(Encoder):
    """An encoder that embeds each frame by itself."""

    @abstractmethod
    def encode_frames(self, frames: Frames) -> Vectors:
        """Embed frames (N, S, S, 3): (N, W), L2-normalised, unless the card pools raw embeddings."""

    def encode_video(self, frames: Frames, seconds: Vectors | None = None) -> Vectors:
        return encode_each_frame(self.encode_frames, frames)


class OneRowEncoder(Encoder):
    """An encoder that stores a clip as one row, its embedding."""

    @property
    def stored_shape(self) -> tuple[int, int]:
        return 1, self.embed_dim

    def pool(self, stored: Vectors) -> Vectors:
        return stored[..., 0, :]


def encode_each_frame(encode_frames: Callable[[Frames], Vectors], frames: Frames) -> Vectors:
    """Encode clips (N, F, S, S, 3) by a function of single frames, all in one call: (N, F, W)."""
    num_clips, num_frames = frames.shape[:2]
    rows = encode_frames(frames.reshape(-1, *frames.shape[2:]))
    return rows.reshape(num_clips, num_frames, rows.shape[-1])


def normalised(rows: Any) -> Vectors:
    """Return rows of length 1 in float32; those of zeros stay."""
    rows = np.asarray(rows, np.float32)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), np.float32)


def encode_unknown(
    cached: TextEmbeddings,
    texts: Sequence[str],
    encode: Callable[[list[str]], Vectors],
    batch: int = 64,
) -> tuple[Vectors, TextEmbeddings]:
    """Return the embeddings of texts (N, D), and those to remember, the latest CACHED_TEXTS.

    Args:
        cached: embeddings by text; those of other texts are encoded.
        texts: in the order of the rows.
        encode: embeds distinct texts.
        batch: texts that are encoded at once.
    """
    new = [text for text in dict.fromkeys(texts) if text not in cached]
    embeddings = dict(cached)
    for start in range(0, len(new), batch):
        batch_texts = new[start : start + batch]
        embeddings.update(zip(batch_texts, encode(batch_texts), strict=True))
    rows = np.array([embeddings[text] for text in texts], np.float32)
    latest = list(embeddings.items())[-CACHED_TEXTS:]
    return rows, dict(latest)
