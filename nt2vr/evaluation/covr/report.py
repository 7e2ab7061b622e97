"""Reports of pictures plus texts (covr), for the archive of all reports."""

from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nt2vr.errors import ConfigError, DatasetError, reason_of
from nt2vr.evaluation.benchmark import JudgedQuery, cue_of, row_array
from nt2vr.evaluation.covr.protocol import CovrBenchmark, embed_queries, outcomes_of, summarise
from nt2vr.evaluation.measures import Measured
from nt2vr.evaluation.reports.report import UNREADABLE, Report, Result
from nt2vr.files import parse_json, without_schema
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, silent

NAME = "picture plus text"  # after that of the data


def covr_report(benchmark: CovrBenchmark, encoder: Encoder, progress: Progress = silent) -> Report:
    """Measure every composition of a model, on numbered clips; a DatasetError says if no targets are published."""
    if not any(query.right for query in benchmark.queries):
        raise DatasetError(
            f"The targets of {benchmark.name} are not published, so it cannot be measured here. Choose another split, "
            "such as val, or write what its test server takes: nt2vr covr --submit FILE."
        )
    embedded, card = embed_queries(benchmark, encoder, progress), encoder.card
    queries = [
        JudgedQuery(
            query.kind,
            query.text,
            row_array(query.right),
            violating=row_array(query.violating),
            wanted=query.parts[0] if query.parts else None,
            unwanted=query.parts[1] if query.parts else (),
            cue=cue_of(query.text),
        )
        for query in benchmark.queries
    ]
    prints = {"visual_fingerprint": card.visual_fingerprint, "text_fingerprint": card.text_fingerprint}
    results = [
        _result(card.name, system, outcome.ranks, summarise(benchmark.queries, outcome), prints)
        for system, outcome in outcomes_of(embedded, encoder).items()
    ]
    known = (benchmark.name, sorted(benchmark.source.items()), [(q.kind, q.text, q.right) for q in benchmark.queries])
    return Report(
        name=f"{benchmark.name}, {NAME}",
        digest=blake2b(repr(known).encode(), digest_size=12).hexdigest(),
        source=benchmark.source,
        references={},
        video_ids=tuple(map(str, range(len(embedded.clips)))),
        texts=(),
        queries=tuple(queries),
        results=tuple(results),
        pictures=tuple(benchmark.references[query.reference] for query in benchmark.queries),
    )


def _result(
    model: str, system: str, ranks: ArrayLike, table: Mapping[str, Mapping[str, float]], spec: Mapping[str, Any]
) -> Result:
    of_query = np.asarray(ranks, np.int32)
    unknown = np.full(len(of_query), np.nan, np.float32)
    metrics = {f"{row}/{name}": value for row, values in table.items() for name, value in values.items()}
    measured = Measured(of_query, unknown, unknown, unknown)
    return Result(f"{model} {system}", {"model": model, **spec, "strategy": system}, measured, metrics)


def read_covr_file(path: Path) -> Report:
    """Read an earlier version's report, one JSON file without relevant clips or digest; errors as `load_report`'s."""
    try:
        data = without_schema(parse_json(path.read_text(encoding="utf-8")), path)
        rows = data["rows"]
        results = [
            _result(data["model"], system, [row["ranks"][system] for row in rows], table, {})
            for system, table in data["systems"].items()
        ]
        queries = [JudgedQuery(row["kind"], row["text"], row_array(()), cue=cue_of(row["text"])) for row in rows]
        return Report(
            name=f"{data['name']}, {NAME}",
            digest="",
            source=data["source"],
            references={},
            video_ids=tuple(map(str, range(data["clips"]))),
            texts=(),
            queries=tuple(queries),
            results=tuple(results),
            created=data["created"],
            versions={},
            pictures=tuple(row["reference"] for row in rows),
        )
    except UNREADABLE as error:
        raise ConfigError(f"The report {path.stem} cannot be read ({reason_of(error)}). Evaluate again.") from error
