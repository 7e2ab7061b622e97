"""Files that must lie in a folder: opened without following a link out of it, and read through what was opened."""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from nt2vr.errors import MediaError

FOLDER = getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # a pipe would block
OUTSIDE = "is a link that leads out of the library's folder. Copy the file into the folder."


@contextmanager
def confined(path: Path, root: Path) -> Iterator[Path]:
    """Yield a path, of the same name, to the file that a path leads to; a MediaError refuses one outside the root.

    Links within the root, which is absolute and resolved, are followed. Whatever is replaced by a link meanwhile does
    not count: on Linux, the path yielded names the open file. Elsewhere, where opening an open file again would share
    its position, it is the path after links were followed.
    """
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(root):
        raise MediaError(f"{path.name} {OUTSIDE}")
    if os.open not in os.supports_dir_fd:  # Windows
        yield real
        return
    try:
        file = _opened(real, root)
    except OSError as error:
        raise MediaError(f"{path.name} cannot be read ({error.strerror}).") from None
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise MediaError(f"{path.name} is not a file, but a folder, pipe or device.")
        if sys.platform != "linux":
            yield real
            return
        with TemporaryDirectory() as folder:
            link = Path(folder) / path.name
            link.symlink_to(f"/proc/{os.getpid()}/fd/{file}")
            yield link
    finally:
        os.close(file)


def _opened(real: Path, root: Path) -> int:
    """Open a file one folder after the other, following no links."""
    *folders, name = real.relative_to(root).parts
    place = os.open(root, FOLDER)
    for part, flags in [*((each, FOLDER) for each in folders), (name, FILE)]:
        try:
            inner = os.open(part, flags, dir_fd=place)
        finally:
            os.close(place)
        place = inner
    return place
