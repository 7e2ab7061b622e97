"""What a picture file is by its first bytes, and the refusal of files that would take too long or too much memory."""

import os
import re
import stat
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import BinaryIO

from PIL import Image

from nt2vr.errors import MediaError

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


MAX_UNPACKED = 50_000_000  # pixels of a picture that cannot be decoded at reduced scale


MAX_BUFFERED = 16_000_000  # pixels in formats whose decoders hold several copies


BUFFERED = ("AVIF", "GIF", "WEBP")


MAX_SIDE = 100_000  # a panorama has 65,535 at most; 1 x 49,000,000 in 95 KB takes half a minute


# of a progressive JPEG, which usually has 10, and of a PNG, which usually has one per 8 to 32 KB:
# each is parsed alone
MAX_SCANS, MAX_CHUNKS = 100, 50_000


def is_picture(path: Path) -> bool:
    """Whether a file is a picture by its content: phones and programs name many HEIC files .jpg, and the reverse."""
    with _regular(path) as file:
        head = file.read(12)
    if head.startswith(STARTS) or head[8:] == b"WEBP":
        return True
    return head[4:8] == b"ftyp" and head[8:] in HEIC | AVIF | EITHER


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
