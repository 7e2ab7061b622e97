"""Archive of reports in one folder: lists, opens and deletes them. Repeating an evaluation replaces its report."""

import csv
import json
import logging
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any
from uuid import uuid4

from nt2vr.errors import ConfigError, quoted
from nt2vr.evaluation.report import REPORT, Report, load_report
from nt2vr.evaluation.tables import write_tables
from nt2vr.files import without_schema

logger = logging.getLogger(__name__)

QUERIES_CSV = "queries.csv"
LOADED = 4  # reports cached in memory: 20 MB each for 10,000 queries


@dataclass(frozen=True)
class Entry:
    """Summary of a report for listing; `created` is ISO 8601, UTC."""

    report_id: str
    name: str
    systems: tuple[str, ...]
    videos: int
    queries: int
    created: str


class Archive:
    """Manages reports in subfolders of one folder, each with its tables."""

    def __init__(self, folder: Path) -> None:
        """Use a folder, which is created on first use."""
        self.folder = folder
        self._listed: dict[str, tuple[int, Entry]] = {}  # by id, with the file's modification time
        self._loaded: dict[tuple[str, int], Report] = {}

    def add(self, report: Report) -> str:
        """Save a report with its tables, and return its id.

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
            raise ConfigError(
                f"The report cannot be saved to {folder} ({error.strerror}). Free some space."
            ) from error
        report.save(folder)  # writes report.json last, which makes it listed
        return report_id

    def entries(self) -> list[Entry]:
        """List the readable reports, newest first."""
        found = {path.parent.name: path for path in self.folder.glob(f"[!.]*/{REPORT}")}
        entries = [entry for report_id, path in found.items() if (entry := self._entry(report_id, path))]
        return sorted(entries, key=lambda entry: (entry.created, entry.report_id), reverse=True)

    def _entry(self, report_id: str, path: Path) -> Entry | None:
        try:
            written = path.stat().st_mtime_ns
            if self._listed.get(report_id, (None,))[0] != written:
                summary = without_schema(json.loads(path.read_text(encoding="utf-8")), path)
                self._listed[report_id] = written, _entry_of(report_id, summary)
        except ConfigError as error:
            _warn(str(error))
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return self._listed[report_id][1]

    def load(self, report_id: str) -> Report:
        """Open a report.

        Raises:
            ConfigError: if the report does not exist or cannot be read.
        """
        folder = self._known(report_id)
        key = (report_id, self._listed[report_id][0])
        if key not in self._loaded:
            self._loaded = dict([*self._loaded.items(), (key, load_report(folder))][-LOADED:])
        return self._loaded[key]

    def summary(self, report_id: str) -> dict[str, Any]:
        """Return the content of report.json.

        Raises:
            ConfigError: if the report does not exist.
        """
        path = self._known(report_id) / REPORT
        return without_schema(json.loads(path.read_text(encoding="utf-8")), path)

    def delete(self, report_id: str) -> None:
        """Delete a report; stored results remain, so evaluating again is fast.

        Raises:
            ConfigError: if the report does not exist.
        """
        hidden = self.folder / f".{uuid4().hex}"
        self._known(report_id).rename(hidden)
        shutil.rmtree(hidden, ignore_errors=True)

    def _known(self, report_id: str) -> Path:
        """Return a report's folder; only ids of listed reports ever become part of a path."""
        if report_id not in [entry.report_id for entry in self.entries()]:
            raise ConfigError(f"There is no report {quoted(report_id)}. Choose one from the list, or evaluate again.")
        return self.folder / report_id


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
    systems = tuple(system["system"] for system in data["systems"])
    queries = sum(data["queries"].values())
    return Entry(report_id, str(data["name"]), systems, int(data["videos"]), queries, str(data["created"]))


def _write_queries(report: Report, path: Path) -> None:
    """Write one line per query, with one column of ranks per system."""
    names: Sequence[str] = [result.system for result in report.results]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("kind", "text", "cue", "wanted", "unwanted", "num_relevant", *names))
        for place in range(len(report.queries)):
            row = report.row(place)
            known = (row.kind, row.text, row.cue, row.wanted or "", ", ".join(row.unwanted), len(row.relevant))
            writer.writerow((*known, *(row.ranks[name] for name in names)))
