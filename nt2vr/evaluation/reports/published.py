"""Figures as papers published them, next to one's own on the same data; every one is in assets/published.json.

Data are the same if the name and the number of videos are. Where the number is not published, the names of data sets
and folds decide, in any spelling. Figures on negated and composed queries are only comparable on the authors' queries,
and are left out for others.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from nt2vr.evaluation.reports.report import Report
from nt2vr.settings import ASSETS

PUBLISHED = "published.json"
MEAN = "class/mean accuracy"  # which follows from the figures of all data sets
GENERATED = ("negated", "composed")  # queries of which there are others than the authors'
RELEASED = "released"  # in a report's source: the kinds of queries read from the authors' files


@dataclass(frozen=True)
class Published:
    """Figures of one system in a paper's table ("nT2VR, Table 3"), by the keys of a report's metrics."""

    system: str
    source: str
    metrics: Mapping[str, float]

    @property
    def name(self) -> str:
        """System and source, for tables without room for a note."""
        return f"{self.system}, as published ({self.source})"


@cache
def _tables(path: Path) -> list[dict[str, Any]]:
    tables: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["tables"]
    return tables


def published_lines(report: Report) -> list[Published]:
    """Return what was published on a report's data."""
    source = report.source
    if source.get("split", "test") != "test":
        return []
    released = source.get(RELEASED, ())
    hidden = tuple(f"{kind}/" for kind in GENERATED if kind not in released)
    found = []
    for line in lines_for(str(source.get("data", "")), len(report.video_ids)):
        if shown := {key: value for key, value in line.metrics.items() if not key.startswith(hidden)}:
            found.append(replace(line, metrics=shown))
    return found + _by_name(report)


def _by_name(report: Report) -> list[Published]:
    """Return figures whose keys name their data set or fold, which is one of the report's, or the report itself."""
    keys = {key for metrics in report.metrics.values() for key in metrics}
    own = {_plain(f"{key} {report.name}"): key for key in keys} | {_plain(key): key for key in keys}
    found = []
    for table in _tables(ASSETS / PUBLISHED):
        sets = [f"class/accuracy {name}" for name in table.get("sets", ())]
        if table["videos"] is not None or not all(_plain(key) in own for key in sets):
            continue
        known = [own.get(_plain(key)) for key in table["columns"]]
        for line in _lines_of(table) if any(known) else ():
            shown = {own[_plain(key)]: value for key, value in line.metrics.items() if _plain(key) in own}
            if all(known) and MEAN in keys and known[0] and known[0].startswith("class/accuracy "):
                shown[MEAN] = fmean(shown.values())
            found.append(replace(line, metrics=shown))
    return found


def _plain(name: str) -> str:
    """Reduce a name to its letters and digits."""
    return "".join(character for character in name.casefold() if character.isalnum())


def lines_for(data: str, videos: int | None = None) -> list[Published]:
    """Return what was published on data of this name; None takes any number of videos."""
    tables = _tables(ASSETS / PUBLISHED)
    same = [each for each in tables if each["data"] == data and videos in (None, each["videos"])]
    return [line for table in same for line in _lines_of(table)]


def _lines_of(table: Mapping[str, Any]) -> list[Published]:
    return [
        Published(
            name,
            f"{table['paper']}, {table['table']}",
            {key: value for key, value in zip(table["columns"], row, strict=True) if value is not None},
        )
        for name, row in table["rows"].items()
    ]
