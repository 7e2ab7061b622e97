"""Small file systems in memory, for tests of full disks; skipped where mounting is not allowed."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    """Mount a tmpfs on a folder, "size=2m" or "size=2m,ro"."""
    command = ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
    if sys.platform != "linux" or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("Mounting needs Linux and root.")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
