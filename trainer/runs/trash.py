"""Trash folder: deleted runs stay until they are removed for good, after some days or by hand."""

import shutil
import time
from contextlib import suppress
from pathlib import Path

from nt2vr.errors import RunError

TRASH_DAYS = 30
DAY_NS = 24 * 3600 * 10**9


class Trash:
    """A folder of deleted runs, each named with the time of its deletion."""

    def __init__(self, folder: Path) -> None:
        """Delete expired runs."""
        self._folder = folder
        self._empty_old()

    def take(self, run: Path) -> None:
        """Move a run here, and delete those older than `TRASH_DAYS`."""
        self._folder.mkdir(exist_ok=True)
        run.rename(self._folder / f"{run.name}-{time.time_ns()}")
        self._empty_old()

    def num_bytes(self) -> int:
        """Return the size of all runs here."""
        total = 0
        for path in self._folder.rglob("*"):
            with suppress(FileNotFoundError):  # deleted just now
                total += path.lstat().st_size
        return total

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

    def _empty_old(self) -> None:
        with suppress(RunError):  # its size stays in view, and it can be emptied by hand
            self.empty(TRASH_DAYS)
