"""Reports kept in one folder: listed newest first, opened and deleted by id; the same asked again replaces its own."""

import csv
import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any
from uuid import uuid4

from nt2vr.errors import ConfigError
from nt2vr.evaluation.report import REPORT, Report, load_report
from nt2vr.evaluation.tables import write_tables

QUERIES_CSV = "queries.csv"
LOADED = 4  # reports kept in memory: one of 10,000 queries is about 20 MB


@dataclass(frozen=True)
class Entry:
    """A report in the list: what was evaluated, of whom, and when (ISO 8601, UTC)."""

    report_id: str
    name: str
    systems: tuple[str, ...]
    videos: int
    queries: int
    created: str


class Archive:
    """The reports in a folder, one folder each, with their tables as files beside them."""

    def __init__(self, folder: Path) -> None:
        """Name the folder; it is made when first needed."""
        self.folder = folder
        self._listed: dict[str, tuple[int, Entry]] = {}  # by id, with the time of the file
        self._loaded: dict[tuple[str, int], Report] = {}

    def add(self, report: Report) -> str:
        """Keep a report with all the files that people take along, and return its id.

        Raises:
            ConfigError: if it cannot be written.
        """
        report_id = id_of(report)
        folder = self.folder / report_id
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_tables(report, folder)
            _write_queries(report, folder / QUERIES_CSV)
        except OSError as error:
            raise ConfigError(f"The report cannot be kept in {folder} ({error.strerror}). Make room there.") from error
        report.save(folder)  # its last file is the one that makes it listed
        return report_id

    def entries(self) -> list[Entry]:
        """List the reports, newest first; what cannot be read is passed over."""
        found = {path.parent.name: path for path in self.folder.glob(f"[!.]*/{REPORT}")}
        entries = [entry for report_id, path in found.items() if (entry := self._entry(report_id, path))]
        return sorted(entries, key=lambda entry: (entry.created, entry.report_id), reverse=True)

    def _entry(self, report_id: str, path: Path) -> Entry | None:
        try:
            written = path.stat().st_mtime_ns
            if self._listed.get(report_id, (None,))[0] != written:
                self._listed[report_id] = written, _entry_of(report_id, json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return self._listed[report_id][1]

    def load(self, report_id: str) -> Report:
        """Open a report.

        Raises:
            ConfigError: if there is no such report, or it cannot be read.
        """
        folder = self._known(report_id)
        key = (report_id, self._listed[report_id][0])
        if key not in self._loaded:
            self._loaded = dict([*self._loaded.items(), (key, load_report(folder))][-LOADED:])
        return self._loaded[key]

    def summary(self, report_id: str) -> dict[str, Any]:
        """Return what report.json says.

        Raises:
            ConfigError: if there is no such report.
        """
        summary: dict[str, Any] = json.loads((self._known(report_id) / REPORT).read_text(encoding="utf-8"))
        return summary

    def delete(self, report_id: str) -> None:
        """Delete a report; values of single queries stay, so that to evaluate again is quick.

        Raises:
            ConfigError: if there is no such report.
        """
        hidden = self.folder / f".{uuid4().hex}"
        self._known(report_id).rename(hidden)
        shutil.rmtree(hidden, ignore_errors=True)

    def _known(self, report_id: str) -> Path:
        """Return a report's folder; nothing but the id of a listed one is ever part of a path."""
        if report_id not in [entry.report_id for entry in self.entries()]:
            raise ConfigError(f"There is no report {report_id!r} any more. Choose one of the list, or evaluate again.")
        return self.folder / report_id


def id_of(report: Report) -> str:
    """Return a name for a folder, equal for the same systems asked the same of the same videos."""
    asked = [report.digest, *([result.system, dict(result.spec)] for result in report.results)]
    key = blake2b(json.dumps(asked, sort_keys=True).encode(), digest_size=6).hexdigest()
    name = re.sub(r"[^a-z0-9]+", "-", report.name.lower()).strip("-")[:40]
    return f"{name or 'report'}-{key}"


def _entry_of(report_id: str, data: dict[str, Any]) -> Entry:
    systems = tuple(system["system"] for system in data["systems"])
    queries = sum(data["queries"].values())
    return Entry(report_id, str(data["name"]), systems, int(data["videos"]), queries, str(data["created"]))


def _write_queries(report: Report, path: Path) -> None:
    """Write a line a query, with a column of ranks for each system."""
    names: Sequence[str] = [result.system for result in report.results]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("kind", "text", "cue", "wanted", "unwanted", "num_relevant", *names))
        for place in range(len(report.queries)):
            row = report.row(place)
            known = (row.kind, row.text, row.cue, row.wanted or "", ", ".join(row.unwanted), len(row.relevant))
            writer.writerow((*known, *(row.ranks[name] for name in names)))
