"""On-disk cache: content hashes, small arrays, and folders of frames and embeddings.

Arrays are stored as .npy bytes and never unpickled. Writes are atomic, also between processes. Nothing depends on the
cache: a full disk or a read-only folder only costs time, and a damaged database is set aside.
"""

import logging
import re
import shutil
import sqlite3
import threading
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Any

import diskcache
import numpy as np
from diskcache.core import MODE_PICKLE
from numpy.typing import NDArray

from nt2vr.errors import MediaError, reason_of
from nt2vr.files import hash_file
from nt2vr.media.frame_store import FrameStore
from nt2vr.models.framing import Framing

logger = logging.getLogger(__name__)

SAMPLING = 1  # version of how frames are sampled and fitted: raise it to invalidate cached values
DATABASE = "cache.db"
SMALL_BYTES = 2 << 30  # limit of hashes and arrays: pooled embeddings of 10,000 clips of 512 are 20 MB
DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_warned = threading.Event()  # one warning per process: a full disk would otherwise fill the log too


class _Disk(diskcache.Disk):  # type: ignore[misc]
    """Leaves no partial file on a full disk, and unpickles nothing."""

    def _write(self, full_path: str, iterator: Any, mode: str, encoding: str | None = None) -> int:
        try:
            return int(super()._write(full_path, iterator, mode, encoding))
        except OSError:
            Path(full_path).unlink(missing_ok=True)
            raise

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        return None if mode == MODE_PICKLE else super().fetch(mode, filename, value, read)


class _Store:
    """One diskcache that never fails: what cannot be read is missing, what cannot be written is dropped."""

    def __init__(self, folder: Path, size_limit: int) -> None:
        self._folder, self._size_limit = folder, size_limit
        self._replacing = threading.Lock()
        self._cache = self._opened()

    def get(self, key: str) -> object:
        cache = self._cache
        try:
            return cache.get(key) if cache is not None else None
        except (OSError, sqlite3.Error, diskcache.Timeout) as error:
            self._failed(error, cache)
            return None

    def set(self, key: str, value: object) -> None:
        cache = self._cache
        try:
            if cache is not None:
                cache.set(key, value)
        except (OSError, sqlite3.Error, diskcache.Timeout) as error:
            self._failed(error, cache)

    def close(self) -> None:
        if self._cache is not None:
            self._cache.close()

    def _opened(self) -> Any:
        """Open the cache, without the damaged database if there is one; None if the folder cannot be used."""
        for _ in range(2):
            try:
                return diskcache.Cache(str(self._folder), disk=_Disk, size_limit=self._size_limit)
            except (OSError, sqlite3.Error, diskcache.Timeout) as error:
                _warn(self._folder, error)
                if not _is_damage(error) or not self._set_aside():
                    break
        return None

    def _failed(self, error: Exception, cache: Any) -> None:
        _warn(self._folder, error)
        with self._replacing:
            if _is_damage(error) and cache is self._cache:  # the first thread that sees the damage
                cache.close()
                self._cache = self._opened() if self._set_aside() else None

    def _set_aside(self) -> bool:
        """Rename the damaged database, and delete the values in files that only it knew."""
        names = (self._folder / f"{DATABASE}.damaged-{number}" for number in range(1, 1000))
        try:
            aside = next(path for path in names if not path.exists())
            (self._folder / DATABASE).rename(aside)
            for suffix in ("-wal", "-shm"):
                (self._folder / f"{DATABASE}{suffix}").unlink(missing_ok=True)
            for values in self._folder.glob("[0-9a-f][0-9a-f]"):
                shutil.rmtree(values, ignore_errors=True)
        except OSError as error:
            _warn(self._folder, error)
            return False
        return True


def _is_damage(error: Exception) -> bool:
    return getattr(error, "sqlite_errorcode", None) in DAMAGE


def _warn(folder: Path, error: Exception) -> None:
    if not _warned.is_set():
        _warned.set()
        action = "It was set aside and is rebuilt" if _is_damage(error) else "Results are computed again instead"
        logger.warning("The cache in %s cannot be used (%s). %s.", folder, reason_of(error), action)


class Cache:
    """Content hashes and small arrays in one folder, the oldest evicted first; frames and embeddings in others.

    Args:
        folder: created if missing.
        frames_bytes: limit for sampled frames, see `FrameStore`.
        galleries: folder of the embeddings of galleries, which are never evicted; default one in `folder`.
        frames: folder of sampled frames; default one in `folder`.
    """

    def __init__(
        self,
        folder: Path,
        frames_bytes: int | None = None,
        galleries: Path | None = None,
        frames: Path | None = None,
    ) -> None:
        self.galleries = galleries or folder / "galleries"
        self._frames, self._frames_bytes = frames or folder / "clips", frames_bytes
        self._small = _Store(folder / "embeddings", SMALL_BYTES)
        if (folder / "frames" / DATABASE).exists():  # of version 0.1, up to 2 GB
            shutil.rmtree(folder / "frames", ignore_errors=True)

    @classmethod
    def of(cls, data_dir: Path) -> "Cache":
        """Open the cache of the app's data folder, with frames and the galleries' embeddings beside it."""
        return cls(data_dir / "cache", galleries=data_dir / "embeddings", frames=data_dir / "frames")

    def frames(self, num_frames: int, framing: Framing, grows: bool = True, required: bool = False) -> FrameStore:
        """Open the store of frames sampled and fitted in one way; for the last two arguments see `FrameStore`."""
        name = re.sub(r"[^a-z0-9]+", "-", f"{SAMPLING} {num_frames} {framing.key}")
        shape = (num_frames, framing.size, framing.size, 3)
        return FrameStore(self._frames / name, shape, self._frames_bytes, grows, required)

    def content_hash(self, path: Path) -> str:
        """Hash the bytes of a file; the hash is cached until the file's size or modification time changes.

        Raises:
            MediaError: if the file cannot be read.
        """
        try:
            stat = path.stat()
            if not path.is_file():  # reading a named pipe would block
                raise MediaError(f"{path.name} is not a file.")
            key = f"hash {stat.st_size} {stat.st_mtime_ns} {path.absolute()}"
            cached = self._small.get(key)
            if isinstance(cached, str):
                return cached
            content = hash_file(path)
        except OSError as error:
            raise MediaError(f"{path.name} cannot be read ({error.strerror}). Add it again.") from None
        self._small.set(key, content)
        return content

    def get_embeddings(self, content: str, model: str) -> NDArray[np.float32] | None:
        """Return the embeddings of a content under a model, if cached.

        Args:
            content: hash of a video, or name of a file of frames.
            model: everything else that the embeddings depend on, such as visual fingerprint and number of frames.
        """
        return _array(self._small.get(f"embeddings {SAMPLING} {content} {model}"))

    def put_embeddings(self, content: str, model: str, embeddings: NDArray[np.float32]) -> None:
        """Store embeddings: (F, D) of a video's frames, or (N, D) of the clips in a file."""
        self._small.set(f"embeddings {SAMPLING} {content} {model}", _npy(embeddings))

    def close(self) -> None:
        """Close the files of this thread."""
        self._small.close()

    def __enter__(self) -> "Cache":
        """Return the cache."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the cache."""
        self.close()


def _npy(array: NDArray[Any]) -> bytes:
    buffer = BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _array(npy: object) -> NDArray[Any] | None:
    """Return the array, or None for a missing or damaged value."""
    if not isinstance(npy, bytes):
        return None
    try:
        array: NDArray[Any] = np.load(BytesIO(npy), allow_pickle=False)
    except (ValueError, EOFError):
        return None
    return array
