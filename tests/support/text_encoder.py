"""A fake encoder for tests that embed texts alone."""

from nt2vr.models.encoder import Encoder, Frames, Vectors


class TextEncoder(Encoder):
    """An encoder that refuses clips; a subclass has `card`, `embed_dim` and `encode_text`."""

    def encode_video(self, frames: Frames, seconds: Vectors | None = None) -> Vectors:
        raise NotImplementedError(f"{self.name} embeds texts alone")
