"""Pictures: reads files as RGB, untrusted ones in a child, and makes every encoder input by one resize-and-crop."""

import os
import re
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil, isqrt
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image, PngImagePlugin

from nt2vr.errors import MediaError
from nt2vr.models.framing import BICUBIC, BILINEAR, LONGEST, SQUASH, Framing

PICTURE_SUFFIXES = frozenset(  # .mpo, .jps: JPEGs of two views, of which the first is read
    ".apng .avif .bmp .heic .heif .hif .jfif .jpe .jpeg .jpg .jps .mpo .png .tif .tiff .webp".split()
)
STARTS = (  # of JPEG, PNG, TIFF, BigTIFF and BMP files
    *(b"\xff\xd8\xff", b"\x89PNG", b"BM"),
    *(b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
)
HEIC = frozenset(b"heic heix heim heis hevc hevx".split())  # brands: of HEVC's pictures,
AVIF = frozenset((b"avif", b"avis"))  # of AV1's,
EITHER = frozenset(
    (b"mif1", b"msf1")
)  # and of both, which name the codec's among the compatible brands
MAX_BRANDS = 256  # bytes that brands are looked for in
MARKER = re.compile(rb"\xff[\xc0-\xcf\xd9-\xfe]")  # of a JPEG's parts; none is within its pixels
MAX_PIXELS = (
    Image.MAX_IMAGE_PIXELS or 89_478_485
)  # Pillow's own limit against decompression bombs: 0.27 GB of RGB
FORMATS = (
    "AVIF",
    "BMP",
    "GIF",
    "JPEG",
    "PNG",
    "TIFF",
    "WEBP",
)  # no EPS: Pillow would start Ghostscript on it
MAX_UNPACKED = 50_000_000  # pixels of a picture that cannot be decoded at reduced scale
MAX_BUFFERED = 16_000_000  # pixels in formats whose decoders hold several copies
BUFFERED = ("AVIF", "GIF", "WEBP")
MAX_SIDE = 100_000  # a panorama has 65,535 at most; 1 x 49,000,000 in 95 KB takes half a minute
# of a progressive JPEG, which usually has 10, and of a PNG, which usually has one per 8 to 32 KB:
# each is parsed alone
MAX_SCANS, MAX_CHUNKS = 100, 50_000
ENOUGH = 1_000_000  # pixels to which larger pictures are reduced, by a whole number
SHORTEST = 448  # side that reducing keeps, at least
STRIP = 64  # rows of the reduced picture
ORIENTATION = 0x0112  # EXIF tag
NO_VALUE = 1e38  # of a float, from which on it stands for none
# bytes of a PNG's text or colour profile, unpacked; at Pillow's limit of 1 MB, pictures that hold
# the workflow by which they were made, or a printer's profile, were refused
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
RESAMPLING = {BICUBIC: Image.Resampling.BICUBIC, BILINEAR: Image.Resampling.BILINEAR}
Limits = tuple[int, int]  # of the short and the long side, in pixels
MAX_ASPECT = 50  # a thinner picture is cropped first: 1 x 1,000,000 pixels would be resized to 224 x 224,000,000


def is_picture(path: Path) -> bool:
    """Whether a file is a picture by its content: phones and programs name many HEIC files .jpg, and the reverse."""
    with _regular(path) as file:
        head = file.read(12)
    if head.startswith(STARTS) or head[8:] == b"WEBP":
        return True
    return head[4:8] == b"ftyp" and head[8:] in HEIC | AVIF | EITHER


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


def write_jpeg(picture: NDArray[np.uint8], file: Path | BinaryIO) -> None:
    Image.fromarray(picture).save(file, "JPEG", quality=80, optimize=True)


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


def read_picture(path: Path) -> NDArray[np.uint8]:
    """Read a picture file as (H, W, 3) RGB: upright, transparency on white, the first frame of an animation.

    Pictures of several megapixels are reduced, JPEGs while they are decoded.
    """
    with opened_picture(path) as image:
        return to_rgb(image)


def to_rgb(image: Image.Image) -> NDArray[np.uint8]:
    """Load the current frame of an open picture as (H, W, 3) RGB, upright, averaged over squares if it is large."""
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
    """Return the number by which a picture says how it is to be turned, if it does."""
    try:
        return image.getexif().get(ORIENTATION)
    except (
        Exception
    ):  # as many types as for damaged pictures; without its metadata, a picture is whole
        return None


@contextmanager
def opened_picture(path: Path) -> Iterator[Image.Image]:
    """Open a picture file of an acceptable size, and turn Pillow's errors into MediaErrors of one sentence."""
    Image.init()  # registers AVIF, TIFF and WebP, which Pillow loads lazily
    formats: tuple[str, ...] = FORMATS
    try:
        with warnings.catch_warnings(), _regular(path) as file:
            warnings.simplefilter("ignore")  # of damaged metadata
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            if _is_heic(file.read(MAX_BRANDS)):
                from pillow_heif import register_heif_opener  # noqa: PLC0415  it takes half a second

                register_heif_opener()
                formats = ("HEIF",)
            file.seek(0)
            with Image.open(_checked(file, path), formats=formats) as image:
                _check_size(image, path)
                yield image
    except MediaError:
        raise
    except FileNotFoundError:
        raise MediaError(f"{path.name} is not there. Choose another picture.") from None
    except (Image.DecompressionBombWarning, Image.DecompressionBombError, MemoryError):
        raise _too_large(path, MAX_PIXELS) from None
    except Exception as error:  # Pillow raises a dozen types on damaged files, even SyntaxError
        raise unreadable_picture(path) from error


def unreadable_picture(path: Path) -> MediaError:
    problem = (
        "is not a picture that can be read, or it is cut off. Save it as JPEG or PNG and try again."
    )
    return MediaError(f"{path.name} {problem}")


def _regular(path: Path) -> BinaryIO:
    """Open a file, unless it is a pipe or a device: opening or reading one could block."""
    file = os.fdopen(
        os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb"
    )
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise MediaError(f"{path.name} is not a file. Choose a picture.")
    return file


def _is_heic(head: bytes) -> bool:
    """Whether a file that starts with `head` has pictures of HEVC, which Pillow alone does not read."""
    if head[4:8] != b"ftyp":
        return False
    major = head[8:12]
    if major in EITHER:
        size = int.from_bytes(head[:4])
        compatible = {head[start : start + 4] for start in range(16, min(size, len(head)), 4)}
        return not compatible & AVIF
    return major in HEIC


def _checked(file: BinaryIO, path: Path) -> BinaryIO:
    """Refuse a JPEG or PNG of so many parts that it would take half a minute, and go back to the start."""
    head, parts, scans = file.read(8), 0, 0
    if head[:2] == b"\xff\xd8":
        place = 2
        with mmap(
            file.fileno(), 0, access=ACCESS_READ
        ) as data:  # up to its end, after which a phone may put a film
            while (
                (marker := MARKER.search(data, place))
                and data[marker.start() + 1] != 0xD9
                and parts <= MAX_CHUNKS
            ):
                parts += 1
                scans += data[marker.start() + 1] == 0xDA
                place = marker.end() + int.from_bytes(data[marker.end() : marker.end() + 2])
    elif head == b"\x89PNG\r\n\x1a\n":
        while parts <= MAX_CHUNKS and len(size := file.read(4)) == 4:
            file.seek(int.from_bytes(size) + 8, os.SEEK_CUR)  # type, data and checksum
            parts += 1
    if parts > MAX_CHUNKS or scans > MAX_SCANS:
        most = MAX_SCANS if head[:2] == b"\xff\xd8" else MAX_CHUNKS
        raise MediaError(f"{path.name} has over {most:,} parts. Save it again as JPEG or PNG.")
    file.seek(0)
    return file


def _check_size(image: Image.Image, path: Path) -> None:
    """Refuse a picture whose decoding would take too much memory, by its header."""
    is_jpeg = image.format in ("JPEG", "MPO")  # phones add a depth map or a preview
    scales = (
        is_jpeg and "progressive" not in image.info
    )  # a progressive one is unpacked in any case
    limit = MAX_PIXELS if scales else MAX_BUFFERED if image.format in BUFFERED else MAX_UNPACKED
    if image.width * image.height > limit:
        raise _too_large(path, limit)
    if max(image.size) > MAX_SIDE:
        raise MediaError(
            f"{path.name} is {max(image.size):,} pixels long; {MAX_SIDE:,} are read. Cut it first."
        )


def _too_large(path: Path, limit: int) -> MediaError:
    return MediaError(
        f"{path.name} is too large: the limit for this kind of picture is {limit // 1_000_000} million pixels. "
        "Make it smaller first."
    )


def _factor(image: Image.Image) -> int:
    return max(1, min(min(image.size) // SHORTEST, isqrt(image.width * image.height // ENOUGH)))


def _rgb(image: Image.Image) -> Image.Image:
    if image.mode.startswith(("I", "F")):
        image = Image.fromarray(
            _in_8_bits(np.asarray(image), has_16_bits=image.mode.startswith("I;16"))
        )
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")


def _in_8_bits(grey: NDArray[Any], has_16_bits: bool) -> NDArray[np.uint8]:
    """Scale grey (H, W) to 0 to 255: from its full range if it has 16 bits, otherwise from that of its values."""
    values = grey.astype(np.float64)
    low, high = 0.0, 65535.0
    if not has_16_bits:
        # Maps and depths mark pixels without a value: as not a number, infinite, or as the largest
        # negative number.
        is_value = np.abs(values) < NO_VALUE
        measured = values[is_value]
        low = measured.min(initial=np.inf)
        high = measured.max(initial=-np.inf)
        values = np.where(is_value, values, low)
    if not low < high:  # all of one value, or without any
        return np.zeros(values.shape, np.uint8)
    scaled = (values - low) * (255 / (high - low))
    return scaled.round().astype(np.uint8)
