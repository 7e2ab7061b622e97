"""File names of uploads."""

import unicodedata
from pathlib import Path, PurePosixPath

MAX_STEM, MAX_FILE_BYTES = (
    120,
    200,
)  # characters and bytes of an upload's name; file systems take 255 bytes


def _new_file(folder: Path, name: str) -> Path:
    """Create an empty file, which no other upload can take, under a visitor's file name made safe and unique."""
    last = name.replace("\\", "/").rpartition("/")[2]
    clean = "".join(
        each for each in unicodedata.normalize("NFC", last) if each.isprintable()
    ).strip(". ")
    path = PurePosixPath(clean.encode("utf-8", "replace").decode() or "file")
    stem, suffix = path.stem[:MAX_STEM], path.suffix[:10]
    while len(f"{stem}{suffix}".encode()) > MAX_FILE_BYTES:
        stem = stem[:-1]
    place, number = folder / f"{stem}{suffix}", 1
    while True:
        try:
            place.touch(exist_ok=False)
            return place
        except FileExistsError:
            number += 1
            place = folder / f"{stem} ({number}){suffix}"
