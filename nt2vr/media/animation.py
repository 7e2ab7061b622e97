"""Animated pictures: multi-frame WebP, PNG and AVIF files, which FFmpeg does not read."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from nt2vr.errors import MediaError
from nt2vr.media.picture import Limits, opened_picture, shrunk, to_rgb

SUFFIXES = frozenset(".apng .avif .png .webp".split())
MAX_FRAMES = 5_000
FRAME_S = 0.1  # browsers show a frame that names no duration this long


def is_animation(path: Path) -> bool:
    """Whether a picture file has several frames that are shown one after the other."""
    if path.suffix.lower() not in SUFFIXES:
        return False
    with opened_picture(path) as image:
        return bool(getattr(image, "is_animated", False))


class Animation:
    rate = 1 / FRAME_S

    def __init__(self, path: Path) -> None:
        self._path = path

    def frames(self, moment: float = 0.0) -> Iterator[tuple[float, Callable[[Limits | None], NDArray[np.uint8]]]]:
        """Yield all frames, each with the time when it appears."""
        seconds = 0.0
        with opened_picture(self._path) as image:
            for number in range(self._count(image)):
                image.seek(number)
                picture = to_rgb(image)
                yield seconds, partial(_read, picture)
                seconds += float(image.info.get("duration") or 1000 * FRAME_S) / 1000

    def length(self) -> tuple[float, int]:
        with opened_picture(self._path) as image:
            count, seconds = self._count(image), 0.0
            for number in range(count):
                image.seek(number)
                image.load()
                seconds += float(image.info.get("duration") or 1000 * FRAME_S) / 1000
            return seconds, count

    def _count(self, image: Image.Image) -> int:
        num_frames = int(getattr(image, "n_frames", 1))
        if num_frames > MAX_FRAMES:
            raise MediaError(f"{self._path.name} has {num_frames} frames; the limit for a picture is {MAX_FRAMES}.")
        return num_frames


def _read(picture: NDArray[np.uint8], limits: Limits | None) -> NDArray[np.uint8]:
    return shrunk(picture, limits) if limits else picture
