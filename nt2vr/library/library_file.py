"""A file of a library, as its source lists it: a row of the inventory."""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from nt2vr.errors import reason_of

# Kinds of entries that are not files: a closed folder, and a note on files that are left out.
CLOSED_FOLDER = "closed folder"
NOTE = "note"
FileIds = tuple[str, ...]
NOT_UNICODE = "Its name is not valid Unicode. Rename it."
NOT_A_FILE = "It is not a file, but a folder, pipe or device."


class LibraryFile(NamedTuple):
    """A file as the source lists it, with what its reading found.

    Attributes:
        captions: a JSON list.
        mtime_ns: time of the last change; see `mtime_of`.
        state: "new" until it is read, then "ready" or "skipped".
        reason: why it cannot be used; empty if it can.
        content: hash of its content.
        kind: the kind that `Probe` gives, CLOSED_FOLDER or NOTE.
        duplicate_of: id of the first file with the same content; empty for that file.
    """

    id: str
    path: str
    captions: str = "[]"
    size: int = 0
    mtime_ns: int = 0
    state: str = "new"
    reason: str = ""
    content: str = ""
    kind: str = ""
    seconds: float = 0.0
    num_frames: int = 0
    num_clips: int = 0
    duplicate_of: str = ""


FilesById = Mapping[str, LibraryFile]


def mtime_of(status: os.stat_result) -> int:
    """Return a modification time in nanoseconds, modulo the 64 bits of SQLite's integers.

    Files dated before 1678 or after 2262 need more bits. Their times need only differ where they
    change.
    """
    return (status.st_mtime_ns + 2**63) % 2**64 - 2**63


def describe_file(
    name: str, path: str, captions: tuple[str, ...] = (), reason: str = ""
) -> LibraryFile:
    """Describe a file by one call of `stat`, or by the reason why it cannot be used."""
    captions_json = json.dumps(captions, ensure_ascii=False)
    file = LibraryFile(escaped(name), escaped(path), captions_json, reason=reason)
    if reason:
        return file
    if (file.id, file.path) != (name, path):
        return file._replace(reason=NOT_UNICODE)
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:
        return file._replace(reason=f"It cannot be opened ({reason_of(error)}).")
    if not stat.S_ISREG(status.st_mode):
        reason = NOT_A_FILE
    return file._replace(size=status.st_size, mtime_ns=mtime_of(status), reason=reason)


def is_inside(path: str, folder: Path) -> bool:
    """Whether a path lies in a folder after links are followed."""
    try:
        return Path(os.path.realpath(path)).is_relative_to(folder)
    except (OSError, ValueError):
        return False


def escaped(name: str) -> str:
    """Escape what is not valid Unicode in a file name."""
    return name.encode("utf-8", "backslashreplace").decode()
