"""Safe, unique names for uploaded files, which visitors name."""

import unicodedata
from pathlib import Path, PurePosixPath

MAX_NAME = 120  # characters, without the suffix
MAX_BYTES = 200  # file systems take 255


def unused_path(folder: Path, name: str) -> Path:
    """Make a visitor's file name safe, and unique in a folder."""
    last = name.replace("\\", "/").rpartition("/")[2]
    clean = "".join(each for each in unicodedata.normalize("NFC", last) if each.isprintable()).strip(". ")
    path = PurePosixPath(clean.encode("utf-8", "replace").decode() or "file")
    stem, suffix = path.stem[:MAX_NAME], path.suffix[:10]
    while len(f"{stem}{suffix}".encode()) > MAX_BYTES:
        stem = stem[:-1]
    names = (f"{stem}{suffix}" if number == 1 else f"{stem} ({number}){suffix}" for number in range(1, 1_000_000))
    return next(folder / each for each in names if not (folder / each).exists())
