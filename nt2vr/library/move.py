"""Move of a library whose files lie in another folder now: they are recognised there, and nothing is encoded."""

import os
import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nt2vr.datasets.base import such_as
from nt2vr.errors import ConfigError, MediaError, counted
from nt2vr.library.libraries import Libraries
from nt2vr.library.library_file import LibraryFile
from nt2vr.library.listing import is_available, list_files, move_command
from nt2vr.library.source import Source
from nt2vr.media.store import Cache
from nt2vr.progress import Progress, silent

LEAST_SHARE = 0.5  # of the files; with fewer, the folder is probably the wrong one


@dataclass(frozen=True)
class Moved:
    """Outcome of a move; files are named by their ids."""

    num_files: int  # usable ones that the library had, copies included
    renamed: Mapping[str, str] = field(default_factory=dict)  # old id to new id
    changed: tuple[str, ...] = ()  # files with another content than before
    missing: tuple[str, ...] = ()
    new: tuple[str, ...] = ()  # files that the library did not have
    left_behind: Path | None = None  # the former folder or file, if it is still there

    @property
    def num_recognised(self) -> int:
        return self.num_files - len(self.changed) - len(self.missing)

    @property
    def by_kind(self) -> dict[str, tuple[str, ...]]:
        """The files that are there, but not as they were, by words to put after their number."""
        renamed = tuple(f"{old} → {new}" for old, new in self.renamed.items())
        kinds = {"renamed": renamed, "changed": self.changed, "new": self.new}
        return {words: files for words, files in kinds.items() if files}


def move_library(
    libraries: Libraries,
    library_id: str,
    path: str | Path,
    cache: Cache,
    progress: Progress = silent,
    roots: Sequence[Path] | None = None,
    force: bool = False,
) -> Moved:
    """Tell a library where its files are now. Its id, clips, embeddings and previews stay.

    A file with its former place in the folder, size and modification time is not read. Others are
    read if their size is that of a file that is not there, and recognised by their content. What is
    missing, changed or new is only named: the next update removes it, or reads it. Stopped or
    killed, a move leaves the former or the new folder.

    Args:
        path: a folder, a manifest, or a dataset, as `Libraries.add` takes it.
        cache: keeps what was read, so that a stopped move goes on from there.
        progress: gets files read, their number, and the step; an InterruptedError stops the move.
        roots: folders that the path must lie in, otherwise an AccessError is raised; None allows
            any.
        force: move even if fewer than half of the files are there.

    Raises:
        ConfigError, DatasetError: if the path cannot be used, or has too few of the files; then
            nothing has changed.
        GalleryError: if the disk is full, or the data folder read-only.
    """
    with libraries.updating(library_id, progress) as source:
        target = libraries.moved(source.id, path, roots)
        progress(0, 0, "looking for files")
        inventory = libraries.inventory(source)
        known = inventory.files()
        listed = {file.id: file for file in list_files(target)}

        indexed = {file.id: file for file in known.values() if file.state == "ready"}
        recognised = _unchanged(indexed, listed, source, target)
        recognised |= _same_content(indexed, listed, recognised, cache, progress)
        moved = _outcome(known, indexed, listed, recognised, source, target)
        _check_enough(moved, source.name, target.path, force)

        # Relative paths make one write the whole move of files that kept their places. What follows
        # it only spares the next update some reading.
        inventory.make_relative()
        libraries.settle(target)
        _rewrite(libraries, target, recognised)
    return moved


def _unchanged(
    indexed: Mapping[str, LibraryFile],
    listed: Mapping[str, LibraryFile],
    source: Source,
    target: Source,
) -> dict[str, LibraryFile]:
    """Return the rows of files with their former place, size and modification time, by their former ids."""
    rows = {}
    old_base, new_base = source.base, target.base
    if target.path.is_file():
        old_base, new_base = source.path.parent, target.path.parent
    for file_id, before in indexed.items():
        now = listed.get(file_id)
        if now is None or now.reason or (now.size, now.mtime_ns) != (before.size, before.mtime_ns):
            continue
        if now.path == before.path or _relative(now.path, new_base) == _relative(
            before.path, old_base
        ):
            rows[file_id] = _row(before, now)
    return rows


def _relative(path: str, base: Path) -> str:
    """Return a path within a folder relative to it; another one as it is."""
    return path.removeprefix(os.path.join(base, ""))


def _same_content(
    indexed: Mapping[str, LibraryFile],
    listed: Mapping[str, LibraryFile],
    recognised: Mapping[str, LibraryFile],
    cache: Cache,
    progress: Progress,
) -> dict[str, LibraryFile]:
    """Read the files that may be indexed ones, and return the rows of those that are, by their former ids."""
    taken = {file.id for file in recognised.values()}
    sought = [file for file_id, file in indexed.items() if file_id not in recognised]
    sizes = {file.size for file in sought}
    candidates = []
    for file in listed.values():
        if file.id not in taken and file.size in sizes and not file.reason:
            candidates.append(file)

    contents = {}
    for done, file in enumerate(candidates):
        progress(done, len(candidates), f"reading files: {file.id}")
        try:
            contents[file.id] = cache.content_hash(Path(file.path))
        except MediaError:
            continue  # the next update reads it again, and says what is the matter
    return _paired(sought, candidates, contents)


def _paired(
    sought: Sequence[LibraryFile], candidates: Iterable[LibraryFile], contents: Mapping[str, str]
) -> dict[str, LibraryFile]:
    """Give each file that is sought a candidate with its content: one with its id, if possible."""
    rows = {}
    by_content = defaultdict[str, dict[str, LibraryFile]](dict)
    for candidate in candidates:
        if candidate.id in contents:
            by_content[contents[candidate.id]][candidate.id] = candidate

    for file in sought:
        if now := by_content[file.content].pop(file.id, None):
            rows[file.id] = _row(file, now)

    # Originals come before their copies, which have no clips.
    for file in sorted(sought, key=lambda file: file.duplicate_of != ""):
        others = by_content[file.content]
        if file.id not in rows and others:
            now = others.pop(next(iter(others)))
            rows[file.id] = _row(file, now)
    return rows


def _row(before: LibraryFile, now: LibraryFile) -> LibraryFile:
    """Return what is known of a file's content, with its present place."""
    return before._replace(
        id=now.id, path=now.path, captions=now.captions, size=now.size, mtime_ns=now.mtime_ns
    )


def _outcome(
    known: Mapping[str, LibraryFile],
    indexed: Mapping[str, LibraryFile],
    listed: Mapping[str, LibraryFile],
    recognised: Mapping[str, LibraryFile],
    source: Source,
    target: Source,
) -> Moved:
    """Say what became of each file."""
    taken = {file.id for file in recognised.values()}
    # A manifest lists files that are not there, too, with the reason.
    usable = {file_id for file_id, file in listed.items() if not file.reason}
    changed = []
    missing = []
    for file_id in indexed:
        if file_id in recognised:
            continue
        if file_id in usable and file_id not in taken:
            changed.append(file_id)
        else:
            missing.append(file_id)

    new = []
    for file_id in listed:
        if file_id in usable and file_id not in known and file_id not in taken:
            new.append(file_id)

    # A folder above the former one still reads it.
    is_left_behind = is_available(source) and not source.path.is_relative_to(target.path)
    return Moved(
        num_files=len(indexed),
        renamed={old: file.id for old, file in recognised.items() if file.id != old},
        changed=tuple(changed),
        missing=tuple(missing),
        new=tuple(new),
        left_behind=source.path if is_left_behind else None,
    )


def _check_enough(moved: Moved, name: str, path: Path, force: bool) -> None:
    """Refuse a folder that has none of the files, or few of them unless it is forced."""
    if not moved.num_files:
        return
    unchanged = "Nothing was changed."
    if not moved.num_recognised:
        which = (
            "The only file" if moved.num_files == 1 else f"None of the {moved.num_files:,} files"
        )
        verb = "is not" if moved.num_files == 1 else "is"
        raise ConfigError(
            f"{which} of {name} {verb} in {path}. {unchanged} Name the folder that has them now."
        )
    if not force and moved.num_recognised < LEAST_SHARE * moved.num_files:
        share = f"{moved.num_recognised:,} of the {counted(moved.num_files, 'file')}"
        lacking = such_as([*moved.missing, *moved.changed])
        command = move_command(name, f"{shlex.quote(str(path))} --force")
        advice = f"Name a folder that has them, or go without them: {command}."
        raise ConfigError(
            f"Only {share} of {name} are in {path}; not {lacking}. {unchanged} {advice}"
        )


def _rewrite(libraries: Libraries, target: Source, recognised: Mapping[str, LibraryFile]) -> None:
    """Store the rows that are no longer right after the move."""
    inventory = libraries.inventory(target)
    stored = inventory.files()
    rows = {old: file for old, file in recognised.items() if stored.get(old) != file}
    if rows:
        inventory.rewrite(rows)
    if target.kind == "folder":
        inventory.mark_duplicates()
