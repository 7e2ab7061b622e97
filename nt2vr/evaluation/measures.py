"""Per-query values of one system, and the metrics computed from them.

In addition to the paper's metrics, two that ignoring the negation cannot improve: hard pairs (relevant videos scoring
above videos that also show the unwanted part) and violations (share of the first page showing the unwanted part).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nt2vr.evaluation.benchmark import NO_CAPTION, JudgedQuery, QueryKind, Vectors, mask
from nt2vr.evaluation.ranks import first_ranks, first_rows, ordered_shares, retrieval_metrics, shares_among_first

FIRST_PAGE = 10  # videos checked for violations


@dataclass(frozen=True, eq=False)
class Measured:
    """One value per query, in the order of the queries; each array but `first` is (Q,).

    Attributes:
        ranks: rank of the best relevant video, 1 is best.
        ordered: share of correctly ordered (relevant, hard) pairs of videos; NaN without such pairs.
        tied: share of tied pairs; NaN without pairs.
        violations: share of the first FIRST_PAGE videos that show the unwanted part; NaN if no video shows it, or if
            the system has nothing to search for.
        first: (Q, FIRST_PAGE), rows of the first videos, -1 for none; (0, FIRST_PAGE) where they are unknown.
    """

    ranks: NDArray[np.int32]
    ordered: NDArray[np.float32]
    tied: NDArray[np.float32]
    violations: NDArray[np.float32]
    first: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, FIRST_PAGE), np.int32))


def measure_block(
    vectors: Vectors, videos: Vectors, queries: Sequence[JudgedQuery], num_videos: int | None = None
) -> Measured:
    """Score all videos for some queries, and measure each query.

    Args:
        vectors: (Q, D), query vectors; zeros search for nothing.
        videos: (V, D), video embeddings; zeros for unreadable videos, which rank last. Rows after the `num_videos`
            first replace some of these in single queries, see `JudgedQuery.instead`.
        queries: the Q queries.
        num_videos: V; None if there are no further rows.
    """
    count = len(videos) if num_videos is None else num_videos
    scores = vectors @ videos[:count].T  # (Q, V)
    scores[:, ~videos[:count].any(axis=1)] = -np.inf
    for row, query in enumerate(queries):
        for video, other in query.instead.items():
            scores[row, video] = -np.inf if other == NO_CAPTION else vectors[row] @ videos[other]
    relevant = mask([query.relevant for query in queries], count)
    hard = mask([query.hard for query in queries], count)
    violating = mask([query.violating for query in queries], count)
    ordered, tied = ordered_shares(scores, relevant, hard)
    violations = shares_among_first(scores, violating, FIRST_PAGE)
    nothing = ~vectors.any(axis=1)
    violations[~violating.any(axis=1) | nothing] = np.nan
    first = first_rows(scores, relevant, FIRST_PAGE)
    first[nothing] = -1
    return Measured(
        first_ranks(scores, relevant).astype(np.int32),
        ordered.astype(np.float32),
        tied.astype(np.float32),
        violations.astype(np.float32),
        first,
    )


def joined(parts: Sequence[Measured]) -> Measured:
    """Concatenate blocks."""
    return Measured(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in Measured.__dataclass_fields__)
    )


def summarise(queries: Sequence[JudgedQuery], measured: Measured) -> dict[str, float]:
    """Aggregate per-query values to metrics; kinds without queries are omitted.

    Returns:
        "original/R@1" (percent) to "original/MIR" (0 to 1), and likewise for "composed", "without" and "retrieval";
        "negated/delta_R@1" (percentage points) to "negated/delta_MIR";
        "composed/hard_pairs" and "without/hard_pairs" (percent of ordered pairs; ties count as wrong);
        "not/auc" (0 to 1; ties count half);
        "composed/violations@10", and likewise for "without" and "not" (percent of the first ten).

    Source: for original, negated and composed queries, except hard pairs and violations: Wang et al., "Learn to
    Understand Negation in Video Retrieval", ACM MM 2022, section 3.2.
    """
    kinds = np.array([query.kind for query in queries])
    metrics: dict[str, float] = {}
    of_rank: tuple[QueryKind, ...] = ("original", "composed", "without", "retrieval")
    for kind in of_rank:
        if (chosen := kinds == kind).any():
            metrics |= _named(kind, retrieval_metrics(measured.ranks[chosen]))
    metrics |= _deltas(queries, measured.ranks)
    denying: tuple[QueryKind, ...] = ("composed", "without", "not")
    for kind in denying:
        pairs = (kinds == kind) & ~np.isnan(measured.ordered)
        if pairs.any() and kind != "not":
            metrics[f"{kind}/hard_pairs"] = 100 * float(measured.ordered[pairs].mean(dtype=np.float64))
        elif pairs.any():
            order = measured.ordered[pairs] + measured.tied[pairs] / 2
            metrics["not/auc"] = float(order.mean(dtype=np.float64))
        shown = (kinds == kind) & ~np.isnan(measured.violations)
        if shown.any():
            metrics[f"{kind}/violations@{FIRST_PAGE}"] = 100 * float(measured.violations[shown].mean(dtype=np.float64))
    return metrics


def _deltas(queries: Sequence[JudgedQuery], ranks: NDArray[np.int32]) -> dict[str, float]:
    """Subtract the metrics of negated queries from those of their captions, for the captions' videos (Eq. 1)."""
    pairs = [(query.original, row) for row, query in enumerate(queries) if query.original is not None]
    if not pairs:
        return {}
    before, after = (retrieval_metrics(ranks[list(places)]) for places in zip(*pairs, strict=True))
    return {f"negated/delta_{name}": before[name] - after[name] for name in before}


def _named(group: str, metrics: dict[str, float]) -> dict[str, float]:
    return {f"{group}/{name}": value for name, value in metrics.items()}
