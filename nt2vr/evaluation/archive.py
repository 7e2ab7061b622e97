"""Archive of reports, which lists, opens, annotates and deletes them.

Repeating an evaluation replaces its report.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from filelock import FileLock, Timeout

from nt2vr.errors import ConfigError, quoted, reason_of, warn_once
from nt2vr.evaluation.benchmark_kinds import benchmark_kinds
from nt2vr.evaluation.report import QUERIES, REPORT, Report
from nt2vr.evaluation.stored_reports import UNREADABLE, load_report
from nt2vr.evaluation.tables import FORMS, write_tables
from nt2vr.files import (
    JsonObject,
    SafeCsv,
    atomic_write,
    hash_text,
    read_with_schema,
    size_text,
    slug,
    with_schema,
    write_json,
)
from nt2vr.media.limits import LIMITS, bytes_in, evict

QUERIES_CSV = "queries.csv"
REVIEW = "review.json"
LOCK = ".review.lock"
# A name that a person gave; it stays when an evaluation is repeated.
NAME = "name.txt"
# Files to download.
FILES = (REPORT, *FORMS, QUERIES, QUERIES_CSV, REVIEW)
# Seconds that a note waits for others to be written.
LOCK_S = 10.0
# Reports cached in memory: 20 MB each for 10,000 queries.
LOADED = 4
# Entries of the list cached in memory: a few hundred bytes each.
LISTED = 4096
MAX_REPORTS = LIMITS["reports"].count
MAX_BYTES = LIMITS["reports"].num_bytes
# Characters.
MAX_TAG = 40
MAX_NOTE = 2_000
MAX_NAME = 80


@dataclass(frozen=True)
class Remark:
    """What a person writes about one query; empty texts stand for nothing."""

    tag: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        _check_text("tag", self.tag, MAX_TAG)
        _check_text("note", self.note, MAX_NOTE)


def _check_text(name: str, text: str, longest: int) -> None:
    has_surrogate = any("\ud800" <= character <= "\udfff" for character in text)
    if len(text) > longest or has_surrogate:
        raise ConfigError(
            f"The {name} must be text of at most {longest:,} characters. It is not saved."
        )


# By the query's position in the report.
Remarks = Mapping[int, Remark]


class Entry(NamedTuple):
    """A report in the list.

    Attributes:
        problem: why it cannot be read; then its name is its id, and nothing else is known.
    """

    report_id: str
    name: str
    systems: tuple[str, ...]
    created: str
    problem: str = ""


class Archive:
    """Manages reports in subfolders of one folder; methods that take an id raise a ConfigError if there is none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Files of writers that were killed.
        evict(folder.glob("*/.*.partial*"), LIMITS["uploads"])
        for kind in benchmark_kinds().values():
            for path, read in kind.old_reports(folder.parent).items():
                self._take_in(path, read)

    def _take_in(self, path: Path, read: Callable[[Path], Report]) -> None:
        """Move a report of an earlier version into the archive; one that cannot be read stays."""
        try:
            self._save(read(path), self.folder / path.stem)
            path.unlink(missing_ok=True)
        except (ConfigError, OSError) as error:
            warn_once(str(error))

    def add(self, report: Report) -> str:
        """Save a report with its tables, and return its id: equal for the same systems on the same benchmark."""
        content = [
            report.digest,
            *([result.system, dict(result.spec)] for result in report.results),
        ]
        key = hash_text(json.dumps(content, sort_keys=True), 6)
        report_id = f"{slug(report.name) or 'report'}-{key}"
        self._save(report, self.folder / report_id)
        return report_id

    def _save(self, report: Report, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_tables(report, folder)
            _write_queries(report, folder / QUERIES_CSV, _remarks(folder))
        except OSError as error:
            raise ConfigError(
                f"The report cannot be saved to {folder} ({error.strerror}). Free space."
            ) from error
        # It writes report.json last, and only then is the report listed.
        report.save(folder)

    def entries(self) -> list[Entry]:
        """List the reports, newest first, and those that cannot be read at the end."""
        entries = [self._entry(path) for path in self.folder.glob(f"[!.]*/{REPORT}")]
        return sorted(entries, key=lambda entry: (entry.created, entry.report_id), reverse=True)

    def _entry(self, path: Path) -> Entry:
        report_id = path.parent.name
        try:
            entry = _read_entry(path, path.stat().st_mtime_ns)
        except (ConfigError, *UNREADABLE) as error:
            warn_once(f"{path}: {reason_of(error)}")
            problem = reason_of(error).replace(str(path), path.name)
            return Entry(
                report_id=report_id,
                name=report_id,
                systems=(),
                created="",
                problem=problem,
            )

        name = ""
        with suppress(OSError, ValueError):
            name = (path.parent / NAME).read_text(encoding="utf-8")[:MAX_NAME]
        return entry._replace(name=name or entry.name)

    def rename(self, report_id: str, name: str) -> None:
        """Give a report another name; its id, and so its links, stay. An empty one gives it back its first."""
        path = self._known(report_id) / NAME
        name = name.strip()
        if len(name) > MAX_NAME or not name.isprintable():
            raise ConfigError(
                f"A report's name has at most {MAX_NAME} printable characters. Choose a shorter one."
            )
        try:
            with atomic_write(path) as partial:
                partial.write_text(name, encoding="utf-8")
        except OSError as error:
            raise ConfigError(
                f"The name cannot be saved ({error.strerror}). Free some space."
            ) from error

    def check_room(self) -> None:
        """Refuse a report beyond MAX_REPORTS or MAX_BYTES, on behalf of somebody who may delete none."""
        count = len(self.entries())
        num_bytes = bytes_in(self.folder)
        if count >= MAX_REPORTS or num_bytes >= MAX_BYTES:
            raise ConfigError(
                f"There are {count:,} reports of {size_text(num_bytes)}, and no room for another. "
                "Ask the owner to delete some."
            )

    def load(self, report_id: str) -> Report:
        folder = self._known(report_id)
        written = 0
        # If the report has just been deleted, `_load` says so.
        with suppress(OSError):
            written = (folder / REPORT).stat().st_mtime_ns
        return _load(folder, written)

    def summary(self, report_id: str) -> JsonObject:
        return read_with_schema(self._known(report_id) / REPORT)

    def files(self, report_id: str) -> list[str]:
        folder = self._known(report_id)
        return [name for name in FILES if (folder / name).is_file()]

    def remarks(self, report_id: str) -> dict[int, Remark]:
        """Return the remarks of a report by the positions of queries; of an unreadable file none."""
        return _remarks(self._known(report_id))

    def annotate(self, report_id: str, position: int, remark: Remark) -> None:
        """Save a remark on a query, and export it with the queries; an empty one is removed."""
        report = self.load(report_id)
        folder = self._known(report_id)
        if not 0 <= position < len(report.queries):
            raise ConfigError(f"The report has no query {position:,}. The note is not saved.")
        try:
            # Other processes may share the data folder.
            with FileLock(folder / LOCK, timeout=LOCK_S):
                remarks = {**read_remarks(folder), position: remark}
                if remark == Remark():
                    del remarks[position]
                _write_remarks(report, folder, remarks)
                _write_queries(report, folder / QUERIES_CSV, remarks)
        except OSError as error:
            reason = error.strerror
            if isinstance(error, Timeout):
                reason = "others are being written"
            raise ConfigError(
                f"The note cannot be saved ({reason}). Free some space, or try again."
            ) from error

    def delete(self, report_id: str) -> None:
        """Delete a report; stored results remain, so evaluating again is fast."""
        folder = self._known(report_id)
        hidden = folder.with_name(f".{uuid4().hex}")
        folder.rename(hidden)
        shutil.rmtree(hidden, ignore_errors=True)

    def _known(self, report_id: str) -> Path:
        """Return a report's folder; only ids of listed reports ever become part of a path."""
        if report_id not in [entry.report_id for entry in self.entries()]:
            raise ConfigError(
                f"There is no report {quoted(report_id)}. Choose one from the list, or evaluate again."
            )
        return self.folder / report_id


@lru_cache(LOADED)
def _load(folder: Path, written: int) -> Report:
    """Read a report that was `written` at this time, in nanoseconds."""
    return load_report(folder)


@lru_cache(LISTED)
def _read_entry(path: Path, written: int) -> Entry:
    """Read what the list shows of a report that was `written` at this time, in nanoseconds."""
    summary = read_with_schema(path)
    systems = tuple(str(system["system"]) for system in summary["systems"])
    return Entry(
        report_id=path.parent.name,
        name=str(summary["name"]),
        systems=systems,
        created=str(summary["created"]),
    )


def read_remarks(folder: Path) -> dict[int, Remark]:
    """Read the remarks of a report; a ConfigError says why they cannot be read."""
    path = folder / REVIEW
    if not path.exists():
        return {}
    try:
        remarks = {
            int(position): Remark(str(line["tag"]), str(line["note"]))
            for position, line in read_with_schema(path)["queries"].items()
        }
    except UNREADABLE as error:
        raise ConfigError(
            f"{path} cannot be read ({error}). Move it away to write new notes."
        ) from error
    return remarks


def _write_remarks(report: Report, folder: Path, remarks: Remarks) -> None:
    """Write remarks with the texts of the queries, for people who read the file."""
    lines = {
        str(position): {"text": report.queries[position].text, **asdict(remark)}
        for position, remark in sorted(remarks.items())
    }
    write_json(folder / REVIEW, with_schema({"queries": lines}), indent=1)


def _remarks(folder: Path) -> dict[int, Remark]:
    try:
        return read_remarks(folder)
    except ConfigError as error:
        warn_once(str(error))
        return {}


def _write_queries(report: Report, path: Path, remarks: Remarks) -> None:
    """Write one line per query, with its rank under each system, and its tag and note if any has."""
    heads = ["kind", "text", "cue", "wanted", "unwanted", "num_relevant", *report.specs]
    if remarks:
        heads += ["tag", "note"]
    with atomic_write(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        writer = SafeCsv(file)
        writer.writerow(heads)
        for position, query in enumerate(report.queries):
            row = [
                query.kind,
                query.text,
                query.cue,
                query.wanted or "",
                ", ".join(query.unwanted),
                len(query.relevant),
                *report.ranks(position).values(),
            ]
            if remarks:
                remark = remarks.get(position, Remark())
                row += [remark.tag, remark.note]
            writer.writerow(row)
