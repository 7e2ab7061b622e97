"""Rows of frames or embeddings on disk, by key."""

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from nt2vr.files import atomic_write

Number = TypeVar("Number", bound=np.generic)
Shape = tuple[int, ...]
KEYS = "keys"
ROWS = "rows"
LOCK = "lock"
KEY_BYTES = 16
MAX_HEADER_BYTES = 1000
# Seconds to wait for another writer, who holds the lock for one batch, or to compact the file.
LOCK_S = 60.0
# Rows copied at once: 67 MB of 8 frames of 512.
CHUNK = 4096
# A file is written again without its unused rows once they are this share of all.
UNUSED_ROWS = 0.2


class Rows(Generic[Number]):
    """Append-only, memory-mapped rows of one shape by key, as they were at the last `refresh`.

        FOLDER/lock     held by the process that writes
               keys     a header that names the file of rows and their shape, then the digest of each row's key
               rows-1   the rows

    A row counts once its key is written, after the row itself is on disk: the next writer
    overwrites what a killed one left. Rows never change. Compaction writes another file of rows,
    which counts once `keys` is replaced; readers keep the files that they have mapped. Methods that
    write raise an OSError if the disk is full or read-only. An object is for one thread.

    Args:
        shape: of a row; a file of rows of another shape is replaced. None accepts any.

    Attributes:
        held: batches of rows that are in memory only.
    """

    def __init__(self, folder: Path, dtype: type[Number], shape: Shape | None = None) -> None:
        self.folder = folder
        self.held: list[NDArray[Number]] = []
        self._dtype = np.dtype(dtype)
        self._expected_shape = shape
        self._clear()
        self.refresh()

    def __len__(self) -> int:
        return len(self._rows)

    def _clear(self, header: bytes = b"", number: int = 0, shape: Shape | None = None) -> None:
        """Forget all rows, before those of another file are read."""
        self._header = header
        self._path = self.folder / f"{ROWS}-{number}"
        self._shape = shape or self._expected_shape or (0, 0)
        self._row_of: dict[bytes, int] = {}
        self._rows: NDArray[Number] = np.empty((0, *self._shape), self._dtype)

    def refresh(self) -> None:
        """Notice the rows that other processes have added or compacted."""
        if self.held:
            return
        for _ in range(3):
            # The files are missing, damaged, or compacted at this moment.
            with suppress(OSError, ValueError, LookupError, TypeError):
                self._read_keys()
                return
            if not (self.folder / KEYS).exists():
                break
        self._clear()

    def _read_keys(self) -> None:
        """Read the keys that are new, and map their rows; a ValueError says that rows are gone."""
        with (self.folder / KEYS).open("rb") as file:
            header = file.readline(MAX_HEADER_BYTES)
            if header != self._header:
                self._read_header(header)

            # The size is read before the keys, since keys may be added in the meantime.
            keys_size = os.fstat(file.fileno()).st_size - len(header)
            file.seek(len(header) + len(self) * KEY_BYTES)
            new_digests = BytesIO(file.read())

        num_known = len(self)
        num_rows = keys_size // KEY_BYTES
        if num_rows == num_known:
            return
        row_bytes = self._dtype.itemsize * math.prod(self._shape)
        if num_rows < num_known or num_rows * row_bytes > self._path.stat().st_size:
            self._header = b""
            raise ValueError(f"{self.folder} has been cut off.")

        for row in range(num_known, num_rows):
            self._row_of[new_digests.read(KEY_BYTES)] = row
        mapped = np.memmap(self._path, self._dtype, "r", shape=(num_rows, *self._shape))
        self._rows = np.asarray(mapped)

    def _read_header(self, header: bytes) -> None:
        """Read which file has the rows; a ValueError refuses a damaged header or another shape."""
        text, _, check = header.rstrip().rpartition(b" ")
        facts = json.loads(text)
        shape = tuple(map(int, facts["shape"]))
        is_damaged = digest(text.decode()).hex().encode() != check
        if is_damaged or self._expected_shape not in (None, shape):
            raise ValueError(f"The header of {self.folder} is damaged, or of another shape.")
        self._clear(header, int(facts["number"]), shape)

    def find(self, keys: Iterable[str]) -> NDArray[np.int64]:
        """Return the row of each key; -1 if there is none."""
        return np.fromiter((self._row_of.get(digest(key), -1) for key in keys), np.int64)

    def rows(self) -> NDArray[Number]:
        if self.held:
            return np.concatenate([self._rows, *self.held])
        return self._rows

    def append(self, keys: Sequence[str], rows: NDArray[Number]) -> None:
        """Add rows, except for those whose keys are stored by now."""
        with self._locked():
            index_of = {}
            for index, key in enumerate(keys):
                key_digest = digest(key)
                if key_digest not in self._row_of:
                    index_of[key_digest] = index
            if not index_of:
                return
            if not self._header:
                self._start_file(rows.shape[1:], {})

            new_rows = np.ascontiguousarray(rows[list(index_of.values())], self._dtype)
            write_at(self._path, len(self) * new_rows[0].nbytes, new_rows.data)
            end_of_keys = len(self._header) + len(self) * KEY_BYTES
            new_keys = memoryview(b"".join(index_of))
            write_at(self.folder / KEYS, offset=end_of_keys, content=new_keys, sync=False)
            self.refresh()

    def hold(self, keys: Sequence[str], rows: NDArray[Number]) -> None:
        """Add rows in memory only, after `append` failed; `refresh` does nothing from then on."""
        first_row = len(self._rows) + sum(map(len, self.held))
        self._row_of |= {digest(key): row for row, key in enumerate(keys, start=first_row)}
        self.held.append(rows)

    def retain(self, keys: Iterable[str]) -> None:
        """Drop all other rows, if they are at least UNUSED_ROWS of all."""
        with self._locked():
            digests = self._row_of.keys() & map(digest, keys)
            retained = {self._row_of[key_digest]: key_digest for key_digest in digests}
            num_unused = len(self) - len(retained)
            if num_unused >= max(1, UNUSED_ROWS * len(self)):
                self._start_file(self._shape, retained)

    def _start_file(self, shape: Shape, retained: Mapping[int, bytes]) -> None:
        """Replace the file of rows by one with some of its rows, given with their key's digest."""
        old_files = list(self.folder.glob("*-*[0-9]"))
        old_numbers = [int(path.name.rpartition("-")[2]) for path in old_files]
        number = max(old_numbers, default=0) + 1
        path = self.folder / f"{ROWS}-{number}"
        rows = sorted(retained)
        try:
            self._copy_rows(rows, path)
            self._write_keys([retained[row] for row in rows], number, shape)
        except OSError:
            path.unlink(missing_ok=True)
            raise

        for old_file in old_files:
            old_file.unlink(missing_ok=True)
        self.refresh()

    def _write_keys(self, digests: Iterable[bytes], number: int, shape: Shape) -> None:
        facts = json.dumps({"number": number, "shape": shape})
        header = f"{facts} {digest(facts).hex()}\n".encode()
        with atomic_write(self.folder / KEYS) as partial:
            partial.write_bytes(header + b"".join(digests))

    def _copy_rows(self, rows: Sequence[int], path: Path) -> None:
        with path.open("wb") as file:
            for start in range(0, len(rows), CHUNK):
                file.write(self._rows[rows[start : start + CHUNK]].data)
            file.flush()
            os.fsync(file.fileno())

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / LOCK, timeout=LOCK_S):
            self.refresh()
            yield


def write_at(path: Path, offset: int, content: memoryview, sync: bool = True) -> None:
    """Write at an offset of a file, and cut off what lay beyond. A failed write leaves nothing."""
    remaining = content.cast("B")
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b", buffering=0) as file:
        file.truncate(offset)
        file.seek(offset)
        try:
            while remaining:
                num_written = file.write(remaining)
                remaining = remaining[num_written:]
            if sync:
                os.fsync(file.fileno())
        except OSError:
            file.truncate(offset)
            raise


def digest(key: str) -> bytes:
    return blake2b(key.encode(), digest_size=KEY_BYTES).digest()
