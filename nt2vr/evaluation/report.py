"""The report of an evaluation: every query's ranks under every system, what made them, and the folder that holds both.

report.json    what was measured, of whom, on what, with which versions
queries.jsonl  a query a line: kind, text, parts, cue, and each system's rank
arrays.npz     the same as arrays, with the videos that are right for each query
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any
from zipfile import BadZipFile

import numpy as np

from nt2vr.errors import ConfigError
from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, Rows
from nt2vr.evaluation.choices import summarise_choices
from nt2vr.evaluation.measures import Measured, summarise
from nt2vr.evaluation.scoring import alpha_of
from nt2vr.files import atomic_write
from nt2vr.models.card import Card
from nt2vr.search.systems import System
from nt2vr.version import project_version

REPORT, QUERIES, ARRAYS = "report.json", "queries.jsonl", "arrays.npz"
PACKAGES = ("torch", "open_clip_torch", "numpy")
JUDGED = ("relevant", "hard", "violating", "others")  # lists of rows that a query has


def system_spec(system: System, card: Card) -> dict[str, Any]:
    """Say what a system is, as plain JSON data: its model's towers, and how it weighs a query."""
    return {
        "model": system.model,
        "base": card.base,
        "visual_fingerprint": card.visual_fingerprint,
        "text_fingerprint": card.text_fingerprint,
        "frames": card.frames,
        "strategy": system.strategy,
        "alpha": alpha_of(system) if system.strategy == "boolean" else None,
    }


@dataclass(frozen=True, eq=False)
class Result:
    """What one system did.

    Attributes:
        system: its name.
        spec: what it is, see `system_spec`.
        measured: a value a query.
    """

    system: str
    spec: Mapping[str, Any]
    measured: Measured


@dataclass(frozen=True)
class Row:
    """One query as a list shows it: whoever opens it in Search finds its relevant videos by their ids."""

    kind: str
    text: str
    cue: str
    wanted: str | None
    unwanted: tuple[str, ...]
    relevant: tuple[str, ...]
    ranks: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Report:
    """What some systems did with one benchmark's queries.

    Attributes:
        name: the benchmark's.
        digest: equal for benchmarks that ask the same of the same videos.
        source: what it was made from.
        references: measures of other than systems.
        video_ids: names of the V videos.
        texts: what questions could be answered with.
        queries: what was asked.
        results: of the systems, in the table's order.
        notes: what the models' cards say of them in words.
        created: ISO 8601, UTC.
        versions: of what computed it.
    """

    name: str
    digest: str
    source: Mapping[str, Any]
    references: Mapping[str, Mapping[str, float]]
    video_ids: tuple[str, ...]
    texts: tuple[str, ...]
    queries: tuple[JudgedQuery, ...]
    results: tuple[Result, ...]
    notes: tuple[str, ...] = ()
    created: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, benchmark: Benchmark, results: Sequence[Result], notes: Sequence[str] = ()) -> "Report":
        """Put together what was just measured."""
        return cls(
            benchmark.name,
            benchmark.digest,
            benchmark.source,
            benchmark.references,
            benchmark.video_ids,
            benchmark.texts,
            benchmark.queries,
            tuple(results),
            tuple(notes),
            datetime.now(UTC).isoformat(timespec="seconds"),
            _versions(),
        )

    @cached_property
    def metrics(self) -> dict[str, dict[str, float]]:
        """The table: by system, then by measure (see `measures.summarise` and `choices.summarise_choices`)."""
        summary = summarise_choices if self.texts else summarise
        return {result.system: summary(self.queries, result.measured) for result in self.results}

    def row(self, place: int) -> Row:
        """Return one query with each system's rank."""
        query = self.queries[place]
        return Row(
            query.kind,
            query.text,
            query.cue,
            query.wanted,
            query.unwanted,
            tuple(self.video_ids[video] for video in query.relevant),
            {result.system: int(result.measured.ranks[place]) for result in self.results},
        )

    def save(self, folder: Path) -> None:
        """Write the report's files, each whole; report.json comes last.

        Raises:
            ConfigError: if the folder cannot be written to.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with atomic_write(folder / ARRAYS) as partial:
                np.savez_compressed(partial, **self._arrays())
            with atomic_write(folder / QUERIES) as partial:
                lines = (json.dumps(self._line(place)) + "\n" for place in range(len(self.queries)))
                partial.write_text("".join(lines), encoding="utf-8")
            with atomic_write(folder / REPORT) as partial:
                partial.write_text(json.dumps(self._summary(), indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"The report cannot be written to {folder} ({error.strerror}). Name another.") from error

    def _summary(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "digest": self.digest,
            "source": dict(self.source),
            "videos": len(self.video_ids),
            "queries": {kind: sum(q.kind == kind for q in self.queries) for kind in {q.kind: 0 for q in self.queries}},
            "references": dict(self.references),
            "systems": [
                {"system": result.system, **result.spec, "metrics": self.metrics[result.system]}
                for result in self.results
            ],
            "notes": list(self.notes),
            "created": self.created,
            "versions": dict(self.versions),
        }

    def _line(self, place: int) -> dict[str, Any]:
        row, query = self.row(place), self.queries[place]
        line = {name: getattr(row, name) for name in ("kind", "text", "cue", "wanted", "unwanted", "ranks")}
        return {**line, "original": query.original, "group": query.group, "num_relevant": len(query.relevant)}

    def _arrays(self) -> dict[str, Any]:
        arrays: dict[str, Any] = {"video_ids": np.array(self.video_ids), "texts": np.array(self.texts, np.str_)}
        for name in JUDGED:
            lists = [getattr(query, name) for query in self.queries]
            arrays[name] = np.concatenate(lists)
            arrays[f"num_{name}"] = np.array([len(some) for some in lists], np.int32)
        for name in Measured.__dataclass_fields__:
            arrays[f"measured_{name}"] = np.stack([getattr(result.measured, name) for result in self.results])
        return arrays


def load_report(folder: Path) -> Report:
    """Read what `Report.save` wrote.

    Raises:
        ConfigError: if the folder holds no report that can be read.
    """
    try:
        data = json.loads((folder / REPORT).read_text(encoding="utf-8"))
        lines = (folder / QUERIES).read_text(encoding="utf-8").split("\n")
        with (folder / ARRAYS).open("rb") as file, np.load(file, allow_pickle=False) as found:
            arrays = dict(found)
        judged = {name: _split(arrays[name], arrays[f"num_{name}"]) for name in JUDGED}
        queries = [
            _query(json.loads(line), {name: judged[name][place] for name in JUDGED})
            for place, line in enumerate(line for line in lines if line)
        ]
        results = [
            Result(
                made.pop("system"),
                {name: value for name, value in made.items() if name != "metrics"},
                Measured(**{name: arrays[f"measured_{name}"][place] for name in Measured.__dataclass_fields__}),
            )
            for place, made in enumerate(data["systems"])
        ]
        return Report(
            video_ids=tuple(arrays["video_ids"].tolist()),
            texts=tuple(arrays["texts"].tolist()),
            queries=tuple(queries),
            results=tuple(results),
            notes=tuple(data.get("notes", ())),  # older reports have none
            **{name: data[name] for name in ("name", "digest", "source", "references", "created", "versions")},
        )
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, BadZipFile) as error:
        raise ConfigError(f"{folder} holds no report that can be read ({error}). Evaluate again.") from error


def _query(line: Mapping[str, Any], judged: Mapping[str, Rows]) -> JudgedQuery:
    return JudgedQuery(
        line["kind"],
        line["text"],
        judged["relevant"],
        judged["hard"],
        judged["violating"],
        wanted=line["wanted"],
        unwanted=tuple(line["unwanted"]),
        original=line["original"],
        cue=line["cue"],
        others=judged["others"],
        group=line["group"],
    )


def _split(flat: Rows, lengths: Rows) -> list[Rows]:
    return np.split(flat, np.cumsum(lengths)[:-1])


def _versions() -> dict[str, str]:
    """Versions of what computes, as far as they are known."""
    found = {"python": python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return {**found, "nt2vr": project_version()}
