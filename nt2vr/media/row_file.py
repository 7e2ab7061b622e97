"""Append-only, memory-mapped file of equal-shaped rows by key. Safe against kills, full disks and other writers.

    FOLDER/lock              held by the process that writes
    FOLDER/GENERATION/FILE   the rows
                      ids    a header and its digest, then the digest of each row's key

A row counts once its id is written, after the row itself is on disk: the next writer overwrites what a killed one left
beyond the ids. Rows never change. Compaction writes a new generation, whose ids appear last; readers keep the files
that they have mapped. A damaged file counts as empty, and the next write replaces it.
"""

import math
import os
import shutil
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from nt2vr.files import atomic_write
from nt2vr.media.stored import UNUSED_ROWS

T = TypeVar("T", bound=np.generic)
Shape = tuple[int, ...]

MAGIC = b"nt2vr 1\n"
DIGEST_BYTES = 16
IDS, LOCK = "ids", "lock"
CHUNK_BYTES = 64 << 20  # copied at once
LOCK_S = 60.0  # limit of waiting for another writer, which holds the lock for one batch, or while it compacts


class RowFile(Generic[T]):
    """The rows in one folder, as they were at the last `refresh`; for one thread.

    Methods that write raise an OSError if the folder cannot be written to or the disk is full; the rows stay.

    Args:
        shape: of a row; a file of rows of another shape is replaced. None accepts any.
    """

    def __init__(self, folder: Path, file: str, dtype: type[T], num_dims: int, shape: Shape | None = None) -> None:
        self._folder, self._file, self._expected = folder, file, shape
        self._dtype, self._num_dims = np.dtype(dtype), num_dims
        self._forget_all(None)
        self.refresh()

    def __len__(self) -> int:
        return self._num_rows

    def _forget_all(self, generation: Path | None) -> None:
        self._generation = generation
        self._shape = self._expected or (0,) * self._num_dims
        self._num_rows = 0
        self._row_of: dict[bytes, int] = {}
        self._rows: NDArray[T] = np.empty((0, *self._shape), self._dtype)

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
                if generation is not None:
                    self._read_ids(generation)
            except (OSError, ValueError):
                if self._newest() != generation:  # compacted in the meantime
                    continue
                self._forget_all(None)
            return

    def find(self, keys: Iterable[str]) -> NDArray[np.int64]:
        """Return the row of each key; -1 if there is none."""
        return np.fromiter((self._row_of.get(digest(key), -1) for key in keys), np.int64)

    def rows(self) -> NDArray[T]:
        return self._rows

    def append(self, keys: Sequence[str], rows: NDArray[T]) -> None:
        """Add rows, except for those whose keys are known by now."""
        with self._locked():
            self.refresh()
            places = {digest(key): place for place, key in enumerate(keys)}
            new = [digest for digest in places if digest not in self._row_of]
            if not new:
                return
            if self._generation is None:
                self._begin(rows.shape[1:])
            assert self._generation is not None, "begun above"
            added = np.ascontiguousarray(rows[[places[digest] for digest in new]], self._dtype)
            write_at(self._generation / self._file, len(self) * added[0].nbytes, added.data)
            first_free = self._ids_start + len(self) * DIGEST_BYTES
            write_at(self._generation / IDS, first_free, memoryview(b"".join(new)), sync=False)
            self.refresh()

    def retain(self, keys: Iterable[str]) -> None:
        """Drop all other rows, if they are at least UNUSED_ROWS of all."""
        with self._locked():
            for path in self._generations():
                if not (path / IDS).exists():  # of a compaction that was killed
                    shutil.rmtree(path, ignore_errors=True)
            self.refresh()
            wanted = {digest(key) for key in keys}
            kept = {row: digest for digest, row in self._row_of.items() if digest in wanted}
            if len(self) - len(kept) < max(1, UNUSED_ROWS * len(self)):
                return
            places, rows = np.array(sorted(kept), np.int64), self._rows
            step = max(1, CHUNK_BYTES // self._row_bytes(self._shape))
            parts = (rows[places[start : start + step]] for start in range(0, len(places), step))
            self._begin(self._shape, parts, [kept[row] for row in places.tolist()])

    def clear(self) -> None:
        with self._locked():
            for path in self._generations():
                (path / IDS).unlink(missing_ok=True)  # first: it makes the rest count
                shutil.rmtree(path, ignore_errors=True)
            self.refresh()

    def _generations(self) -> list[Path]:
        return [path for path in self._folder.iterdir() if path.name.isdecimal()]

    def _newest(self) -> Path | None:
        try:
            newest_first = sorted(self._generations(), key=lambda path: int(path.name), reverse=True)
        except OSError:
            return None
        return next((path for path in newest_first if (path / IDS).is_file()), None)

    def _read_ids(self, generation: Path) -> None:
        """Read the ids added since the last time; the last may be incomplete, of a writer that was killed."""
        with (generation / IDS).open("rb") as file:
            shape = self._shape_of(file.read(self._ids_start))
            file.seek(self._ids_start + self._num_rows * DIGEST_BYTES)
            digests = file.read()
            count = (os.fstat(file.fileno()).st_size - self._ids_start) // DIGEST_BYTES
        written = (generation / self._file).stat().st_size // self._row_bytes(shape)
        if not self._num_rows <= count <= written:
            raise ValueError(f"{generation} has been cut off.")
        for row, start in zip(range(self._num_rows, count), range(0, len(digests), DIGEST_BYTES), strict=False):
            self._row_of[digests[start : start + DIGEST_BYTES]] = row
        if count > self._num_rows:
            self._shape, self._num_rows = shape, count
            self._rows = mapped(generation / self._file, shape, self._dtype, count)

    def _begin(self, shape: Shape, parts: Iterable[NDArray[T]] = (), digests: Sequence[bytes] = ()) -> None:
        """Write a generation that takes the place of the others."""
        old = self._generations()
        new = self._folder / str(max((int(path.name) for path in old), default=0) + 1)
        new.mkdir()
        try:
            with (new / self._file).open("wb") as file:
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

    @property
    def _ids_start(self) -> int:
        return len(_header((0,) * self._num_dims))

    def _row_bytes(self, shape: Shape) -> int:
        return self._dtype.itemsize * math.prod(shape)

    def _shape_of(self, header: bytes) -> Shape:
        shape = struct.unpack_from(f"<{self._num_dims}I", header.ljust(self._ids_start), len(MAGIC))
        if header != _header(shape) or self._expected not in (None, shape):
            raise ValueError(f"The header of {self._folder} is damaged, or of another shape.")
        return shape


def mapped(path: Path, shape: Shape, dtype: np.dtype[T], count: int) -> NDArray[T]:
    """Map the first rows of a file, at most `count`."""
    with path.open("rb") as file:
        count = min(count, os.fstat(file.fileno()).st_size // (dtype.itemsize * math.prod(shape)))
        if not count:  # nothing cannot be mapped
            return np.empty((0, *shape), dtype)
        return np.asarray(np.memmap(file, dtype, "r", shape=(count, *shape)))


def write_at(path: Path, offset: int, data: memoryview, sync: bool = True) -> None:
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


def digest(key: str) -> bytes:
    return blake2b(key.encode(), digest_size=DIGEST_BYTES).digest()


def _header(shape: Shape) -> bytes:
    header = MAGIC + struct.pack(f"<{len(shape)}I", *shape)
    return header + blake2b(header, digest_size=DIGEST_BYTES).digest()
