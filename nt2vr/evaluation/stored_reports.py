"""Reports as they are stored: read back, those of 0.2.0 included."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, quoted, reason_of
from nt2vr.evaluation.benchmark_kinds import benchmark_kinds
from nt2vr.evaluation.measures import Measured
from nt2vr.evaluation.queries import JudgedQueries, JudgedQuery
from nt2vr.evaluation.report import (
    ARRAYS,
    CAPTIONS,
    JUDGED,
    QUERIES,
    REPORT,
    VIDEOS,
    Presentation,
    Report,
    Result,
)
from nt2vr.evaluation.text_presentation import TEXTS
from nt2vr.files import JsonObject, parse_json, read_with_schema, stored_json
from nt2vr.media.gallery import Video

# What damaged files raise, numbers that are infinite included.
UNREADABLE = (
    OSError,
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    BadZipFile,
)
# Of a query, as they are.
TEXT_FIELDS = ("kind", "text", "wanted", "original", "cue", "group")
SUMMARY = {
    "name": str,
    "digest": str,
    "source": dict,
    "references": dict,
    "created": str,
    "versions": dict,
}
# Of ARRAYS.
Arrays = Mapping[str, NDArray[Any]]


def load_report(folder: Path) -> Report:
    """Read what `Report.save` wrote; a ConfigError says if it is damaged, or of a newer nT2VR."""
    try:
        summary = read_with_schema(folder / REPORT)
        lines = _read_lines(folder / QUERIES)
        with (folder / ARRAYS).open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = dict(stored)
        _check(summary, SUMMARY)
        presentation = _presentation_of(lines)
        report = Report(
            video_ids=tuple(arrays["video_ids"].tolist()),
            texts=tuple(arrays["texts"].tolist()),
            queries=_queries(lines, arrays),
            results=_results(summary["systems"], arrays, presentation),
            presentation=presentation,
            notes=tuple(map(str, summary["notes"])),
            captions=_read_captions(folder / CAPTIONS),
            videos=read_videos(folder / VIDEOS),
            gaps=tuple(map(str, summary.get("gaps", ()))),
            named=tuple(map(str, summary.get("named", ()))),
            **{name: summary[name] for name in SUMMARY},
        )
        report.metrics  # noqa: B018  the arrays fit together
    except UNREADABLE as error:
        raise ConfigError(
            f"{folder.name} has no readable report ({reason_of(error)}). Evaluate again."
        ) from error
    return report


def _read_lines(path: Path) -> list[Any]:
    lines = path.read_text(encoding="utf-8").split("\n")
    return [parse_json(line) for line in lines if line]


def _read_captions(path: Path) -> dict[str, tuple[str, ...]]:
    """Read the captions by video; none if the file is not there, as for videos that are not in words."""
    if not path.is_file():
        return {}
    captions = stored_json(path)
    return {video_id: tuple(texts) for video_id, texts in captions.items()}


def _presentation_of(lines: Sequence[JsonObject]) -> Presentation:
    """Return the presentation that fits the lines of QUERIES; texts are shown where no other kind fits."""
    for kind in benchmark_kinds().values():
        if kind.presentation.fits(lines):
            return kind.presentation
    return TEXTS


def _queries(lines: Sequence[JsonObject], arrays: Arrays) -> JudgedQueries:
    """Read the queries from their lines of QUERIES, and their truth from the arrays."""
    judged = []
    for name in JUDGED:
        ends = np.cumsum(arrays[f"num_{name}"])
        judged.append(np.split(arrays[name], ends[:-1]))
    queries = []
    for line, *rows in zip(lines, *judged, strict=True):
        queries.append(
            JudgedQuery(
                **{name: line[name] for name in TEXT_FIELDS},
                **dict(zip(JUDGED, rows, strict=True)),
                unwanted=tuple(line["unwanted"]),
                query_id=str(line.get("query_id", "")),
                picture=line.get("picture", {}),
            )
        )
    return tuple(queries)


def _results(
    systems: Sequence[JsonObject], arrays: Arrays, presentation: Presentation
) -> tuple[Result, ...]:
    """Read each system's specification, and its values per query from the arrays; old reports lack some."""
    fields = [name for name in Measured.__dataclass_fields__ if f"measured_{name}" in arrays]
    results = []
    for number, spec in enumerate(systems):
        system = str(spec.pop("system"))
        stored_metrics = spec.pop("metrics")
        metrics = stored_metrics if presentation.has_stored_metrics else None
        # They are computed again.
        spec.pop("intervals", None)
        _check(spec, {"model": str, "strategy": str})
        values = {name: arrays[f"measured_{name}"][number] for name in fields}
        results.append(Result(system, spec, Measured(**values), metrics))
    return tuple(results)


def read_videos(path: Path) -> tuple[Video, ...]:
    """Read what `write_videos` wrote; nothing if the file is not there, as in reports of 0.2.0."""
    if not path.is_file():
        return ()
    videos = []
    for line in _read_lines(path):
        start = float(line.get("start", 0.0))
        end = line.get("end")
        end_s = None if end is None else float(end)
        videos.append(
            Video(
                video_id=str(line["video_id"]),
                path=Path(line["path"]),
                start=start,
                end=end_s,
            )
        )
    return tuple(videos)


def _check(data: Mapping[str, Any], kinds: Mapping[str, type]) -> None:
    for name, kind in kinds.items():
        if not isinstance(data[name], kind):
            raise TypeError(f"{name} is {quoted(data[name])}")
