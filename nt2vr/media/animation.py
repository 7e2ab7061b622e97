"""The frames of a picture, of which an animated one has several."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from nt2vr.errors import MediaError
from nt2vr.media.frame_rgb import Read
from nt2vr.media.picture import opened_picture, to_rgb
from nt2vr.media.resize import shrunk

ANIMATED = ("AVIF", "PNG", "WEBP")  # formats of pictures that can move, which FFmpeg does not read


MAX_FRAMES = 5_000  # of an animated picture


FRAME_S = 0.1  # browsers show a frame that names no duration this long


Frame = tuple[float, Read]  # when it appears, in seconds


class _Pictures:
    """A picture, which is on screen all the time, or the frames of an animated one."""

    rate = 1 / FRAME_S

    def __init__(self, path: Path) -> None:
        self._path = path

    def frames(self, moment: float = 0.0) -> Iterator[Frame]:
        """Yield all frames."""
        seconds = 0.0
        with opened_picture(self._path) as image:
            for number in range(self._count(image)):
                seconds += _duration_s(image) if number else 0.0  # of the frame before
                image.seek(number)
                yield seconds, partial(shrunk, to_rgb(image))

    def length(self) -> tuple[float, int]:
        with opened_picture(self._path) as image:
            seconds, count = 0.0, self._count(image)
            for number in range(
                count if count > 1 else 0
            ):  # a still has no duration, and need not be decoded
                image.seek(number)
                image.load()
                seconds += _duration_s(image)
            return seconds, count

    def _count(self, image: Any) -> int:
        count = int(getattr(image, "n_frames", 1)) if image.format in ANIMATED else 1  # TIFF: pages
        if count > MAX_FRAMES:
            raise MediaError(
                f"{self._path.name} has {count} frames; the limit for a picture is {MAX_FRAMES}."
            )
        return count


def _duration_s(image: Any) -> float:
    return float(image.info.get("duration") or 1000 * FRAME_S) / 1000
