"""SQLite inventory of a library's files, their changes since, and the clips that they are.

Readers see the last commit while another process writes. The journal is SQLite's default, not a write-ahead log: that
cannot be read on a full disk or in a read-only folder.
"""

import logging
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from nt2vr.errors import GalleryError, reason_of
from nt2vr.files import is_disk_full, parse_json
from nt2vr.library.info import Changes, Source
from nt2vr.media.gallery import Video
from nt2vr.media.video import Probe

logger = logging.getLogger(__name__)

BUSY_S = 30.0  # wait for another writer; transactions are short
CLOSED_FOLDER = "closed folder"  # kind of a folder that cannot be opened
NOTE = "note"  # kind of an entry that says how many files are left out
WHOLE = 1.5  # windows; a video up to this long stays whole
MAX_WINDOWS = 20_000  # per film: two days in windows of 10 s
Window = tuple[float, float]  # start and end in seconds
DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
SCHEMA = """
CREATE TABLE IF NOT EXISTS files (
    id TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    captions TEXT NOT NULL,   -- JSON
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    state TEXT NOT NULL,      -- new: to be read, ready, skipped
    reason TEXT NOT NULL,     -- of a skipped one
    content TEXT NOT NULL,
    kind TEXT NOT NULL,
    seconds REAL NOT NULL,
    num_frames INTEGER NOT NULL,
    num_clips INTEGER NOT NULL,
    duplicate_of TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_content ON files (content);
CREATE TABLE IF NOT EXISTS skipped_clips (
    id TEXT PRIMARY KEY,
    file_id TEXT NOT NULL,
    reason TEXT NOT NULL
) WITHOUT ROWID;
"""
SAME_CONTENT = """
UPDATE files SET duplicate_of = first FROM (
    SELECT id AS one, iif(min(id) OVER same = id, '', min(id) OVER same) AS first
    FROM files WHERE state = 'ready' WINDOW same AS (PARTITION BY content)
) WHERE id = one AND duplicate_of != first
"""
COUNTS = """
SELECT count(*), coalesce(sum(num_clips), 0), coalesce(sum(seconds), 0), coalesce(max(captions != '[]'), 0)
FROM files WHERE state = 'ready' AND duplicate_of = ''
"""


class LibraryFile(NamedTuple):
    """A file as the source lists it, and what its reading found: a row of the table."""

    id: str
    path: str
    captions: str = "[]"  # JSON
    size: int = 0
    mtime_ns: int = 0
    state: str = "new"
    reason: str = ""  # why it cannot be used
    content: str = ""
    kind: str = ""  # as `Probe` has it, or CLOSED_FOLDER
    seconds: float = 0.0
    num_frames: int = 0
    num_clips: int = 0
    duplicate_of: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """The captions."""
        return tuple(parse_json(self.captions)) if self.captions != "[]" else ()


class Counts(NamedTuple):
    """Sums over the usable files."""

    num_files: int = 0
    num_clips: int = 0
    seconds: float = 0.0
    has_captions: bool = False
    num_skipped: int = 0
    num_copies: int = 0


class Inventory:
    """The table of one library, in a file that is created when needed; each call is one transaction."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def files(self) -> dict[str, LibraryFile]:
        """Return all rows by id, in the order of ids."""
        with self._transaction() as database:
            rows = database.execute("SELECT * FROM files ORDER BY id").fetchall()
        return {row[0]: LibraryFile(*row) for row in rows}

    def counts(self) -> Counts:
        """Sum up the usable files, and count the others; duplicates are neither."""
        if not self._path.exists():
            return Counts()
        with self._transaction() as database:
            files, clips, seconds, captions = database.execute(COUNTS).fetchone()
            (skipped,) = database.execute("SELECT count(*) FROM files WHERE state = 'skipped'").fetchone()
            (failed,) = database.execute("SELECT count(*) FROM skipped_clips").fetchone()
            (copies,) = database.execute("SELECT count(*) FROM files WHERE duplicate_of != ''").fetchone()
        return Counts(files, clips - failed, seconds, bool(captions), skipped + failed, copies)

    def skipped_clips(self) -> dict[str, str]:
        """Return the reasons of clips that could not be decoded, by id."""
        with self._transaction() as database:
            return dict(database.execute("SELECT id, reason FROM skipped_clips ORDER BY id").fetchall())

    def apply(self, pending: Iterable[LibraryFile], captioned: Iterable[LibraryFile], removed: Iterable[str]) -> None:
        """Add or renew files that are to be read, change captions, and remove files."""
        rows = [file._replace(state="skipped") if file.reason else file for file in pending]
        with self._transaction() as database:
            gone = [(each,) for each in removed]
            for table, key in (("files", "id"), ("skipped_clips", "file_id")):
                database.executemany(f"DELETE FROM {table} WHERE {key} = ?", gone)
            database.executemany("DELETE FROM skipped_clips WHERE file_id = ?", [row[:1] for row in rows])
            database.executemany(f"INSERT OR REPLACE INTO files VALUES ({','.join('?' * 13)})", rows)
            texts = [(file.captions, file.id) for file in captioned]
            database.executemany("UPDATE files SET captions = ? WHERE id = ?", texts)

    def put_probes(self, probes: Mapping[str, tuple[Probe, int] | str]) -> None:
        """Store what files contain and their number of clips, or why they cannot be used."""
        with self._transaction() as database:
            for file_id, found in probes.items():
                if isinstance(found, str):
                    change, values = "state = 'skipped', reason = ?", (found,)
                else:
                    probe, clips = found
                    change = "state = 'ready', content = ?, kind = ?, seconds = ?, num_frames = ?, num_clips = ?"
                    values = (probe.content, probe.kind, probe.seconds, probe.num_frames, clips)  # type: ignore[assignment]
                database.execute(f"UPDATE files SET {change} WHERE id = ?", (*values, file_id))

    def mark_duplicates(self) -> None:
        """Note for each file the first one with the same content."""
        with self._transaction() as database:
            database.execute(SAME_CONTENT)

    def skip_clips(self, skipped: Iterable[tuple[str, str, str]]) -> None:
        """Add (clip id, file id, reason)."""
        with self._transaction() as database:
            database.executemany("INSERT OR REPLACE INTO skipped_clips VALUES (?, ?, ?)", list(skipped))

    def retry(self) -> None:
        """Have skipped files and clips read again."""
        with self._transaction() as database:
            database.execute("UPDATE files SET state = 'new', reason = '' WHERE state = 'skipped'")
            database.execute("DELETE FROM skipped_clips")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Open the database, and commit if the block succeeds.

        Raises:
            GalleryError: if it cannot be used; a damaged one is set aside, since an update builds it again.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(self._path, timeout=BUSY_S)
            try:
                database.executescript(SCHEMA)
                with database:
                    yield database
            finally:
                database.close()
        except (sqlite3.Error, OSError) as error:
            if getattr(error, "sqlite_errorcode", None) in DAMAGE:
                self._set_aside()
                raise GalleryError(
                    "The library's list of files was damaged. Update it: the list is made again."
                ) from error
            full = is_disk_full(error) or getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
            reason = "the disk is full" if full else reason_of(error)
            raise GalleryError(f"The library's list of files cannot be used ({reason}).") from error

    def _set_aside(self) -> None:
        logger.warning("%s is damaged and was set aside; the next update makes it again.", self._path)
        self._path.replace(self._path.with_name(f"{self._path.name}.damaged"))
        self._path.with_name(f"{self._path.name}-journal").unlink(missing_ok=True)


def compared(
    known: Mapping[str, LibraryFile], found: Sequence[LibraryFile]
) -> tuple[Changes, list[LibraryFile], list[LibraryFile]]:
    """Compare by path, size and modification time. What lies in a folder that cannot be opened is not removed.

    Returns:
        The changes, the files to be read, and unchanged files with other captions.
    """
    there = {file.id: file for file in found}
    closed = tuple(f"{file.id}/" if file.id else "" for file in found if file.kind == CLOSED_FOLDER)
    gone = [name for name in known if name not in there and not name.startswith(closed)]
    pending = [file for file in found if not _is_known(file, known)]
    captioned = [file for file in found if file.id in known and known[file.id].captions != file.captions]
    renamed = _renamed([known[name] for name in gone], [file for file in pending if file.id not in known])
    files = [file for file in pending if file.kind != NOTE]
    changes = Changes(
        tuple(file.id for file in files if file.id not in known and file.id not in renamed.values()),
        tuple(file.id for file in files if file.id in known and known[file.id].state != "new"),
        renamed,
        tuple(name for name in gone if name not in renamed and known[name].kind != NOTE),
    )
    return changes, pending, captioned


def _is_known(file: LibraryFile, known: Mapping[str, LibraryFile]) -> bool:
    stored = known.get(file.id)
    if stored is None or stored.state == "new" or (file.reason and file.reason != stored.reason):
        return False
    return (stored.path, stored.size, stored.mtime_ns) == (file.path, file.size, file.mtime_ns)


def _renamed(gone: Sequence[LibraryFile], new: Sequence[LibraryFile]) -> dict[str, str]:
    """Pair files that are gone with new ones of the same size and modification time, which a move leaves alone."""
    by_stat: dict[tuple[int, int], list[str]] = {}
    for file in new:
        if not file.reason:
            by_stat.setdefault((file.size, file.mtime_ns), []).append(file.id)
    pairs = ((file.id, by_stat.get((file.size, file.mtime_ns))) for file in gone if file.state != "new")
    return {old: names.pop(0) for old, names in pairs if names}


def windows(seconds: float, num_frames: int, window_s: float) -> list[Window]:
    """Cut a video into windows; a tail shorter than half a window joins the one before it.

    Args:
        num_frames: its frames; windows grow until there are no more windows than frames.
        window_s: seconds per window; 0 keeps the video whole.
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
    captions, path = file.texts, Path(file.path)
    known: dict[str, Any] = {"content": file.content, "root": source.root}
    spans = windows(file.seconds, file.num_frames, source.window_s)
    if file.kind == "picture" or (len(spans) == 1 and source.kind in ("manifest", "dataset")):
        return [Video(file.id, path, captions, **known)]  # sampled by frame numbers, as in the papers
    if len(spans) == 1:
        return [Video(file.id, path, captions, end=file.seconds, **known)]
    return [Video(window_id(file.id, span), path, captions, None, *span, film=file.id, **known) for span in spans]
