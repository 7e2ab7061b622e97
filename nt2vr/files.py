"""Atomic writes, content hashes, and the version of the project's file formats."""

import csv
import errno
import hashlib
import json
import math
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import get_native_id
from typing import Any, TextIO
from unicodedata import normalize

from nt2vr.errors import ConfigError, Nt2vrError, causes, quoted

# Of config, status, card, saved run and report: raise it when version 0.x could misread them.
SCHEMA = 1
SCHEMA_KEY = "schema"
# Half of a surrogate pair; one without the other breaks every encoder.
ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")
# First characters of formulas, or what spreadsheets skip.
FORMULAS = tuple("=+-@|%\t\r\n ")
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# In messages of safetensors and torch.
DISK_FULL_WORDS = ("No space left", "os error 28", "PytorchStreamWriter", "iostream error")

# A path as users of Python name it.
AnyPath = str | Path
# What a JSON object is read as, and written from.
JsonObject = dict[str, Any]


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` if the block succeeds."""
    partial = _partial(path, path.stem, path.suffix)
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def atomic_folder(folder: Path) -> Iterator[Path]:
    """Yield a new hidden folder that becomes `folder`, which must not exist, if the block succeeds."""
    partial = _partial(folder, folder.name)
    # It may be left of a process of that number that was killed.
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        yield partial
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _partial(path: Path, stem: str, suffix: str = "") -> Path:
    """Return a hidden path next to another, which only this thread writes."""
    writer = f"{os.getpid()}.{get_native_id()}"
    return path.with_name(f".{stem}.{writer}.partial{suffix}")


def write_json(path: Path, data: Any, indent: int | None = None) -> None:
    """Write `data` as JSON, atomically, with a newline at the end."""
    with atomic_write(path) as partial:
        partial.write_text(json.dumps(data, indent=indent) + "\n", encoding="utf-8")


class SafeCsv:
    """Writes CSV in which a spreadsheet computes nothing.

    An apostrophe goes before what might be a formula.
    """

    def __init__(self, file: TextIO, **options: Any) -> None:
        self._writer = csv.writer(file, **options)

    def writerow(self, row: Iterable[object]) -> None:
        """Write one row."""
        self._writer.writerow([_without_formula(cell) for cell in row])


def _without_formula(cell: object) -> object:
    if isinstance(cell, str):
        first = normalize("NFKC", cell[:1])
        return f"'{cell}" if first in FORMULAS else cell
    return cell


def parse_json(text: str) -> Any:
    """Parse JSON; a ValueError says what is wrong with it.

    That includes deep nesting and halves of characters.
    """
    try:
        data = json.loads(text)
        if ESCAPED_HALF.search(text):
            json.dumps(data, ensure_ascii=False).encode()
        return data
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError:
        raise
    except UnicodeEncodeError:
        raise ValueError("it has a character that is not valid Unicode") from None
    except ValueError:
        raise ValueError("it has a number of more than 4,300 digits") from None


def stored_json(path: Path) -> Any:
    """Read a file that has JSON, as `write_json` wrote it."""
    return parse_json(path.read_text(encoding="utf-8"))


def slug(name: str) -> str:
    """Make a name the stem of a file: at most 40 lower-case letters, digits and hyphens, or ""."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]


def hash_file(path: Path) -> str:
    """Hash the bytes of a file with BLAKE2b, 16 bytes as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def hash_text(text: str, num_bytes: int = 12) -> str:
    """Hash a text with BLAKE2b, as hexadecimal digits."""
    return hashlib.blake2b(text.encode(), digest_size=num_bytes).hexdigest()


def stamp(*paths: Path) -> tuple[object, ...]:
    """Return what changes whenever one of these files or folders is replaced or written to.

    Nothing is opened.
    """
    stamps: list[object] = []
    for path in paths:
        try:
            status = path.stat()
            stamps.append((status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns))
        except OSError:
            stamps.append(None)
    return tuple(stamps)


def with_schema(data: Mapping[str, Any]) -> JsonObject:
    """Add the version of the file format to data that is to be written."""
    return {SCHEMA_KEY: SCHEMA, **data}


def without_schema(
    data: Mapping[str, Any], path: Path, error: type[Nt2vrError] = ConfigError
) -> JsonObject:
    """Remove the version; `error` refuses that of a newer nT2VR.

    A file without one is written by hand, and taken as current.
    """
    schema = data.get(SCHEMA_KEY, SCHEMA)
    if isinstance(schema, int | float) and schema > SCHEMA:
        raise error(
            f"{path} was written by a newer nT2VR (schema {schema}; this one reads up to {SCHEMA}). Update nT2VR."
        )
    return {key: value for key, value in data.items() if key != SCHEMA_KEY}


def read_with_schema(path: Path, error: type[Nt2vrError] = ConfigError) -> JsonObject:
    """Read a JSON object without the version of its schema; `error` refuses that of a newer nT2VR."""
    return without_schema(stored_json(path), path, error)


def is_disk_full(error: BaseException | None) -> bool:
    """Return whether an error, or one that it follows from, comes from a write to a full disk."""
    for cause in causes(error):
        if isinstance(cause, OSError) and cause.errno in DISK_FULL:
            return True
        if isinstance(cause, Exception) and any(words in str(cause) for words in DISK_FULL_WORDS):
            return True
    return False


def free_bytes(folder: Path) -> int:
    """Return how much is free on the disk of a folder, which need not exist yet."""
    return shutil.disk_usage(_existing(folder)).free


def has_free_files(folder: Path, count: int) -> bool:
    """Return whether so many more files fit on the disk of a folder.

    It is true where the file system counts none.
    """
    # Windows has no such function.
    if not hasattr(os, "statvfs"):
        return True
    status = os.statvfs(_existing(folder))
    return status.f_files == 0 or status.f_favail > count


def _existing(folder: Path) -> Path:
    candidates = (folder, *folder.absolute().parents)
    return next(path for path in candidates if path.exists())


def expanded(path: AnyPath) -> Path:
    """Write out a home folder, ~ or ~name, at the start of a path."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise ConfigError(
            f"{quoted(str(path))} is in the home folder of an unknown user. Write the whole path."
        ) from None


def check_free(folder: Path, num_bytes: float, doing: str) -> None:
    """Refuse work whose files, of so many bytes about, would fill the disk, before it starts."""
    free = free_bytes(folder)
    if free < num_bytes:
        raise ConfigError(
            f"{doing} needs about {size_text(num_bytes)}, and the disk of {folder} has {size_text(free)} left. "
            "Free some space, or set another data folder."
        )


def size_text(num_bytes: float) -> str:
    """Write a file's size: 12 KB, 3.4 MB, 577 MB, 2.1 GB; never 0 of what is there."""
    if num_bytes >= 1e9:
        return f"{num_bytes / 1e9:,.1f} GB"
    if num_bytes >= 1e8:
        return f"{num_bytes / 1e6:,.0f} MB"
    if num_bytes >= 1e5:
        return f"{num_bytes / 1e6:,.1f} MB".replace(".0 MB", " MB")
    return f"{math.ceil(num_bytes / 1e3):,} KB"


def check_writable(folder: Path) -> None:
    """Refuse an output folder before the work whose results would be lost."""
    existing = _existing(folder)
    if not (existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)):
        raise ConfigError(f"{folder} cannot be written to. Name another folder.")
