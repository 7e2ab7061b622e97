"""Settings and contents of a library as data, and the SQLite inventory of its files, their changes and their clips."""

import logging
import os
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from pydantic import FiniteFloat

from nt2vr.datasets.base import Split
from nt2vr.errors import ConfigError, GalleryError, counted, reason_of
from nt2vr.files import is_disk_full, parse_json
from nt2vr.media.gallery import Video
from nt2vr.media.store import DAMAGED_DATABASE
from nt2vr.media.video import Probe, Window
from nt2vr.registry import pick

logger = logging.getLogger(__name__)
Kind = Literal["folder", "uploads", "manifest", "dataset"]
WINDOW_S = 10.0  # seconds of a window by default, for folders and uploads; manifests and datasets stay whole
MIN_WINDOW_S, MAX_WINDOW_S = 1.0, 3600.0


@dataclass(frozen=True)
class Source:
    """Settings of a library, stored as library.json."""

    id: str
    name: str  # display name, unique among libraries
    kind: Kind
    path: Path  # a folder, a file of captions, or a dataset that `load_dataset` reads; absolute and resolved
    split: Split = "all"
    window_s: FiniteFloat = 0.0  # seconds per window of a long video; 0 keeps videos whole
    within: Path | None = (
        None  # folder that every file must lie in after links are followed; None is anywhere
    )
    loader: str = ""  # kind of dataset, as in "KIND:PATH"; empty infers it

    def __post_init__(self) -> None:
        pick("kind of library", self.kind, dict.fromkeys(get_args(Kind)))
        if self.window_s and not MIN_WINDOW_S <= self.window_s <= MAX_WINDOW_S:
            choices = f"{MIN_WINDOW_S:g} to {MAX_WINDOW_S:g}"
            raise ConfigError(f"Windows of {self.window_s} s cannot be made. Choose {choices}.")

    @property
    def key(self) -> str:
        """The `key` of its gallery."""
        return f"library-{self.id}"

    @property
    def base(self) -> Path:
        """The folder that paths of its files are stored relative to, so that they hold wherever it is moved."""
        return self.path.parent if self.kind == "manifest" else self.path

    @property
    def root(self) -> Path | None:
        """The folder that its files must lie in after links are followed; None is anywhere."""
        if self.kind in ("folder", "uploads"):
            return self.path
        return self.path.parent if self.kind == "manifest" else self.within


@dataclass(frozen=True)
class LibraryInfo:
    """Summary of a library for listing."""

    source: Source
    num_files: int = 0  # usable files; duplicates in folders count once
    num_clips: int = 0
    num_skipped: int = 0  # files and windows that cannot be used, without duplicates
    seconds: float = 0.0
    available: bool = True  # whether its folder or file is there now; what was indexed stays searchable without it
    has_captions: bool = False
    num_copies: int = 0  # files with the same content as another

    @property
    def id(self) -> str:
        return self.source.id

    @property
    def name(self) -> str:
        return self.source.name

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for the page and for JSON."""
        source = {
            name: getattr(self.source, name)
            for name in ("id", "name", "kind", "path", "split", "window_s")
        }
        counts = {name: value for name, value in vars(self).items() if name != "source"}
        return {**source, "path": str(self.source.path), **counts}


@dataclass(frozen=True)
class Skipped:
    """A file or window that is not in the gallery."""

    id: str
    reason: str
    duplicate_of: str = ""  # id of an earlier file with the same content, where that is the reason


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


BUSY_S = 30.0  # wait for another writer; transactions are short
CLOSED_FOLDER = "closed folder"  # kind of a folder that cannot be opened
NOTE = "note"  # kind of an entry that says how many files are left out
WHOLE = 1.5  # windows; a video up to this long stays whole
MAX_WINDOWS = 20_000  # per film: two days in windows of 10 s
SAME_CONTENT = """
UPDATE files SET duplicate_of = first FROM (
    SELECT id AS one, iif(min(id) OVER same = id, '', min(id) OVER same) AS first
    FROM files WHERE state = 'ready' WINDOW same AS (PARTITION BY content)
) WHERE id = one AND duplicate_of != first
"""
COUNTS = """
SELECT count(*) AS num_files,
    coalesce(sum(num_clips), 0) - (SELECT count(*) FROM skipped_clips) AS num_clips,
    (SELECT count(*) FROM files WHERE state = 'skipped') + (SELECT count(*) FROM skipped_clips) AS num_skipped,
    coalesce(sum(seconds), 0.0) AS seconds,
    coalesce(max(captions != '[]'), 0) AS has_captions,
    (SELECT count(*) FROM files WHERE duplicate_of != '') AS num_copies
FROM files WHERE state = 'ready' AND duplicate_of = ''
"""


class LibraryFile(NamedTuple):
    """A file as the source lists it, and what its reading found: a row of the table."""

    id: str
    path: str
    captions: str = "[]"  # JSON
    size: int = 0
    mtime_ns: int = 0  # see `mtime_of`
    state: str = "new"  # to be read, "ready" or "skipped"
    reason: str = ""  # why it cannot be used
    content: str = ""
    kind: str = ""  # as `Probe` has it, CLOSED_FOLDER or NOTE
    seconds: float = 0.0
    num_frames: int = 0
    num_clips: int = 0
    duplicate_of: str = ""


def mtime_of(status: os.stat_result) -> int:
    """Return a modification time in nanoseconds, modulo the 64 bits of SQLite's integers.

    Files dated before 1678 or after 2262 need more bits. Their times need only differ where they
    change.
    """
    return (status.st_mtime_ns + 2**63) % 2**64 - 2**63


Known = Mapping[str, LibraryFile]  # by id
Listed = list[LibraryFile]
Mark = Callable[[LibraryFile], Any]
TYPES = {str: "TEXT", int: "INTEGER", float: "REAL"}
COLUMNS = ", ".join(
    f"{name} {TYPES[kind]} NOT NULL" for name, kind in LibraryFile.__annotations__.items()
)
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS files ({COLUMNS}, PRIMARY KEY (id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_content ON files (content);
CREATE TABLE IF NOT EXISTS skipped_clips (id TEXT PRIMARY KEY, file_id TEXT NOT NULL, reason TEXT NOT NULL)
    WITHOUT ROWID;
"""


INSERT = f"INSERT OR REPLACE INTO files VALUES ({','.join('?' * len(LibraryFile._fields))})"


class Inventory:
    """The table of one library, in a file that is created when needed; each call is one transaction.

    Paths are stored relative to `base` where they lie in it, and absolute otherwise, as 0.2.0
    stored all of them. Readers see the last commit while another process writes. The journal is
    SQLite's default, not a write-ahead log: that cannot be read on a full disk or in a read-only
    folder.
    """

    def __init__(self, path: Path, base: Path) -> None:
        self._path = path
        self._base = os.path.join(base, "")

    def files(self) -> dict[str, LibraryFile]:
        """Return all rows by id, in the order of ids."""
        files = {}
        with self._transaction() as database:
            for file_id, path, *facts in database.execute("SELECT * FROM files ORDER BY id"):
                files[file_id] = LibraryFile(file_id, os.path.join(self._base, path), *facts)
        return files

    def counts(self) -> dict[str, Any]:
        """Sum up the usable files, and count the others, as `LibraryInfo` has them; duplicates are neither."""
        if not self._path.exists():
            return {}
        with self._transaction() as database:
            found = dict(database.execute(COUNTS).fetchone())
        return found | {"has_captions": bool(found["has_captions"])}

    def changes(self, found: "list[LibraryFile]") -> Changes:
        """Compare files with the table by path, size and modification time; nothing is read."""
        pending, _, gone = compared(known := self.files(), found)
        return changes_of(known, pending, gone, lambda file: (file.size, file.mtime_ns))

    def skipped_clips(self) -> dict[str, str]:
        """Return the reasons of clips that could not be decoded, by id."""
        with self._transaction() as database:
            return dict(
                map(tuple, database.execute("SELECT id, reason FROM skipped_clips ORDER BY id"))
            )

    def apply(
        self, pending: Iterable[LibraryFile], captioned: Iterable[LibraryFile], gone: Iterable[str]
    ) -> None:
        """Add or renew files that are to be read, change captions, and remove files."""
        rows = [
            self._stored(file._replace(state="skipped") if file.reason else file)
            for file in pending
        ]
        ids = [(each,) for each in gone]
        with self._transaction() as database:
            database.executemany("DELETE FROM files WHERE id = ?", ids)
            database.executemany(
                "DELETE FROM skipped_clips WHERE file_id = ?", ids + [row[:1] for row in rows]
            )
            database.executemany(INSERT, rows)
            texts = [(file.captions, file.id) for file in captioned]
            database.executemany("UPDATE files SET captions = ? WHERE id = ?", texts)

    def make_relative(self) -> None:
        """Store paths relative to `base` that version 0.2.0 stored absolute; if there are none, nothing is written."""
        length = len(self._base)
        with self._transaction() as database:
            database.execute(
                "UPDATE files SET path = substr(path, ?) WHERE substr(path, 1, ?) = ?",
                (length + 1, length, self._base),
            )

    def rewrite(self, files: Mapping[str, LibraryFile]) -> None:
        """Replace rows, given by their ids until now; the clips skipped of a file that has a new id go with it."""
        new_ids = {old: file.id for old, file in files.items()}
        with self._transaction() as database:
            clips = []
            for clip, file_id, reason in database.execute(
                "SELECT id, file_id, reason FROM skipped_clips"
            ):
                if file_id in new_ids:
                    new_id = new_ids[file_id]
                    clips.append((new_id + clip.removeprefix(file_id), new_id, reason))

            # All that has an old or a new id goes first: two files may have exchanged their names.
            ids = [(file_id,) for file_id in {*new_ids, *new_ids.values()}]
            database.executemany("DELETE FROM skipped_clips WHERE file_id = ?", ids)
            database.executemany("DELETE FROM files WHERE id = ?", ids)
            database.executemany(INSERT, [self._stored(file) for file in files.values()])
            database.executemany("INSERT INTO skipped_clips VALUES (?, ?, ?)", clips)

    def put_probes(self, probes: Mapping[str, tuple[Probe, int] | str]) -> None:
        """Store what files contain and their number of clips, or why they cannot be used."""
        with self._transaction() as database:
            for file_id, found in probes.items():
                changes: dict[str, Any] = {"state": "skipped", "reason": found}
                if not isinstance(found, str):
                    probe, num_clips = found
                    changes = {"state": "ready", **vars(probe), "num_clips": num_clips}
                columns = ", ".join(f"{name} = ?" for name in changes)
                database.execute(
                    f"UPDATE files SET {columns} WHERE id = ?", (*changes.values(), file_id)
                )

    def mark_duplicates(self) -> None:
        """Note for each file the first one with the same content."""
        with self._transaction() as database:
            database.execute(SAME_CONTENT)

    def skip_clips(self, skipped: Iterable[tuple[str, str, str]]) -> None:
        """Add (clip id, file id, reason)."""
        with self._transaction() as database:
            database.executemany(
                "INSERT OR REPLACE INTO skipped_clips VALUES (?, ?, ?)", list(skipped)
            )

    def retry(self) -> None:
        """Have skipped files and clips read again."""
        with self._transaction() as database:
            database.execute("UPDATE files SET state = 'new', reason = '' WHERE state = 'skipped'")
            database.execute("DELETE FROM skipped_clips")

    def _stored(self, file: LibraryFile) -> LibraryFile:
        return file._replace(path=file.path.removeprefix(self._base))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Open the database, and commit if the block succeeds; a damaged one is set aside for the next update."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(self._path, timeout=BUSY_S)
            database.row_factory = sqlite3.Row
            try:
                database.executescript(SCHEMA)
                with database:
                    yield database
            finally:
                database.close()
        except (sqlite3.Error, OSError) as error:
            code = getattr(error, "sqlite_errorcode", None)
            if code in DAMAGED_DATABASE:
                logger.warning(
                    "%s is damaged and was set aside; the next update makes it again.", self._path
                )
                self._path.replace(self._path.with_name(f"{self._path.name}.damaged"))
                self._path.with_name(f"{self._path.name}-journal").unlink(missing_ok=True)
                message = (
                    "The library's list of files was damaged. Update it: the list is made again."
                )
                raise GalleryError(message) from error
            reason = (
                "the disk is full"
                if is_disk_full(error) or code == sqlite3.SQLITE_FULL
                else reason_of(error)
            )
            raise GalleryError(f"The library's list of files cannot be used ({reason}).") from error


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


def windows(seconds: float, num_frames: int, window_s: float) -> list[tuple[float, float]]:
    """Cut a video into windows, (start, end) in seconds; a tail shorter than half of one joins the one before it.

    Windows grow until there are no more of them than frames; 0 seconds per window keep the video
    whole.
    """
    if window_s <= 0 or seconds <= WHOLE * window_s:
        return [(0.0, seconds)]
    window_s = max(window_s, seconds / max(1, min(num_frames, MAX_WINDOWS)))
    count = max(1, int(seconds / window_s + 0.5))
    starts = [number * window_s for number in range(count)]
    return list(zip(starts, [*starts[1:], seconds], strict=True))


def window_id(file_id: str, window: Window) -> str:
    start, end = window
    return f"{file_id}@{start:.7g}-{end:.7g}"


def clips_of(file: LibraryFile, source: Source) -> list[Video]:
    """Return the clips of a file: itself, or its windows; none for a copy, or a file that cannot be used."""
    if file.state != "ready" or file.duplicate_of:
        return []
    captions, path = tuple(parse_json(file.captions)), Path(file.path)
    known: dict[str, Any] = {"content": file.content, "root": source.root}
    spans = windows(file.seconds, file.num_frames, source.window_s)
    if len(spans) > 1 and file.kind != "picture":
        if (
            source.kind == "folder"
        ):  # its captions are of the whole video, and would give windows wrong verdicts
            captions = ()
        return [
            Video(window_id(file.id, span), path, captions, None, *span, film=file.id, **known)
            for span in spans
        ]
    if file.kind == "picture" or source.kind in ("manifest", "dataset"):
        return [Video(file.id, path, captions, **known)]  # sampled as a whole, as in the papers
    return [Video(file.id, path, captions, end=file.seconds, **known)]
