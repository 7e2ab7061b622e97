"""Rectified exclusion and rewording, by hand and against a slow twin."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.evaluation.queries import JudgedQuery, row_array
from nt2vr.evaluation.scoring import losses, measure_block
from nt2vr.evaluation.text_systems import search_vectors
from nt2vr.media.gallery import Gallery, Video
from nt2vr.search import embedded_gallery as embedded_module
from nt2vr.search.embedded_gallery import EmbeddedGallery
from nt2vr.search.exclusion import Exclusion, scores_of
from nt2vr.search.index import ExactIndex
from nt2vr.search.strategies import System
from tests.support.word_encoder import QUERIES, WordEncoder, embedded

Vectors = NDArray[np.float32]
X, Y, Z = np.eye(3, dtype=np.float32)
COMPOSED, PURE = QUERIES[3:5]


def clips(count: int, dim: int = 3, seed: int = 0) -> Vectors:
    vectors = np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def test_only_the_largest_excess_over_tau_is_taken() -> None:
    exclusion = Exclusion(np.stack([Y, Z]), 2.0, 0.5)
    clip_vectors = np.array(
        [[1, 0, 0], [0.5, 0.4, 0.5], [0.6, 0.7, 0.6], [0, 0.6, 0.9]], np.float32
    )
    assert scores_of(clip_vectors, X, None) == pytest.approx([1, 0.5, 0.6, 0])
    expected = [1, 0.5, 0.6 - 2 * 0.2, 0 - 2 * 0.4]
    assert scores_of(clip_vectors, X, exclusion) == pytest.approx(expected)
    one_clip = clip_vectors[2]
    assert scores_of(one_clip, X, exclusion) == pytest.approx(0.2)


def test_the_default_tau_is_half_a_deviation_above_the_mean() -> None:
    clip_vectors = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0.5], [0, 0, 0.5]], np.float32)
    exclusion = Exclusion(np.stack([Y, Z]), 1.0).within(clip_vectors)
    assert exclusion.tau == pytest.approx([0.5 + 0.5 * 0.5, 0.25 + 0.5 * 0.25])
    assert scores_of(clip_vectors, X, exclusion) == pytest.approx([-0.25, 0, -0.25, -0.125])


def test_a_tau_is_taken_from_no_gallery_twice() -> None:
    exclusion = Exclusion(Y[None], 1.0).within(clips(4))
    assert exclusion.within(clips(4, seed=1)) is exclusion
    assert Exclusion(Y[None], 1.0, 0.3).within(clips(4)).tau == 0.3


def gallery_of(vectors: Vectors, index: Any = None, contents: Any = None) -> EmbeddedGallery:
    """Return a gallery whose clips have one frame each, in an index of them unless one is passed."""
    rows = np.arange(len(vectors))
    if index is None:
        index = ExactIndex(vectors.shape[1])
        index.add(rows, vectors)
    videos = tuple(Video(f"{row}", Path(f"{row}.webm")) for row in rows)
    return EmbeddedGallery(
        Gallery("g", videos), vectors, index, (), vectors[:, None], rows, contents=contents
    )


def fractions(count: int, seed: int) -> Vectors:
    """Return (count, 8) multiples of 1/64, whose scores are exact, so that every machine ranks alike."""
    numerators = np.random.default_rng(seed).integers(-64, 65, (count, 8))
    return np.asarray(numerators / 64, np.float32)


# The clips of these searches, and what an approximate index calls them.
CLIPS = fractions(300, seed=0)
CONTENTS = np.arange(300) + 7
WANTED, *UNWANTED = fractions(3, seed=1)
EXCLUSION = Exclusion(np.stack(UNWANTED), 2.0, 0.25)


def best_of(exclusion: Exclusion, k: int) -> list[int]:
    """Score clip by clip, and return the best rows."""
    scores = []
    for clip in CLIPS:
        excesses = exclusion.unwanted @ clip - exclusion.tau
        penalty = exclusion.weight * max(0.0, excesses.max())
        scores.append(float(clip @ WANTED) - penalty)
    # Of equal scores, the first clip comes first.
    ranking = np.argsort(-np.array(scores), kind="stable")
    return [int(row) for row in ranking[:k]]


def index_of(rows: Any) -> ExactIndex:
    index = ExactIndex(8)
    index.add(CONTENTS[rows], CLIPS[rows])
    return index


def test_an_exact_search_scores_every_clip() -> None:
    gallery = gallery_of(CLIPS)
    scores, rows = gallery.search(WANTED, 20, EXCLUSION)
    assert rows.tolist() == best_of(EXCLUSION, 20)
    assert scores == pytest.approx(scores_of(CLIPS[rows], WANTED, EXCLUSION))
    _, all_rows = gallery.search(WANTED, 1000, EXCLUSION)
    assert all_rows.tolist() == best_of(EXCLUSION, 300)


def test_an_approximate_index_gives_the_clips_to_score_exactly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gallery = gallery_of(CLIPS, index_of(slice(None)), CONTENTS)
    expected = best_of(EXCLUSION, 20)
    _, rows = gallery.search(WANTED, 20, EXCLUSION)
    assert rows.tolist() == expected

    monkeypatch.setattr(embedded_module, "SHORTLIST", 22)
    _, rows = gallery.search(WANTED, 20, EXCLUSION)
    assert rows.tolist()[:10] == expected[:10]


def test_all_clips_are_scored_where_the_nearest_lose_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_module, "SHORTLIST", 22)
    excludes_wanted = Exclusion(WANTED[None], 3.0, 0.25)
    _, rows = gallery_of(CLIPS, index_of(slice(None)), CONTENTS).search(WANTED, 20, excludes_wanted)
    assert rows.tolist() == best_of(excludes_wanted, 20)


def test_only_the_shortlist_is_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_module, "SHORTLIST", 40)
    nearest = np.argsort(-(CLIPS @ WANTED))[:40]
    # All clips that the index does not know would be the best.
    vectors = np.tile(WANTED, (300, 1))
    vectors[nearest] = CLIPS[nearest]
    weak = replace(EXCLUSION, weight=1 / 64)
    _, rows = gallery_of(vectors, index_of(nearest), CONTENTS).search(WANTED, 5, weak)
    assert rows.tolist() == best_of(weak, 5)


def test_evaluation_ranks_by_the_same_scores_and_equal_clips_tie() -> None:
    """Of 67 clips, the last 7 equal the first; the first query excludes something, the second nothing."""
    distinct = clips(60, 5)
    vectors = np.concatenate([distinct, distinct[:7]])
    wanted = clips(2, 5, seed=2)
    exclusions = [Exclusion(clips(1, 5, seed=3), 1.5, 0.1), None]
    queries = [JudgedQuery("composed", "x", row_array([right])) for right in (0, 5)]
    measured = measure_block(wanted, vectors, queries, exclusions=exclusions)

    excluding_scores = scores_of(vectors, wanted[0], exclusions[0])
    plain_scores = vectors @ wanted[1]
    # The copy of the right clip ties, and ties count against it.
    assert measured.ranks.tolist() == [
        (excluding_scores > excluding_scores[0] - 1e-6).sum(),
        (plain_scores > plain_scores[5] - 1e-6).sum(),
    ]
    penalties: Any = losses(exclusions, vectors, vectors)
    assert (penalties[:, :7] == penalties[:, 60:]).all()
    assert not penalties[1].any()


def test_without_exclusions_there_are_no_penalties() -> None:
    assert losses([None], CLIPS, CLIPS) == 0
    assert losses((), CLIPS, CLIPS) == 0


def test_judged_queries_exclude_by_their_known_parts() -> None:
    encoder: Any = WordEncoder()
    queries = [QUERIES[0], COMPOSED, PURE]
    searches: Any = search_vectors(encoder, [System("words", "rectified")], queries)
    (search,) = searches
    of_caption, of_composed, of_pure = search.exclusions
    assert of_caption is None
    assert of_pure is None
    assert of_composed.tau is None
    np.testing.assert_array_equal(of_composed.unwanted, embedded("dancing"))
    np.testing.assert_array_equal(search.vectors[1:2], embedded("sings"))
    np.testing.assert_array_equal(search.vectors[2:3], -embedded("dancing"))
