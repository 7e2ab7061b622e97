"""Archive of reports: lists, opens and deletes them. Repeating an evaluation replaces its report."""

import json
import logging
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any
from uuid import uuid4

from defusedcsv import csv
from filelock import FileLock, Timeout

from nt2vr.errors import ConfigError, quoted, reason_of
from nt2vr.evaluation.covr.report import read_covr_file
from nt2vr.evaluation.reports.formats import FORMS, write_tables
from nt2vr.evaluation.reports.report import QUERIES, REPORT, UNREADABLE, Report, Result, load_report
from nt2vr.evaluation.reports.review import REVIEW, Remark, Remarks, read_remarks, write_remarks
from nt2vr.files import atomic_write, parse_json, without_schema
from nt2vr.media.stored import LIMITS, bytes_in

logger = logging.getLogger(__name__)

QUERIES_CSV, LOCK = "queries.csv", ".review.lock"
LOCK_S = 10.0  # that a note waits for others to be written
FILES = (REPORT, *FORMS, QUERIES, QUERIES_CSV, REVIEW)  # to download
FROM = " @ "  # between a system's name and the report it is from
LOADED = 4  # reports cached in memory: 20 MB each for 10,000 queries
MAX_REPORTS, MAX_BYTES = LIMITS["reports"].count, LIMITS["reports"].num_bytes


@dataclass(frozen=True)
class Entry:
    """Summary of a report for listing."""

    report_id: str
    name: str
    systems: tuple[str, ...]
    created: str
    digest: str = ""  # equal for the same queries; "" if unknown
    # per system, its name and description as canonical JSON, equal for the same results on the same queries
    specs: tuple[str, ...] = ()
    problem: str = ""  # why it cannot be read; then the name is its id, and nothing else is known


class Archive:
    """Manages reports in subfolders of one folder, each with its tables.

    Reports of pictures plus texts were once single JSON files in the neighbouring folder `composed`. They are listed,
    opened and deleted too. Methods that take an id raise a ConfigError if there is no such report.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self._older = folder, folder.with_name("composed")
        self._listed: dict[str, tuple[int, Entry]] = {}  # by id, with the file's modification time

    def add(self, report: Report) -> str:
        """Save a report with its tables, and return its id."""
        report_id = id_of(report)
        folder = self.folder / report_id
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_tables(report, folder)
            _write_queries(report, folder / QUERIES_CSV, self._remarks(folder))
        except OSError as error:
            raise ConfigError(
                f"The report cannot be saved to {folder} ({error.strerror}). Free some space."
            ) from error
        report.save(folder)  # writes report.json last, which makes it listed
        return report_id

    def entries(self) -> list[Entry]:
        """List the reports, newest first, and those that cannot be read at the end."""
        found = {path.stem: path for path in self._older.glob("[!.]*.json")}
        found |= {path.parent.name: path for path in self.folder.glob(f"[!.]*/{REPORT}")}
        entries = [self._entry(report_id, path) for report_id, path in found.items()]
        return sorted(entries, key=lambda entry: (entry.created, entry.report_id), reverse=True)

    def _entry(self, report_id: str, path: Path) -> Entry:
        try:
            written = path.stat().st_mtime_ns
            if self._listed.get(report_id, (None,))[0] != written:
                self._listed[report_id] = written, _entry_of(report_id, self._summary(path))
        except (ConfigError, *UNREADABLE) as error:
            self._listed.pop(report_id, None)
            _warn(f"{path}: {reason_of(error)}" if not isinstance(error, ConfigError) else str(error))
            return Entry(report_id, report_id, (), "", problem=reason_of(error).replace(str(path), path.name))
        return self._listed[report_id][1]

    def _summary(self, path: Path) -> dict[str, Any]:
        if path.parent == self._older:
            return read_covr_file(path).summary()
        return without_schema(parse_json(path.read_text(encoding="utf-8")), path)

    def check_room(self) -> None:
        """Refuse a report beyond MAX_REPORTS or MAX_BYTES, on behalf of somebody who may delete none."""
        count, num_bytes = len(self.entries()), bytes_in(self.folder)
        if count >= MAX_REPORTS or num_bytes >= MAX_BYTES:
            raise ConfigError(
                f"There are {count:,} reports of {num_bytes / 1e9:.1f} GB, and no room for another. "
                "Ask the owner to delete some."
            )

    def load(self, report_id: str) -> Report:
        place = self._known(report_id)
        return _load(place, self._listed.get(report_id, (0,))[0])

    def files(self, report_id: str) -> list[str]:
        """List a report's files to download."""
        place = self._known(report_id)
        return [name for name in FILES if (place / name).is_file()]

    def rivals(self, report_id: str) -> list[str]:
        """Name the systems of other reports on the same queries, as `load_with` takes them; without equal systems."""
        entries = {entry.report_id: entry for entry in self.entries()}
        mine = entries.get(report_id)
        if mine is None or not mine.digest:
            return []
        seen, names = set(mine.specs), []
        for other in entries.values():
            if other.digest == mine.digest:
                for system, spec in zip(other.systems, other.specs, strict=True):
                    if spec not in seen:
                        seen.add(spec)
                        names.append(f"{system}{FROM}{other.report_id}")
        return names

    def load_with(self, report_id: str, names: Iterable[str]) -> Report:
        """Open a report together with systems of others on the same queries, named as by `rivals`."""
        report = self.load(report_id)
        further = [self._rival(report, name) for name in dict.fromkeys(names) if FROM in name]
        return replace(report, results=(*report.results, *further)) if further else report

    def _rival(self, report: Report, name: str) -> Result:
        system, _, other_id = name.rpartition(FROM)
        other = self.load(other_id)
        found = [result for result in other.results if result.system == system]
        if not report.digest or other.digest != report.digest or not found:
            raise ConfigError(
                f"{quoted(name)} was not evaluated on the queries of this report. Choose another system."
            )
        return replace(found[0], system=name)

    def remarks(self, report_id: str) -> dict[int, Remark]:
        """Return the remarks of a report by the positions of queries; of an unreadable file none."""
        return self._remarks(self._known(report_id))

    def _remarks(self, folder: Path) -> dict[int, Remark]:
        try:
            return read_remarks(folder)
        except ConfigError as error:
            _warn(str(error))
            return {}

    def annotate(self, report_id: str, place: int, remark: Remark) -> None:
        """Save a remark on a query, and export it with the queries; an empty one is removed."""
        report, folder = self.load(report_id), self._known(report_id)
        if not folder.is_dir():
            raise ConfigError("Reports of earlier versions have no notes. Evaluate again to take some.")
        if not 0 <= place < len(report.queries):
            raise ConfigError(f"The report has no query {place:,}. The note is not saved.")
        try:
            with FileLock(folder / LOCK, timeout=LOCK_S):  # other processes may share the data folder
                remarks = read_remarks(folder)
                remarks[place] = remark
                if remark == Remark():
                    del remarks[place]
                write_remarks(folder, remarks, {number: report.queries[number].text for number in remarks})
                _write_queries(report, folder / QUERIES_CSV, remarks)
        except OSError as error:
            reason = "others are being written" if isinstance(error, Timeout) else error.strerror
            raise ConfigError(f"The note cannot be saved ({reason}). Try again.") from error

    def summary(self, report_id: str) -> dict[str, Any]:
        folder = self._known(report_id)
        path = folder / REPORT if folder.is_dir() else folder
        return without_schema(parse_json(path.read_text(encoding="utf-8")), path)

    def delete(self, report_id: str) -> None:
        """Delete a report; stored results remain, so evaluating again is fast."""
        place = self._known(report_id)
        hidden = place.with_name(f".{uuid4().hex}")
        place.rename(hidden)
        if hidden.is_dir():
            shutil.rmtree(hidden, ignore_errors=True)
        else:
            hidden.unlink(missing_ok=True)

    def _known(self, report_id: str) -> Path:
        """Return a report's folder or file; only ids of listed reports ever become part of a path."""
        if report_id not in [entry.report_id for entry in self.entries()]:
            raise ConfigError(f"There is no report {quoted(report_id)}. Choose one from the list, or evaluate again.")
        folder = self.folder / report_id
        return folder if (folder / REPORT).is_file() else self._older / f"{report_id}.json"


@lru_cache(LOADED)
def _load(place: Path, written: int) -> Report:
    """Read a report that was `written` at this time, in nanoseconds."""
    return load_report(place) if place.is_dir() else read_covr_file(place)


@cache
def _warn(reason: str) -> None:
    logger.warning("%s", reason)


def id_of(report: Report) -> str:
    """Return the folder name of a report: equal for the same systems on the same benchmark."""
    content = [report.digest, *([result.system, dict(result.spec)] for result in report.results)]
    key = blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=6).hexdigest()
    name = re.sub(r"[^a-z0-9]+", "-", report.name.lower()).strip("-")[:40]
    return f"{name or 'report'}-{key}"


def _entry_of(report_id: str, data: dict[str, Any]) -> Entry:
    systems = tuple(str(system["system"]) for system in data["systems"])
    specs = tuple(
        json.dumps({name: value for name, value in system.items() if name != "metrics"}, sort_keys=True)
        for system in data["systems"]
    )
    name, created, digest = str(data["name"]), str(data["created"]), str(data.get("digest", ""))
    return Entry(report_id, name, systems, created, digest, specs)


def _write_queries(report: Report, path: Path, remarks: Remarks) -> None:
    """Write one line per query, with one column of ranks per system; with its tag and note if there are any."""
    names = [result.system for result in report.results]
    ranks = zip(*(result.measured.ranks.tolist() for result in report.results), strict=True)
    with atomic_write(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        said = ("tag", "note") if remarks else ()
        writer.writerow(("kind", "text", "cue", "wanted", "unwanted", "num_relevant", *names, *said))
        for place, (query, found) in enumerate(zip(report.queries, ranks, strict=True)):
            parts = (query.wanted or "", ", ".join(query.unwanted), len(query.relevant))
            remark = remarks.get(place, Remark())
            more = (remark.tag, remark.note) if remarks else ()
            writer.writerow((query.kind, query.text, query.cue, *parts, *found, *more))
