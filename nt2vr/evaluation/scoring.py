"""Scores of videos, and what is measured of every query: ranks, orders of pairs, first pages.

Ties and NaN scores count against the model, so a constant model gets no credit. In this project's
own measures (`ordered_shares`, `shares_among_first`), scores within TIE tie; ranks compare exactly,
as the papers' code does.
"""

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from nt2vr.evaluation.measures import FIRST_PAGE, LENIENT, Array, Measured, Ranks
from nt2vr.evaluation.queries import (
    NO_CAPTION,
    JudgedQueries,
    JudgedQuery,
    Mask,
    Rows,
    mask,
    row_array,
)
from nt2vr.models.encoder import Vectors
from nt2vr.search.exclusion import Exclusion, averaged, focused
from nt2vr.search.index.exact import best_first

# Frames in reverse change a score by at most 1.5e-7, by rounding of the mean; neighbours differ by
# .002.
TIE = 1e-6
# Videos at a time: 60 MB of scores for the 59,800 captions of MSR-VTT3k.
BLOCK = 256

Exclusions = Sequence[Exclusion | None]
Scores = NDArray[np.float32]  # (Q, V), higher is better


def measure_block(
    vectors: Vectors,
    videos: Vectors,
    queries: JudgedQueries,
    num_videos: int | None = None,
    exclusions: Exclusions = (),
) -> Measured:
    """Score all videos for some queries, and measure each query.

    Args:
        vectors: (Q, D), what is searched for; zeros search for nothing.
        videos: (V, D), or their frames (V, F, D), which each query weighs. Zeros stand for
            unreadable ones, which rank last.
        num_videos: rows after so many first ones replace some of these in single queries, see
            `JudgedQuery.instead`.
        exclusions: one per query, or none at all.
    """
    if num_videos is None:
        num_videos = len(videos)
    scores = _video_scores(
        vectors, videos=videos, queries=queries, num_videos=num_videos, exclusions=exclusions
    )
    relevant = mask([query.relevant for query in queries], num_videos)
    hard = mask([query.hard for query in queries], num_videos)
    ordered, tied = ordered_shares(scores, relevant, hard)
    violations, first = _first_page(vectors, scores, queries, relevant)
    return Measured(
        ranks=first_ranks(scores, relevant),
        ordered=ordered.astype(np.float32),
        tied=tied.astype(np.float32),
        violations=violations.astype(np.float32),
        first=first,
        pair_scores=_pair_scores(scores, queries),
    )


def _first_page(
    vectors: Vectors, scores: Scores, queries: JudgedQueries, relevant: Mask
) -> tuple[Array, Rows]:
    """Return the share of violations on each query's first page, (Q,), and its rows."""
    first = first_rows(scores, relevant, FIRST_PAGE)
    searches_for_nothing = ~vectors.any(axis=1)
    first[searches_for_nothing] = -1
    return violations_among_first(vectors, scores, queries, FIRST_PAGE), first


def violations_among_first(
    vectors: Vectors, scores: Scores, queries: JudgedQueries, k: int
) -> Array:
    """Share of violating videos among each query's first k: (Q,).

    NaN if no video violates it, or if its vector is zero, which searches for nothing.
    """
    violating = mask([query.violating for query in queries], scores.shape[1])
    shares = shares_among_first(scores, violating, k)
    is_measured = violating.any(axis=1) & vectors.any(axis=1)
    return np.where(is_measured, shares, np.nan)


def _pair_scores(scores: Scores, queries: JudgedQueries) -> Scores:
    """Return the scores of the right and the wrong picture of each query that has a pair: (N, 2)."""
    pairs = []
    for row, query in enumerate(queries):
        if query.kind == "picture":
            right_and_wrong = [query.relevant[0], query.hard[0]]
            pairs.append(scores[row, right_and_wrong])
    return np.array(pairs, np.float32).reshape(-1, 2)


def _video_scores(
    vectors: Vectors,
    videos: Vectors,
    queries: JudgedQueries,
    num_videos: int,
    exclusions: Exclusions,
) -> Scores:
    """Score the videos, (Q, V), each by the row that stands for it in a query."""
    gallery = videos[:num_videos]
    column_of = _columns_of_substitutes(queries, num_videos)
    clips = np.concatenate([gallery, videos[list(column_of)]])
    scores = score_table(vectors, clips, exclusions, gallery)  # (Q, V + substitutes)

    is_readable = gallery.reshape(len(gallery), -1).any(axis=1)
    scores[:, np.flatnonzero(~is_readable)] = -np.inf
    for query, of_query in zip(queries, scores, strict=True):
        for video, row in query.instead.items():
            if row == NO_CAPTION:
                of_query[video] = -np.inf
            else:
                of_query[video] = of_query[column_of[row]]
    return scores[:, :num_videos]


def _columns_of_substitutes(queries: JudgedQueries, num_videos: int) -> dict[int, int]:
    """Return the column of each row that stands for a video in some query, after those of videos."""
    substitutes = chain.from_iterable(query.instead.values() for query in queries)
    rows = set(substitutes) - {NO_CAPTION}
    return {row: column for column, row in enumerate(sorted(rows), num_videos)}


def score_table(
    vectors: Vectors, clips: Vectors, exclusions: Exclusions, gallery: Vectors
) -> Scores:
    """Score clips, or frames that each query weighs, less what exclusions take: (Q, C)."""
    if clips.ndim == 2:
        scores = inner_products(vectors, clips) - losses(exclusions, clips, gallery)
        return np.asarray(scores, np.float32)

    pooled_gallery = averaged(gallery)
    by_query = []
    for vector, exclusion in zip(vectors, exclusions or [None] * len(vectors), strict=True):
        focus = np.zeros_like(vector)
        if exclusion is not None and exclusion.focus is not None:
            focus = exclusion.focus
        pooled_clips = focused(clips, focus)  # (C, D)
        by_query.append(score_table(vector[None], pooled_clips, [exclusion], pooled_gallery))
    return np.concatenate(by_query)


def losses(exclusions: Exclusions, clips: Vectors, gallery: Vectors) -> Scores | float:
    """Return what exclusions, one per query, take from the scores of clips: (Q, C), or 0 for none.

    Equal clips lose bit-equal amounts, as in `inner_products`. The gallery gives the exclusions
    what they lack; zeros are unreadable clips.
    """
    unwanted = [exclusion.unwanted for exclusion in exclusions if exclusion is not None]
    if not unwanted:
        return 0.0

    readable = gallery[gallery.any(axis=1)]
    similarities = inner_products(np.concatenate(unwanted), clips)  # (unwanted, C)
    lost = np.zeros((len(exclusions), len(clips)), np.float32)
    start = 0
    for row, exclusion in enumerate(exclusions):
        if exclusion is not None:
            end = start + len(exclusion.unwanted)
            lost[row] = exclusion.within(readable).loss(similarities[start:end].T)
            start = end
    return lost


def inner_products(queries: Vectors, videos: Vectors) -> Scores:
    """Scores of (Q, D) queries and (V, D) videos: (Q, V), bit-equal for equal videos.

    A matrix product alone rounds equal columns differently, depending on its size and on their
    position (OpenBLAS with up to 33 queries), and would decide ties.
    """
    scores = queries @ videos.T
    first_row: dict[bytes, int] = {}
    for row, video in enumerate(videos):
        first_equal = first_row.setdefault(video.tobytes(), row)
        if first_equal != row:
            scores[:, row] = scores[:, first_equal]
    return scores


def first_ranks(scores: Scores, right: Mask) -> Ranks:
    """Rank of each query's best relevant video, 1 is best: (Q,).

        rank = 1 + number of other videos that score at least as high

    Other relevant videos do not count against the best one.
    """
    scores = _against(scores, right)
    best_scores = np.where(right, scores, -np.inf).max(axis=1, keepdims=True)  # (Q, 1)
    is_ahead = ~right & (scores >= best_scores)
    ranks: Ranks = 1 + is_ahead.sum(axis=1, dtype=np.int32)
    return ranks


def ordered_shares(scores: Scores, right: Mask, wrong: Mask) -> tuple[Array, Array]:
    """Shares (Q,) of each query's (right, wrong) pairs of videos in the right order, and of ties.

    Both are NaN for a query without pairs.
    """
    ordered = np.full(len(scores), np.nan)
    tied = np.full(len(scores), np.nan)
    for row, of_query in enumerate(_against(scores, right)):
        right_scores = of_query[right[row]]
        wrong_scores = np.sort(of_query[wrong[row]])
        num_wrong = len(wrong_scores)
        if not len(right_scores) or not num_wrong:
            continue
        num_below = np.searchsorted(wrong_scores, right_scores - TIE, "left")
        num_below_or_tied = np.searchsorted(wrong_scores, right_scores + TIE, "right")
        ordered[row] = num_below.mean() / num_wrong
        tied[row] = (num_below_or_tied - num_below).mean() / num_wrong
    return ordered, tied


def shares_among_first(scores: Scores, unwanted: Mask, k: int) -> Array:
    """Share of unwanted videos among each query's first k (or all, if fewer): (Q,).

    Unwanted videos come first in ties.
    """
    scores = _against(scores, ~unwanted)
    k = min(k, scores.shape[1])
    partitioned = np.partition(-scores, k - 1, axis=1)
    kth_scores = -partitioned[:, [k - 1]]  # (Q, 1)
    is_above = scores > kth_scores + TIE
    is_tied = ~is_above & (scores >= kth_scores - TIE)

    num_free = k - is_above.sum(axis=1)
    num_above = (is_above & unwanted).sum(axis=1)
    num_tied = (is_tied & unwanted).sum(axis=1)
    shares: Array = (num_above + np.minimum(num_free, num_tied)) / k
    return shares


def first_rows(scores: Scores, right: Mask, k: int) -> Rows:
    """Videos with the k highest scores of each query, best first, by row number: (Q, k).

    Relevant videos come last in ties. -1 stands for none: fewer videos, or scores of -inf or NaN.
    """
    scores = _against(scores, np.ones(scores.shape, bool))
    # The next lower number, so that relevant videos lose ties and nothing else.
    next_lower = np.nextafter(scores, np.float32(-np.inf))
    scores = np.where(right, next_lower, scores)

    count = min(k, scores.shape[1])
    highest = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    best_scores, best = best_first(np.take_along_axis(scores, highest, axis=1), highest)
    rows = np.full((len(scores), k), -1, np.int32)
    rows[:, :count] = np.where(np.isneginf(best_scores), -1, best)
    return rows


def _against(scores: Scores, right: Mask) -> Scores:
    """Replace NaN by the worst possible score: low for right videos, high for wrong ones."""
    if not np.isnan(scores).any():
        return scores
    worst = np.where(right, -np.inf, np.inf)
    return np.where(np.isnan(scores), worst, scores).astype(np.float32)


def choices_of(questions: JudgedQueries, texts: Sequence[str]) -> tuple[list[JudgedQuery], Rows]:
    """Return the wrong answers of some questions as queries, and their rows among all texts.

    They deny nothing where the parts of the question are known and it has no cue.
    """
    wrong = set()
    affirmative = set()
    for question in questions:
        wrong.update(question.others.tolist())
        if question.wanted is not None and not question.cue:
            affirmative.update(question.others.tolist())

    text_rows = sorted(wrong)
    answers = [
        JudgedQuery(
            kind="choice",
            text=texts[row],
            relevant=row_array(()),
            wanted=texts[row] if row in affirmative else None,
        )
        for row in text_rows
    ]
    return answers, row_array(text_rows)


def measure_choices(
    vectors: Vectors,
    videos: Vectors,
    questions: JudgedQueries,
    text_rows: Rows,
    exclusions: Exclusions = (),
) -> Measured:
    """Rank the right answer of each question among its answers, as Alhamoud et al. (CVPR 2025) do.

    Args:
        vectors: (Q + T, D), of the Q right answers, then of the T wrong ones.
        questions: each is about its `relevant` video.
        text_rows: (T,), ascending rows of the wrong answers among the benchmark's texts.
        exclusions: one per vector, or none at all.
    """
    clips = videos[[question.relevant[0] for question in questions]]  # (Q, D), or (Q, F, D)
    scores = _answer_scores(clips, vectors, exclusions, gallery=videos)
    num_questions = len(questions)
    no_value = np.full(num_questions, np.nan, np.float32)
    return Measured(
        ranks=_answer_ranks(scores, questions, text_rows),
        ordered=no_value,
        tied=no_value,
        violations=no_value,
        first=np.full((num_questions, FIRST_PAGE), -1, np.int32),
    )


def _answer_ranks(scores: Scores, questions: JudgedQueries, text_rows: Rows) -> Ranks:
    """Return the rank of each question's right answer, (Q,), by the scores (Q, Q + T) of all answers."""
    wrong_scores = scores[:, len(questions) :]
    ranks = np.ones(len(questions), np.int32)
    for row, question in enumerate(questions):
        right_score = scores[row, row]
        of_question = wrong_scores[row, np.searchsorted(text_rows, question.others)]
        if question.kind == LENIENT:
            is_ahead = of_question > right_score
        else:
            # Ties and NaN scores are ahead, too.
            is_ahead = ~(of_question < right_score)
        ranks[row] += is_ahead.sum()
    return ranks


def _answer_scores(
    clips: Vectors, answers: Vectors, exclusions: Exclusions, gallery: Vectors
) -> Scores:
    """Score answers (A, D) for clips, or for frames that each answer weighs: (C, A)."""
    if clips.ndim > 2:
        return score_table(answers, clips, exclusions, gallery).T
    # Equal answers tie, as equal clips do in `score_table`.
    scores = inner_products(clips, answers) - np.transpose(losses(exclusions, clips, gallery))
    return np.asarray(scores, np.float32)


def caption_ranks(videos: Vectors, captions: Vectors, queries: JudgedQueries) -> Ranks:
    """Rank of each video's best caption among all captions, 1 is best: (V,); 0 for none.

    Other captions of the same video do not count against the best one; ties do.

    Args:
        captions: (Q, D).
        queries: the captions; their relevant videos are those that they describe.
    """
    captions_of_video: list[list[int]] = [[] for _ in videos]
    for number, query in enumerate(queries):
        for video in query.relevant.tolist():
            captions_of_video[video].append(number)

    ranks = np.zeros(len(videos), np.int32)
    for start in range(0, len(videos), BLOCK):
        block = slice(start, start + BLOCK)
        right = mask(captions_of_video[block], len(queries))
        ranks_of_block = first_ranks(_caption_scores(videos[block], captions), right)
        ranks[block] = np.where(right.any(axis=1), ranks_of_block, 0)
    return ranks


def _caption_scores(videos: Vectors, captions: Vectors) -> Scores:
    """Score captions (Q, D) for videos, or for frames that each caption weighs: (V, Q)."""
    if videos.ndim == 2:
        return inner_products(videos, captions)
    scores = np.empty((len(videos), len(captions)), np.float32)
    for column, caption in enumerate(captions):
        scores[:, column] = focused(videos, caption) @ caption
    return scores
