"""On-disk cache of sampled frames and embeddings, keyed by content.

Arrays are stored as .npy bytes and never unpickled. Writes are atomic, also between processes.
"""

import sqlite3
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Any

import diskcache
import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, MediaError

SAMPLING = 1  # version of how frames are sampled and fitted: raise it to invalidate cached values


class Cache:
    """Frames and embeddings in one folder, each up to a size limit; the oldest are evicted first.

    Args:
        folder: created if missing.
        frames_bytes: limit for sampled frames (8 of 224 by 224 are 1.2 MB).
        embeddings_bytes: limit for embeddings and hashes (8 of 512 are 16 KB); separate, so that frames evict none.

    Raises:
        ConfigError: if the folder cannot be used.
    """

    def __init__(self, folder: Path, frames_bytes: int = 2 << 30, embeddings_bytes: int = 2 << 30) -> None:
        try:
            self._frames = diskcache.Cache(str(folder / "frames"), size_limit=frames_bytes)
            self._embeddings = diskcache.Cache(str(folder / "embeddings"), size_limit=embeddings_bytes)
        except (OSError, sqlite3.Error) as error:
            raise ConfigError(f"The cache in {folder} cannot be used ({error}). Delete it or name another.") from error

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
            cached = self._embeddings.get(key)
            if isinstance(cached, str):
                return cached
            content = blake2b(digest_size=16)
            with path.open("rb") as file:
                while chunk := file.read(1 << 20):
                    content.update(chunk)
        except OSError as error:
            raise MediaError(f"{path.name} cannot be read ({error.strerror}). Add it again.") from None
        self._embeddings.set(key, content.hexdigest())
        return content.hexdigest()

    def get_frames(self, content: str, num_frames: int, size: int) -> NDArray[np.uint8] | None:
        """Return the (F, size, size, 3) frames of the video with this content hash, if cached."""
        return _array(self._frames.get(f"frames {SAMPLING} {content} {num_frames} {size}"))

    def put_frames(self, content: str, num_frames: int, size: int, frames: NDArray[np.uint8]) -> None:
        """Store the (F, size, size, 3) frames of a video."""
        self._frames.set(f"frames {SAMPLING} {content} {num_frames} {size}", _npy(frames))

    def get_embeddings(self, content: str, model: str) -> NDArray[np.float32] | None:
        """Return the embeddings of a content under a model, if cached.

        Args:
            content: hash of a video, or name of a file of frames.
            model: everything else that the embeddings depend on, such as visual fingerprint and number of frames.
        """
        return _array(self._embeddings.get(f"embeddings {SAMPLING} {content} {model}"))

    def put_embeddings(self, content: str, model: str, embeddings: NDArray[np.float32]) -> None:
        """Store embeddings: (F, D) of a video's frames, or (N, D) of the clips in a file."""
        self._embeddings.set(f"embeddings {SAMPLING} {content} {model}", _npy(embeddings))

    def close(self) -> None:
        """Close the files of this thread."""
        self._frames.close()
        self._embeddings.close()

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
