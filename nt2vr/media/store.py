"""What the data folder keeps: small values, rows of frames and embeddings, how much of each, and how room is made.

Nothing depends on it: a full disk or a read-only folder only costs time, and what is damaged counts
as missing.
"""

import json
import logging
import math
import os
import re
import shutil
import sqlite3
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from math import inf
from pathlib import Path
from typing import Any, Generic, TypeVar
from zipfile import BadZipFile

import diskcache
import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from nt2vr.errors import MediaError, reason_of
from nt2vr.files import atomic_write, check_free, free_bytes, hash_file
from nt2vr.models.framing import Framing

logger = logging.getLogger(__name__)
T = TypeVar("T")
Number = TypeVar("Number", bound=np.generic)
Shape = tuple[int, ...]

SAMPLING = 2  # version of how frames are sampled and fitted: raise it to invalidate cached values
DAY_S = 24 * 3600.0
KEYS, ROWS, LOCK = "keys", "rows", "lock"
KEY_BYTES = 16
MAX_HEADER = 1000  # bytes
LOCK_S = 60.0  # limit of waiting for another writer, which holds the lock for one batch, or while it compacts
CHUNK = 4096  # rows copied at once: 67 MB of 8 frames of 512
BATCH_BYTES = 16 << 20  # of frames written at once, since each write waits for the disk
UNUSED_ROWS = 0.2  # share of rows no longer needed from which a file is written again without them
DAMAGE = (  # raised by NumPy, FAISS and json on files with other content than expected
    *(
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        EOFError,
        OverflowError,
        RuntimeError,
        MemoryError,
    ),
    *(BadZipFile, zlib.error, struct.error),
)
DAMAGED_DATABASE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_warned = threading.Event()  # one warning per process: a full disk would otherwise fill the log too


@dataclass(frozen=True)
class Limit:
    count: float = inf
    num_bytes: float = inf  # of all together
    days: float = inf  # since the last use

    def allows(self, count: int, num_bytes: float, age_s: float = 0.0) -> bool:
        return count <= self.count and num_bytes <= self.num_bytes and age_s <= self.days * DAY_S


LIMITS = {
    "cache": Limit(num_bytes=2 << 30),  # content hashes of files
    "frames": Limit(
        num_bytes=32e9, days=30
    ),  # 26,000 clips of 8 frames of 224 x 224; days only where room is needed
    "towers": Limit(
        count=16
    ),  # of a gallery; each epoch of a training may have a visual tower of its own
    "pooled": Limit(
        count=8
    ),  # embeddings of a tower by as many heads; each epoch of a training may have its own
    "results": Limit(count=2000),  # 26 kB each on the gallery, 150 kB on the built-in world
    "drawn clips": Limit(num_bytes=16e9),  # 600 MB for 4,000 clips of 4 frames of 112 x 112
    "reports": Limit(
        count=500, num_bytes=4 << 30
    ),  # never evicted: whoever may delete none adds none beyond this
    "report previews": Limit(num_bytes=2 << 30),  # of clips in reports on folders, about 40 kB each
    "uploads": Limit(days=1),
    "trash": Limit(days=30),
}


def used_s(path: Path) -> float:
    """Return when a file or folder was last used, according to its modification time; 0 if it is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def mark_used(path: Path) -> None:
    """Set the modification time to now; what cannot be written to is never evicted either."""
    with suppress(OSError):
        os.utime(path)


def evict(
    paths: Iterable[Path], limit: Limit, last_used: Callable[[Path], float] = used_s
) -> list[OSError]:
    """Delete the files and folders used least recently until the others fit a limit; return what fails."""
    now, count, total, errors = time.time(), 0, 0, list[OSError]()
    for path in sorted(paths, key=last_used, reverse=True):
        num_bytes = bytes_in(path) if limit.num_bytes < inf else 0
        if limit.allows(count + 1, total + num_bytes, now - last_used(path)):
            count, total = count + 1, total + num_bytes
            continue
        try:
            delete(path)
        except OSError as error:
            errors.append(error)
    return errors


def delete(path: Path) -> None:
    """Delete a file or a folder, unless another process has."""
    with suppress(FileNotFoundError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def bytes_in(path: Path) -> int:
    """Sum up the sizes of a file, or of all files in a folder; one deleted in the meantime counts as empty."""
    total = 0
    for each in (path, *path.rglob("*")):
        with suppress(OSError):
            total += each.lstat().st_size if not each.is_dir() else 0
    return total


def read_cached(path: Path, read: Callable[[Path], T]) -> T | None:
    """Return `read(path)` of a cache file; None if there is none, or it is damaged: then it is deleted."""
    try:
        return read(path)
    except OSError:
        return None
    except DAMAGE:
        with suppress(OSError):
            delete(path)
        return None


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


class Frames(Rows[np.uint8], AbstractContextManager["Frames"]):
    """Frames (F, S, S, 3) of clips, sampled and fitted in one way. Leaving it as a context writes what was added.

    All stores together have a limit, at most half of the disk space that is free or theirs. Beyond
    it nothing more is stored, and only stores that nobody has opened for long are evicted, so that
    a cycle over more clips than there is room for finds those that are stored.

    Args:
        required: whether every clip must be stored, whatever the limit, and an OSError is raised if
            that fails. Otherwise what cannot be stored is dropped.
    """

    def __init__(self, folder: Path, shape: Shape, required: bool = False) -> None:
        super().__init__(folder, np.uint8, shape)
        self._grows, self._required = True, required
        self._added: dict[str, NDArray[np.uint8]] = {}
        self._clip_bytes = math.prod(shape)
        mark_used(folder)

    def get(self, key: str) -> NDArray[np.uint8] | None:
        """Return the frames of a clip, memory-mapped, if they are stored by now."""
        if self.find([key])[0] < 0:
            self.refresh()
        (row,) = self.find([key])
        return self.rows()[row] if row >= 0 else None

    def check_free(self, num_clips: int) -> None:
        check_free(
            self.folder, num_clips * self._clip_bytes, f"Storing the frames of {num_clips:,} videos"
        )

    def add(self, key: str, frames: NDArray[np.uint8]) -> None:
        if self._grows:
            self._added[key] = frames
            if len(self._added) * self._clip_bytes >= BATCH_BYTES:
                self._write()

    def _write(self) -> None:
        """Write what was added, as far as there is room."""
        added, self._added = self._added, {}
        if not added:
            return
        try:
            keys = list(added)[: None if self._required else self._room(len(added))]
            if keys:
                self.append(keys, np.stack([added[key] for key in keys]))
            self._grows = len(keys) == len(added)
        except OSError as error:
            if self._required:
                raise
            self._grows = False
            logger.warning("Frames cannot be stored in %s (%s).", self.folder, reason_of(error))

    def _room(self, wanted: int) -> int:
        """Count the clips that may be added; where that is fewer than wanted, stores that nobody opens are evicted."""
        root, limits = self.folder.parent, LIMITS["frames"]
        root.mkdir(parents=True, exist_ok=True)
        used = bytes_in(root)
        limit = min(limits.num_bytes, (used + free_bytes(root)) / 2)
        lacking = used + wanted * self._clip_bytes - limit
        if lacking > 0:
            stores = [path for path in root.iterdir() if path.is_dir() and path != self.folder]
            unused = [path for path in stores if used_s(path) < time.time() - limits.days * DAY_S]
            evict(unused, Limit(num_bytes=sum(map(bytes_in, unused)) - lacking))
            used = bytes_in(root)
        return int(max(0, limit - used) // self._clip_bytes)

    def __exit__(self, *_: object) -> None:
        self._write()


class StoredClips:
    """Some clips of a store's frames (N, F, S, S, 3) in an order of their own, read where they are indexed."""

    def __init__(self, frames: NDArray[np.uint8], rows: NDArray[np.int64]) -> None:
        self._frames, self._rows = frames, rows
        self.shape = (len(rows), *frames.shape[1:])

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> NDArray[np.uint8]:
        clips, *rest = index if isinstance(index, tuple) else (index,)
        read: NDArray[np.uint8] = self._frames[(self._rows[clips], *rest)]
        return read


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


class _Unpickled(diskcache.Disk):  # type: ignore[misc]  # reads texts, and unpickles nothing
    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        return (
            None
            if mode == diskcache.core.MODE_PICKLE
            else super().fetch(mode, filename, value, read)
        )


class Cache(AbstractContextManager["Cache"]):
    """Content hashes in one folder; sampled frames and galleries' embeddings in others, by default within it."""

    def __init__(
        self, folder: Path, galleries: Path | None = None, frames: Path | None = None
    ) -> None:
        self.galleries, self._frames = galleries or folder / "galleries", frames or folder / "clips"
        self._folder, self._opening = folder / "hashes", threading.Lock()
        self._hashes: diskcache.Cache | None = None

    @classmethod
    def of(cls, data_dir: Path) -> "Cache":
        """Open the cache of the app's data folder, with frames and the galleries' embeddings beside it."""
        return cls(
            data_dir / "cache", galleries=data_dir / "embeddings", frames=data_dir / "frames"
        )

    def frames(self, num_frames: int, framing: Framing, required: bool = False) -> Frames:
        """Open the store of frames sampled and fitted in one way; for the last argument see `Frames`."""
        name = re.sub(r"[^a-z0-9]+", "-", f"{SAMPLING} {num_frames} {framing.key}")
        return Frames(self._frames / name, (num_frames, *framing.shape, 3), required)

    def content_hash(self, path: Path) -> str:
        """Hash the bytes of a file; the hash is cached until the file's size or modification time changes."""
        try:
            stat = path.stat()
            if not path.is_file():  # reading a named pipe would block
                raise MediaError(f"{path.name} is not a file.")
            key = f"hash {stat.st_size} {stat.st_mtime_ns} {path.absolute()}"
            if cached := self._ask("get", key):
                return str(cached)
            content = hash_file(path)
        except OSError as error:
            raise MediaError(
                f"{path.name} cannot be read ({error.strerror}). Add it again."
            ) from None
        self._ask("set", key, content)
        return content

    def _ask(self, action: str, *values: str) -> Any:
        """Call the database of hashes; None where it fails. A damaged one is deleted, and made again later."""
        try:
            with self._opening:
                if self._hashes is None:
                    limit = int(LIMITS["cache"].num_bytes)
                    self._hashes = diskcache.Cache(
                        str(self._folder), disk=_Unpickled, size_limit=limit
                    )
            return getattr(self._hashes, action)(*values)
        except (OSError, sqlite3.Error, diskcache.Timeout) as error:
            is_damaged = getattr(error, "sqlite_errorcode", None) in DAMAGED_DATABASE
            if not _warned.is_set():
                _warned.set()
                remedy = "It is made again" if is_damaged else "Results are computed again instead"
                logger.warning(
                    "The cache in %s cannot be used (%s). %s.",
                    self._folder,
                    reason_of(error),
                    remedy,
                )
            if is_damaged:
                with self._opening:
                    self._hashes = None
                    shutil.rmtree(self._folder, ignore_errors=True)
            return None

    def close(self) -> None:
        if self._hashes is not None:
            self._ask("close")

    def __exit__(self, *_: object) -> None:
        self.close()
