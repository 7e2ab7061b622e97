"""A loaded model in Python: embeddings of texts, frames and video files, as NumPy arrays or torch tensors."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, quoted
from nt2vr.files import expanded
from nt2vr.media.decode import Decoder, ahead
from nt2vr.models.device import as_tensor
from nt2vr.models.encoder import Encoder, encode_videos

Form = Literal["numpy", "torch"]
AHEAD = 16  # files that are decoded while one is encoded


class Model:
    """A model; also an `Encoder`, so that it can be searched and evaluated with.

    Embeddings are unit vectors, so inner products are cosines. With `convert_to="torch"` they are tensors on the CPU.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.encoder, self.card, self.name = encoder, encoder.card, encoder.name
        self.num_frames, self.image_size, self.embed_dim = encoder.num_frames, encoder.image_size, encoder.embed_dim
        self.visual_fingerprint, self.text_fingerprint = encoder.visual_fingerprint, encoder.text_fingerprint

    def encode_text(self, texts: str | Sequence[str], convert_to: Form = "numpy") -> Any:
        """Embed texts: (N, D); one text: (D,)."""
        listed = [texts] if isinstance(texts, str) else texts
        found = self.encoder.encode_text(list(listed))
        return _converted(found[0] if isinstance(texts, str) else found, convert_to)

    def encode_frames(self, frames: NDArray[np.uint8], convert_to: Form = "numpy") -> Any:
        """Embed (N, S, S, 3) uint8 RGB frames, S being `image_size`: (N, D)."""
        side = self.image_size
        found = getattr(frames, "dtype", None), getattr(frames, "shape", ())
        if found[0] != np.uint8 or len(found[1]) != 4 or tuple(found[1][1:]) != (side, side, 3):
            raise ConfigError(f"frames must be (N, {side}, {side}, 3) uint8, not {tuple(found[1])} {found[0]}.")
        return _converted(self.encoder.encode_frames(np.asarray(frames)), convert_to)

    def encode_videos(self, files: str | Path | Sequence[str | Path], convert_to: Form = "numpy") -> Any:
        """Embed video or picture files, decoded in child processes: (N, D); one file: (D,). A MediaError names it."""
        one = isinstance(files, str | Path)
        listed: Any = [files] if one else files
        rows = [np.empty((0, self.embed_dim), np.float32)]
        with Decoder() as decoder:
            decoding = (decoder.frames(expanded(file), self.num_frames, self.card.framing) for file in listed)
            rows += [self.pool(encode_videos(self.encoder, [each.result()])) for each in ahead(decoding, AHEAD)]
        found = np.concatenate(rows)
        return _converted(found[0] if one else found, convert_to)

    def pool(self, frame_embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
        """Pool the frame embeddings of videos: (..., F, D) to (..., D)."""
        return self.encoder.pool(frame_embeddings)

    def unseen_words(self, text: str) -> tuple[str, ...]:
        """List the words of a text that never occurred in training."""
        return self.encoder.unseen_words(text)


def _converted(array: NDArray[np.float32], form: Form) -> Any:
    if form not in ("numpy", "torch"):
        raise ConfigError(f"convert_to must be numpy or torch, not {quoted(form)}.")
    return as_tensor(array) if form == "torch" else array
