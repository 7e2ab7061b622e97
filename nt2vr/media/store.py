"""Cached content hashes of files, and other small files that may be damaged.

Nothing depends on it: a full disk or a read-only folder only costs time, and what is damaged counts
as missing.
"""

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

from nt2vr.errors import MediaError, reason_of, warn_once
from nt2vr.files import hash_file
from nt2vr.media.frames import Frames
from nt2vr.media.limits import LIMITS, delete
from nt2vr.models.framing import Framing

T = TypeVar("T")

# Version of how frames are sampled and fitted: a higher number invalidates cached values.
SAMPLING = 2
# Errors of NumPy, FAISS and json on files with other content than expected.
DAMAGE = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    EOFError,
    OverflowError,
    RuntimeError,
    MemoryError,
    BadZipFile,
    zlib.error,
    struct.error,
)
DAMAGED_DATABASE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def read_cached(path: Path, read: Callable[[Path], T]) -> T | None:
    """Return `read(path)` of a cache file, or None. A damaged file is deleted."""
    try:
        return read(path)
    except OSError:
        return None
    except DAMAGE:
        with suppress(OSError):
            delete(path)
        return None


class _TextDisk(diskcache.Disk):  # type: ignore[misc]  # untyped
    """Reads texts, and unpickles nothing."""

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        if mode == diskcache.core.MODE_PICKLE:
            return None
        return super().fetch(mode, filename, value, read)


class Cache(AbstractContextManager["Cache"]):
    """Content hashes in a folder, and the folders of sampled frames and galleries' embeddings."""

    def __init__(
        self, folder: Path, galleries: Path | None = None, frames: Path | None = None
    ) -> None:
        self.galleries = galleries or folder / "galleries"
        self._frames = frames or folder / "clips"
        self._folder = folder / "hashes"
        self._hashes: diskcache.Cache | None = None
        self._opening = threading.Lock()

    @classmethod
    def of(cls, data_dir: Path) -> "Cache":
        """Open the cache of a data folder, next to its frames and the galleries' embeddings."""
        return cls(
            data_dir / "cache", galleries=data_dir / "embeddings", frames=data_dir / "frames"
        )

    def frames(self, num_frames: int, framing: Framing, required: bool = False) -> Frames:
        """Open the store of frames sampled and fitted in one way; for `required` see `Frames`."""
        name = re.sub(r"[^a-z0-9]+", "-", f"{SAMPLING} {num_frames} {framing.key}")
        return Frames(self._frames / name, (num_frames, *framing.shape, 3), required)

    def content_hash(self, path: Path) -> str:
        """Hash a file's bytes; the hash is cached until its size or modification time changes."""
        try:
            stat = path.stat()
            # Reading a named pipe would block.
            if not path.is_file():
                raise MediaError(f"{path.name} is not a file.")
            key = f"hash {stat.st_size} {stat.st_mtime_ns} {path.absolute()}"
            cached = self._call("get", key)
            if cached:
                return str(cached)
            content = hash_file(path)
        except OSError as error:
            raise MediaError(
                f"{path.name} cannot be read ({error.strerror}). Add it again."
            ) from None
        self._call("set", key, content)
        return content

    def _call(self, action: str, *values: str) -> Any:
        """Call the database of hashes; return None if that fails. A damaged one is made again."""
        try:
            with self._opening:
                if self._hashes is None:
                    self._hashes = diskcache.Cache(
                        str(self._folder),
                        disk=_TextDisk,
                        size_limit=int(LIMITS["cache"].num_bytes),
                    )
            return getattr(self._hashes, action)(*values)
        except (OSError, sqlite3.Error, diskcache.Timeout) as error:
            is_damaged = getattr(error, "sqlite_errorcode", None) in DAMAGED_DATABASE
            result = "It is made again" if is_damaged else "Results are computed again instead"
            # Once: a full disk would otherwise fill the log, too.
            warn_once(f"The cache in {self._folder} cannot be used ({reason_of(error)}). {result}.")
            if is_damaged:
                with self._opening:
                    self._hashes = None
                    shutil.rmtree(self._folder, ignore_errors=True)
            return None

    def close(self) -> None:
        if self._hashes is not None:
            self._call("close")

    def __exit__(self, *_: object) -> None:
        self.close()
