"""File names of uploads: a visitor's name, made safe and unique."""

import unicodedata
from pathlib import Path, PurePosixPath

# Characters before the suffix, and bytes of the name; file systems take 255 bytes.
MAX_STEM = 120
MAX_NAME_BYTES = 200
MAX_SUFFIX = 10


def create_file(folder: Path, name: str) -> Path:
    """Create an empty file under a visitor's name for it, which no other upload can take."""
    first_path = folder / safe_name(name)
    path = first_path
    number = 1
    while True:
        try:
            path.touch(exist_ok=False)
            return path
        except FileExistsError:
            number += 1
            path = first_path.with_stem(f"{first_path.stem} ({number})")


def safe_name(name: str) -> str:
    """Return a file name without folders and unprintable characters, and not too long."""
    last_part = name.replace("\\", "/").rpartition("/")[2]
    composed = unicodedata.normalize("NFC", last_part)
    printable = "".join(character for character in composed if character.isprintable())
    stripped = printable.strip(". ")

    path = PurePosixPath(stripped.encode("utf-8", "replace").decode() or "file")
    stem = path.stem[:MAX_STEM]
    suffix = path.suffix[:MAX_SUFFIX]
    while len(f"{stem}{suffix}".encode()) > MAX_NAME_BYTES:
        stem = stem[:-1]
    return f"{stem}{suffix}"
