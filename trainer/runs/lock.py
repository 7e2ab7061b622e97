"""File locks that the system releases when their holder exits or is killed; a note names the holder.

The note is its own file because Windows does not let other processes read a locked one.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from nt2vr.files import parse_json, write_json

HOLD_S, LOOK_S, POLL_S = 0.2, 0.02, 0.005  # `hold` outwaits `holder`, which briefly takes a free lock


@dataclass(frozen=True)
class Holder:
    """The training that holds a lock, with the process id of its leading process."""

    run: str
    folder: str
    pid: int

    @classmethod
    def here(cls, folder: Path) -> "Holder":
        """Describe this process as the one training the run in `folder`."""
        return cls(folder.name, str(folder.resolve()), os.getpid())


@dataclass(frozen=True)
class Lock:
    """A file to lock."""

    path: Path

    @property
    def note(self) -> Path:
        """File that names the holder; meaningless while the lock is free."""
        return self.path.with_suffix(".json")

    @contextmanager
    def hold(self, holder: Holder) -> Iterator[None]:
        """Hold the lock inside a `with` block, not in child processes; a BlockingIOError if somebody else does."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.path, mode=0o600)
        try:
            lock.acquire(timeout=HOLD_S, poll_interval=POLL_S)
        except Timeout:
            raise BlockingIOError(f"{self.path} is locked.") from None
        try:
            write_json(self.note, asdict(holder))
            yield
        finally:
            self.note.unlink(missing_ok=True)
            lock.release()

    def holder(self) -> Holder | None:
        """Return the holder of the lock; None if it is free."""
        try:
            noted = Holder(**parse_json(self.note.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        with suppress(Timeout), FileLock(self.path, mode=0o600).acquire(timeout=LOOK_S, poll_interval=POLL_S):
            return None  # the holder was killed
        return noted
