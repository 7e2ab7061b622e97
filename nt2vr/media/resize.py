"""Every resize of a picture: to an encoder's input, or to the limits of a preview."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from nt2vr.models.framing import BICUBIC, BILINEAR, LONGEST, SQUASH, Framing

RESAMPLING = {BICUBIC: Image.Resampling.BICUBIC, BILINEAR: Image.Resampling.BILINEAR}


Limits = tuple[int, int]  # of the short and the long side, in pixels


MAX_ASPECT = 50  # a thinner picture is cropped first: 1 x 1,000,000 pixels would be resized to 224 x 224,000,000


def fit(picture: NDArray[np.uint8], framing: Framing) -> NDArray[np.uint8]:
    """Make a picture (H, W, 3) RGB the encoder's input, a square bit for bit as open_clip does.

    A picture of that size is returned itself.
    """
    if picture.shape[:2] == framing.shape:
        return picture
    if framing.resize_mode == SQUASH:
        return _resized(picture, *framing.shape, framing)
    height, width = picture.shape[:2]
    if framing.resize_mode == LONGEST:  # pad the other side evenly
        ratio = max(own / side for own, side in zip((height, width), framing.shape, strict=True))
        height, width = max(1, round(height / ratio)), max(1, round(width / ratio))
        padded: NDArray[np.uint8] = np.full((*framing.shape, 3), framing.fill_color, np.uint8)
        top, left = (framing.shape[0] - height) // 2, (framing.shape[1] - width) // 2
        padded[top : top + height, left : left + width] = _resized(picture, height, width, framing)
        return padded
    longest = MAX_ASPECT * min(height, width)
    if max(height, width) > longest:
        picture = _centre(picture, min(height, longest), min(width, longest))
        height, width = picture.shape[:2]
    _, side, short = max(
        (side / own, side, own) for side, own in zip(framing.shape, (height, width), strict=True)
    )
    resized = _resized(picture, int(side * height / short), int(side * width / short), framing)
    return np.ascontiguousarray(_centre(resized, *framing.shape))


def shrunk_size(height: int, width: int, limits: Limits) -> tuple[int, int]:
    """Return height and width within the limits, in the same proportion and even, as video codecs want them."""
    scale = min(1.0, limits[0] / min(height, width), limits[1] / max(height, width))
    return max(2, round(height * scale / 2) * 2), max(2, round(width * scale / 2) * 2)


def shrunk(picture: NDArray[np.uint8], limits: Limits | None) -> NDArray[np.uint8]:
    """Shrink a picture to `shrunk_size`, if there are limits."""
    if limits is None:
        return picture
    height, width = shrunk_size(picture.shape[0], picture.shape[1], limits)
    return np.asarray(
        Image.fromarray(picture).resize(
            (width, height), Image.Resampling.BILINEAR, reducing_gap=2.0
        )
    )


def _resized(
    picture: NDArray[np.uint8], height: int, width: int, framing: Framing
) -> NDArray[np.uint8]:
    return np.asarray(
        Image.fromarray(picture).resize((width, height), RESAMPLING[framing.interpolation])
    )


def _centre(picture: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    top = round((picture.shape[0] - height) / 2)  # half to even, as torchvision's CenterCrop does
    left = round((picture.shape[1] - width) / 2)
    return picture[top : top + height, left : left + width]
