"""Pictures as RGB. Untrusted files are read in a child process."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil, isqrt
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image, PngImagePlugin

from nt2vr.errors import MediaError
from nt2vr.media.picture_file import (
    MAX_BRANDS_BYTES,
    MAX_PIXELS,
    check_parts,
    check_size,
    is_heic,
    open_regular,
    too_large,
    unreadable_picture,
)
from nt2vr.media.resize import Pixels

# An .mpo or .jps is a JPEG of two views, of which the first is read.
PICTURE_SUFFIXES = frozenset(
    ".apng .avif .bmp .heic .heif .hif .jfif .jpe .jpeg .jpg .jps .mpo .png .tif .tiff .webp".split()
)
# Without EPS: Pillow would start Ghostscript on it.
FORMATS = ("AVIF", "BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")
# Larger pictures are reduced by a whole number to at least this many pixels, and this short side.
ENOUGH_PIXELS = 1_000_000
SHORTEST = 448
# Rows of the reduced picture.
STRIP = 64
# The EXIF tag.
ORIENTATION = 0x0112
# A float from this size on means that a pixel has no value.
NO_VALUE = 1e38
# Bytes of a PNG's text or colour profile, unpacked. At Pillow's limit of 1 MB, pictures that hold
# the workflow by which they were made, or a printer's profile, were refused.
PngImagePlugin.MAX_TEXT_CHUNK = 16_000_000
UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def write_jpeg(picture: Pixels, file: Path | BinaryIO) -> None:
    Image.fromarray(picture).save(file, "JPEG", quality=80, optimize=True)


def read_picture(path: Path) -> Pixels:
    """Read a picture file as (H, W, 3) RGB: upright, and with transparency on white.

    Of an animation, it is the first frame. Pictures of several megapixels are reduced, JPEGs while
    they are decoded.
    """
    with opened_picture(path) as image:
        return to_rgb(image)


def to_rgb(image: Image.Image) -> Pixels:
    """Load the current frame of an open picture as (H, W, 3) RGB, upright, and reduced if large."""
    factor = _factor(image)
    # Only JPEG and HEIC can be decoded at a reduced size.
    image.draft(None, (image.width // factor, image.height // factor))
    image.load()

    # Pillow turns a TIFF while it loads it, and libheif a HEIC file. The tag is gone then, so it is
    # read afterwards.
    orientation = _orientation(image)
    rgb = _reduced_rgb(image, _factor(image))
    if orientation in UPRIGHT:
        rgb = rgb.transpose(UPRIGHT[orientation])
    return np.asarray(rgb)


def _reduced_rgb(image: Image.Image, factor: int) -> Image.Image:
    """Average squares of `factor` pixels of a loaded picture, as RGB."""
    if factor == 1:
        return _rgb(image)
    # The range of values of these modes is that of the whole picture.
    if image.mode in ("I", "F"):
        return _rgb(image.reduce(factor))

    width = ceil(image.width / factor)
    height = ceil(image.height / factor)
    rgb = Image.new("RGB", (width, height))
    # In strips, since converted copies of the whole picture would take several times its memory.
    for top in range(0, image.height, STRIP * factor):
        bottom = min(top + STRIP * factor, image.height)
        strip = image.crop((0, top, image.width, bottom))
        rgb.paste(_rgb(strip).reduce(factor), (0, top // factor))
    return rgb


def _orientation(image: Image.Image) -> int | None:
    """Return the number of the turn that a picture's metadata asks for, if it does."""
    try:
        return image.getexif().get(ORIENTATION)
    except Exception:
        # Pillow raises as many types as on damaged pictures. A picture needs no metadata.
        return None


@contextmanager
def opened_picture(path: Path) -> Iterator[Image.Image]:
    """Open a picture file of an acceptable size, and turn Pillow's errors into MediaErrors."""
    # Registers AVIF, TIFF and WebP, which Pillow loads lazily.
    Image.init()
    try:
        with warnings.catch_warnings(), open_regular(path) as file:
            # Pillow warns of damaged metadata.
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            formats = _formats(file.read(MAX_BRANDS_BYTES))
            file.seek(0)
            check_parts(file, path)
            file.seek(0)
            with Image.open(file, formats=formats) as image:
                check_size(image, path)
                yield image
    except MediaError:
        raise
    except FileNotFoundError:
        raise MediaError(f"{path.name} is not there. Choose another picture.") from None
    except (Image.DecompressionBombWarning, Image.DecompressionBombError, MemoryError):
        raise too_large(path, MAX_PIXELS) from None
    except Exception as error:
        # Pillow raises a dozen types on damaged files, even SyntaxError.
        raise unreadable_picture(path) from error


def _formats(head: bytes) -> tuple[str, ...]:
    """Return the formats that a file which starts with `head` may have."""
    if not is_heic(head):
        return FORMATS
    from pillow_heif import register_heif_opener  # noqa: PLC0415  it takes half a second

    register_heif_opener()
    return ("HEIF",)


def _factor(image: Image.Image) -> int:
    """Return by which whole number the sides of a large picture are divided."""
    by_pixels = isqrt(image.width * image.height // ENOUGH_PIXELS)
    by_side = min(image.size) // SHORTEST
    return max(1, min(by_side, by_pixels))


def _rgb(image: Image.Image) -> Image.Image:
    if image.mode.startswith(("I", "F")):
        grey = _in_8_bits(np.asarray(image), has_16_bits=image.mode.startswith("I;16"))
        image = Image.fromarray(grey)
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")


def _in_8_bits(grey: NDArray[Any], has_16_bits: bool) -> Pixels:
    """Scale grey (H, W) to 0 to 255, from the range of 16 bits or that of its values."""
    values = grey.astype(np.float64)
    low = 0.0
    high = 65535.0
    if not has_16_bits:
        # Maps and depths mark pixels without a value: as not a number, infinite, or as the largest
        # negative number.
        is_value = np.abs(values) < NO_VALUE
        measured = values[is_value]
        low = measured.min(initial=np.inf)
        high = measured.max(initial=-np.inf)
        values = np.where(is_value, values, low)

    # All pixels have one value, or none has any.
    if not low < high:
        return np.zeros(values.shape, np.uint8)
    scaled = (values - low) * (255 / (high - low))
    return scaled.round().astype(np.uint8)
