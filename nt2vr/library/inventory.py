"""SQLite inventory of a library: its files, what their reading found, and clips without frames."""

import logging
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nt2vr.errors import GalleryError, reason_of
from nt2vr.files import is_disk_full
from nt2vr.library.library_file import FilesById, LibraryFile
from nt2vr.media.store import DAMAGED_DATABASE

logger = logging.getLogger(__name__)

# Seconds to wait for another writer; transactions are short.
BUSY_S = 30.0
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
PLACEHOLDERS = ",".join("?" * len(LibraryFile._fields))
INSERT = f"INSERT OR REPLACE INTO files VALUES ({PLACEHOLDERS})"
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
# Columns of a file that was read: what it contains, or why it cannot be used.
ProbeOutcome = Mapping[str, Any]


class Inventory:
    """The table of one library; each call is one transaction, and the first creates the file.

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
        """Count usable and skipped files, as `LibraryInfo` has them; duplicates are neither."""
        if not self._path.exists():
            return {}
        with self._transaction() as database:
            counts = dict(database.execute(COUNTS).fetchone())
        counts["has_captions"] = bool(counts["has_captions"])
        return counts

    def skipped_clips(self) -> dict[str, str]:
        """Return the reasons of clips that could not be decoded, by id."""
        with self._transaction() as database:
            rows = database.execute("SELECT id, reason FROM skipped_clips ORDER BY id").fetchall()
        return dict(rows)

    def apply(
        self, pending: Iterable[LibraryFile], captioned: Iterable[LibraryFile], gone: Iterable[str]
    ) -> None:
        """Add or renew files that are to be read, change captions, and remove files."""
        rows = []
        for file in pending:
            if file.reason:
                file = file._replace(state="skipped")
            rows.append(self._stored(file))

        removed_ids = [(file_id,) for file_id in gone]
        pending_ids = [(row.id,) for row in rows]
        captions = [(file.captions, file.id) for file in captioned]
        with self._transaction() as database:
            database.executemany("DELETE FROM files WHERE id = ?", removed_ids)
            database.executemany(
                "DELETE FROM skipped_clips WHERE file_id = ?", removed_ids + pending_ids
            )
            database.executemany(INSERT, rows)
            database.executemany("UPDATE files SET captions = ? WHERE id = ?", captions)

    def make_relative(self) -> None:
        """Store the absolute paths of version 0.2.0 relative to `base`, if there are any."""
        length = len(self._base)
        with self._transaction() as database:
            database.execute(
                "UPDATE files SET path = substr(path, ?) WHERE substr(path, 1, ?) = ?",
                (length + 1, length, self._base),
            )

    def rewrite(self, files: FilesById) -> None:
        """Replace rows, given by their present ids; skipped clips of a file follow its new id."""
        new_ids = {old_id: file.id for old_id, file in files.items()}
        affected_ids = [(file_id,) for file_id in {*new_ids, *new_ids.values()}]
        rows = [self._stored(file) for file in files.values()]
        with self._transaction() as database:
            skipped_clips = _renamed_clips(database, new_ids)

            # All rows with an old or a new id go first: two files may have exchanged their names.
            database.executemany("DELETE FROM skipped_clips WHERE file_id = ?", affected_ids)
            database.executemany("DELETE FROM files WHERE id = ?", affected_ids)
            database.executemany(INSERT, rows)
            database.executemany("INSERT INTO skipped_clips VALUES (?, ?, ?)", skipped_clips)

    def put_probes(self, probes: Mapping[str, ProbeOutcome]) -> None:
        """Store what the reading of files found, by their ids."""
        with self._transaction() as database:
            for file_id, outcome in probes.items():
                assignments = ", ".join(f"{column} = ?" for column in outcome)
                database.execute(
                    f"UPDATE files SET {assignments} WHERE id = ?", (*outcome.values(), file_id)
                )

    def mark_duplicates(self) -> None:
        """Note for each file the first one with the same content."""
        with self._transaction() as database:
            database.execute(SAME_CONTENT)

    def skip_clips(self, skipped: Iterable[tuple[str, str, str]]) -> None:
        """Add clips that cannot be decoded, as (clip id, file id, reason)."""
        with self._transaction() as database:
            database.executemany("INSERT OR REPLACE INTO skipped_clips VALUES (?, ?, ?)", skipped)

    def retry(self) -> None:
        """Have skipped files and clips read again."""
        with self._transaction() as database:
            database.execute("UPDATE files SET state = 'new', reason = '' WHERE state = 'skipped'")
            database.execute("DELETE FROM skipped_clips")

    def _stored(self, file: LibraryFile) -> LibraryFile:
        return file._replace(path=file.path.removeprefix(self._base))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Open the database, and commit if the block succeeds; a damaged one is set aside."""
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
                self._set_aside()
                raise GalleryError(
                    "The library's list of files was damaged. Update it: the list is made again."
                ) from error

            reason = reason_of(error)
            if is_disk_full(error) or code == sqlite3.SQLITE_FULL:
                reason = "the disk is full"
            raise GalleryError(f"The library's list of files cannot be used ({reason}).") from error

    def _set_aside(self) -> None:
        """Rename a damaged database, so that the next update makes a new one."""
        logger.warning(
            "%s is damaged and was set aside; the next update makes it again.", self._path
        )
        self._path.replace(self._path.with_name(f"{self._path.name}.damaged"))
        self._path.with_name(f"{self._path.name}-journal").unlink(missing_ok=True)


def _renamed_clips(
    database: sqlite3.Connection, new_ids: Mapping[str, str]
) -> list[tuple[str, str, str]]:
    """Return the skipped clips of renamed files, under their new names."""
    clips = []
    for clip_id, file_id, reason in database.execute(
        "SELECT id, file_id, reason FROM skipped_clips"
    ):
        if file_id in new_ids:
            new_id = new_ids[file_id]
            clips.append((new_id + clip_id.removeprefix(file_id), new_id, reason))
    return clips
