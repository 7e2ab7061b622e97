"""SQLite inventory of a library: its files, what their reading found, and clips that cannot be decoded."""

import logging
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nt2vr.errors import GalleryError, reason_of
from nt2vr.files import is_disk_full
from nt2vr.library.changes import Changes, changes_of, compared
from nt2vr.library.library_file import LibraryFile
from nt2vr.media.store import DAMAGED_DATABASE
from nt2vr.media.video import Probe

logger = logging.getLogger(__name__)


BUSY_S = 30.0  # wait for another writer; transactions are short
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
