"""Frame embeddings of clips under one visual tower: one memory-mapped, append-only file. It knows no model or gallery.

    FOLDER/lock                   held by the process that writes
    FOLDER/GENERATION/frames.f32  (N, F, D) float32
                      ids         HEADER and its digest, then the digest of each row's clip key
                      NAME.f32    (N, D) float32: the frames pooled, made when first asked for

A row counts once its id is written, after its frames are on disk: what a killed writer left beyond the ids is cut off
by the next one. Rows never change. Compaction writes a new generation, whose ids appear last; readers keep the files
that they have mapped.
"""

import logging
import math
import os
import shutil
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from nt2vr.files import atomic_write

logger = logging.getLogger(__name__)
Pool = Callable[[NDArray[np.float32]], NDArray[np.float32]]  # (N, F, D) to (N, D)

MAGIC = b"nt2vr 1\n"
HEADER = struct.Struct("<8sII")  # MAGIC, F, D
DIGEST_BYTES = 16
FIRST_ID = HEADER.size + DIGEST_BYTES  # bytes before the first id
FRAMES, IDS, LOCK = "frames.f32", "ids", "lock"
CHUNK = 4096  # rows pooled or copied at once: 67 MB of 8 frames of 512
WASTE = 0.2  # share of unused rows from which a file is compacted
LOCK_S = 60.0  # limit of waiting for another writer, which holds the lock for one batch, or while it compacts


class EmbeddingFile:
    """The embeddings in one folder, as they were at the last `refresh`; for one thread.

    Methods that write raise an OSError if the folder cannot be written to or the disk is full; the rows that were
    there stay.

    Args:
        folder: created by the first write.
        shape: (F, D); a file of another shape is replaced. None accepts any.
    """

    def __init__(self, folder: Path, shape: tuple[int, int] | None = None) -> None:
        """Read the ids."""
        self._folder, self._expected = folder, shape
        self._forget_all(None)
        try:
            self.refresh()
        except OSError as error:  # also raised by `append`, which would otherwise replace what cannot be read
            logger.warning("Embeddings in %s cannot be read (%s).", folder, error.strerror)

    def __len__(self) -> int:
        """Return the number of rows, including unused ones."""
        return self._num_rows

    def _forget_all(self, generation: Path | None) -> None:
        self._generation = generation
        self._shape = self._expected or (0, 0)
        self._num_rows = 0
        self._row_of: dict[bytes, int] = {}
        self._frames = np.empty((0, *self._shape), np.float32)

    @property
    def state(self) -> tuple[object, ...]:
        """Changes whenever rows do."""
        return self._generation, self._num_rows

    def refresh(self) -> None:
        """Notice the rows that other processes have added or compacted."""
        while True:
            generation = self._newest()
            if generation != self._generation:
                self._forget_all(generation)
            try:
                self._read_ids()
            except FileNotFoundError:
                if self._newest() != generation:  # compacted in the meantime
                    continue
                self._forget_all(generation)
            return

    def find(self, keys: Iterable[str]) -> NDArray[np.int64]:
        """Return the row of each key; -1 if there is none."""
        return np.fromiter((self._row_of.get(_digest(key), -1) for key in keys), np.int64)

    def forget(self, rows: Iterable[int]) -> None:
        """Treat rows as missing, because they are damaged; `append` replaces them."""
        damaged = set(rows)
        if damaged:
            self._row_of = {digest: row for digest, row in self._row_of.items() if row not in damaged}

    def frames(self) -> NDArray[np.float32]:
        """Return all rows (N, F, D), memory-mapped."""
        return self._frames

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

    def append(self, keys: Sequence[str], frames: NDArray[np.float32]) -> None:
        """Add rows, except for those whose keys are known by now: (B, F, D)."""
        with self._locked():
            self.refresh()
            rows = {_digest(key): row for row, key in enumerate(keys)}
            new = [digest for digest in rows if digest not in self._row_of]
            if not new:
                return
            if self._generation is None:
                self._begin((frames.shape[1], frames.shape[2]))
            assert self._generation is not None, "begun above"
            added = np.ascontiguousarray(frames[[rows[digest] for digest in new]], np.float32)
            _write_at(self._generation / FRAMES, len(self) * added[0].nbytes, added.data)
            _write_at(
                self._generation / IDS, FIRST_ID + len(self) * DIGEST_BYTES, memoryview(b"".join(new)), sync=False
            )
            self.refresh()

    def retain(self, keys: Iterable[str]) -> None:
        """Drop all other rows, if they are at least WASTE of all."""
        with self._locked():
            for path in self._folder.iterdir():
                if path.name.isdecimal() and not (path / IDS).exists():  # of a compaction that was killed
                    shutil.rmtree(path, ignore_errors=True)
            self.refresh()
            wanted = {_digest(key) for key in keys}
            kept = {row: digest for digest, row in self._row_of.items() if digest in wanted}
            if len(self) - len(kept) < max(1, WASTE * len(self)):
                return
            rows = np.array(sorted(kept), np.int64)
            frames = self._frames
            parts = (frames[rows[start : start + CHUNK]] for start in range(0, len(rows), CHUNK))
            self._begin(self._shape, parts, [kept[row] for row in rows.tolist()])

    def _newest(self) -> Path | None:
        try:
            numbers = [int(path.name) for path in self._folder.iterdir() if path.name.isdecimal()]
        except FileNotFoundError:
            return None
        folders = (self._folder / str(number) for number in sorted(numbers, reverse=True))
        return next((folder for folder in folders if (folder / IDS).is_file()), None)

    def _read_ids(self) -> None:
        """Read the ids added since the last time; those without frames do not count."""
        if self._generation is None:
            return
        with (self._generation / IDS).open("rb") as file:
            shape = _shape_of(file.read(FIRST_ID))
            file.seek(FIRST_ID + self._num_rows * DIGEST_BYTES)
            digests = file.read()
        if shape is None or self._expected not in (None, shape):
            self._forget_all(None)
            return
        written = (self._generation / FRAMES).stat().st_size // _row_bytes(shape)
        count = min(written, self._num_rows + len(digests) // DIGEST_BYTES)
        if count < self._num_rows:  # cut off from outside
            self._forget_all(self._generation)
            self._read_ids()
            return
        self._shape = shape
        for row, start in zip(range(self._num_rows, count), range(0, len(digests), DIGEST_BYTES), strict=False):
            self._row_of[digests[start : start + DIGEST_BYTES]] = row
        if count > self._num_rows:
            self._num_rows = count
            self._frames = _mapped(self._generation / FRAMES, shape, count)

    def _begin(
        self, shape: tuple[int, int], parts: Iterable[NDArray[np.float32]] = (), digests: Sequence[bytes] = ()
    ) -> None:
        """Write a generation that takes the place of the others."""
        old = [path for path in self._folder.iterdir() if path.name.isdecimal()]
        new = self._folder / str(max((int(path.name) for path in old), default=0) + 1)
        new.mkdir()
        try:
            with (new / FRAMES).open("wb") as file:
                for part in parts:
                    file.write(np.ascontiguousarray(part).data)
                file.flush()
                os.fsync(file.fileno())
            with atomic_write(new / IDS) as partial:
                partial.write_bytes(_header(shape) + b"".join(digests))
        except OSError:
            shutil.rmtree(new, ignore_errors=True)
            raise
        for path in old:
            shutil.rmtree(path, ignore_errors=True)
        self.refresh()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self._folder / LOCK, timeout=LOCK_S):
            yield

    def _stored_pooled(self, name: str) -> NDArray[np.float32]:
        try:
            assert self._generation is not None, "there are rows"
            return _mapped(self._generation / name, self._shape[1:], len(self))
        except OSError:  # not there, or compacted in the meantime
            return np.empty((0, *self._shape[1:]), np.float32)

    def _store_pooled(self, name: str, last: NDArray[np.float32]) -> None:
        """Extend a file of pooled rows to all rows, given the last ones; never cut rows that others have mapped."""
        with self._locked():
            assert self._generation is not None, "there are rows"
            stored = self._stored_pooled(name)
            if len(stored) < len(self):
                _write_at(self._generation / name, stored.nbytes, last[len(stored) - len(self) :].data)

    def _repaired(self, pooled: NDArray[np.float32], pool: Pool) -> NDArray[np.float32]:
        """Return the rows, with those that a crash of the machine left empty pooled again."""
        bad = _bad_rows(pooled)
        if len(bad):
            pooled = np.array(pooled)
            pooled[bad] = pool(self._frames[bad])
            self.forget(bad[~np.isfinite(pooled[bad]).all(axis=1)].tolist())
        return pooled

    def _pool_from(self, start: int, pool: Pool) -> NDArray[np.float32]:
        frames = self._frames[start:]
        return np.concatenate([pool(np.array(frames[at : at + CHUNK])) for at in range(0, len(frames), CHUNK)])


def _mapped(path: Path, shape: tuple[int, ...], count: int) -> NDArray[np.float32]:
    """Map the first rows of a file, at most `count`."""
    with path.open("rb") as file:
        count = min(count, os.fstat(file.fileno()).st_size // _row_bytes(shape))
        if not count:  # nothing cannot be mapped
            return np.empty((0, *shape), np.float32)
        return np.asarray(np.memmap(file, np.float32, "r", shape=(count, *shape)))


def _write_at(path: Path, offset: int, data: memoryview, sync: bool = True) -> None:
    """Write at an offset, creating the file; what lay beyond is cut off. A failed write leaves nothing."""
    rest = data.cast("B")
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b", buffering=0) as file:
        file.truncate(offset)
        file.seek(offset)
        try:
            while rest:
                rest = rest[file.write(rest) :]
            if sync:
                os.fsync(file.fileno())
        except OSError:
            file.truncate(offset)
            raise


def _bad_rows(pooled: NDArray[np.float32]) -> NDArray[np.int64]:
    """Find rows that are zero or not finite, in one pass without a copy."""
    squares = np.einsum("nd,nd->n", pooled, pooled)
    return np.flatnonzero(~((squares > 0) & np.isfinite(squares)))


def content_id(key: str) -> int:
    """Return a number for a clip key, of 63 bits: a million have a chance of one in 20 million to share one."""
    return int.from_bytes(_digest(key)[:8]) >> 1


def _digest(key: str) -> bytes:
    return blake2b(key.encode(), digest_size=DIGEST_BYTES).digest()


def _row_bytes(shape: tuple[int, ...]) -> int:
    return 4 * math.prod(shape)


def _header(shape: tuple[int, int]) -> bytes:
    header = HEADER.pack(MAGIC, *shape)
    return header + blake2b(header, digest_size=DIGEST_BYTES).digest()


def _shape_of(header: bytes) -> tuple[int, int] | None:
    """Return (F, D) of a header; None if it is damaged."""
    if len(header) < FIRST_ID:
        return None
    magic, num_frames, dim = HEADER.unpack(header[: HEADER.size])
    return (num_frames, dim) if magic == MAGIC and header == _header((num_frames, dim)) else None
