"""Atomic file writes: other processes see the old file or the new one, also after a crash."""

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nt2vr.errors import ConfigError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
FULL_WORDS = ("No space left", "os error 28", "PytorchStreamWriter", "iostream error")  # of safetensors and torch


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` if the block succeeds."""
    partial = path.with_name(f".{path.stem}.{os.getpid()}.partial{path.suffix}")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def write_json(path: Path, data: Any, indent: int | None = None) -> None:
    """Write `data` as JSON, atomically, with a newline at the end."""
    with atomic_write(path) as partial:
        partial.write_text(json.dumps(data, indent=indent) + "\n", encoding="utf-8")


def is_disk_full(error: BaseException | None) -> bool:
    """Whether an error, or one that it follows from, comes from a write to a full disk."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in FULL:
            return True
        if isinstance(error, Exception) and any(words in str(error) for words in FULL_WORDS):
            return True
        error = error.__cause__ or error.__context__
    return False


def check_writable(folder: Path) -> None:
    """Refuse an output folder before the work whose results would be lost.

    Raises:
        ConfigError: if it cannot be made or written to.
    """
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        raise ConfigError(f"{folder} cannot be written to. Name another folder.")
