"""Results and messages of the decoder's children, apart from frames."""

from dataclasses import dataclass
from typing import Literal

DISK_FULL = "The disk is full. Free some space, and update the library again."  # of a preview, and then of all others


@dataclass(frozen=True)
class Probe:
    """Content of a media file, by its frames and not its header."""

    kind: Literal["video", "picture"]  # a picture is one frame, whatever the file's format
    seconds: float  # duration by the timestamps of the frames; 0 for a picture
    num_frames: int
    content: str  # hash of its bytes, as `Cache.content_hash` computes it
