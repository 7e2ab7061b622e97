"""Predictions for the test server of CIRR, whose test targets are not published.

Source of the format: `Test-split_server.md` of Cuberick-Orion/CIRR.
"""

from pathlib import Path

import numpy as np

from nt2vr.errors import ConfigError, reason_of
from nt2vr.evaluation.covr.protocol import (
    CovrBenchmark,
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


def write_submission(
    benchmark: CovrBenchmark, encoder: Encoder, system: str, path: Path, progress: Progress = silent
) -> list[Path]:
    """Write the first 50 clips of every query of CIRR, as its test server takes them; return the two files.

    Args:
        system: a composition, as in the table; ignored for embeddings from elsewhere, which have but one.
        path: for recall; the subset measure gets a second file, NAME_subset.json.

    Raises:
        ConfigError: if the dataset is not CIRR, a query or a file is missing, or nothing can be written.
    """
    if benchmark.queries[0].kind != "CIRR":
        raise ConfigError(f"{benchmark.name} has no test server that is known here. Choose CIRR.")
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
    scores = scores_of(vectors, embedded)
    inside = np.full_like(scores, -np.inf)
    for row, query in enumerate(embedded.queries):
        inside[row, list(query.subset)] = scores[row, list(query.subset)]
    files = [path, path.with_name(f"{path.stem}_subset{path.suffix}")]
    forms = (("recall", scores, TAKEN), ("recall_subset", inside, TAKEN_OF_SUBSET))
    for file, (metric, ranked, count) in zip(files, forms, strict=True):
        first = zip((query.query_id for query in embedded.queries), _first(benchmark, ranked, count), strict=True)
        try:
            write_json(file, {"version": "rc2", "metric": metric, **dict(first)})
        except OSError as error:
            raise ConfigError(f"{file} cannot be written ({reason_of(error)}). Name another file.") from error
    return files


def _first(benchmark: CovrBenchmark, scores: Vectors, count: int) -> list[list[str]]:
    rows = first_rows(scores, np.zeros(scores.shape, bool), count)
    return [[benchmark.clip_ids[row] for row in some if row >= 0] for some in rows.tolist()]
