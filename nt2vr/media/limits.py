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
    count: float = inf
    num_bytes: float = inf  # of all together
    days: float = inf  # since the last use

    def allows(self, count: int, num_bytes: float, age_s: float = 0.0) -> bool:
        return count <= self.count and num_bytes <= self.num_bytes and age_s <= self.days * DAY_S


LIMITS = {
    "cache": Limit(num_bytes=2 << 30),  # content hashes of files
    "frames": Limit(
        num_bytes=32e9, days=30
    ),  # 26,000 clips of 8 frames of 224 x 224; days only where room is needed
    "towers": Limit(
        count=16
    ),  # of a gallery; each epoch of a training may have a visual tower of its own
    "pooled": Limit(
        count=8
    ),  # embeddings of a tower by as many heads; each epoch of a training may have its own
    "results": Limit(count=2000),  # 26 kB each on the gallery, 150 kB on the built-in world
    "drawn clips": Limit(num_bytes=16e9),  # 600 MB for 4,000 clips of 4 frames of 112 x 112
    "reports": Limit(
        count=500, num_bytes=4 << 30
    ),  # never evicted: whoever may delete none adds none beyond this
    "report previews": Limit(num_bytes=2 << 30),  # of clips in reports on folders, about 40 kB each
    "uploads": Limit(days=1),
    "trash": Limit(days=30),
}


def used_s(path: Path) -> float:
    """Return when a file or folder was last used, according to its modification time; 0 if it is gone."""
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
    """Delete the files and folders used least recently until the others fit a limit; return what fails."""
    now, count, total, errors = time.time(), 0, 0, list[OSError]()
    for path in sorted(paths, key=last_used, reverse=True):
        num_bytes = bytes_in(path) if limit.num_bytes < inf else 0
        if limit.allows(count + 1, total + num_bytes, now - last_used(path)):
            count, total = count + 1, total + num_bytes
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
    """Sum up the sizes of a file, or of all files in a folder; one deleted in the meantime counts as empty."""
    total = 0
    for each in (path, *path.rglob("*")):
        with suppress(OSError):
            total += each.lstat().st_size if not each.is_dir() else 0
    return total
