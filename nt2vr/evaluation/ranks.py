"""Ranks, pairwise orders and shares computed from score arrays.

Ties and NaN scores count against the model, so a constant model gets no credit. In this project's own measures
(`ordered_shares`, `shares_among_first`), scores within TIE tie; ranks compare exactly, as the papers' code does.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

KS = (1, 5, 10)
TIE = 1e-6  # frames in reverse change a score by at most 1.5e-7, by rounding of the mean; neighbours differ by .002
Scores = NDArray[np.float32]  # (Q, V), higher is better
Mask = NDArray[np.bool_]  # (Q, V)


def inner_products(queries: Scores, videos: Scores) -> Scores:
    """Scores of (Q, D) queries and (V, D) videos: (Q, V), bit-equal for equal videos.

    A matrix product alone rounds equal columns differently, depending on its size and on their places (OpenBLAS with
    up to 33 queries), and would decide ties.
    """
    scores: Scores = queries @ videos.T
    first: dict[bytes, int] = {}
    places = np.array([first.setdefault(video.tobytes(), place) for place, video in enumerate(videos)], np.int64)
    again = np.flatnonzero(places != np.arange(len(videos)))
    scores[:, again] = scores[:, places[again]]
    return scores


def first_ranks(scores: Scores, right: Mask) -> NDArray[np.int64]:
    """Rank of each query's best relevant video, 1 is best: (Q,).

        rank = 1 + number of other videos that score at least as high

    Other relevant videos do not count against the best one.
    """
    scores = _against(scores, right)
    best = np.where(right, scores, -np.inf).max(axis=1, keepdims=True)
    ranks: NDArray[np.int64] = 1 + (~right & (scores >= best)).sum(axis=1)
    return ranks


def ordered_shares(scores: Scores, right: Mask, wrong: Mask) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shares of each query's (right, wrong) pairs of videos that are ordered correctly, and that tie.

    Returns:
        Two arrays (Q,); NaN for queries without pairs.
    """
    higher, equal = np.full((2, len(scores)), np.nan)
    for query, row in enumerate(_against(scores, right)):
        rights, wrongs = row[right[query]], np.sort(row[wrong[query]])
        if len(rights) and len(wrongs):
            below = np.searchsorted(wrongs, rights - TIE, "left")
            higher[query] = below.mean() / len(wrongs)
            equal[query] = (np.searchsorted(wrongs, rights + TIE, "right") - below).mean() / len(wrongs)
    return higher, equal


def shares_among_first(scores: Scores, unwanted: Mask, k: int) -> NDArray[np.float64]:
    """Share of unwanted videos among each query's first k (or all, if fewer): (Q,).

    Unwanted videos come first in ties.
    """
    scores, k = _against(scores, ~unwanted), min(k, scores.shape[1])
    last = -np.partition(-scores, k - 1, axis=1)[:, k - 1 : k]  # (Q, 1), the k-th highest
    above = scores > last + TIE
    tied = ~above & (scores >= last - TIE)
    places = k - above.sum(axis=1)
    found = (above & unwanted).sum(axis=1) + np.minimum(places, (tied & unwanted).sum(axis=1))
    shares: NDArray[np.float64] = found / k
    return shares


def first_rows(scores: Scores, right: Mask, k: int) -> NDArray[np.int32]:
    """Videos with the k highest scores of each query, best first, by row number: (Q, k).

    Relevant videos come last in ties. -1 stands for none: fewer videos, or scores of -inf or NaN.
    """
    scores, count = _against(scores, np.ones(scores.shape, bool)), min(k, scores.shape[1])
    scores = np.where(right, np.nextafter(scores, np.float32(-np.inf)), scores)
    best = np.sort(np.argpartition(-scores, count - 1, axis=1)[:, :count], axis=1)
    order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
    best = np.take_along_axis(best, order, axis=1)
    found = np.full((len(scores), k), -1, np.int32)
    found[:, :count] = np.where(np.isneginf(np.take_along_axis(scores, best, axis=1)), -1, best)
    return found


def retrieval_values(ranks: NDArray[np.integer[Any]]) -> dict[str, NDArray[np.float64]]:
    """Per-query values (Q,) of R@1, R@5, R@10 (100 or 0) and of MIR, the mean inverted rank (0 to 1).

    Source: Wang et al., "Learn to Understand Negation in Video Retrieval", ACM MM 2022, section 3.2.
    """
    inverted = 1 / ranks.astype(np.float64)
    return {**{f"R@{k}": np.where(ranks <= k, 100.0, 0.0) for k in KS}, "MIR": inverted}


def _against(scores: Scores, right: Mask) -> Scores:
    """Replace NaN by the worst possible score."""
    if not np.isnan(scores).any():
        return scores
    return np.where(np.isnan(scores), np.where(right, -np.inf, np.inf), scores).astype(np.float32)
