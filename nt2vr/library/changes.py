"""Files of a library compared with its inventory: what is new, changed, renamed or gone."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from nt2vr.errors import counted
from nt2vr.library.library_file import CLOSED_FOLDER, NOTE, FileIds, FilesById, LibraryFile

Files = list[LibraryFile]
# What a file has in common with itself under another name; falsy if unknown.
Mark = Callable[[LibraryFile], Any]


@dataclass(frozen=True)
class Changes:
    """Ids of the files that differ from the inventory.

    Attributes:
        changed: files of another size or modification time.
        renamed: new ids by old ids.
        copies: new files with the content of another file, once they have been read.
        skipped: new files that cannot be used.
    """

    new: FileIds = ()
    changed: FileIds = ()
    renamed: dict[str, str] = field(default_factory=dict)
    removed: FileIds = ()
    copies: FileIds = ()
    skipped: FileIds = ()

    @property
    def by_kind(self) -> dict[str, FileIds]:
        """The files by the kind of their change, in words that follow a number."""
        shares = shares_text(len(self.copies), len(self.skipped))
        kinds = {
            f"new{shares}": self.new,
            "changed": self.changed,
            "renamed": tuple(f"{old} → {new}" for old, new in self.renamed.items()),
            "removed": self.removed,
        }
        return {words: files for words, files in kinds.items() if files}

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.renamed or self.removed)


def skipped_text(copies: int, skipped: int) -> str:
    """Say how many of some files are skipped or copies: "1 skipped, 2 copies", or nothing."""
    counts = []
    if skipped:
        counts.append(f"{skipped:,} skipped")
    if copies:
        counts.append(counted(copies, "copy", "copies"))
    return ", ".join(counts)


def shares_text(copies: int, skipped: int = 0) -> str:
    """Do as `skipped_text`, in brackets after a number of files."""
    counts = skipped_text(copies, skipped)
    return f" ({counts})" if counts else ""


def compare_files(stored: FilesById, files: Files) -> tuple[Files, Files, Files]:
    """Compare files with the inventory by path, size and modification time; nothing is read.

    Returns:
        The files that must be read, those with other captions than before, and the rows of the
        inventory whose files are gone.
    """
    pending = [file for file in files if not _is_unchanged(file, stored.get(file.id))]

    files_by_id = {file.id: file for file in files}
    captioned = []
    for file in files_by_id.values():
        if file.id in stored and file.captions != stored[file.id].captions:
            captioned.append(file)

    # Files in a folder that cannot be opened are not gone.
    closed_folders = _closed_folders(files)
    unlisted = sorted(stored.keys() - files_by_id.keys())
    gone = [stored[file_id] for file_id in unlisted if not file_id.startswith(closed_folders)]
    return pending, captioned, gone


def _closed_folders(files: Files) -> tuple[str, ...]:
    """Return how the ids of files in folders that cannot be opened start."""
    # The id of the source itself is empty.
    closed_ids = [file.id for file in files if file.kind == CLOSED_FOLDER]
    return tuple(f"{file_id}/".lstrip("/") for file_id in closed_ids)


def _is_unchanged(file: LibraryFile, stored: LibraryFile | None) -> bool:
    if stored is None or stored.state == "new":
        return False
    if file.reason and file.reason != stored.reason:
        return False
    return (stored.path, stored.size, stored.mtime_ns) == (file.path, file.size, file.mtime_ns)


def changes_of(stored: FilesById, pending: Files, gone: Files, mark: Mark) -> Changes:
    """Name the changes; a file that is gone was renamed if a new one has its `mark`."""
    pending = _without_notes(pending)
    gone = _without_notes(gone)
    unknown = [file for file in pending if file.id not in stored]
    renamed = _renamed(gone, unknown, mark)

    new_names = set(renamed.values())
    changed = []
    for file in pending:
        if file.id in stored and stored[file.id].state != "new":
            changed.append(file.id)
    return Changes(
        new=tuple(file.id for file in unknown if file.id not in new_names),
        changed=tuple(changed),
        renamed=renamed,
        removed=tuple(file.id for file in gone if file.id not in renamed),
    )


def _without_notes(files: Files) -> Files:
    return [file for file in files if file.kind != NOTE]


def _renamed(gone: Files, new: Files, mark: Mark) -> dict[str, str]:
    """Return the new ids of files that are gone, by their old ids."""
    new_ids = defaultdict[Any, list[str]](list)
    for file in new:
        if mark(file) and not file.reason:
            new_ids[mark(file)].append(file.id)

    renamed = {}
    for file in gone:
        candidates = new_ids[mark(file)]
        if file.state != "new" and candidates:
            renamed[file.id] = candidates.pop(0)
    return renamed
