"""Cached content hashes of files, and other small files that may be damaged.

Nothing depends on it: a full disk or a read-only folder only costs time, and what is damaged counts
as missing.
"""

import logging
import re
import shutil
import sqlite3
import struct
import threading
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, TypeVar
from zipfile import BadZipFile

import diskcache

from nt2vr.errors import MediaError, reason_of
from nt2vr.files import hash_file
from nt2vr.media.frames import Frames
from nt2vr.media.limits import LIMITS, delete
from nt2vr.models.framing import Framing

logger = logging.getLogger(__name__)
T = TypeVar("T")

SAMPLING = 2  # version of how frames are sampled and fitted: raise it to invalidate cached values
DAMAGE = (  # raised by NumPy, FAISS and json on files with other content than expected
    *(
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        EOFError,
        OverflowError,
        RuntimeError,
        MemoryError,
    ),
    *(BadZipFile, zlib.error, struct.error),
)
DAMAGED_DATABASE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_warned = threading.Event()  # one warning per process: a full disk would otherwise fill the log too


def read_cached(path: Path, read: Callable[[Path], T]) -> T | None:
    """Return `read(path)` of a cache file; None if there is none, or it is damaged: then it is deleted."""
    try:
        return read(path)
    except OSError:
        return None
    except DAMAGE:
        with suppress(OSError):
            delete(path)
        return None


class _Unpickled(diskcache.Disk):  # type: ignore[misc]  # reads texts, and unpickles nothing
    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        return (
            None
            if mode == diskcache.core.MODE_PICKLE
            else super().fetch(mode, filename, value, read)
        )


class Cache(AbstractContextManager["Cache"]):
    """Content hashes in one folder; sampled frames and galleries' embeddings in others, by default within it."""

    def __init__(
        self, folder: Path, galleries: Path | None = None, frames: Path | None = None
    ) -> None:
        self.galleries, self._frames = galleries or folder / "galleries", frames or folder / "clips"
        self._folder, self._opening = folder / "hashes", threading.Lock()
        self._hashes: diskcache.Cache | None = None

    @classmethod
    def of(cls, data_dir: Path) -> "Cache":
        """Open the cache of the app's data folder, with frames and the galleries' embeddings beside it."""
        return cls(
            data_dir / "cache", galleries=data_dir / "embeddings", frames=data_dir / "frames"
        )

    def frames(self, num_frames: int, framing: Framing, required: bool = False) -> Frames:
        """Open the store of frames sampled and fitted in one way; for the last argument see `Frames`."""
        name = re.sub(r"[^a-z0-9]+", "-", f"{SAMPLING} {num_frames} {framing.key}")
        return Frames(self._frames / name, (num_frames, *framing.shape, 3), required)

    def content_hash(self, path: Path) -> str:
        """Hash the bytes of a file; the hash is cached until the file's size or modification time changes."""
        try:
            stat = path.stat()
            if not path.is_file():  # reading a named pipe would block
                raise MediaError(f"{path.name} is not a file.")
            key = f"hash {stat.st_size} {stat.st_mtime_ns} {path.absolute()}"
            if cached := self._ask("get", key):
                return str(cached)
            content = hash_file(path)
        except OSError as error:
            raise MediaError(
                f"{path.name} cannot be read ({error.strerror}). Add it again."
            ) from None
        self._ask("set", key, content)
        return content

    def _ask(self, action: str, *values: str) -> Any:
        """Call the database of hashes; None where it fails. A damaged one is deleted, and made again later."""
        try:
            with self._opening:
                if self._hashes is None:
                    limit = int(LIMITS["cache"].num_bytes)
                    self._hashes = diskcache.Cache(
                        str(self._folder), disk=_Unpickled, size_limit=limit
                    )
            return getattr(self._hashes, action)(*values)
        except (OSError, sqlite3.Error, diskcache.Timeout) as error:
            is_damaged = getattr(error, "sqlite_errorcode", None) in DAMAGED_DATABASE
            if not _warned.is_set():
                _warned.set()
                remedy = "It is made again" if is_damaged else "Results are computed again instead"
                logger.warning(
                    "The cache in %s cannot be used (%s). %s.",
                    self._folder,
                    reason_of(error),
                    remedy,
                )
            if is_damaged:
                with self._opening:
                    self._hashes = None
                    shutil.rmtree(self._folder, ignore_errors=True)
            return None

    def close(self) -> None:
        if self._hashes is not None:
            self._ask("close")

    def __exit__(self, *_: object) -> None:
        self.close()
