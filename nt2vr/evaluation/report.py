"""Evaluation reports: per-query results of several systems with their provenance, one folder each.

report.json    metrics, systems, benchmark and versions
queries.jsonl  one query per line: query_id, kind, text, parts, cue, each system's rank; `video_id` of its caption
               (null where several may be right), and the ids of all `relevant` videos (null if more than MAX_LISTED);
               or its reference picture
arrays.npz     all per-query values and relevant videos as arrays
captions.json  of videos in words, the captions of each
videos.jsonl   of files of one's own, one per line: video_id, path, and start and end in seconds of a window
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import ArrayLike

from nt2vr.errors import ConfigError, quoted, reason_of
from nt2vr.evaluation.differences import Difference, Pair, paired_differences
from nt2vr.evaluation.measures import (
    Interval,
    Measured,
    Units,
    Values,
    averages_of,
    intervals_of,
    metric_values,
    units_of,
)
from nt2vr.evaluation.queries import JudgedQuery, cue_of, row_array
from nt2vr.evaluation.roles import pairs_to_compare, telling_pair
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.files import atomic_write, parse_json, with_schema, without_schema, write_json
from nt2vr.media.gallery import Video
from nt2vr.settings import project_version

REPORT, QUERIES, ARRAYS, CAPTIONS = "report.json", "queries.jsonl", "arrays.npz", "captions.json"
VIDEOS = "videos.jsonl"
# what damaged files raise, numbers that are infinite included
UNREADABLE = (OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, BadZipFile)
SUMMARY = {"name": str, "digest": str, "source": dict, "references": dict, "created": str, "versions": dict}
JUDGED = ("relevant", "hard", "violating", "others")  # fields of queries that list rows
OF_ONE_VIDEO = frozenset({"original", "negated", "retrieval", "choice", "pair", "picture", "class", "negated class"})
MAX_LISTED = 1000  # relevant ids per line of QUERIES: all of them took 68 MB for the built-in world, these take 5
PICTURE_PLUS_TEXT = "picture plus text"  # after the name of the data


def package_versions() -> dict[str, str]:
    """Return the versions of Python, the packages that compute, and nT2VR."""
    computing = {package: version(package) for package in ("torch", "open_clip_torch", "numpy")}
    return {"python": python_version(), **computing, "nt2vr": project_version()}


@dataclass(frozen=True, eq=False)
class Result:
    system: str
    spec: Mapping[str, Any]  # see `protocol.system_spec`
    measured: Measured
    metrics: Mapping[str, float] | None = None  # of pictures plus texts, by "kind/metric"; None: those of `measured`


class Row(NamedTuple):
    """One query of a report for display, with the ids of its relevant videos, and their captions if in words."""

    query: JudgedQuery
    relevant: tuple[str, ...]
    ranks: Mapping[str, int]
    captions: Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class Report:
    """Results of several systems on one benchmark, whose fields are copied, see `TextBenchmark`."""

    name: str
    digest: str  # equal for equal benchmarks; "" if unknown
    source: Mapping[str, Any]
    references: Mapping[str, Mapping[str, float]]
    video_ids: tuple[str, ...]
    texts: tuple[str, ...]
    queries: tuple[JudgedQuery, ...]
    results: tuple[Result, ...]  # in table order
    notes: tuple[str, ...] = ()  # from the models' cards
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    versions: Mapping[str, str] = field(default_factory=package_versions)
    captions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # per query, its reference: a `scene` of the built-in world, or the `path` of a file; empty for texts alone
    pictures: tuple[Mapping[str, Any], ...] = ()
    videos: tuple[Video, ...] = ()  # files of one's own, without captions, where the data has any
    gaps: tuple[str, ...] = ()
    named: tuple[str, ...] = ()  # systems that a person named; the others are controls. Empty if unknown

    @classmethod
    def of(
        cls, benchmark: TextBenchmark, results: Sequence[Result], notes: Sequence[str] = (), named: Sequence[str] = ()
    ) -> "Report":
        same = (
            "name",
            "digest",
            "source",
            "references",
            "video_ids",
            "texts",
            "queries",
            "captions",
            "videos",
            "gaps",
        )
        known = {name: getattr(benchmark, name) for name in same}
        return cls(**known, results=tuple(results), notes=tuple(notes), named=tuple(named))

    @property
    def is_covr(self) -> bool:
        return bool(self.pictures)

    @cached_property
    def values(self) -> dict[str, dict[str, Values]]:
        """Per-query values of each metric, per system."""
        return {result.system: metric_values(self.queries, result.measured) for result in self.results}

    @cached_property
    def metrics(self) -> dict[str, dict[str, float]]:
        """Metrics per system: as given, otherwise the averages of `values`."""
        given = {result.system: dict(result.metrics) for result in self.results if result.metrics is not None}
        return {system: given.get(system) or averages_of(values) for system, values in self.values.items()}

    @cached_property
    def titles(self) -> dict[str, str]:
        """The first caption of each video that original queries have, by id."""
        captions = (query for query in reversed(self.queries) if query.kind == "original")
        return {self.video_ids[query.relevant[0]]: query.text for query in captions}

    @cached_property
    def units(self) -> Units:
        return units_of(self.queries)

    @cached_property
    def intervals(self) -> dict[str, dict[str, Interval]]:
        """Intervals of the metrics, per system; none where all values of a metric are equal."""
        return intervals_of(self.values, self.units)

    @cached_property
    def specs(self) -> dict[str, Mapping[str, Any]]:
        """What each system is, by its name."""
        return {result.system: result.spec for result in self.results}

    @cached_property
    def telling_pair(self) -> tuple[str, str]:
        """The two systems that one would compare first, see `roles.telling_pair`."""
        return telling_pair(self.specs, self.named, self.metrics)

    @cached_property
    def differences(self) -> dict[Pair, tuple[Difference, ...]]:
        """The telling pair, and each system that competes with its base, compared by every measure."""
        if self.is_covr:  # its measures are means over kinds of change, not over queries
            return {}
        pairs = pairs_to_compare(self.specs, self.named, self.metrics)
        return paired_differences(self.values, pairs, self.units)

    def compare(self, first: str, second: str) -> tuple[Difference, ...]:
        """Compare two systems by every measure that both have per query; a ConfigError refuses unknown ones."""
        for name in (first, second):
            self.check_system(name)
        pair = (first, second)
        if self.is_covr:
            raise ConfigError(
                "The measures of pictures plus texts are means over kinds of change, which are not compared query by "
                "query. Read the ranks in queries.jsonl."
            )
        known = self.differences.get(pair)
        return known or paired_differences(self.values, [pair], self.units)[pair]

    def check_system(self, name: str) -> None:
        if name not in self.specs:
            raise ConfigError(f"The report has no system {quoted(name)}. Choose one of: {', '.join(self.specs)}.")

    def row(self, place: int) -> Row:
        query = self.queries[place]
        relevant = tuple(self.video_ids[video] for video in query.relevant)
        ranks = {result.system: int(result.measured.ranks[place]) for result in self.results}
        captions = {video_id: self.captions[video_id] for video_id in relevant if video_id in self.captions}
        return Row(query, relevant, ranks, captions)

    def save(self, folder: Path) -> None:
        """Write the report's files atomically, report.json last."""
        arrays: dict[str, Any] = {"video_ids": np.array(self.video_ids), "texts": np.array(self.texts, np.str_)}
        for name in JUDGED:
            lists = [getattr(query, name) for query in self.queries]
            arrays |= {name: np.concatenate(lists), f"num_{name}": np.array(list(map(len, lists)), np.int32)}
        for name in Measured.__dataclass_fields__:
            arrays[f"measured_{name}"] = np.stack([getattr(result.measured, name) for result in self.results])
        lines = [json.dumps(self._query_line(place)) + "\n" for place in range(len(self.queries))]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with atomic_write(folder / ARRAYS) as partial:
                np.savez_compressed(partial, **arrays)
            with atomic_write(folder / QUERIES) as partial:
                partial.write_text("".join(lines), encoding="utf-8")
            if self.captions:
                write_json(folder / CAPTIONS, dict(self.captions))
            if self.videos:
                write_videos(folder / VIDEOS, self.videos)
            write_json(folder / REPORT, self.summary(), indent=2)
        except OSError as error:
            raise ConfigError(
                f"The report cannot be written to {folder} ({error.strerror}). Choose another folder."
            ) from error

    def _query_line(self, place: int) -> dict[str, Any]:
        """Describe a query in QUERIES: what is asked, of which videos, and each system's rank."""
        query = self.queries[place]
        row = self.row(place)
        line: dict[str, Any] = {"query_id": query.query_id}
        if not self.is_covr:  # whose videos are numbers
            line["video_id"] = row.relevant[0] if query.kind in OF_ONE_VIDEO else None
        line |= {name: getattr(query, name) for name in ("kind", "text", "cue", "wanted", "unwanted")}
        line |= {"ranks": row.ranks, "original": query.original}
        line |= {"group": query.group, "num_relevant": len(query.relevant)}
        if self.is_covr:
            line["picture"] = self.pictures[place]
        else:
            is_short = len(row.relevant) <= MAX_LISTED
            line["relevant"] = list(row.relevant) if is_short else None
        return line

    def summary(self) -> dict[str, Any]:
        summary: dict[str, Any] = {"name": self.name, "digest": self.digest, "source": dict(self.source)}
        summary |= {"videos": len(self.video_ids), "queries": Counter(query.kind for query in self.queries)}
        summary |= {"references": dict(self.references), "systems": self._systems(), "notes": list(self.notes)}
        summary |= {"gaps": list(self.gaps), "named": list(self.named), "differences": self._differences()}
        return with_schema({**summary, "created": self.created, "versions": dict(self.versions)})

    def _systems(self) -> list[dict[str, Any]]:
        systems = []
        for result in self.results:
            metrics = self.metrics[result.system]
            intervals = {key: list(interval) for key, interval in self.intervals[result.system].items()}
            systems.append({"system": result.system, **result.spec, "metrics": metrics, "intervals": intervals})
        return systems

    def _differences(self) -> list[dict[str, Any]]:
        compared = []
        for (first, second), differences in self.differences.items():
            measures = {}
            for result in differences:
                figures = result._asdict() | {"within_noise": result.is_noise}
                measures[figures.pop("measure")] = figures
            compared.append({"first": first, "second": second, "measures": measures})
        return compared


def load_report(folder: Path) -> Report:
    """Read what `Report.save` wrote; a ConfigError says if it is damaged, or of a newer nT2VR."""
    try:
        data = without_schema(parse_json((folder / REPORT).read_text(encoding="utf-8")), folder / REPORT)
        text = (folder / QUERIES).read_text(encoding="utf-8")
        lines = [parse_json(line) for line in text.split("\n") if line]
        with (folder / ARRAYS).open("rb") as file, np.load(file, allow_pickle=False) as found:
            arrays = dict(found)
        _check(data, SUMMARY)
        known, queries = ("kind", "text", "wanted", "original", "cue", "group"), []
        judged = (np.split(arrays[name], np.cumsum(arrays[f"num_{name}"])[:-1]) for name in JUDGED)
        for line, *rows in zip(lines, *judged, strict=True):
            known_id = str(line.get("query_id", ""))
            said, truth = {name: line[name] for name in known}, dict(zip(JUDGED, rows, strict=True))
            queries.append(JudgedQuery(**said, unwanted=tuple(line["unwanted"]), query_id=known_id, **truth))
        pictures = tuple(line["picture"] for line in lines if "picture" in line)
        fields = [name for name in Measured.__dataclass_fields__ if f"measured_{name}" in arrays]  # old ones lack some
        results = []
        for place, spec in enumerate(data["systems"]):
            system, metrics = spec.pop("system"), spec.pop("metrics")
            spec.pop("intervals", None)  # they are computed again
            _check(spec, {"model": str, "strategy": str})
            measured = Measured(**{name: arrays[f"measured_{name}"][place] for name in fields})
            results.append(Result(str(system), spec, measured, metrics if pictures else None))
        in_words = folder / CAPTIONS
        captions = parse_json(in_words.read_text(encoding="utf-8")) if in_words.is_file() else {}
        report = Report(
            video_ids=tuple(arrays["video_ids"].tolist()),
            texts=tuple(arrays["texts"].tolist()),
            queries=tuple(queries),
            results=tuple(results),
            notes=tuple(map(str, data["notes"])),
            captions={video_id: tuple(some) for video_id, some in captions.items()},
            pictures=pictures,
            videos=read_videos(folder / VIDEOS),
            gaps=tuple(map(str, data.get("gaps", ()))),
            named=tuple(map(str, data.get("named", ()))),
            **{name: data[name] for name in SUMMARY},
        )
        report.metrics  # noqa: B018  the arrays fit together
    except UNREADABLE as error:
        raise ConfigError(f"{folder.name} has no readable report ({reason_of(error)}). Evaluate again.") from error
    return report


def write_videos(path: Path, videos: Sequence[Video]) -> None:
    """Write where the files of videos are, one per line."""
    lines = []
    for video in videos:
        line: dict[str, Any] = {"video_id": video.video_id, "path": str(video.path.absolute())}
        if video.start or video.end is not None:
            line |= {"start": video.start, "end": video.end}
        lines.append(json.dumps(line) + "\n")
    with atomic_write(path) as partial:
        partial.write_text("".join(lines), encoding="utf-8")


def read_videos(path: Path) -> tuple[Video, ...]:
    """Read what `write_videos` wrote; nothing if the file is not there, as in reports of 0.2.0."""
    if not path.is_file():
        return ()
    videos = []
    for text in path.read_text(encoding="utf-8").split("\n"):
        if text:
            line = parse_json(text)
            start = float(line.get("start", 0.0))
            end = line.get("end")
            end_s = None if end is None else float(end)
            videos.append(Video(str(line["video_id"]), Path(line["path"]), start=start, end=end_s))
    return tuple(videos)


def _check(data: Mapping[str, Any], kinds: Mapping[str, type]) -> None:
    for name, kind in kinds.items():
        if not isinstance(data[name], kind):
            raise TypeError(f"{name} is {quoted(data[name])}")


def covr_result(
    model: str, system: str, ranks: ArrayLike, table: Mapping[str, Mapping[str, float]], spec: Mapping[str, Any]
) -> Result:
    """Describe a way to combine pictures and texts, with its rank per query and its metrics by kind of change."""
    of_query = np.asarray(ranks, np.int32)
    metrics = {f"{row}/{name}": value for row, values in table.items() for name, value in values.items()}
    measured = Measured(of_query, *np.full((3, len(of_query)), np.nan, np.float32))
    return Result(f"{model} {system}", {"model": model, **spec, "strategy": system}, measured, metrics)


def read_single_file(path: Path) -> Report:
    """Read a report of pictures plus texts as 0.2.0 wrote it: one JSON file, without relevant clips or digest."""
    try:
        data = without_schema(parse_json(path.read_text(encoding="utf-8")), path)
        rows = data["rows"]
        queries = [JudgedQuery(row["kind"], row["text"], row_array(()), cue=cue_of(row["text"])) for row in rows]
        results = [
            covr_result(data["model"], system, [row["ranks"][system] for row in rows], table, {})
            for system, table in data["systems"].items()
        ]
        name, clips = f"{data['name']}, {PICTURE_PLUS_TEXT}", tuple(map(str, range(data["clips"])))
        report = Report(name, "", data["source"], {}, clips, (), tuple(queries), tuple(results))
        pictures = tuple(row["reference"] for row in rows)
        return replace(report, created=data["created"], versions={}, pictures=pictures)
    except UNREADABLE as error:
        raise ConfigError(f"The report {path.stem} cannot be read ({reason_of(error)}). Evaluate again.") from error
