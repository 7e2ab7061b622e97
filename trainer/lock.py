"""A lock on a file, which the kernel frees however its process ends; who holds it leaves a note in the file."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ATTEMPTS, PAUSE_S = 10, 0.02  # a look at a free lock holds it for a moment, and must not keep anybody from taking it


@dataclass(frozen=True)
class Lock:
    """One file to lock; its text outlives the lock and means nothing without it."""

    path: Path

    @contextmanager
    def hold(self, note: str) -> Iterator[None]:
        """Hold the lock for the time of a `with`; children do not inherit it.

        Raises:
            BlockingIOError: if somebody else holds it.
        """
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            for left in reversed(range(ATTEMPTS)):
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if not left:
                        raise
                    time.sleep(PAUSE_S)
            os.truncate(file, 0)
            os.write(file, note.encode())
            yield
        finally:
            os.close(file)

    def holder(self) -> str | None:
        """Return the note of who holds the lock; None if nobody does."""
        try:
            file = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return os.read(file, 4096).decode(errors="replace")
        else:
            return None
        finally:
            os.close(file)
