"""Move of a library whose files lie in another folder now; nothing is encoded again."""

import os
import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nt2vr.datasets.base import such_as
from nt2vr.errors import ConfigError, MediaError, counted
from nt2vr.files import AnyPath
from nt2vr.library.libraries import Libraries
from nt2vr.library.library_file import FileIds, FilesById, LibraryFile
from nt2vr.library.listing import is_available, list_files, move_command
from nt2vr.library.named_paths import Roots
from nt2vr.library.source import Source
from nt2vr.media.store import Cache
from nt2vr.progress import Progress, silent

# With a smaller share of the files, the folder is probably the wrong one.
LEAST_SHARE = 0.5


@dataclass(frozen=True)
class Moved:
    """Outcome of a move; files are given by their ids.

    Attributes:
        num_files: usable files that the library had, copies included.
        renamed: new ids by old ids.
        changed: files with another content than before.
        new: files that the library did not have.
        left_behind: the former folder or file, if it still exists.
    """

    num_files: int
    renamed: Mapping[str, str] = field(default_factory=dict)
    changed: FileIds = ()
    missing: FileIds = ()
    new: FileIds = ()
    left_behind: Path | None = None

    @property
    def num_recognised(self) -> int:
        return self.num_files - len(self.changed) - len(self.missing)

    @property
    def by_kind(self) -> dict[str, FileIds]:
        """Renamed, changed and new files, by words that follow their number."""
        renamed = tuple(f"{old} → {new}" for old, new in self.renamed.items())
        kinds = {"renamed": renamed, "changed": self.changed, "new": self.new}
        return {words: files for words, files in kinds.items() if files}


def move_library(
    libraries: Libraries,
    library_id: str,
    path: AnyPath,
    cache: Cache,
    progress: Progress = silent,
    roots: Roots = None,
    force: bool = False,
) -> Moved:
    """Tell a library where its files are now. Its id, clips, embeddings and previews stay.

    A file with its former place in the folder, size and modification time is not read. Others are
    read if a missing file has their size, and recognised by their content. Missing, changed and
    new files are only named: the next update removes or reads them. A move that is stopped or
    killed leaves the former or the new folder.

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
        target = libraries.moved_to(source.id, path, roots)
        progress(0, 0, "looking for files")
        inventory = libraries.inventory(source)
        stored = inventory.files()
        listed_files = {file.id: file for file in list_files(target)}

        indexed = {file.id: file for file in stored.values() if file.state == "ready"}
        recognised = _unchanged(indexed, listed_files, source, target)
        recognised |= _same_content(indexed, listed_files, recognised, cache, progress)
        moved = _outcome(stored, indexed, listed_files, recognised, source, target)
        _check_enough(moved, source.name, target.path, force)

        # Relative paths make one write the whole move of files that kept their places. What follows
        # it only spares the next update some reading.
        inventory.make_relative()
        libraries.store_move(target)
        _rewrite(libraries, target, recognised)
    return moved


def _unchanged(
    indexed: FilesById, listed_files: FilesById, source: Source, target: Source
) -> dict[str, LibraryFile]:
    """Return the rows of files with their former place, size and time, by their ids."""
    old_base = source.base
    new_base = target.base
    if target.path.is_file():
        old_base = source.path.parent
        new_base = target.path.parent

    rows = {}
    for file_id, old in indexed.items():
        new = listed_files.get(file_id)
        if new is None or new.reason or (new.size, new.mtime_ns) != (old.size, old.mtime_ns):
            continue
        has_same_path = new.path == old.path
        has_same_place = _relative(new.path, new_base) == _relative(old.path, old_base)
        if has_same_path or has_same_place:
            rows[file_id] = _row(old, new)
    return rows


def _relative(path: str, base: Path) -> str:
    """Return a path within a folder relative to it; another one as it is."""
    return path.removeprefix(os.path.join(base, ""))


def _same_content(
    indexed: FilesById,
    listed_files: FilesById,
    recognised: FilesById,
    cache: Cache,
    progress: Progress,
) -> FilesById:
    """Read files that may be indexed ones; return the rows of those that are, by old id."""
    missing = [file for file_id, file in indexed.items() if file_id not in recognised]
    missing_sizes = {file.size for file in missing}
    recognised_ids = {file.id for file in recognised.values()}
    candidates = []
    for file in listed_files.values():
        if file.id not in recognised_ids and file.size in missing_sizes and not file.reason:
            candidates.append(file)

    by_content = defaultdict[str, dict[str, LibraryFile]](dict)
    for done, file in enumerate(candidates):
        progress(done, len(candidates), f"reading files: {file.id}")
        try:
            content = cache.content_hash(Path(file.path))
        except MediaError:
            # The next update reads the file again, and says why it cannot be used.
            continue
        by_content[content][file.id] = file
    return _pair_by_content(missing, by_content)


def _pair_by_content(
    missing: Sequence[LibraryFile], by_content: defaultdict[str, dict[str, LibraryFile]]
) -> FilesById:
    """Give each missing file a candidate with its content: one with its id, if possible."""
    rows = {}
    for file in missing:
        candidate_of_id = by_content[file.content].pop(file.id, None)
        if candidate_of_id is not None:
            rows[file.id] = _row(file, candidate_of_id)

    # Originals come before their copies, which have no clips.
    for file in sorted(missing, key=lambda file: file.duplicate_of != ""):
        candidates_left = by_content[file.content]
        if file.id not in rows and candidates_left:
            first_id = next(iter(candidates_left))
            rows[file.id] = _row(file, candidates_left.pop(first_id))
    return rows


def _row(old: LibraryFile, new: LibraryFile) -> LibraryFile:
    """Return what is known of a file's content, with its present place."""
    return old._replace(
        id=new.id, path=new.path, captions=new.captions, size=new.size, mtime_ns=new.mtime_ns
    )


def _outcome(
    stored: FilesById,
    indexed: FilesById,
    listed_files: FilesById,
    recognised: FilesById,
    source: Source,
    target: Source,
) -> Moved:
    """Say what became of each file."""
    recognised_ids = {file.id for file in recognised.values()}
    others = {}
    for file_id, file in listed_files.items():
        # A manifest lists files that do not exist, too, with the reason.
        if not file.reason and file_id not in recognised_ids:
            others[file_id] = file

    unrecognised = [file_id for file_id in indexed if file_id not in recognised]
    # A folder above the former one still reads it.
    is_left_behind = is_available(source) and not source.path.is_relative_to(target.path)
    return Moved(
        num_files=len(indexed),
        renamed={old_id: file.id for old_id, file in recognised.items() if file.id != old_id},
        changed=tuple(file_id for file_id in unrecognised if file_id in others),
        missing=tuple(file_id for file_id in unrecognised if file_id not in others),
        new=tuple(file_id for file_id in others if file_id not in stored),
        left_behind=source.path if is_left_behind else None,
    )


def _check_enough(moved: Moved, name: str, path: Path, force: bool) -> None:
    """Refuse a folder that has none of the files, or few of them unless it is forced."""
    num_files = moved.num_files
    if not num_files:
        return

    unchanged = "Nothing was changed."
    num_recognised = moved.num_recognised
    if not num_recognised:
        problem = f"None of the {num_files:,} files of {name} is in {path}."
        if num_files == 1:
            problem = f"The only file of {name} is not in {path}."
        raise ConfigError(f"{problem} {unchanged} Name the folder that has them now.")

    if not force and num_recognised < LEAST_SHARE * num_files:
        share = f"{num_recognised:,} of the {counted(num_files, 'file')}"
        lacking = such_as([*moved.missing, *moved.changed])
        command = move_command(name, f"{shlex.quote(str(path))} --force")
        advice = f"Name a folder that has them, or go without them: {command}."
        raise ConfigError(
            f"Only {share} of {name} are in {path}; not {lacking}. {unchanged} {advice}"
        )


def _rewrite(libraries: Libraries, target: Source, recognised: FilesById) -> None:
    """Store the rows that are no longer right after the move."""
    inventory = libraries.inventory(target)
    stored = inventory.files()
    rows = {old_id: file for old_id, file in recognised.items() if stored.get(old_id) != file}
    if rows:
        inventory.rewrite(rows)
    if target.kind == "folder":
        inventory.mark_duplicates()
