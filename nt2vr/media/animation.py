"""The frames of a picture, of which an animated one has several."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from nt2vr.errors import MediaError
from nt2vr.media.frame_rgb import Read
from nt2vr.media.picture import opened_picture, to_rgb
from nt2vr.media.resize import shrunk

# Formats of pictures that can move, which FFmpeg does not read.
ANIMATED = ("AVIF", "PNG", "WEBP")
MAX_FRAMES = 5_000
# Browsers show a frame that names no duration this long.
FRAME_S = 0.1
# When a frame appears, in seconds, and the function that reads it.
Frame = tuple[float, Read]


class PictureFrames:
    """The frames of a picture: one that is on screen all the time, or those of an animation."""

    rate = 1 / FRAME_S

    def __init__(self, path: Path) -> None:
        self._path = path

    def frames(self, moment: float = 0.0) -> Iterator[Frame]:
        """Yield all frames."""
        seconds = 0.0
        with opened_picture(self._path) as image:
            for number in range(self._count(image)):
                # The image is still at the frame before, which ends now.
                if number:
                    seconds += _duration_s(image)
                image.seek(number)
                yield seconds, partial(shrunk, to_rgb(image))

    def length(self) -> tuple[float, int]:
        """Return when the last frame ends, and the number of frames."""
        seconds = 0.0
        with opened_picture(self._path) as image:
            count = self._count(image)
            # A still has no duration, and need not be decoded.
            if count <= 1:
                return 0.0, count
            for number in range(count):
                image.seek(number)
                image.load()
                seconds += _duration_s(image)
        return seconds, count

    def _count(self, image: Any) -> int:
        # The frames of a TIFF are pages.
        if image.format not in ANIMATED:
            return 1
        count = int(getattr(image, "n_frames", 1))
        if count > MAX_FRAMES:
            raise MediaError(
                f"{self._path.name} has {count} frames; the limit for a picture is {MAX_FRAMES}."
            )
        return count


def _duration_s(image: Any) -> float:
    return float(image.info.get("duration") or 1000 * FRAME_S) / 1000
