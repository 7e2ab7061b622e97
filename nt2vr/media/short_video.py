"""Frames of a short video given as a reference. For untrusted files, run it in the decoder's children."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import MediaError
from nt2vr.media.film import Screen, reading

NUM_FRAMES = 8
MAX_SECONDS = 60
LIMITS = (384, 700)  # of a frame's short and long side, in pixels: no model looks at more
TIMEOUT_S = 20.0


def sample_short_video(path: Path) -> list[NDArray[np.uint8]]:
    """Decode evenly spaced frames of a video or an animation, as (H, W, 3) RGB each.

    Raises:
        MediaError: if the file is neither, or too long.
    """
    with reading(path):
        screen = Screen(path, limits=LIMITS)
        seconds = screen.length()
        if seconds > MAX_SECONDS:
            raise MediaError(
                f"{path.name} lasts {seconds:,.0f} s: a reference may last {MAX_SECONDS} s. Cut it, or add a picture."
            )
        screen.limit(TIMEOUT_S, seconds)
        return [screen.at((2 * i + 1) * seconds / (2 * NUM_FRAMES)) for i in range(NUM_FRAMES)]
