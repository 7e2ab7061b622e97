"""What the test server of CIRR takes: the first clips of every query, by id."""

from pathlib import Path

import numpy as np

from nt2vr.errors import ConfigError, reason_of
from nt2vr.evaluation.queries import mask
from nt2vr.evaluation.scoring import first_rows
from nt2vr.files import JsonObject, write_json
from nt2vr.models.encoder import Encoder, Vectors
from nt2vr.papers.covr.benchmark import GIVEN, CovrBenchmark
from nt2vr.papers.covr.embedded_queries import vectors_for
from nt2vr.papers.covr.measures import scores_of
from nt2vr.progress import Progress

# Predictions per query that CIRR's test server takes, of recall and of its subset measure.
TAKEN = 50
TAKEN_OF_SUBSET = 3


def write_submission(
    benchmark: CovrBenchmark, encoder: Encoder, system: str, path: Path, progress: Progress
) -> list[Path]:
    """Write the first 50 clips of every query of CIRR, as its test server takes them; return the two files.

    `path` is for recall; the subset measure gets a second file, NAME_subset.json. The system is a
    composition, and ignored for embeddings from elsewhere, which have but one. A ConfigError
    refuses what the server would.
    """
    if benchmark.queries[0].kind != "CIRR":
        raise ConfigError(f"{benchmark.name} has no test server that is known here. Choose CIRR.")
    missing = benchmark.source["remarks"]
    if missing:
        raise ConfigError(
            f"A submission needs the whole of {benchmark.name}: {' '.join(missing)} Add what is left."
        )
    if not path.parent.is_dir():
        raise ConfigError(f"The folder of {path} is not there. Create it, or name another file.")
    embedded = benchmark.embedded_queries(encoder, progress)
    strategies = [system.strategy for system in benchmark.systems_of(encoder)]
    if GIVEN in strategies:
        system = GIVEN
    elif system not in strategies:
        raise ConfigError(
            f"{encoder.name} has no system {system!r}. Choose one of: {', '.join(strategies)}."
        )

    scores = scores_of(vectors_for(embedded, system, encoder), embedded)
    _write_predictions(benchmark, file=path, metric="recall", scores=scores, count=TAKEN)

    in_subset = mask([query.subset for query in embedded.queries], scores.shape[1])
    subset_path = path.with_name(f"{path.stem}_subset{path.suffix}")
    _write_predictions(
        benchmark,
        file=subset_path,
        metric="recall_subset",
        scores=np.where(in_subset, scores, -np.inf),
        count=TAKEN_OF_SUBSET,
    )
    return [path, subset_path]


def _write_predictions(
    benchmark: CovrBenchmark, file: Path, metric: str, scores: Vectors, count: int
) -> None:
    """Write the ids of the `count` clips that score highest for each query."""
    content: JsonObject = {"version": "rc2", "metric": metric}
    first = first_rows(scores, np.zeros(scores.shape, bool), count).tolist()
    for query, rows in zip(benchmark.queries, first, strict=True):
        content[query.query_id] = [benchmark.clip_ids[row] for row in rows if row >= 0]
    try:
        write_json(file, content)
    except OSError as error:
        raise ConfigError(
            f"{file} cannot be written ({reason_of(error)}). Name another file."
        ) from error
