"""Prepared values, such as parsed captions, stored one by one, so that a killed training goes on there.

FOLDER/prepared-DIGEST.jsonl has a line of JSON per value, in order. The digest is of everything
that the values depend on: a key, and the code and tables that read and write sentences.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from functools import cache
from hashlib import blake2b
from io import FileIO
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError

from nt2vr.errors import reason_of
from nt2vr.media.limits import Limit, evict, mark_used
from nt2vr.settings import ASSETS, PACKAGE

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
Value = TypeVar("Value")
# A file has 30 MB for 24,000 captions.
KEPT_FILES = Limit(count=8)
LOCK = ".prepared.lock"
# The code and tables on which values depend.
SOURCES = (
    PACKAGE / "negation",
    PACKAGE / "world",
    ASSETS / "language",
    ASSETS / "wordings",
    ASSETS / "world",
)


def remembered(
    folder: Path | None,
    key: str,
    items: Iterable[Item],
    compute: Callable[[Item], Value],
    form: TypeAdapter[Value],
) -> Iterator[Value]:
    """Yield `compute(item)` for all items; those of an earlier call with this key are read instead.

    Args:
        folder: of the files; None keeps nothing.
        key: names everything that the items and their values depend on, but the code.
        form: of a value, as JSON. A value that is read equals the one that was computed.
    """
    if folder is None:
        yield from map(compute, items)
        return

    full_key = f"{_source_digest()} {key}".encode(errors="surrogatepass")
    digest = blake2b(full_key, digest_size=12).hexdigest()
    path = folder / f"prepared-{digest}.jsonl"
    stored, num_bytes = _read(path, form)
    with ExitStack() as stack:
        file = _open(path, num_bytes, stack)
        for number, item in enumerate(items):
            if number < len(stored):
                yield stored[number]
                continue
            value = compute(item)
            file = _append(file, value, form)
            yield value
    mark_used(path)
    evict(folder.glob("prepared-*.jsonl"), KEPT_FILES)


def _read(path: Path, form: TypeAdapter[Value]) -> tuple[list[Value], int]:
    """Return the values of a file's whole lines, and how many bytes these have."""
    values = []
    num_bytes = 0
    with suppress(OSError, ValidationError), path.open("rb") as file:
        for line in file:
            # Half a line was left by a process that was killed while it wrote.
            if not line.endswith(b"\n"):
                break
            values.append(form.validate_json(line))
            num_bytes += len(line)
    return values, num_bytes


def _open(path: Path, num_bytes: int, stack: ExitStack) -> FileIO | None:
    """Open a file to add lines after its first bytes.

    None if another process does so already, or if nothing can be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        stack.enter_context(FileLock(path.with_name(LOCK), timeout=0))
        # A buffer would be written once more when the file is closed, and fail again on a full disk.
        file = stack.enter_context(path.open("ab", buffering=0))
        file.truncate(num_bytes)
    except (OSError, Timeout):
        return None
    return file


def _append(file: FileIO | None, value: Value, form: TypeAdapter[Value]) -> FileIO | None:
    """Add a value, and return the file; None if it cannot be written any more.

    The values that have been written so far are read next time.
    """
    if file is None:
        return None
    try:
        file.write(form.dump_json(value) + b"\n")
    # The disk is full, or a text has half a surrogate pair, which JSON cannot hold.
    except (OSError, ValueError) as error:
        logger.warning("What is prepared cannot be kept (%s).", reason_of(error))
        return None
    return file


@cache
def _source_digest() -> str:
    """Hash the code and the tables that sentences depend on."""
    digest = blake2b(digest_size=12)
    for source in SOURCES:
        for path in sorted(source.rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(f"{path.relative_to(source).as_posix()} ".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()
