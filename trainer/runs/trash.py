"""Deleted runs, which stay in a folder until they are deleted for good: after some days, or by hand."""

import time
from pathlib import Path

from nt2vr.errors import RunError
from nt2vr.media.store import LIMITS, Limit, bytes_in, evict


class Trash:
    """A folder of deleted runs, each named with the time of its deletion; created with the first."""

    def __init__(self, folder: Path) -> None:
        """Delete the runs whose time is over; one that cannot be deleted stays in view, for `empty`."""
        self._folder = folder
        self._evict(LIMITS["trash"])

    def take(self, run: Path) -> None:
        """Move a run here; an OSError says why it cannot be moved."""
        self._folder.mkdir(exist_ok=True)
        run.rename(self._folder / f"{run.name}-{time.time_ns()}")
        self._evict(LIMITS["trash"])

    def num_bytes(self) -> int:
        """Return the size of all runs here."""
        return bytes_in(self._folder)

    def empty(self) -> None:
        """Delete the runs for good; a RunError names one that cannot be."""
        for error in self._evict(Limit(count=0)):
            raise RunError(f"{error.filename} cannot be deleted ({error.strerror}). Delete it by hand.") from error

    def _evict(self, limit: Limit) -> list[OSError]:
        runs = (path for path in self._folder.glob("*") if path.name.rpartition("-")[2].isdecimal())
        return evict(runs, limit, lambda path: int(path.name.rpartition("-")[2]) / 1e9)
