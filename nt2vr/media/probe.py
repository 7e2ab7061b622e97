"""What a file contains, as `film.probe` finds out in a child."""

from dataclasses import dataclass
from typing import Literal


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
