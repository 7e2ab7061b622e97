"""Pictures: reading files into RGB, and the one resize-and-crop that every encoder input goes through.

It does not normalise (the encoder does) and opens no video. Untrusted files are read in a child (`decode.Decoder`).
"""

import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from nt2vr.errors import MediaError

MAX_PIXELS = Image.MAX_IMAGE_PIXELS or 89_478_485  # Pillow's own limit against decompression bombs: 0.27 GB of RGB
FORMATS = ("AVIF", "BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")  # no EPS: Pillow would start Ghostscript on it
MAX_ASPECT = 50  # a thinner picture is cropped first: 1 x 1,000,000 pixels would be resized to 224 x 224,000,000


def fit(picture: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """Resize the short side to `size` (PIL bicubic) and crop the centre, bit for bit as open_clip does.

    Args:
        picture: (H, W, 3) RGB.
        size: side of the result in pixels.

    Returns:
        (size, size, 3); the picture itself if it has that size.
    """
    if picture.shape[:2] == (size, size):
        return picture
    height, width = picture.shape[:2]
    longest = MAX_ASPECT * min(height, width)
    if max(height, width) > longest:
        picture = _centre(picture, min(height, longest), min(width, longest))
        height, width = picture.shape[:2]
    short = min(height, width)
    resized = Image.fromarray(picture).resize(
        (int(size * width / short), int(size * height / short)), Image.Resampling.BICUBIC
    )
    return np.ascontiguousarray(_centre(np.asarray(resized), size, size))


def _centre(picture: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    top = round((picture.shape[0] - height) / 2)  # half to even, as torchvision's CenterCrop does
    left = round((picture.shape[1] - width) / 2)
    return picture[top : top + height, left : left + width]


def read_picture(path: Path) -> NDArray[np.uint8]:
    """Read a picture file as (H, W, 3) RGB: upright, transparency on white, the first frame of an animation.

    Raises:
        MediaError: if the file is missing, too large, truncated, damaged or not a picture.
    """
    Image.init()  # registers AVIF, TIFF and WebP, which Pillow loads lazily
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of damaged metadata
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path, formats=FORMATS) as image:
                return np.asarray(_rgb(ImageOps.exif_transpose(image)))
    except FileNotFoundError:
        raise MediaError(f"{path.name} is not there any more. Choose the picture again.") from None
    except (Image.DecompressionBombWarning, Image.DecompressionBombError, MemoryError):
        raise MediaError(
            f"{path.name} is too large: the limit is {MAX_PIXELS // 1_000_000} million pixels. Make it smaller first."
        ) from None
    except Exception as error:  # Pillow raises a dozen types on damaged files, even SyntaxError
        raise MediaError(
            f"{path.name} is not a picture that can be read, or it is cut off. Save it as JPEG or PNG and try again."
        ) from error


def _rgb(image: Image.Image) -> Image.Image:
    if image.mode.startswith(("I", "F")):
        image = _eight_bit(image)
    if image.has_transparency_data:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, image)
    return image.convert("RGB")


def _eight_bit(image: Image.Image) -> Image.Image:
    """Scale 16-bit grey to 8 bits by its full range, and 32-bit grey by the range of its values."""
    values = np.asarray(image).astype(np.float64)
    low, high = (0.0, 65535.0) if image.mode.startswith("I;16") else (values.min(), values.max())
    return Image.fromarray(((values - low) * (255 / max(high - low, 1e-9))).round().astype(np.uint8))
