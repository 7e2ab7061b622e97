"""Evaluation reports: per-query results of several systems with their provenance, one folder each.

report.json    metrics, systems, benchmark and versions
queries.jsonl  one query per line: query_id, kind, text, parts, cue, each system's rank; `video_id` of its caption
               (null where several may be right), and the ids of all `relevant` videos (null if more
               than MAX_LISTED); or its reference picture
arrays.npz     all per-query values and relevant videos as arrays
captions.json  of videos in words, the captions of each
videos.jsonl   of files of one's own, one per line: video_id, path, and start and end in seconds of a window
"""

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from nt2vr.errors import ConfigError, quoted
from nt2vr.evaluation.columns import (
    Column,
    TableGroups,
)
from nt2vr.evaluation.differences import Difference, Pair, paired_differences
from nt2vr.evaluation.intervals import (
    Interval,
    Units,
    intervals_of,
    units_of,
)
from nt2vr.evaluation.measures import (
    Measured,
    MetricValues,
    averages_of,
    metric_values,
)
from nt2vr.evaluation.metric_names import Metrics
from nt2vr.evaluation.queries import JudgedQueries, JudgedQuery
from nt2vr.evaluation.roles import MetricsBySystem, Spec
from nt2vr.files import JsonObject, atomic_write, with_schema, write_json
from nt2vr.media.gallery import Video
from nt2vr.negation.generate.json_lines import write_lines
from nt2vr.settings import project_version

REPORT = "report.json"
QUERIES = "queries.jsonl"
ARRAYS = "arrays.npz"
CAPTIONS = "captions.json"
VIDEOS = "videos.jsonl"
# Fields of queries that list rows.
JUDGED = ("relevant", "hard", "violating", "others")


def package_versions() -> dict[str, str]:
    """Return the versions of Python, the packages that compute, and nT2VR."""
    computing = {package: version(package) for package in ("torch", "open_clip_torch", "numpy")}
    return {"python": python_version(), **computing, "nt2vr": project_version()}


@dataclass(frozen=True, eq=False)
class Result:
    """What a system achieves on a benchmark.

    Attributes:
        spec: see `text_systems.system_spec`.
        metrics: of pictures plus texts, by "kind/metric"; None for those of `measured`.
    """

    system: str
    spec: Spec
    measured: Measured
    metrics: Metrics | None = None


class Row(NamedTuple):
    """One query of a report for display.

    Attributes:
        ranks: of each system.
        heading: of what is listed below the query.
        relevant: ids of its relevant videos; none where clips are but numbers.
        captions: of these videos, if they are in words.
        search_systems: that Search compares when the row opens there; none if it is reviewed first.
    """

    query: JudgedQuery
    ranks: Mapping[str, int]
    heading: str
    relevant: tuple[str, ...] = ()
    captions: Mapping[str, Sequence[str]] = MappingProxyType({})
    search_systems: tuple[str, ...] = ()


class Presentation(ABC):
    """How the reports of one kind of benchmark are stored, compared and shown.

    Attributes:
        margins: for the page, the meaning of the figures after ±; "" for none.
        opens: for the page, what a click on a query does, where it does not depend on where the
            videos are; otherwise "".
        has_review: whether a query is reviewed with its first clips, and takes a tag and a note.
        has_breakdown: whether measures are broken down by negation word.
        wraps_heads: whether heads of columns are too long for one line.
        has_stored_metrics: whether metrics are read from REPORT, rather than computed again from
            the values per query.
    """

    margins: ClassVar[str] = ""
    opens: ClassVar[str] = ""
    has_review: ClassVar[bool]
    has_breakdown: ClassVar[bool]
    wraps_heads: ClassVar[bool]
    has_stored_metrics: ClassVar[bool]

    @abstractmethod
    def fits(self, lines: Sequence[JsonObject]) -> bool:
        """Return whether a stored report with these lines of QUERIES is of this kind."""

    @abstractmethod
    def caption_fields(self, row: Row) -> JsonObject:
        """Return what a query's line in QUERIES says of the video that its caption is of."""

    @abstractmethod
    def clip_fields(self, row: Row) -> JsonObject:
        """Return what a query's line in QUERIES says of its relevant videos or its reference."""

    @abstractmethod
    def row(self, report: "Report", position: int) -> Row:
        """Return what is shown of a query."""

    @abstractmethod
    def kinds(self, report: "Report") -> list[str]:
        """Return the kinds of queries that a report has, in the order of menus."""

    @abstractmethod
    def role_of(self, spec: Spec) -> tuple[str, str]:
        """Return a system's role in the comparison, and the label that says what it is."""

    @abstractmethod
    def competes(self, role: str) -> bool:
        """Return whether systems of a role compete for the best value of a column."""

    @abstractmethod
    def telling_pair(self, report: "Report") -> Pair:
        """Return the two systems that one would compare first."""

    @abstractmethod
    def pairs(self, report: "Report") -> list[Pair]:
        """Return the pairs of systems whose measures are compared in every report."""

    @abstractmethod
    def check_comparable(self) -> None:
        """Raise a ConfigError if measures cannot be compared query by query."""

    @abstractmethod
    def line_metrics(self, spec: Spec, metrics: Metrics) -> Metrics:
        """Return the metrics that a system's line in tables shows."""

    @abstractmethod
    def groups(self, report: "Report", measured: Collection[str]) -> list[TableGroups]:
        """Return the groups of columns of each table, measured or not; `measured` are the metrics of all lines."""

    @abstractmethod
    def csv_keys(self, report: "Report", measured: Collection[str]) -> list[str]:
        """Return the metrics that the CSV table has, in its order."""

    @abstractmethod
    def meanings(self, columns: Iterable[Column], measured: Collection[str]) -> list[str]:
        """Say what the measures of the shown columns mean."""

    @abstractmethod
    def markdown(self, report: "Report") -> str:
        """Return the tables in Markdown."""

    @abstractmethod
    def headings(self, report: "Report") -> list[str]:
        """Return the lines above the tables in a notebook."""


@dataclass(frozen=True, eq=False)
class Report:
    """Results of several systems on one benchmark.

    Fields that are not named here are copied from the benchmark, see `Benchmark` and
    `TextBenchmark`.

    Attributes:
        digest: equal for equal benchmarks; "" if unknown.
        results: in table order.
        notes: from the models' cards.
        videos: files of one's own, without captions, where the data has any.
        named: systems that a person named; the others are controls. Empty if unknown.
    """

    name: str
    digest: str
    source: Mapping[str, Any]
    references: MetricsBySystem
    video_ids: tuple[str, ...]
    texts: tuple[str, ...]
    queries: JudgedQueries
    results: tuple[Result, ...]
    presentation: Presentation
    notes: tuple[str, ...] = ()
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    versions: Mapping[str, str] = field(default_factory=package_versions)
    captions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    videos: tuple[Video, ...] = ()
    gaps: tuple[str, ...] = ()
    named: tuple[str, ...] = ()

    @cached_property
    def measured(self) -> dict[str, Measured]:
        """Results per query, per system."""
        return {result.system: result.measured for result in self.results}

    @cached_property
    def values(self) -> dict[str, MetricValues]:
        """Per-query values of each metric, per system."""
        return {
            system: metric_values(self.queries, measured)
            for system, measured in self.measured.items()
        }

    @cached_property
    def metrics(self) -> dict[str, Metrics]:
        """Metrics per system: its own, otherwise the averages of `values`."""
        metrics = {}
        for result in self.results:
            if result.metrics:
                metrics[result.system] = dict(result.metrics)
            else:
                metrics[result.system] = averages_of(self.values[result.system])
        return metrics

    @cached_property
    def titles(self) -> dict[str, str]:
        """The first caption of each video that original queries have, by id."""
        titles: dict[str, str] = {}
        for query in self.queries:
            if query.kind == "original":
                titles.setdefault(self.video_ids[query.relevant[0]], query.text)
        return titles

    @cached_property
    def num_queries_by_kind(self) -> "Counter[str]":
        """The number of queries of each kind, in the order in which the kinds first come."""
        return Counter(query.kind for query in self.queries)

    @cached_property
    def units(self) -> Units:
        return units_of(self.queries)

    @cached_property
    def intervals(self) -> dict[str, dict[str, Interval]]:
        """Intervals of the metrics, per system; none where all values of a metric are equal."""
        return intervals_of(self.values, self.units)

    @cached_property
    def specs(self) -> dict[str, Spec]:
        """What each system is, by its name."""
        return {result.system: result.spec for result in self.results}

    @cached_property
    def telling_pair(self) -> Pair:
        """The two systems that one would compare first."""
        return self.presentation.telling_pair(self)

    @cached_property
    def differences(self) -> dict[Pair, tuple[Difference, ...]]:
        """The telling pair, and each system that competes with its base, compared by every measure."""
        return paired_differences(self.values, self.presentation.pairs(self), self.units)

    def compare(self, first: str, second: str) -> tuple[Difference, ...]:
        """Compare two systems by every measure that both have per query.

        A ConfigError refuses unknown ones.
        """
        for name in (first, second):
            self.check_system(name)
        self.presentation.check_comparable()
        pair = (first, second)
        if pair in self.differences:
            return self.differences[pair]
        return paired_differences(self.values, [pair], self.units)[pair]

    def check_system(self, name: str) -> None:
        if name not in self.specs:
            raise ConfigError(
                f"The report has no system {quoted(name)}. Choose one of: {', '.join(self.specs)}."
            )

    def row(self, position: int) -> Row:
        """Return what is shown of a query."""
        return self.presentation.row(self, position)

    def ranks(self, position: int) -> dict[str, int]:
        """Return the rank that each system gives a query's best relevant video."""
        return {system: int(measured.ranks[position]) for system, measured in self.measured.items()}

    def save(self, folder: Path) -> None:
        """Write the report's files atomically, report.json last."""
        lines = (json.dumps(self._query_line(position)) for position in range(len(self.queries)))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with atomic_write(folder / ARRAYS) as partial:
                np.savez_compressed(partial, **self._arrays())
            write_lines(folder / QUERIES, lines)
            if self.captions:
                write_json(folder / CAPTIONS, dict(self.captions))
            if self.videos:
                write_videos(folder / VIDEOS, self.videos)
            write_json(folder / REPORT, self.summary(), indent=2)
        except OSError as error:
            raise ConfigError(
                f"The report cannot be written to {folder} ({error.strerror}). "
                "Choose another folder."
            ) from error

    def _arrays(self) -> dict[str, Any]:
        """Return what ARRAYS has: the rows of all queries one after another, and all results."""
        arrays = {
            "video_ids": np.array(self.video_ids),
            "texts": np.array(self.texts, np.str_),
        }
        for name in JUDGED:
            rows = [getattr(query, name) for query in self.queries]
            arrays[name] = np.concatenate(rows)
            arrays[f"num_{name}"] = np.array(list(map(len, rows)), np.int32)
        for name in Measured.__dataclass_fields__:
            by_system = [getattr(result.measured, name) for result in self.results]
            arrays[f"measured_{name}"] = np.stack(by_system)
        return arrays

    def _query_line(self, position: int) -> JsonObject:
        """Describe a query in QUERIES: what is asked, of which videos, and each system's rank."""
        row = self.row(position)
        query = row.query
        return {
            "query_id": query.query_id,
            **self.presentation.caption_fields(row),
            "kind": query.kind,
            "text": query.text,
            "cue": query.cue,
            "wanted": query.wanted,
            "unwanted": query.unwanted,
            "ranks": row.ranks,
            "original": query.original,
            "group": query.group,
            "num_relevant": len(query.relevant),
            **self.presentation.clip_fields(row),
        }

    def summary(self) -> JsonObject:
        """Return what REPORT has."""
        return with_schema(
            {
                "name": self.name,
                "digest": self.digest,
                "source": dict(self.source),
                "videos": len(self.video_ids),
                "queries": self.num_queries_by_kind,
                "references": dict(self.references),
                "systems": self._systems(),
                "notes": list(self.notes),
                "gaps": list(self.gaps),
                "named": list(self.named),
                "differences": self._differences(),
                "created": self.created,
                "versions": dict(self.versions),
            }
        )

    def _systems(self) -> list[JsonObject]:
        return [
            {
                "system": result.system,
                **result.spec,
                "metrics": self.metrics[result.system],
                "intervals": self.intervals[result.system],
            }
            for result in self.results
        ]

    def _differences(self) -> list[JsonObject]:
        compared = []
        for (first, second), differences in self.differences.items():
            measures = {}
            for difference in differences:
                figures = difference._asdict() | {"within_noise": difference.is_noise}
                measures[figures.pop("measure")] = figures
            compared.append({"first": first, "second": second, "measures": measures})
        return compared


def write_videos(path: Path, videos: Sequence[Video]) -> None:
    """Write where the files of videos are, one per line."""
    lines = []
    for video in videos:
        line: JsonObject = {"video_id": video.video_id, "path": str(video.path.absolute())}
        if video.start or video.end is not None:
            line |= {"start": video.start, "end": video.end}
        lines.append(json.dumps(line))
    write_lines(path, lines)
