"""Small file systems in memory, and read-only folders; tests skip where mounting is not allowed."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    """Mount a tmpfs on a folder, "size=2m" or "size=2m,ro"."""
    with _mount("-t", "tmpfs", "-o", options, "none", str(folder)):
        yield


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make a folder read-only, also for root."""
    with _mount("--bind", str(folder), str(folder)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
        yield


@contextmanager
def _mount(*arguments: str) -> Iterator[None]:
    reason = "Mounting needs Linux and root."
    if sys.platform != "linux":
        pytest.skip(reason)
    mount = subprocess.run(["mount", *arguments], capture_output=True, check=False)
    if mount.returncode != 0:
        pytest.skip(reason)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", arguments[-1]], check=True)
