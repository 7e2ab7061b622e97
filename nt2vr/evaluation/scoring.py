"""Scores of what systems search for, and what is measured of every query: ranks, orders of pairs, first pages.

Ties and NaN scores count against the model, so a constant model gets no credit. In this project's
own measures (`ordered_shares`, `shares_among_first`), scores within TIE tie; ranks compare exactly,
as the papers' code does.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nt2vr.evaluation.embed_media import Vectors
from nt2vr.evaluation.measures import (
    FIRST_PAGE,
    LENIENT,
    Measured,
)
from nt2vr.evaluation.queries import NO_CAPTION, JudgedQuery, Rows, mask, row_array
from nt2vr.search.exclusion import Exclusion, averaged, focused

TIE = 1e-6  # frames in reverse change a score by at most 1.5e-7, by rounding of the mean; neighbours differ by .002
BLOCK = 256  # videos at a time: 60 MB of scores for the 59,800 captions of MSR-VTT3k
Exclusions = Sequence[Exclusion | None]
Scores = NDArray[np.float32]  # (Q, V), higher is better
Mask = NDArray[np.bool_]  # (Q, V)


def measure_block(
    vectors: Vectors,
    videos: Vectors,
    queries: Sequence[JudgedQuery],
    num_videos: int | None = None,
    exclusions: Exclusions = (),
) -> Measured:
    """Score all videos for the vectors (Q, D) of queries, of which zeros search for nothing, and measure each query.

    Videos are (V, D), or their frames (V, F, D), which each query weighs; zeros for unreadable
    ones, which rank last. Rows after the `num_videos` first replace some of these in single
    queries, see `JudgedQuery.instead`. There is one exclusion per query, or none at all.
    """
    count = len(videos) if num_videos is None else num_videos
    scores = _video_scores(vectors, videos, queries, count, exclusions)
    relevant, hard, violating = (
        mask([getattr(query, name) for query in queries], count)
        for name in ("relevant", "hard", "violating")
    )
    violations, first = (
        shares_among_first(scores, violating, FIRST_PAGE),
        first_rows(scores, relevant, FIRST_PAGE),
    )
    nothing = ~vectors.any(axis=1)
    violations[~violating.any(axis=1) | nothing] = np.nan
    first[nothing] = -1
    pictures = [(row, query) for row, query in enumerate(queries) if query.kind == "picture"]
    pairs = np.array(
        [scores[row, [each.relevant[0], each.hard[0]]] for row, each in pictures], np.float32
    )
    shares = (*ordered_shares(scores, relevant, hard), violations)
    ordered, tied, violated = (some.astype(np.float32) for some in shares)
    ranks = first_ranks(scores, relevant).astype(np.int32)
    return Measured(ranks, ordered, tied, violated, first, pair_scores=pairs.reshape(-1, 2))


def _video_scores(
    vectors: Vectors,
    videos: Vectors,
    queries: Sequence[JudgedQuery],
    count: int,
    exclusions: Exclusions,
) -> Scores:
    further = sorted(
        {other for query in queries for other in query.instead.values()} - {NO_CAPTION}
    )
    column = {other: count + place for place, other in enumerate(further)}
    clips = np.concatenate([videos[:count], videos[further]])
    everything = score_table(vectors, clips, exclusions, videos[:count])  # (Q, V + further)
    scores = everything[:, :count]
    scores[:, ~videos[:count].any(axis=(1, 2)[: videos.ndim - 1])] = -np.inf
    for row, query in enumerate(queries):
        for video, other in query.instead.items():
            scores[row, video] = -np.inf if other == NO_CAPTION else everything[row, column[other]]
    return scores


def score_table(
    vectors: Vectors, clips: Vectors, exclusions: Exclusions, gallery: Vectors
) -> Scores:
    """Score clips, or frames that each query weighs, less what exclusions take: (Q, C); see `losses`."""
    if clips.ndim == 2:
        return np.asarray(
            inner_products(vectors, clips) - losses(exclusions, clips, gallery), np.float32
        )
    found, nothing = np.empty((len(vectors), len(clips)), np.float32), np.zeros_like(vectors[0])
    pooled = averaged(gallery)
    for row, vector in enumerate(vectors):
        exclusion = exclusions[row] if exclusions else None
        own = focused(
            clips, nothing if exclusion is None or exclusion.focus is None else exclusion.focus
        )
        found[row] = inner_products(vector[None], own)[0] - np.ravel(
            losses([exclusion], own, pooled)
        )
    return found


def losses(exclusions: Exclusions, clips: Vectors, gallery: Vectors) -> Scores | float:
    """Return what exclusions, one per query, take from the scores of clips: (Q, C); 0 without exclusions.

    Equal clips lose bit-equal amounts, as in `inner_products`. The gallery gives the exclusions
    what they lack; zeros are unreadable clips.
    """
    given = [(row, exclusion) for row, exclusion in enumerate(exclusions) if exclusion is not None]
    if not given:
        return 0.0
    found, readable = (
        np.zeros((len(exclusions), len(clips)), np.float32),
        gallery[gallery.any(axis=1)],
    )
    similarities = inner_products(
        np.concatenate([exclusion.unwanted for _, exclusion in given]), clips
    )
    ends = np.cumsum([len(exclusion.unwanted) for _, exclusion in given])
    for (row, exclusion), some in zip(given, np.split(similarities, ends[:-1]), strict=True):
        found[row] = exclusion.within(readable).loss(some.T)
    return found


def inner_products(queries: Vectors, videos: Vectors) -> Scores:
    """Scores of (Q, D) queries and (V, D) videos: (Q, V), bit-equal for equal videos.

    A matrix product alone rounds equal columns differently, depending on its size and on their
    places (OpenBLAS with up to 33 queries), and would decide ties.
    """
    scores: Scores = queries @ videos.T
    first: dict[bytes, int] = {}
    places = np.array(
        [first.setdefault(video.tobytes(), place) for place, video in enumerate(videos)], np.int64
    )
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


def ordered_shares(
    scores: Scores, right: Mask, wrong: Mask
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shares (Q,) of each query's (right, wrong) pairs of videos that are ordered correctly, and that tie; or NaN."""
    higher, equal = np.full((2, len(scores)), np.nan)
    for query, row in enumerate(_against(scores, right)):
        rights, wrongs = row[right[query]], np.sort(row[wrong[query]])
        if len(rights) and len(wrongs):
            below = np.searchsorted(wrongs, rights - TIE, "left")
            higher[query] = below.mean() / len(wrongs)
            equal[query] = (np.searchsorted(wrongs, rights + TIE, "right") - below).mean() / len(
                wrongs
            )
    return higher, equal


def shares_among_first(scores: Scores, unwanted: Mask, k: int) -> NDArray[np.float64]:
    """Share of unwanted videos, which come first in ties, among each query's first k (or all, if fewer): (Q,)."""
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


def _against(scores: Scores, right: Mask) -> Scores:
    """Replace NaN by the worst possible score."""
    if not np.isnan(scores).any():
        return scores
    return np.where(np.isnan(scores), np.where(right, -np.inf, np.inf), scores).astype(np.float32)


def choices_of(
    questions: Sequence[JudgedQuery], texts: Sequence[str]
) -> tuple[list[JudgedQuery], Rows]:
    """Return the wrong answers of some questions as queries, and their positions among all texts.

    They deny nothing where the parts of the question are known and it has no cue.
    """
    plain = {
        place
        for each in questions
        if each.wanted is not None and not each.cue
        for place in each.others.tolist()
    }
    places = np.unique(
        np.concatenate([row_array(()), *(question.others for question in questions)])
    ).astype(np.int32)
    said = ((texts[place], texts[place] if place in plain else None) for place in places.tolist())
    return [
        JudgedQuery("choice", text, row_array(()), wanted=wanted) for text, wanted in said
    ], places


def measure_choices(
    vectors: Vectors,
    videos: Vectors,
    questions: Sequence[JudgedQuery],
    places: Rows,
    exclusions: Exclusions = (),
) -> Measured:
    """Rank the correct answer of each of Q questions, about its `relevant` video, as Alhamoud et al. (CVPR 2025) do.

    The vectors (Q + T, D) are of the Q correct answers, then of the T wrong ones, whose `places`
    (T,) are ascending positions among the benchmark's texts. There is one exclusion per vector, or
    none at all.
    """
    shown = videos[[question.relevant[0] for question in questions]]  # (Q, D), or (Q, F, D)
    if shown.ndim > 2:  # frames, which each answer weighs
        scores = score_table(vectors, shown, exclusions, videos).T
    else:
        scores = inner_products(shown, vectors) - np.transpose(
            losses(exclusions, shown, videos)
        )  # (Q, Q + T)
    right, scores = scores.diagonal(), scores[:, len(questions) :]
    ranks = np.ones(len(questions), np.int32)
    for row, question in enumerate(questions):
        wrong = scores[row, np.searchsorted(places, question.others)]
        ahead = wrong > right[row] if question.kind == LENIENT else ~(wrong < right[row])
        ranks[row] += ahead.sum()
    nothing = np.full(len(questions), np.nan, np.float32)
    return Measured(
        ranks, nothing, nothing, nothing, np.full((len(questions), FIRST_PAGE), -1, np.int32)
    )


def caption_ranks(
    videos: Vectors, captions: Vectors, queries: Sequence[JudgedQuery]
) -> NDArray[np.int32]:
    """Rank of each video's best caption among the (Q, D) captions of all, 1 is best: (V,); 0 for a video without any.

    Other captions of the same video do not count against the best one; ties do. The relevant videos
    of `queries` are those that the captions describe.
    """
    of_pair = np.repeat(np.arange(len(queries)), [len(query.relevant) for query in queries])
    described = np.concatenate([query.relevant for query in queries])
    ranks = np.zeros(len(videos), np.int32)
    for start in range(0, len(videos), BLOCK):
        some = videos[start : start + BLOCK]
        inside = (described >= start) & (described < start + len(some))
        right = np.zeros((len(some), len(queries)), bool)
        right[described[inside] - start, of_pair[inside]] = True
        if some.ndim == 2:
            scores = inner_products(some, captions)
        else:  # frames, which each caption weighs
            scores = np.stack([focused(some, caption) @ caption for caption in captions], axis=1)
        ranks[start : start + len(some)] = np.where(
            right.any(axis=1), first_ranks(scores, right), 0
        )
    return ranks
