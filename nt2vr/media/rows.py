"""Rows of frames or embeddings on disk, by key."""

import json
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from nt2vr.files import atomic_write

Number = TypeVar("Number", bound=np.generic)


Shape = tuple[int, ...]


KEYS, ROWS, LOCK = "keys", "rows", "lock"


KEY_BYTES = 16


MAX_HEADER = 1000  # bytes


LOCK_S = 60.0  # limit of waiting for another writer, which holds the lock for one batch, or while it compacts


CHUNK = 4096  # rows copied at once: 67 MB of 8 frames of 512


UNUSED_ROWS = 0.2  # share of rows no longer needed from which a file is written again without them


class Rows(Generic[Number]):
    """Append-only, memory-mapped rows of one shape by key, as they were at the last `refresh`; for one thread.

        FOLDER/lock     held by the process that writes
               keys     a header that names the file of rows and their shape, then the digest of each row's key
               rows-1   the rows

    A row counts once its key is written, after the row itself is on disk: the next writer
    overwrites what a killed one left. Rows never change. Compaction writes another file of rows,
    which counts once `keys` is replaced; readers keep the files that they have mapped. Methods that
    write raise an OSError if the disk is full or read-only.

    Args:
        shape: of a row; a file of rows of another shape is replaced. None accepts any.
    """

    def __init__(self, folder: Path, dtype: type[Number], shape: Shape | None = None) -> None:
        self.folder, self._dtype, self._expected = folder, np.dtype(dtype), shape
        self.held: list[NDArray[Number]] = []  # rows that are in memory only
        self._forget_all()
        self.refresh()

    def __len__(self) -> int:
        return len(self._rows)

    def _forget_all(self, header: bytes = b"", number: int = 0, shape: Shape | None = None) -> None:
        self._header, self._path = header, self.folder / f"{ROWS}-{number}"
        self._shape = shape or self._expected or (0, 0)
        self._row_of: dict[bytes, int] = {}
        self._rows: NDArray[Number] = np.empty((0, *self._shape), self._dtype)

    def refresh(self) -> None:
        """Notice the rows that other processes have added or compacted."""
        if self.held:
            return
        for _ in range(3):
            with suppress(
                OSError, ValueError, LookupError, TypeError
            ):  # missing, damaged, or compacted meanwhile
                self._read_keys()
                return
            if not (self.folder / KEYS).exists():
                break
        self._forget_all()

    def _read_keys(self) -> None:
        with (self.folder / KEYS).open("rb") as file:
            header = file.readline(MAX_HEADER)
            if header != self._header:
                text, _, check = header.rstrip().rpartition(b" ")
                facts = json.loads(text)
                shape = tuple(map(int, facts["shape"]))
                if digest(text.decode()).hex().encode() != check or self._expected not in (
                    None,
                    shape,
                ):
                    raise ValueError(
                        f"The header of {self.folder} is damaged, or of another shape."
                    )
                self._forget_all(header, int(facts["number"]), shape)
            count = (
                os.fstat(file.fileno()).st_size - len(header)
            ) // KEY_BYTES  # first: keys may be added meanwhile
            file.seek(len(header) + len(self) * KEY_BYTES)
            added = file.read()
        if count != len(self):
            row_bytes = self._dtype.itemsize * math.prod(self._shape)
            if count < len(self) or count * row_bytes > self._path.stat().st_size:
                self._header = b""
                raise ValueError(f"{self.folder} has been cut off.")
            for row, start in zip(
                range(len(self), count), range(0, len(added), KEY_BYTES), strict=False
            ):
                self._row_of[added[start : start + KEY_BYTES]] = row
            self._rows = np.asarray(
                np.memmap(self._path, self._dtype, "r", shape=(count, *self._shape))
            )

    def find(self, keys: Iterable[str]) -> NDArray[np.int64]:
        """Return the row of each key; -1 if there is none."""
        return np.fromiter((self._row_of.get(digest(key), -1) for key in keys), np.int64)

    def rows(self) -> NDArray[Number]:
        return np.concatenate([self._rows, *self.held]) if self.held else self._rows

    def append(self, keys: Sequence[str], rows: NDArray[Number]) -> None:
        """Add rows, except for those whose keys are known by now."""
        with self._locked():
            places = {digest(key): place for place, key in enumerate(keys)}
            new = [digest for digest in places if digest not in self._row_of]
            if not new:
                return
            if not self._header:
                self._begin(rows.shape[1:])
            added = np.ascontiguousarray(rows[[places[digest] for digest in new]], self._dtype)
            write_at(self._path, len(self) * added[0].nbytes, added.data)
            first_free = len(self._header) + len(self) * KEY_BYTES
            write_at(self.folder / KEYS, first_free, memoryview(b"".join(new)), sync=False)
            self.refresh()

    def hold(self, keys: Sequence[str], rows: NDArray[Number]) -> None:
        """Add rows in memory only, where `append` fails; from then on, nothing that others store is noticed."""
        first = len(self._rows) + sum(map(len, self.held))
        self._row_of |= {digest(key): row for row, key in enumerate(keys, first)}
        self.held.append(rows)

    def retain(self, keys: Iterable[str]) -> None:
        """Drop all other rows, if they are at least UNUSED_ROWS of all."""
        with self._locked():
            wanted = {digest(key) for key in keys}
            kept = sorted((row, digest) for digest, row in self._row_of.items() if digest in wanted)
            if len(self) - len(kept) >= max(1, UNUSED_ROWS * len(self)):
                self._begin(self._shape, kept)

    def _begin(self, shape: Shape, kept: Sequence[tuple[int, bytes]] = ()) -> None:
        """Start another file of rows with some of the present ones; it takes the place of the others."""
        others = list(self.folder.glob("*-*[0-9]"))
        number = max((int(path.name.rpartition("-")[2]) for path in others), default=0) + 1
        path, rows = self.folder / f"{ROWS}-{number}", self._rows
        try:
            with path.open("wb") as file:
                for start in range(0, len(kept), CHUNK):
                    file.write(rows[[row for row, _ in kept[start : start + CHUNK]]].data)
                file.flush()
                os.fsync(file.fileno())
            facts = json.dumps({"number": number, "shape": shape})
            with atomic_write(self.folder / KEYS) as partial:
                header = f"{facts} {digest(facts).hex()}\n".encode()
                partial.write_bytes(header + b"".join(digest for _, digest in kept))
        except OSError:
            path.unlink(missing_ok=True)
            raise
        for other in others:
            other.unlink(missing_ok=True)
        self.refresh()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / LOCK, timeout=LOCK_S):
            self.refresh()
            yield


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
    return blake2b(key.encode(), digest_size=KEY_BYTES).digest()
