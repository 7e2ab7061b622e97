"""Picture files by their first bytes, and the refusal of those that take too long or too much."""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import BinaryIO

from PIL import Image

from nt2vr.errors import MediaError

# Of JPEG, PNG, BMP, TIFF and BigTIFF files.
STARTS = (b"\xff\xd8\xff", b"\x89PNG", b"BM", b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
# Brands of files with pictures of HEVC, of AV1, and of either: then compatible brands tell.
HEIC = frozenset(b"heic heix heim heis hevc hevx".split())
AVIF = frozenset((b"avif", b"avis"))
EITHER = frozenset((b"mif1", b"msf1"))
# Bytes in which brands are looked for.
MAX_BRANDS_BYTES = 256

JPEG_START = b"\xff\xd8"
PNG_START = b"\x89PNG\r\n\x1a\n"
# Of a JPEG's parts; none is within its pixels.
MARKER = re.compile(rb"\xff[\xc0-\xcf\xd9-\xfe]")
START_OF_SCAN = 0xDA
END_OF_IMAGE = 0xD9

# Pillow's own limit against decompression bombs: 0.27 GB of RGB.
MAX_PIXELS = Image.MAX_IMAGE_PIXELS or 89_478_485
# Of a picture that cannot be decoded at reduced scale.
MAX_UNPACKED_PIXELS = 50_000_000
# In formats whose decoders hold several copies.
MAX_BUFFERED_PIXELS = 16_000_000
BUFFERED = ("AVIF", "GIF", "WEBP")
# A panorama has 65,535 pixels at most; 1 x 49,000,000 in 95 KB takes half a minute.
MAX_SIDE = 100_000
# A progressive JPEG usually has 10 scans, and a PNG one chunk per 8 to 32 KB. Each is parsed alone.
MAX_SCANS = 100
MAX_CHUNKS = 50_000


def is_picture(path: Path) -> bool:
    """Whether a file is a picture by its content.

    Phones and programs name many HEIC files .jpg, and the reverse.
    """
    with open_regular(path) as file:
        head = file.read(12)
    if head.startswith(STARTS) or head[8:] == b"WEBP":
        return True
    return head[4:8] == b"ftyp" and head[8:] in HEIC | AVIF | EITHER


def is_heic(head: bytes) -> bool:
    """Whether a file that starts with `head` has pictures of HEVC, which Pillow does not read."""
    if head[4:8] != b"ftyp":
        return False
    major_brand = head[8:12]
    if major_brand not in EITHER:
        return major_brand in HEIC
    size = int.from_bytes(head[:4])
    starts = range(16, min(size, len(head)), 4)
    compatible_brands = {head[start : start + 4] for start in starts}
    return not compatible_brands & AVIF


def open_regular(path: Path) -> BinaryIO:
    """Open a file, unless it is a pipe or a device: opening or reading one could block."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise MediaError(f"{path.name} is not a file. Choose a picture.")
    return file


def check_parts(file: BinaryIO, path: Path) -> None:
    """Refuse a JPEG or PNG of so many parts that it would take half a minute."""
    start = file.read(8)
    is_jpeg = start.startswith(JPEG_START)
    kinds: Iterable[int | bytes] = ()
    if is_jpeg:
        kinds = _jpeg_parts(file)
    elif start == PNG_START:
        kinds = _png_parts(file)
    parts = list(islice(kinds, MAX_CHUNKS + 1))
    if len(parts) > MAX_CHUNKS or parts.count(START_OF_SCAN) > MAX_SCANS:
        limit = MAX_SCANS if is_jpeg else MAX_CHUNKS
        raise MediaError(f"{path.name} has over {limit:,} parts. Save it again as JPEG or PNG.")


def _jpeg_parts(file: BinaryIO) -> Iterator[int]:
    """Yield the kind of each part of a JPEG up to its end: a phone may put a video after it."""
    position = 2
    with mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        while marker := MARKER.search(content, position):
            kind = content[marker.start() + 1]
            if kind == END_OF_IMAGE:
                return
            yield kind
            length = int.from_bytes(content[marker.end() : marker.end() + 2])
            position = marker.end() + length


def _png_parts(file: BinaryIO) -> Iterator[bytes]:
    """Yield the kind of each chunk of a PNG after its start."""
    size = file.read(4)
    while len(size) == 4:
        yield file.read(4)
        # The content, and a checksum.
        file.seek(int.from_bytes(size) + 4, os.SEEK_CUR)
        size = file.read(4)


def check_size(image: Image.Image, path: Path) -> None:
    """Refuse a picture whose decoding would take too much memory, by its header."""
    limit = MAX_UNPACKED_PIXELS
    # Phones add a depth map or a preview to a JPEG, which is then an MPO. A progressive JPEG is
    # unpacked in any case.
    if image.format in ("JPEG", "MPO") and "progressive" not in image.info:
        limit = MAX_PIXELS
    elif image.format in BUFFERED:
        limit = MAX_BUFFERED_PIXELS
    if image.width * image.height > limit:
        raise too_large(path, limit)
    if max(image.size) > MAX_SIDE:
        raise MediaError(
            f"{path.name} is {max(image.size):,} pixels long; {MAX_SIDE:,} are read. Cut it first."
        )


def too_large(path: Path, max_pixels: int) -> MediaError:
    return MediaError(
        f"{path.name} is too large: the limit for this kind of picture is {max_pixels // 1_000_000} million pixels. "
        "Make it smaller first."
    )


def unreadable_picture(path: Path) -> MediaError:
    return MediaError(
        f"{path.name} is not a picture that can be read, or it is truncated. "
        "Save it as JPEG or PNG and try again."
    )
