"""Frame embeddings of clips under one visual tower, in a `RowFile`, with pooled copies.

FOLDER/GENERATION/frames.f32  (N, F, D) float32
                  NAME.f32    (N, D) float32: the frames pooled, made when first asked for; the latest few are kept
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.media.row_file import RowFile, digest, mapped, write_at
from nt2vr.media.stored import LIMITS, delete, evict, mark_used

Pool = Callable[[NDArray[np.float32]], NDArray[np.float32]]  # (N, F, D) to (N, D)
FLOAT = np.dtype(np.float32)
CHUNK = 4096  # rows pooled at once: 67 MB of 8 frames of 512


class EmbeddingFile(RowFile[np.float32]):
    """The embeddings in one folder, as they were at the last `refresh`; for one thread."""

    def __init__(self, folder: Path, shape: tuple[int, int] | None = None) -> None:
        """Open a file of embeddings (F, D); one of another shape is replaced. None accepts any."""
        super().__init__(folder, "frames.f32", np.float32, 2, shape)

    def pooled(self, name: str, pool: Pool, width: int = 0) -> NDArray[np.float32]:
        """Return the pooled rows (N, width or D), memory-mapped; those not pooled yet are, and are stored if possible.

        A crash of the machine may leave rows that are empty or not finite: then all are pooled again, and if some are
        not finite even so, all embeddings are deleted.
        """
        if not name.isidentifier():
            raise ValueError(f"{name!r} cannot be the name of a file.")
        shape = (width,) if width else self._shape[1:]
        pooled = self._pooled(f"{name}.f32", pool, shape)
        squares = np.einsum("nd,nd->n", pooled, pooled)  # in one pass without a copy
        if not ((squares > 0) & np.isfinite(squares)).all() and self._generation is not None:
            with suppress(OSError):
                delete(self._generation / f"{name}.f32")
            pooled = self._pooled(f"{name}.f32", pool, shape)
            if not np.isfinite(pooled).all():
                with suppress(OSError):
                    self.clear()
                self._forget_all(None)
                pooled = np.empty((0, *shape), np.float32)
        return pooled

    def _pooled(self, name: str, pool: Pool, shape: tuple[int, ...]) -> NDArray[np.float32]:
        pooled = self._stored_pooled(name, shape)
        if self._generation is not None:
            mark_used(self._generation / name)
        if len(pooled) == len(self):
            return pooled
        chunks = range(len(pooled), len(self), CHUNK)
        rest = np.concatenate([pool(np.array(self._rows[start : start + CHUNK])) for start in chunks])
        try:
            self._store_pooled(name, rest)
            return self._stored_pooled(name, shape)
        except OSError:  # read-only, full, or compacted in the meantime
            return np.concatenate([pooled, rest])

    def _stored_pooled(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
        try:
            if self._generation is not None:
                return mapped(self._generation / name, shape, FLOAT, len(self))
        except OSError:  # not there, or compacted in the meantime
            pass
        return np.empty((0, *shape), np.float32)

    def _store_pooled(self, name: str, last: NDArray[np.float32]) -> None:
        """Extend a file of pooled rows to all rows, given the last ones; never cut rows that others have mapped."""
        with self._locked():
            assert self._generation is not None, "there are rows"
            stored = self._stored_pooled(name, last.shape[1:])
            if not len(stored):
                others = (path for path in self._generation.glob("*.f32") if path.name not in (self._file, name))
                evict(others, replace(LIMITS["pooled"], count=LIMITS["pooled"].count - 1))
            if len(stored) < len(self):
                write_at(self._generation / name, stored.nbytes, last[len(stored) - len(self) :].data)


def content_id(key: str) -> int:
    """Return a number for a clip key, of 63 bits: a million have a chance of one in 20 million to share one."""
    return int.from_bytes(digest(key)[:8]) >> 1
