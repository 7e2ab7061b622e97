"""On-disk cache of content hashes, and the folders of sampled frames and of galleries' embeddings.

Nothing depends on the cache: a full disk or a read-only folder only costs time, and a damaged database is made again.
"""

import logging
import re
import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import diskcache

from nt2vr.errors import MediaError, reason_of
from nt2vr.files import hash_file
from nt2vr.media.frame_store import FrameStore
from nt2vr.media.stored import LIMITS
from nt2vr.models.framing import Framing

logger = logging.getLogger(__name__)

SAMPLING = 2  # version of how frames are sampled and fitted: raise it to invalidate cached values
FAILURES = (OSError, sqlite3.Error, diskcache.Timeout)
DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_warned = threading.Event()  # one warning per process: a full disk would otherwise fill the log too


class _Texts(diskcache.Disk):  # type: ignore[misc]
    """Unpickles nothing."""

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> str | None:
        return value if isinstance(value, str) else None


class _Store:
    """One diskcache of texts that never fails: what cannot be read is missing, what cannot be written is dropped."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._replacing = threading.Lock()
        self._cache = self._opened()

    def get(self, key: str) -> str | None:
        found: str | None = self._attempt(lambda cache: cache.get(key))
        return found

    def set(self, key: str, value: str) -> None:
        self._attempt(lambda cache: cache.set(key, value))

    def close(self) -> None:
        self._attempt(lambda cache: cache.close())

    def _attempt(self, action: Callable[[Any], Any]) -> Any:
        cache = self._cache
        try:
            return action(cache) if cache is not None else None
        except FAILURES as error:
            with self._replacing:
                if self._is_deleted(error) and cache is self._cache:  # the first thread that sees the damage
                    with suppress(*FAILURES):
                        cache.close()
                    self._cache = self._opened()
            return None

    def _opened(self) -> Any:
        """Open the cache, without a damaged database; None if the folder cannot be used."""
        for _ in range(2):
            try:
                limit = int(LIMITS["cache"].num_bytes)
                return diskcache.Cache(str(self._folder), disk=_Texts, size_limit=limit)
            except FAILURES as error:
                if not self._is_deleted(error):
                    break
        return None

    def _is_deleted(self, error: Exception) -> bool:
        """Warn of an error, and delete the database if it is damaged."""
        damaged = getattr(error, "sqlite_errorcode", None) in DAMAGE
        if not _warned.is_set():
            _warned.set()
            action = "It is made again" if damaged else "Results are computed again instead"
            logger.warning("The cache in %s cannot be used (%s). %s.", self._folder, reason_of(error), action)
        if damaged:
            shutil.rmtree(self._folder, ignore_errors=True)
        return damaged


class Cache(AbstractContextManager["Cache"]):
    """Content hashes in one folder; sampled frames and galleries' embeddings in others, by default within it."""

    def __init__(self, folder: Path, galleries: Path | None = None, frames: Path | None = None) -> None:
        self.galleries, self._frames = galleries or folder / "galleries", frames or folder / "clips"
        self._hashes = _Store(folder / "embeddings")  # where pooled embeddings were, too

    @classmethod
    def of(cls, data_dir: Path) -> "Cache":
        """Open the cache of the app's data folder, with frames and the galleries' embeddings beside it."""
        return cls(data_dir / "cache", galleries=data_dir / "embeddings", frames=data_dir / "frames")

    def frames(self, num_frames: int, framing: Framing, grows: bool = True, required: bool = False) -> FrameStore:
        """Open the store of frames sampled and fitted in one way; for the last two arguments see `FrameStore`."""
        name = re.sub(r"[^a-z0-9]+", "-", f"{SAMPLING} {num_frames} {framing.key}")
        shape = (num_frames, framing.size, framing.size, 3)
        return FrameStore(self._frames / name, shape, grows, required)

    def content_hash(self, path: Path) -> str:
        """Hash the bytes of a file; the hash is cached until the file's size or modification time changes."""
        try:
            stat = path.stat()
            if not path.is_file():  # reading a named pipe would block
                raise MediaError(f"{path.name} is not a file.")
            key = f"hash {stat.st_size} {stat.st_mtime_ns} {path.absolute()}"
            if cached := self._hashes.get(key):
                return cached
            content = hash_file(path)
        except OSError as error:
            raise MediaError(f"{path.name} cannot be read ({error.strerror}). Add it again.") from None
        self._hashes.set(key, content)
        return content

    def close(self) -> None:
        self._hashes.close()

    def __exit__(self, *_: object) -> None:
        self.close()
