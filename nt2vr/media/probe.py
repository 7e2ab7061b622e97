"""Results of the decoder's child processes, other than frames."""

from dataclasses import dataclass
from typing import Literal

DISK_FULL = "The disk is full"  # a preview cannot be written, nor can the others


@dataclass(frozen=True)
class Probe:
    """What a file contains.

    Attributes:
        kind: a picture is one frame, whatever the file's format.
        seconds: duration by the timestamps of the frames; 0 for a picture.
        num_frames: frames in the file.
        content: hash of its bytes, as `Cache.content_hash` computes it.
    """

    kind: Literal["video", "picture"]
    seconds: float
    num_frames: int
    content: str
