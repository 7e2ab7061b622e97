"""Files of a library compared with its inventory: what is new, changed, renamed or gone."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nt2vr.errors import counted
from nt2vr.library.library_file import CLOSED_FOLDER, NOTE, LibraryFile


@dataclass(frozen=True)
class Changes:
    """Ids of the files that differ from the inventory."""

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()  # files of another size or modification time
    renamed: dict[str, str] = field(default_factory=dict)  # old id to new id
    removed: tuple[str, ...] = ()
    copies: tuple[
        str, ...
    ] = ()  # those of the new that have the same content as another, once they have been read
    skipped: tuple[str, ...] = ()  # those of the new that cannot be used

    @property
    def by_kind(self) -> dict[str, tuple[str, ...]]:
        """The files by what became of them, in words to put after their number."""
        shares = shares_text(len(self.copies), len(self.skipped))
        renamed = tuple(f"{old} → {new}" for old, new in self.renamed.items())
        found = {
            f"new{shares}": self.new,
            "changed": self.changed,
            "renamed": renamed,
            "removed": self.removed,
        }
        return {words: files for words, files in found.items() if files}

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.renamed or self.removed)


def shares_text(copies: int, skipped: int = 0) -> str:
    """Say how many of some files are copies, and how many are skipped, to put after their number; empty if none."""
    shares = (
        f"{skipped:,} skipped" if skipped else "",
        counted(copies, "copy", "copies") if copies else "",
    )
    return f" ({', '.join(filter(None, shares))})" if any(shares) else ""


Known = Mapping[str, LibraryFile]  # by id


Listed = list[LibraryFile]


Mark = Callable[[LibraryFile], Any]


def compared(known: Known, found: Listed) -> tuple[Listed, Listed, Listed]:
    """List the files to be read, unchanged files with other captions, and those that are gone.

    They are compared by path, size and modification time. What lies in a folder that cannot be
    opened is not gone.
    """
    there = {file.id: file for file in found}
    closed = tuple(f"{file.id}/".lstrip("/") for file in found if file.kind == CLOSED_FOLDER)
    return (
        [file for file in found if not _is_known(file, known.get(file.id))],
        [
            there[name]
            for name in there.keys() & known.keys()
            if there[name].captions != known[name].captions
        ],
        [
            known[name]
            for name in sorted(known.keys() - there.keys())
            if not name.startswith(closed)
        ],
    )


def _is_known(file: LibraryFile, stored: LibraryFile | None) -> bool:
    if stored is None or stored.state == "new" or (file.reason and file.reason != stored.reason):
        return False
    return (stored.path, stored.size, stored.mtime_ns) == (file.path, file.size, file.mtime_ns)


def changes_of(known: Known, pending: Listed, gone: Listed, mark: Mark) -> Changes:
    """Name the changes; a file that is gone and a new one with the same `mark` are a renamed one."""
    files, gone = _without_notes(pending), _without_notes(gone)
    renamed = _renamed(gone, [file for file in files if file.id not in known], mark)
    came = {*known, *renamed.values()}
    new = tuple(file.id for file in files if file.id not in came)
    changed = tuple(file.id for file in files if file.id in known and known[file.id].state != "new")
    return Changes(new, changed, renamed, tuple(file.id for file in gone if file.id not in renamed))


def _without_notes(files: Listed) -> Listed:
    return [file for file in files if file.kind != NOTE]


def _renamed(gone: Listed, new: Listed, mark: Mark) -> dict[str, str]:
    names = defaultdict[Any, list[str]](list)
    for file in new:
        if mark(file) and not file.reason:
            names[mark(file)].append(file.id)
    return {
        file.id: names[mark(file)].pop(0)
        for file in gone
        if file.state != "new" and names[mark(file)]
    }
