"""How much the data folder keeps, and how room is made."""

import os
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path

DAY_S = 24 * 3600.0


@dataclass(frozen=True)
class Limit:
    """How much of one kind is kept.

    Attributes:
        num_bytes: of all files together.
        days: since the last use.
    """

    count: float = inf
    num_bytes: float = inf
    days: float = inf


LIMITS = {
    # Content hashes of files.
    "cache": Limit(num_bytes=2 << 30),
    # 26,000 clips of 8 frames of 224 x 224. The days count only when room is needed.
    "frames": Limit(num_bytes=32e9, days=30),
    # Of a gallery. Each epoch of a training may have a visual tower of its own.
    "towers": Limit(count=16),
    # Embeddings of a tower by as many heads. Each epoch of a training may have its own.
    "pooled": Limit(count=8),
    # 26 kB each on the gallery, 150 kB on the built-in world.
    "results": Limit(count=2000),
    # 600 MB for 4,000 clips of 4 frames of 112 x 112.
    "drawn clips": Limit(num_bytes=16e9),
    # Never evicted: whoever may delete none adds none beyond this.
    "reports": Limit(count=500, num_bytes=4 << 30),
    # Of clips in reports on folders, about 40 kB each.
    "report previews": Limit(num_bytes=2 << 30),
    "uploads": Limit(days=1),
    "trash": Limit(days=30),
}


def used_s(path: Path) -> float:
    """Return when a file or folder was last used, by its modification time; 0 if it is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def mark_used(path: Path) -> None:
    """Set the modification time to now; what cannot be written to is never evicted either."""
    with suppress(OSError):
        os.utime(path)


def evict(
    paths: Iterable[Path], limit: Limit, last_used: Callable[[Path], float] = used_s
) -> list[OSError]:
    """Delete the files and folders used least recently until the rest fits a limit.

    Returns:
        The errors of those that could not be deleted.
    """
    now_s = time.time()
    count = 0
    total_bytes = 0
    errors = []
    for path in sorted(paths, key=last_used, reverse=True):
        num_bytes = bytes_in(path) if limit.num_bytes < inf else 0
        age_s = now_s - last_used(path)
        has_room = count < limit.count and total_bytes + num_bytes <= limit.num_bytes
        if has_room and age_s <= limit.days * DAY_S:
            count += 1
            total_bytes += num_bytes
            continue
        try:
            delete(path)
        except OSError as error:
            errors.append(error)
    return errors


def delete(path: Path) -> None:
    """Delete a file or a folder, unless another process has."""
    with suppress(FileNotFoundError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def bytes_in(path: Path) -> int:
    """Sum up the sizes of a file, or of all files in a folder; one that is gone counts as empty."""
    num_bytes = 0
    for file in (path, *path.rglob("*")):
        with suppress(OSError):
            if not file.is_dir():
                num_bytes += file.lstat().st_size
    return num_bytes
