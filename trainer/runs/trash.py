"""Trash folder: deleted runs stay until they are removed for good, after some days or by hand."""

import time
from pathlib import Path

from nt2vr.errors import RunError
from nt2vr.media.stored import LIMITS, Limit, bytes_in, evict


class Trash:
    """A folder of deleted runs, each named with the time of its deletion."""

    def __init__(self, folder: Path) -> None:
        """Delete expired runs."""
        self._folder = folder
        self._evict(LIMITS["trash"])

    def take(self, run: Path) -> None:
        """Move a run here, and delete those older than `TRASH_DAYS`."""
        self._folder.mkdir(exist_ok=True)
        run.rename(self._folder / f"{run.name}-{time.time_ns()}")
        self._evict(LIMITS["trash"])

    def num_bytes(self) -> int:
        """Return the size of all runs here."""
        return bytes_in(self._folder)

    def empty(self, older_than_days: float = 0.0) -> None:
        """Delete the runs for good, or only those deleted so long ago."""
        latest_ns = time.time_ns() - round(older_than_days * DAY_NS)
        for path in self._folder.glob("*"):
            stamp = path.name.rpartition("-")[2]
            if not (stamp.isdecimal() and int(stamp) <= latest_ns):
                continue
            try:
                shutil.rmtree(path)
            except FileNotFoundError:
                continue  # by another process
            except OSError as error:
                raise RunError(f"{path} cannot be deleted ({error.strerror}). Delete it by hand.") from error

    def _evict(self, limit: Limit) -> list[OSError]:
        runs = (path for path in self._folder.glob("*") if path.name.rpartition("-")[2].isdecimal())
        return evict(runs, limit, lambda path: int(path.name.rpartition("-")[2]) / 1e9)
