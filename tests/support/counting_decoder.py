"""A decoder that counts the files that it decodes."""

from pathlib import Path
from typing import Any

from nt2vr.media.decode import Decoder
from nt2vr.models.framing import Framing


class CountingDecoder(Decoder):
    num_decoded = 0

    def frames(
        self, path: Path, num_frames: int, framing: Framing | None, root: Path | None = None
    ) -> Any:
        self.num_decoded += 1
        return super().frames(path, num_frames, framing, root)
