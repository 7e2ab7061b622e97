"""Frame embeddings of clips under one visual tower, in a `RowFile`, with pooled copies.

FOLDER/GENERATION/frames.f32  (N, F, D) float32
                  NAME.f32    (N, D) float32: the frames pooled, made when first asked for
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.media.row_file import RowFile, digest, mapped, write_at

Pool = Callable[[NDArray[np.float32]], NDArray[np.float32]]  # (N, F, D) to (N, D)
FLOAT = np.dtype(np.float32)
CHUNK = 4096  # rows pooled at once: 67 MB of 8 frames of 512


class EmbeddingFile(RowFile[np.float32]):
    """The embeddings in one folder, as they were at the last `refresh`; for one thread.

    Args:
        folder: created by the first write.
        shape: (F, D); a file of another shape is replaced. None accepts any.
    """

    def __init__(self, folder: Path, shape: tuple[int, int] | None = None) -> None:
        """Read the ids."""
        super().__init__(folder, "frames.f32", np.float32, 2, shape)

    def pooled(self, name: str, pool: Pool) -> NDArray[np.float32]:
        """Return the pooled rows (N, D), memory-mapped; those not pooled yet are, and are stored if possible.

        Rows that are not finite are damaged, and forgotten.

        Args:
            name: of the pooling, for the file's name.
            pool: pools frames.
        """
        if not name.isidentifier():
            raise ValueError(f"{name!r} cannot be the name of a file.")
        if not len(self):
            return np.empty((0, *self._shape[1:]), np.float32)
        pooled = self._stored_pooled(f"{name}.f32")
        if len(pooled) < len(self):
            rest = self._pool_from(len(pooled), pool)
            try:
                self._store_pooled(f"{name}.f32", rest)
                pooled = self._stored_pooled(f"{name}.f32")
            except OSError:  # read-only, full, or compacted in the meantime
                pooled = np.concatenate([pooled, rest])
        return self._repaired(pooled, pool)

    def _stored_pooled(self, name: str) -> NDArray[np.float32]:
        try:
            assert self._generation is not None, "there are rows"
            return mapped(self._generation / name, self._shape[1:], FLOAT, len(self))
        except OSError:  # not there, or compacted in the meantime
            return np.empty((0, *self._shape[1:]), np.float32)

    def _store_pooled(self, name: str, last: NDArray[np.float32]) -> None:
        """Extend a file of pooled rows to all rows, given the last ones; never cut rows that others have mapped."""
        with self._locked():
            assert self._generation is not None, "there are rows"
            stored = self._stored_pooled(name)
            if len(stored) < len(self):
                write_at(self._generation / name, stored.nbytes, last[len(stored) - len(self) :].data)

    def _repaired(self, pooled: NDArray[np.float32], pool: Pool) -> NDArray[np.float32]:
        """Return the rows, with those that a crash of the machine left empty pooled again."""
        bad = _bad_rows(pooled)
        if len(bad):
            pooled = np.array(pooled)
            pooled[bad] = pool(self._rows[bad])
            self.forget(bad[~np.isfinite(pooled[bad]).all(axis=1)].tolist())
        return pooled

    def _pool_from(self, start: int, pool: Pool) -> NDArray[np.float32]:
        frames = self._rows[start:]
        return np.concatenate([pool(np.array(frames[at : at + CHUNK])) for at in range(0, len(frames), CHUNK)])


def _bad_rows(pooled: NDArray[np.float32]) -> NDArray[np.int64]:
    """Find rows that are zero or not finite, in one pass without a copy."""
    squares = np.einsum("nd,nd->n", pooled, pooled)
    return np.flatnonzero(~((squares > 0) & np.isfinite(squares)))


def content_id(key: str) -> int:
    """Return a number for a clip key, of 63 bits: a million have a chance of one in 20 million to share one."""
    return int.from_bytes(digest(key)[:8]) >> 1
