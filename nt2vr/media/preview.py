"""Poster and preview of a clip: a JPEG, and a short silent VP9 WebM. Every browser plays it."""

import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import MediaError
from nt2vr.files import atomic_write, is_disk_full
from nt2vr.media.picture import write_jpeg
from nt2vr.media.video import Screen

LIMITS = (224, 640)  # pixels of the short and the long side
FPS = 12
MAX_SECONDS = 10.0
DISK_FULL = "The disk is full. Free some space, and update the library again."  # and so is it for all others
OPTIONS = {"crf": "40", "b": "0", "deadline": "realtime", "cpu-used": "8"}


def write_preview(path: Path, start: float, end: float | None, poster: Path, preview: Path) -> None:
    """Write the preview of a clip, a single frame for a picture, and the poster, of the preview's middle.

    An `end` of None is that of the file.
    """
    frames = _frames(path, start, end)
    try:
        poster.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(poster) as partial:
            write_jpeg(frames[len(frames) // 2], partial)
        with atomic_write(preview) as partial:
            write_webm(frames, partial, FPS, OPTIONS)
    except OSError as error:  # PyAV's errors are among them
        if is_disk_full(error):
            raise MediaError(DISK_FULL) from None
        raise MediaError(f"No preview of {path.name} can be written ({os.strerror(error.errno or 0)}).") from error


def _frames(path: Path, start: float, end: float | None) -> list[NDArray[np.uint8]]:
    screen = Screen(path, limits=LIMITS)
    last = min(start + MAX_SECONDS, screen.length() if end is None else end)
    count = max(1, round((last - start) * FPS))
    return [screen.at(start + number / FPS) for number in range(count)]


def write_webm(
    frames: Sequence[NDArray[np.uint8]] | NDArray[np.uint8], path: Path, fps: int, options: Mapping[str, str]
) -> None:
    """Write (F, H, W, 3) RGB frames as VP9, which all browsers play; the same frames give the same bytes."""
    with av.open(str(path), "w", format="webm", options={"fflags": "bitexact"}) as container:  # no random id
        stream = container.add_stream("libvpx-vp9", rate=Fraction(fps))
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        stream.options = dict(options)
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode())
