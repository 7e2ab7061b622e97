"""Differences between a library's files and its inventory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nt2vr.library.info import Changes
from nt2vr.library.inventory import FoundFile, StoredFile


@dataclass(frozen=True)
class Comparison:
    """Differences, and what follows from them.

    Attributes:
        changes: for people.
        pending: files that are to be read.
        captioned: unchanged files with other captions.
        removed: ids that are to be forgotten.
    """

    changes: Changes
    pending: tuple[FoundFile, ...]
    captioned: tuple[FoundFile, ...]
    removed: tuple[str, ...]


def compared(known: Mapping[str, StoredFile], found: Sequence[FoundFile]) -> Comparison:
    """Compare by path, size and modification time. What lies in a folder that cannot be opened is not removed."""
    there = {file.id: file for file in found}
    closed = tuple(f"{file.id}/" for file in found if file.reason and not file.size)
    gone = [name for name in known if name not in there and not (closed and name.startswith(closed))]
    pending = [file for file in found if not _is_known(file, known)]
    captioned = [file for file in found if file.id in known and known[file.id].captions_differ(file.captions)]
    renamed = _renamed([known[name] for name in gone], [file for file in pending if file.id not in known])
    changes = Changes(
        tuple(file.id for file in pending if file.id not in known and file.id not in renamed.values()),
        tuple(file.id for file in pending if file.id in known and known[file.id].state != "new"),
        renamed,
        tuple(name for name in gone if name not in renamed),
    )
    return Comparison(changes, tuple(pending), tuple(captioned), tuple(gone))


def _is_known(file: FoundFile, known: Mapping[str, StoredFile]) -> bool:
    stored = known.get(file.id)
    if stored is None:
        return False
    return stored.is_as(file) and not (file.reason and file.reason != stored.reason)


def _renamed(gone: Sequence[StoredFile], new: Sequence[FoundFile]) -> dict[str, str]:
    """Pair files that are gone with new ones of the same size and modification time, which a move leaves alone."""
    by_stat: dict[tuple[int, int], list[str]] = {}
    for file in new:
        if not file.reason:
            by_stat.setdefault((file.size, file.mtime_ns), []).append(file.id)
    pairs = ((file.id, by_stat.get((file.size, file.mtime_ns))) for file in gone if file.state != "new")
    return {old: names.pop(0) for old, names in pairs if names}
