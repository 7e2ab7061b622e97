"""What was computed once: sampled frames and frame embeddings on disk, by the content of the video they come from.

Arrays are kept as .npy bytes and never unpickled. A value is there whole or not at all, also between processes.
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

SAMPLING = 1  # raise it when frames are sampled or fitted differently: what was cached before is not found any more


class Cache:
    """Frames and embeddings in one folder, each up to a size limit; the oldest go first.

    Args:
        folder: where; created when missing.
        frames_bytes: limit for sampled frames (8 of 224 by 224 are 1.2 MB).
        embeddings_bytes: limit for embeddings and hashes (8 of 512 are 16 KB); apart, so that frames push none out.

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
        """Hash the bytes of a file; the answer is kept until its size or time of change is another.

        Raises:
            MediaError: if the file cannot be read.
        """
        try:
            stat = path.stat()
            if not path.is_file():  # a named pipe would be waited for
                raise MediaError(f"{path.name} is not a file.")
            key = f"hash {stat.st_size} {stat.st_mtime_ns} {path.absolute()}"
            known = self._embeddings.get(key)
            if isinstance(known, str):
                return known
            content = blake2b(digest_size=16)
            with path.open("rb") as file:
                while chunk := file.read(1 << 20):
                    content.update(chunk)
        except OSError as error:
            raise MediaError(f"{path.name} cannot be read ({error.strerror}). Add it again.") from None
        self._embeddings.set(key, content.hexdigest())
        return content.hexdigest()

    def get_frames(self, content: str, num_frames: int, size: int) -> NDArray[np.uint8] | None:
        """Return the (F, size, size, 3) frames of the video with this content hash, if they are kept."""
        return _array(self._frames.get(f"frames {SAMPLING} {content} {num_frames} {size}"))

    def put_frames(self, content: str, num_frames: int, size: int, frames: NDArray[np.uint8]) -> None:
        """Keep the (F, size, size, 3) frames of a video."""
        self._frames.set(f"frames {SAMPLING} {content} {num_frames} {size}", _npy(frames))

    def get_embeddings(self, content: str, visual_fingerprint: str, num_frames: int) -> NDArray[np.float32] | None:
        """Return the (F, D) frame embeddings of the video under this visual tower, if they are kept."""
        return _array(self._embeddings.get(f"embeddings {SAMPLING} {content} {visual_fingerprint} {num_frames}"))

    def put_embeddings(
        self, content: str, visual_fingerprint: str, num_frames: int, embeddings: NDArray[np.float32]
    ) -> None:
        """Keep the (F, D) frame embeddings of a video."""
        self._embeddings.set(f"embeddings {SAMPLING} {content} {visual_fingerprint} {num_frames}", _npy(embeddings))

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
    """Return the array, or None for nothing or for bytes that were damaged on disk."""
    if not isinstance(npy, bytes):
        return None
    try:
        array: NDArray[Any] = np.load(BytesIO(npy), allow_pickle=False)
    except (ValueError, EOFError):
        return None
    return array
