"""Predictions for the test servers of CIRR and CIRCO, whose targets are not published.

Sources of the formats: `Test-split_server.md` of Cuberick-Orion/CIRR, `README.md` of miccunifi/CIRCO.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nt2vr.errors import ConfigError, reason_of
from nt2vr.evaluation.covr.protocol import (
    CovrBenchmark,
    EmbeddedQueries,
    Vectors,
    embed_queries,
    scores_of,
    systems_of,
    vectors_of,
)
from nt2vr.evaluation.ranks import first_rows
from nt2vr.files import write_json
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, silent
from nt2vr.search.references import Weights, fusion_of

TAKEN, TAKEN_OF_SUBSET = 50, 3  # predictions per query
Files = dict[str, Mapping[str, Any]]  # by what is added to the name of the file


def write_submission(
    benchmark: CovrBenchmark, encoder: Encoder, system: str, path: Path, progress: Progress = silent
) -> list[Path]:
    """Write the first 50 clips of every query, as the dataset's test server takes them; return the files.

    Args:
        system: a composition, as in the table; ignored for embeddings from elsewhere, which have but one.
        path: for CIRR's recall; its subset measure gets a second file, NAME_subset.json.

    Raises:
        ConfigError: if the dataset has no such server, a query or a file is missing, or nothing can be written.
    """
    form = FORMS.get(benchmark.queries[0].kind)
    if form is None:
        raise ConfigError(f"{benchmark.name} has no test server that is known here. Choose {' or '.join(FORMS)}.")
    if missing := benchmark.source["remarks"]:
        raise ConfigError(
            f"A submission needs the whole of {benchmark.name}: {' '.join(missing)} Add what is missing."
        )
    if not path.parent.is_dir():
        raise ConfigError(f"The folder of {path} is not there. Create it, or name another file.")
    embedded = embed_queries(benchmark, encoder, progress)
    known = systems_of(embedded, encoder)
    if embedded.given is not None:
        system = known[0]
    if system not in known:
        raise ConfigError(f"{encoder.name} has no system {system!r}. Choose one of: {', '.join(known)}.")
    vectors = vectors_of(embedded, system, Weights.of(encoder.card.composition), fusion_of(encoder))
    written = []
    for addition, content in form(benchmark, embedded, scores_of(vectors, embedded)).items():
        file = path.with_name(f"{path.stem}{addition}{path.suffix}")
        try:
            write_json(file, content)
        except OSError as error:
            raise ConfigError(f"{file} cannot be written ({reason_of(error)}). Name another file.") from error
        written.append(file)
    return written


def _first(benchmark: CovrBenchmark, scores: Vectors, count: int) -> list[list[str]]:
    rows = first_rows(scores, np.zeros(scores.shape, bool), count)
    return [[benchmark.clip_ids[row] for row in some if row >= 0] for some in rows.tolist()]


def _cirr(benchmark: CovrBenchmark, embedded: EmbeddedQueries, scores: Vectors) -> Files:
    ids = [query.query_id for query in embedded.queries]
    recall = dict(zip(ids, _first(benchmark, scores, TAKEN), strict=True))
    inside = np.full_like(scores, -np.inf)
    for row, query in enumerate(embedded.queries):
        inside[row, list(query.subset)] = scores[row, list(query.subset)]
    subset = dict(zip(ids, _first(benchmark, inside, TAKEN_OF_SUBSET), strict=True))
    head = {"version": "rc2", "metric": "recall"}
    return {"": head | recall, "_subset": head | {"metric": "recall_subset"} | subset}


def _circo(benchmark: CovrBenchmark, embedded: EmbeddedQueries, scores: Vectors) -> Files:
    first = zip(embedded.queries, _first(benchmark, scores, TAKEN), strict=True)
    return {"": {query.query_id: list(map(int, ids)) for query, ids in first}}


FORMS: dict[str, Callable[[CovrBenchmark, EmbeddedQueries, Vectors], Files]] = {"CIRR": _cirr, "CIRCO": _circo}
