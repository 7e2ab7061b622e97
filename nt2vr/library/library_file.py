"""A file of a library: a row of its inventory."""

import os
from typing import NamedTuple

CLOSED_FOLDER = "closed folder"  # kind of a folder that cannot be opened


NOTE = "note"  # kind of an entry that says how many files are left out


class LibraryFile(NamedTuple):
    """A file as the source lists it, and what its reading found: a row of the table."""

    id: str
    path: str
    captions: str = "[]"  # JSON
    size: int = 0
    mtime_ns: int = 0  # see `mtime_of`
    state: str = "new"  # to be read, "ready" or "skipped"
    reason: str = ""  # why it cannot be used
    content: str = ""
    kind: str = ""  # as `Probe` has it, CLOSED_FOLDER or NOTE
    seconds: float = 0.0
    num_frames: int = 0
    num_clips: int = 0
    duplicate_of: str = ""


def mtime_of(status: os.stat_result) -> int:
    """Return a modification time in nanoseconds, modulo the 64 bits of SQLite's integers.

    Files dated before 1678 or after 2262 need more bits. Their times need only differ where they
    change.
    """
    return (status.st_mtime_ns + 2**63) % 2**64 - 2**63
