"""Sampled frames of clips on disk."""

import logging
import math
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import reason_of
from nt2vr.files import check_free, free_bytes
from nt2vr.media.limits import DAY_S, LIMITS, Limit, bytes_in, evict, mark_used, used_s
from nt2vr.media.resize import Pixels
from nt2vr.media.rows import Rows, Shape

logger = logging.getLogger(__name__)
# Bytes of frames written at once, since each write waits for the disk.
BATCH_BYTES = 16 << 20


class Frames(Rows[np.uint8], AbstractContextManager["Frames"]):
    """Frames (F, S, S, 3) of clips, sampled and fitted in one way.

    Leaving it as a context writes what was added. All stores together have a limit, at most half of
    the disk space that is free or theirs. Beyond it nothing more is stored, and only stores that
    nobody has opened for long are evicted, so that a cycle over more clips than there is room for
    finds those that are stored.

    Args:
        required: whether every clip must be stored, whatever the limit, and an OSError is raised if
            that fails. Otherwise what cannot be stored is dropped.
    """

    def __init__(self, folder: Path, shape: Shape, required: bool = False) -> None:
        super().__init__(folder, np.uint8, shape)
        self._required = required
        self._has_room = True
        self._added: dict[str, Pixels] = {}
        self._clip_bytes = math.prod(shape)
        mark_used(folder)

    def get(self, key: str) -> Pixels | None:
        """Return the frames of a clip, memory-mapped, if they are stored by now."""
        if self.find([key])[0] < 0:
            self.refresh()
        (row,) = self.find([key])
        return self.rows()[row] if row >= 0 else None

    def check_free(self, num_clips: int) -> None:
        check_free(
            self.folder, num_clips * self._clip_bytes, f"Storing the frames of {num_clips:,} videos"
        )

    def add(self, key: str, frames: Pixels) -> None:
        if not self._has_room:
            return
        self._added[key] = frames
        if len(self._added) * self._clip_bytes >= BATCH_BYTES:
            self._write()

    def _write(self) -> None:
        """Write what was added, as far as there is room."""
        added = self._added
        self._added = {}
        if not added:
            return
        try:
            keys = list(added)
            if not self._required:
                keys = keys[: self._num_clips_free(len(keys))]
            if keys:
                self.append(keys, np.stack([added[key] for key in keys]))
            self._has_room = len(keys) == len(added)
        except OSError as error:
            if self._required:
                raise
            self._has_room = False
            logger.warning("Frames cannot be stored in %s (%s).", self.folder, reason_of(error))

    def _num_clips_free(self, num_clips: int) -> int:
        """Return how many clips may be added; if room is lacking, evict unused stores first."""
        root = self.folder.parent
        root.mkdir(parents=True, exist_ok=True)
        limit = LIMITS["frames"]
        used_bytes = bytes_in(root)
        max_bytes = min(limit.num_bytes, (used_bytes + free_bytes(root)) / 2)

        lacking_bytes = used_bytes + num_clips * self._clip_bytes - max_bytes
        if lacking_bytes > 0:
            unused = self._unused_stores(time.time() - limit.days * DAY_S)
            evict(unused, Limit(num_bytes=sum(map(bytes_in, unused)) - lacking_bytes))
            used_bytes = bytes_in(root)
        return int(max(0, max_bytes - used_bytes) // self._clip_bytes)

    def _unused_stores(self, since_s: float) -> list[Path]:
        """List the other stores that nobody has opened since a time."""
        unused = []
        for path in self.folder.parent.iterdir():
            if path.is_dir() and path != self.folder and used_s(path) < since_s:
                unused.append(path)
        return unused

    def __exit__(self, *_: object) -> None:
        self._write()


class StoredClips:
    """Clips of a store's frames (N, F, S, S, 3) in any order, read when they are indexed."""

    def __init__(self, frames: Pixels, rows: NDArray[np.int64]) -> None:
        self._frames = frames
        self._rows = rows
        self.shape = (len(rows), *frames.shape[1:])

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Pixels:
        clips, *within_clips = index if isinstance(index, tuple) else (index,)
        frames: Pixels = self._frames[(self._rows[clips], *within_clips)]
        return frames
