"""Per-query values of one system, and the metrics computed from them.

In addition to the paper's metrics, two that ignoring the negation cannot improve: hard pairs (relevant videos scoring
above videos that also show the unwanted part) and violations (share of the first page showing the unwanted part).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.evaluation.benchmark import NO_CAPTION, JudgedQuery, Vectors, mask
from nt2vr.evaluation.ranks import (
    KS,
    first_ranks,
    first_rows,
    inner_products,
    ordered_shares,
    retrieval_values,
    shares_among_first,
)
from nt2vr.search.exclusion import Exclusion, averaged, focused

Exclusions = Sequence[Exclusion | None]
FIRST_PAGE = 10  # videos checked for violations


@dataclass(frozen=True, eq=False)
class Measured:
    """One value per query, in the order of the queries; each array but the last three is (Q,).

    Attributes:
        ranks: rank of the best relevant video, 1 is best.
        ordered: share of correctly ordered (relevant, hard) pairs of videos; NaN without such pairs.
        tied: share of tied pairs; NaN without pairs.
        violations: share of the first FIRST_PAGE videos that show the unwanted part; NaN if no video shows it, or if
            the system has nothing to search for.
        first: (Q, FIRST_PAGE), rows of the first videos, -1 for none; (0, FIRST_PAGE) where they are unknown.
        video_ranks: (V,), rank of each video's best caption, see `caption_ranks`, 0 for none; (0,) if not measured.
        pair_scores: (Q, 2), of the right and the wrong picture; (0, 2) for queries of other kinds.
    """

    ranks: NDArray[np.int32]
    ordered: NDArray[np.float32]
    tied: NDArray[np.float32]
    violations: NDArray[np.float32]
    first: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, FIRST_PAGE), np.int32))
    video_ranks: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    pair_scores: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 2), np.float32))


def measure_block(
    vectors: Vectors,
    videos: Vectors,
    queries: Sequence[JudgedQuery],
    num_videos: int | None = None,
    exclusions: Exclusions = (),
) -> Measured:
    """Score all videos for some queries, and measure each query.

    Args:
        vectors: (Q, D), query vectors; zeros search for nothing.
        videos: (V, D), video embeddings, or those of their frames (V, F, D), which each query weighs; zeros for
            unreadable videos, which rank last. Rows after the `num_videos` first replace some of these in single
            queries, see `JudgedQuery.instead`.
        num_videos: V; None if there are no further rows.
        exclusions: one per query, or none at all.
    """
    count = len(videos) if num_videos is None else num_videos
    further = sorted({other for query in queries for other in query.instead.values()} - {NO_CAPTION})
    column = {other: count + place for place, other in enumerate(further)}
    clips = np.concatenate([videos[:count], videos[further]])
    scores = score_table(vectors, clips, exclusions, videos[:count])  # (Q, V + further)
    scores[:, :count][:, ~videos[:count].any(axis=(1, 2)[: videos.ndim - 1])] = -np.inf
    for row, query in enumerate(queries):
        for video, other in query.instead.items():
            scores[row, video] = -np.inf if other == NO_CAPTION else scores[row, column[other]]
    scores = scores[:, :count]
    relevant = mask([query.relevant for query in queries], count)
    hard = mask([query.hard for query in queries], count)
    violating = mask([query.violating for query in queries], count)
    ordered, tied = ordered_shares(scores, relevant, hard)
    violations = shares_among_first(scores, violating, FIRST_PAGE)
    nothing = ~vectors.any(axis=1)
    violations[~violating.any(axis=1) | nothing] = np.nan
    first = first_rows(scores, relevant, FIRST_PAGE)
    first[nothing] = -1
    pairs = [(row, (query.relevant[0], query.hard[0])) for row, query in enumerate(queries) if query.kind == "picture"]
    return Measured(
        first_ranks(scores, relevant).astype(np.int32),
        ordered.astype(np.float32),
        tied.astype(np.float32),
        violations.astype(np.float32),
        first,
        pair_scores=np.array([scores[row, list(both)] for row, both in pairs], np.float32).reshape(-1, 2),
    )


def score_table(vectors: Vectors, clips: Vectors, exclusions: Exclusions, gallery: Vectors) -> NDArray[np.float32]:
    """Score clips, or frames that each query weighs, less what exclusions take: (Q, C); see `losses`."""
    if clips.ndim == 2:
        return np.asarray(inner_products(vectors, clips) - losses(exclusions, clips, gallery), np.float32)
    found, nothing = np.empty((len(vectors), len(clips)), np.float32), np.zeros_like(vectors[0])
    pooled = averaged(gallery)
    for row, vector in enumerate(vectors):
        exclusion = exclusions[row] if exclusions else None
        own = focused(clips, nothing if exclusion is None or exclusion.focus is None else exclusion.focus)
        found[row] = inner_products(vector[None], own)[0] - np.ravel(losses([exclusion], own, pooled))
    return found


def losses(exclusions: Exclusions, clips: Vectors, gallery: Vectors) -> NDArray[np.float32] | float:
    """Return what exclusions, one per query, take from the scores of clips: (Q, C); 0 without exclusions.

    Equal clips lose bit-equal amounts, as in `inner_products`.

    Args:
        gallery: clips that give the exclusions what they lack; zeros for unreadable ones.
    """
    given = [(row, exclusion) for row, exclusion in enumerate(exclusions) if exclusion is not None]
    if not given:
        return 0.0
    found, readable = np.zeros((len(exclusions), len(clips)), np.float32), gallery[gallery.any(axis=1)]
    similarities = inner_products(np.concatenate([exclusion.unwanted for _, exclusion in given]), clips)
    ends = np.cumsum([len(exclusion.unwanted) for _, exclusion in given])
    for (row, exclusion), some in zip(given, np.split(similarities, ends[:-1]), strict=True):
        found[row] = exclusion.within(readable).loss(some.T)
    return found


def joined(parts: Sequence[Measured]) -> Measured:
    return Measured(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in Measured.__dataclass_fields__)
    )


@dataclass(frozen=True, eq=False)
class Values:
    """What a metric is the mean of.

    Attributes:
        places: (N,), positions of the queries that count.
        values: (N,), one value per query; for a video's rank of captions, at the place of its first caption.
        statistic: of all values together, where it is not their mean; it has no interval.
    """

    places: NDArray[np.int64]
    values: NDArray[np.float64]
    statistic: Callable[[NDArray[np.float64]], Any] | None = None


def summarise(queries: Sequence[JudgedQuery], measured: Measured) -> dict[str, float]:
    return averages_of(metric_values(queries, measured))


def averages_of(values: Mapping[str, Values]) -> dict[str, float]:
    return {key: float((each.statistic or np.mean)(each.values)) for key, each in values.items()}


def metric_values(queries: Sequence[JudgedQuery], measured: Measured) -> dict[str, Values]:
    """Return the per-query values of each metric; kinds without queries are omitted.

    Returns:
        "original/R@1" (percent) to "original/MIR" (0 to 1), and likewise for "composed", "without" and "retrieval";
        "original/MedR" and "original/MeanR", median and mean rank; "video/R@1" to "video/MeanR", of videos that rank
        captions;
        "negated/delta_R@1" (percentage points) to "negated/delta_MIR";
        "composed/hard_pairs" and "without/hard_pairs" (percent of ordered pairs; ties count as wrong);
        "not/auc" (0 to 1; ties count half);
        "picture/accuracy" (percent with the right video first; ties count as wrong), and "picture/AP", see
        `average_precision`, and both per group;
        "composed/violations@10", and likewise for "without" and "not" (percent of the first ten).

    Source: for original, negated and composed queries, except hard pairs and violations: Wang et al., "Learn to
    Understand Negation in Video Retrieval", ACM MM 2022, section 3.2.
    """
    kinds = np.array([query.kind for query in queries])
    ordered, tied, violations = (
        values.astype(np.float64) for values in (measured.ordered, measured.tied, measured.violations)
    )
    found: dict[str, Values] = {}
    for kind in ("original", "composed", "without", "retrieval"):
        if len(chosen := np.flatnonzero(kinds == kind)):
            values = retrieval_values(measured.ranks[chosen])
            found |= {f"{kind}/{name}": Values(chosen, each) for name, each in values.items()}
    if len(chosen := np.flatnonzero(kinds == "original")):
        found |= _ranks("original", chosen, measured.ranks[chosen])
    if len(chosen := np.flatnonzero(measured.video_ranks)):
        ranks, first = measured.video_ranks[chosen], _first_captions(queries)
        places = np.array([first[video] for video in chosen.tolist()], np.int64)
        values = retrieval_values(ranks)
        found |= {f"video/R@{k}": Values(places, values[f"R@{k}"]) for k in KS} | _ranks("video", places, ranks)
    found |= _deltas(queries, measured.ranks)
    if len(chosen := np.flatnonzero((kinds == "picture") & ~np.isnan(ordered))):
        parts = {"": chosen, **{f" {name}": places for name, places in members(queries, chosen).items()}}
        found |= {f"picture/accuracy{name}": Values(some, 100 * ordered[some]) for name, some in parts.items()}
        for name, some in parts.items() if len(measured.pair_scores) == len(queries) else ():
            pairs_of = _distinct_pairs(queries, some, measured.pair_scores)
            found[f"picture/AP{name}"] = Values(some, pairs_of, average_precision)
    for kind in ("composed", "without", "not"):
        pairs = np.flatnonzero((kinds == kind) & ~np.isnan(ordered))
        if len(pairs) and kind != "not":
            found[f"{kind}/hard_pairs"] = Values(pairs, 100 * ordered[pairs])
        elif len(pairs):
            found["not/auc"] = Values(pairs, ordered[pairs] + tied[pairs] / 2)
        shown = np.flatnonzero((kinds == kind) & ~np.isnan(violations))
        if len(shown):
            found[f"{kind}/violations@{FIRST_PAGE}"] = Values(shown, 100 * violations[shown])
    return found


def average_precision(pairs: NDArray[np.float64]) -> float:
    """Average precision of pairs of a text and a picture, in percent; ties count against the right ones.

        AP = mean over the right pairs of the share of right ones among those that score at least as high

    Args:
        pairs: (N, 2), the score, and 1 for right pairs or 0 for wrong ones.
    """
    right = pairs[np.lexsort((pairs[:, 1], -pairs[:, 0])), 1]
    return 100 * float((np.cumsum(right) / np.arange(1, len(right) + 1) * right).sum() / right.sum())


def _distinct_pairs(
    queries: Sequence[JudgedQuery], places: NDArray[np.int64], scores: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Return each text's pairs with a right and a wrong picture once: one right picture has several wrong ones."""
    found: dict[tuple[str, int], tuple[float, float]] = {}
    for place in places.tolist():
        query, (right, wrong) = queries[place], scores[place].tolist()
        found[query.text, int(query.relevant[0])] = (right, 1.0)
        found[query.text, int(query.hard[0])] = (wrong, 0.0)
    return np.array(list(found.values()))


def _ranks(name: str, places: NDArray[np.int64], ranks: NDArray[np.int32]) -> dict[str, Values]:
    values = ranks.astype(np.float64)
    return {f"{name}/MedR": Values(places, values, np.median), f"{name}/MeanR": Values(places, values)}


def _first_captions(queries: Sequence[JudgedQuery]) -> dict[int, int]:
    """Return the position of the first original query of each video that has one."""
    first: dict[int, int] = {}
    for place, query in enumerate(queries):
        for video in query.relevant.tolist() if query.kind == "original" else ():
            first.setdefault(video, place)
    return first


def members(queries: Sequence[JudgedQuery], places: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    """Return the positions of the queries of each group, among some, by name in alphabetical order."""
    found: dict[str, list[int]] = {}
    for place in places.tolist():
        for name in filter(None, queries[place].group.split("; ")):
            found.setdefault(name, []).append(place)
    return {name: np.array(found[name], np.int64) for name in sorted(found)}


def _deltas(queries: Sequence[JudgedQuery], ranks: NDArray[np.int32]) -> dict[str, Values]:
    """Subtract the values of negated queries from those of their captions, for the captions' videos (Eq. 1)."""
    pairs = [(query.original, place) for place, query in enumerate(queries) if query.original is not None]
    if not pairs:
        return {}
    originals, negated = (np.array(places, np.int64) for places in zip(*pairs, strict=True))
    before, after = retrieval_values(ranks[originals]), retrieval_values(ranks[negated])
    return {f"negated/delta_{name}": Values(negated, before[name] - after[name]) for name in before}


BLOCK = 256  # videos at a time: 60 MB of scores for the 59,800 captions of MSR-VTT3k


def caption_ranks(videos: Vectors, captions: Vectors, queries: Sequence[JudgedQuery]) -> NDArray[np.int32]:
    """Rank of each video's best caption among the captions of all, 1 is best: (V,); 0 for a video without any.

    Other captions of the same video do not count against the best one; ties do.

    Args:
        captions: (Q, D), embeddings of `queries`, whose relevant videos are those that they describe.
    """
    of_pair = np.repeat(np.arange(len(queries)), [len(query.relevant) for query in queries])
    described = np.concatenate([query.relevant for query in queries])
    ranks = np.zeros(len(videos), np.int32)
    for start in range(0, len(videos), BLOCK):
        some = videos[start : start + BLOCK]
        inside = (described >= start) & (described < start + len(some))
        right = np.zeros((len(some), len(queries)), bool)
        right[described[inside] - start, of_pair[inside]] = True
        found = first_ranks(_products(some, captions), right)
        ranks[start : start + len(some)] = np.where(right.any(axis=1), found, 0)
    return ranks


def _products(videos: Vectors, captions: Vectors) -> NDArray[np.float32]:
    """Score videos (V, D), or their frames (V, F, D), which each caption weighs, for captions: (V, Q)."""
    if videos.ndim == 2:
        return inner_products(videos, captions)
    return np.stack([focused(videos, caption) @ caption for caption in captions], axis=1)
