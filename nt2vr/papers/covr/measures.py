"""What a system does for each query of a picture plus a text, and its metrics by kind of change."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import NamedTuple

import numpy as np

from nt2vr.evaluation.measures import Array, Ranks
from nt2vr.evaluation.metric_names import Metrics, recall
from nt2vr.evaluation.queries import Mask, kinds_of, mask
from nt2vr.evaluation.scoring import first_ranks, score_table, violations_among_first
from nt2vr.models.encoder import Vectors
from nt2vr.papers.covr.embedded_queries import EmbeddedQueries
from nt2vr.papers.covr.presentation import (
    ALL,
    CIRR_MEAN,
    FIRST,
    KS,
    SUBSET_R_1,
    VIOLATIONS,
    mean_average_precision,
    within_subset,
)
from nt2vr.papers.covr.queries import CovrQueries
from nt2vr.search.exclusion import Exclusion

MAP_KS = (5, 10, 25, 50)
SUBSET_KS = (1, 2, 3)


class Outcome(NamedTuple):
    """What a system does for each query.

    Attributes:
        ranks: of each query's best right clip, (Q,); 1 is best.
        shares: (Q,) by measure, NaN where a query has none.
    """

    ranks: Ranks
    shares: Mapping[str, Array]


def scores_of(vectors: Vectors, embedded: EmbeddedQueries) -> Vectors:
    """Score all clips for each query: (Q, V); -inf for what is not ranked, and for unreadable files (zeros)."""
    clips = embedded.clips
    exclusions = []
    if clips.ndim > 2:
        nothing = np.zeros((0, vectors.shape[1]), np.float32)
        for wanted in embedded.combined.wanted:
            exclusions.append(Exclusion(nothing, 0.0, focus=wanted))
    scores = score_table(vectors, clips, exclusions, gallery=clips)

    is_readable = clips.any(axis=tuple(range(1, clips.ndim)))
    scores[:, ~is_readable] = -np.inf
    for of_query, query in zip(scores, embedded.queries, strict=True):
        of_query[list(query.left_out)] = -np.inf
        if query.ranked is not None:
            of_query[: query.ranked.start] = -np.inf
            of_query[query.ranked.stop :] = -np.inf
    return scores


def measure(vectors: Vectors, embedded: EmbeddedQueries) -> Outcome:
    """Rank all clips for each query. A tie counts against the system, so zeros, which ask for nothing, rank last."""
    scores = scores_of(vectors, embedded)
    queries = embedded.queries
    count = scores.shape[1]
    right = mask([query.relevant for query in queries], count)
    ranks = first_ranks(scores, right)
    shares = {recall(k): np.where(ranks <= k, 1.0, 0.0) for k in KS}
    shares[VIOLATIONS] = violations_among_first(vectors, scores, queries, FIRST)
    matches = mask([query.matches or query.relevant for query in queries], count)
    shares |= average_precisions(scores, matches)
    shares |= _subset_recalls(scores, right, queries)
    return Outcome(ranks, shares)


def _subset_recalls(scores: Vectors, right: Mask, queries: CovrQueries) -> dict[str, Array]:
    """Return R@k among the clips of each query's subset, (Q,) by name; NaN for queries without one."""
    in_subset = mask([query.subset for query in queries], scores.shape[1])
    subset_scores = np.where(in_subset | right, scores, -np.inf).astype(np.float32)
    ranks = first_ranks(subset_scores, right)
    has_subset = in_subset.any(axis=1)
    return {within_subset(recall(k)): np.where(has_subset, ranks <= k, np.nan) for k in SUBSET_KS}


def average_precisions(scores: Vectors, right: Mask) -> dict[str, Array]:
    """AP@k for each k of MAP_KS; none where no query has several right clips, as R@k then says as much.

        AP@k = sum over i <= k of precision@i * right_i / min(k, number of right clips)

    Source: Baldrati et al., "Zero-Shot Composed Image Retrieval with Textual Inversion", ICCV 2023,
    CIRCO's measure.
    """
    num_right = right.sum(axis=1)
    if not (num_right > 1).any():
        return {}
    precisions = {k: np.full(len(scores), np.nan) for k in MAP_KS}
    for row in np.flatnonzero(num_right):
        # Of tied clips, right ones come last.
        order = np.lexsort((right[row], -scores[row]))
        hits = right[row][order[: max(MAP_KS)]]
        positions = np.arange(1, len(hits) + 1)
        precision_at_hits = np.cumsum(hits) / positions * hits
        for k, of_queries in precisions.items():
            total = precision_at_hits[:k].sum()
            of_queries[row] = total / min(k, num_right[row])
    return {mean_average_precision(k): of_queries for k, of_queries in precisions.items()}


def summarise(queries: CovrQueries, outcome: Outcome) -> dict[str, Metrics]:
    """Aggregate to metrics in percent by kind; and, as means over the kinds, of ALL and by label, "negation" first."""
    kinds = kinds_of(queries)
    is_of_kind = {kind: kinds == kind for kind in dict.fromkeys(kinds.tolist())}
    table = {kind: _metrics_of(outcome, chosen) for kind, chosen in is_of_kind.items()}
    table[ALL] = _mean_of(table.values())

    labels = set(chain.from_iterable(query.labels for query in queries))
    for label in sorted(labels, key=lambda label: (label != "negation", label)):
        has_label = np.array([label in query.labels for query in queries])
        by_kind = [_metrics_of(outcome, chosen & has_label) for chosen in is_of_kind.values()]
        table[label] = _mean_of(by_kind)
    return table


def _metrics_of(outcome: Outcome, chosen: Mask) -> Metrics:
    """Average the measures of the chosen queries, in percent, over those that have one."""
    metrics = {}
    for name, shares in outcome.shares.items():
        measured = shares[chosen & ~np.isnan(shares)]
        if len(measured):
            metrics[name] = 100 * float(measured.mean())
    if SUBSET_R_1 in metrics:
        metrics[CIRR_MEAN] = (metrics[recall(5)] + metrics[SUBSET_R_1]) / 2
    return metrics


def _mean_of(by_kind: Iterable[Metrics]) -> Metrics:
    """Average each measure over the kinds that have it."""
    values: dict[str, list[float]] = defaultdict(list)
    for metrics in by_kind:
        for name, value in metrics.items():
            values[name].append(value)
    return {name: float(np.mean(of_kinds)) for name, of_kinds in values.items()}
