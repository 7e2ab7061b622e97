"""Every resize of a picture: to an encoder's input, or to the limits of a preview."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from nt2vr.models.framing import BICUBIC, BILINEAR, LONGEST, SQUASH, Framing

RESAMPLING = {BICUBIC: Image.Resampling.BICUBIC, BILINEAR: Image.Resampling.BILINEAR}
# A thinner picture is cropped first: 1 x 1,000,000 pixels would be resized to 224 x 224,000,000.
MAX_ASPECT = 50
# RGB of a picture (H, W, 3), or of frames (F, H, W, 3).
Pixels = NDArray[np.uint8]
# Of the short and the long side, in pixels.
Limits = tuple[int, int]


def fit(picture: Pixels, framing: Framing) -> Pixels:
    """Make a picture (H, W, 3) RGB the encoder's input, a square bit for bit as open_clip does.

    A picture of that size is returned itself.
    """
    if picture.shape[:2] == framing.shape:
        return picture
    if framing.resize_mode == SQUASH:
        return _resized(picture, *framing.shape, framing)
    if framing.resize_mode == LONGEST:
        return _padded(picture, framing)
    return _cropped(picture, framing)


def _padded(picture: Pixels, framing: Framing) -> Pixels:
    """Resize a picture until its longest side fits, and pad the other side evenly."""
    frame_height, frame_width = framing.shape
    height, width = picture.shape[:2]
    ratio = max(height / frame_height, width / frame_width)
    height = max(1, round(height / ratio))
    width = max(1, round(width / ratio))
    resized = _resized(picture, height, width, framing)

    top = (frame_height - height) // 2
    left = (frame_width - width) // 2
    padded: Pixels = np.full((*framing.shape, 3), framing.fill_color, np.uint8)
    padded[top : top + height, left : left + width] = resized
    return padded


def _cropped(picture: Pixels, framing: Framing) -> Pixels:
    """Resize a picture until its shortest side fits, and crop the centre."""
    height, width = picture.shape[:2]
    longest = MAX_ASPECT * min(height, width)
    height = min(height, longest)
    width = min(width, longest)
    picture = _centre(picture, height, width)

    # The side that must grow most, or shrink least, decides.
    frame_height, frame_width = framing.shape
    if frame_width / width > frame_height / height:
        height = int(frame_width * height / width)
        width = frame_width
    else:
        width = int(frame_height * width / height)
        height = frame_height
    resized = _resized(picture, height, width, framing)
    return np.ascontiguousarray(_centre(resized, *framing.shape))


def shrunk_size(height: int, width: int, limits: Limits) -> tuple[int, int]:
    """Return height and width within limits, in proportion, and even, as codecs want them."""
    max_short, max_long = limits
    scale = min(1.0, max_short / min(height, width), max_long / max(height, width))
    return _even(height * scale), _even(width * scale)


def _even(side: float) -> int:
    return max(2, round(side / 2) * 2)


def shrunk(picture: Pixels, limits: Limits | None) -> Pixels:
    """Shrink a picture to `shrunk_size`, if there are limits."""
    if limits is None:
        return picture
    old_height, old_width = picture.shape[:2]
    height, width = shrunk_size(old_height, old_width, limits)
    image = Image.fromarray(picture)
    return np.asarray(image.resize((width, height), Image.Resampling.BILINEAR, reducing_gap=2.0))


def _resized(picture: Pixels, height: int, width: int, framing: Framing) -> Pixels:
    image = Image.fromarray(picture)
    return np.asarray(image.resize((width, height), RESAMPLING[framing.interpolation]))


def _centre(picture: Pixels, height: int, width: int) -> Pixels:
    # Halves are rounded to even, as torchvision's CenterCrop does.
    old_height, old_width = picture.shape[:2]
    top = round((old_height - height) / 2)
    left = round((old_width - width) / 2)
    return picture[top : top + height, left : left + width]
