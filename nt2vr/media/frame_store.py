"""Stores of sampled frames, one per number of frames and framing. Shared by search, evaluation and training.

Bounded by a limit over all stores. Beyond it nothing more is stored and nothing evicted, so that a cycle over more
clips than there is room for finds those that are stored.
"""

import logging
import os
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import reason_of
from nt2vr.files import check_free, free_bytes
from nt2vr.media.row_file import RowFile

logger = logging.getLogger(__name__)

ROWS = "frames.u8"
MAX_BYTES = 32_000_000_000  # of all stores: 26,000 clips of 8 frames of 224 x 224
UNUSED_S = 30 * 24 * 3600.0  # since a store was last opened, until it may be deleted
BATCH_BYTES = 16 << 20  # written at once, since each write waits for the disk


class FrameStore(RowFile[np.uint8]):
    """The frames (F, S, S, 3) of clips, by clip key; for one thread. Leaving it as a context writes what was added.

    Args:
        folder: of this store, among those of the others.
        shape: (F, S, S, 3).
        limit: of all stores together, in bytes; default MAX_BYTES, but at most half of the disk space that is free or
            theirs.
        grows: whether clips are added.
        required: whether every clip must be stored, whatever the limit, and an OSError is raised if that fails.
            Otherwise what cannot be stored is dropped.
    """

    def __init__(
        self,
        folder: Path,
        shape: tuple[int, ...],
        limit: int | None = None,
        grows: bool = True,
        required: bool = False,
    ) -> None:
        """Note that the store was opened."""
        super().__init__(folder, ROWS, np.uint8, len(shape), shape)
        self._limit, self._grows, self._required = limit, grows or required, required
        self._added: dict[str, NDArray[np.uint8]] = {}
        self._clip_bytes = self._row_bytes(shape)
        with suppress(OSError):
            os.utime(folder)

    @property
    def name(self) -> str:
        """Tell which frames are sampled, and how they are fitted."""
        return self._folder.name

    def get(self, key: str) -> NDArray[np.uint8] | None:
        """Return the frames of a clip, memory-mapped, if they are stored by now."""
        (row,) = self.find([key])
        if row < 0:
            with suppress(OSError):
                self.refresh()
            (row,) = self.find([key])
        return None if row < 0 else self.rows()[row]

    def check_free(self, num_clips: int) -> None:
        """Refuse clips that the disk has no room for.

        Raises:
            ConfigError: if it has less.
        """
        check_free(self._folder, num_clips * self._clip_bytes, f"Storing the frames of {num_clips:,} videos")

    def add(self, key: str, frames: NDArray[np.uint8]) -> None:
        """Store the frames of a clip, with the next batch."""
        if self._grows:
            self._added[key] = frames
            if len(self._added) * self._clip_bytes >= BATCH_BYTES:
                self.write()

    def write(self) -> None:
        """Write what was added, as far as there is room."""
        added, self._added = self._added, {}
        if not added:
            return
        try:
            room = self._room(len(added))
            keys = list(added)[: None if self._required else room]
            if keys:
                self.append(keys, np.stack([added[key] for key in keys]))
            self._grows = len(keys) == len(added)
        except OSError as error:
            if self._required:
                raise
            self._grows = False
            logger.warning("Frames cannot be stored in %s (%s).", self._folder, reason_of(error))

    def _room(self, wanted: int) -> int:
        """Count the clips that may be added; where that is fewer than wanted, stores that nobody opens are deleted."""
        root = self._folder.parent
        root.mkdir(parents=True, exist_ok=True)
        stores = [(path.stat().st_mtime, path) for path in root.iterdir() if path.is_dir() and path != self._folder]
        old = (path for opened, path in sorted(stores) if opened < time.time() - UNUSED_S)
        while True:
            used = _bytes_in(root)
            limit = self._limit if self._limit is not None else min(MAX_BYTES, (used + free_bytes(root)) // 2)
            room = max(0, limit - used) // self._clip_bytes
            oldest = next(old, None) if room < wanted else None
            if oldest is None:
                return room
            with suppress(OSError):
                RowFile(oldest, ROWS, np.uint8, len(self._shape)).clear()

    def __enter__(self) -> "FrameStore":
        """Return the store."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Write what was added."""
        self.write()


class StoredClips:
    """Some clips of a store in an order of their own, read where they are indexed, as an array of them would be.

    Args:
        frames: (N, F, S, S, 3) of the store.
        rows: (n,) which clips.
    """

    def __init__(self, frames: NDArray[np.uint8], rows: NDArray[np.int64]) -> None:
        self._frames, self._rows = frames, rows
        self.shape = (len(rows), *frames.shape[1:])

    def __len__(self) -> int:
        """Return the number of clips."""
        return len(self._rows)

    def __getitem__(self, index: Any) -> NDArray[np.uint8]:
        """Read frames; the first index is that of the clip."""
        clips, *rest = index if isinstance(index, tuple) else (index,)
        read: NDArray[np.uint8] = self._frames[(self._rows[clips], *rest)]
        return read

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Read all."""
        return np.asarray(self._frames[self._rows], dtype)


def _bytes_in(folder: Path) -> int:
    """Sum up the sizes of all files; one deleted in the meantime counts as empty."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.stat().st_size if path.is_file() else 0
    return total
