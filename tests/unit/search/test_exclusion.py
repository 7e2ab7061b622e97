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
from nt2vr.negation.parse.query import Query
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
    wanted_scores = np.array(
        [[1, 0, 0], [0.5, 0.4, 0.5], [0.6, 0.7, 0.6], [0, 0.6, 0.9]], np.float32
    )
    assert scores_of(wanted_scores, X, exclusion) == pytest.approx(
        [1, 0.5, 0.6 - 2 * 0.2, -2 * 0.4]
    )
    # One clip.
    assert scores_of(wanted_scores[2], X, exclusion) == pytest.approx(0.2)
    assert scores_of(wanted_scores, X, None) == pytest.approx([1, 0.5, 0.6, 0])


def test_the_default_tau_is_half_a_deviation_above_the_mean() -> None:
    expected = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0.5], [0, 0, 0.5]], np.float32)
    exclusion = Exclusion(np.stack([Y, Z]), 1.0).within(expected)
    assert exclusion.tau == pytest.approx([0.5 + 0.5 * 0.5, 0.25 + 0.5 * 0.25])
    assert scores_of(expected, X, exclusion) == pytest.approx([-0.25, 0, -0.25, -0.125])
    assert (
        exclusion.within(expected[:1]) is exclusion
        and Exclusion(Y[None], 1.0, 0.3).within(expected).tau == 0.3
    )


def gallery_of(vectors: Vectors, index: Any = None, contents: Any = None) -> EmbeddedGallery:
    exact = ExactIndex(vectors.shape[1])
    exact.add(np.arange(len(vectors)), vectors)
    videos = tuple(Video(f"{n}", Path(f"{n}.webm")) for n in range(len(vectors)))
    of_clips = vectors, index or exact, (), vectors[:, None], np.arange(len(vectors))
    return EmbeddedGallery(Gallery("g", videos), *of_clips, contents=contents)


def best_of(vectors: Vectors, vector: Vectors, exclusion: Exclusion, k: int) -> list[int]:
    """Score clip by clip, in plain Python."""
    tau = np.broadcast_to(np.asarray(exclusion.tau), len(exclusion.unwanted))
    scores = [
        float(clip @ vector)
        - exclusion.weight
        * max(max(0.0, float(clip @ n) - t) for n, t in zip(exclusion.unwanted, tau, strict=True))
        for clip in vectors
    ]
    return sorted(range(len(vectors)), key=lambda row: (-round(scores[row], 5), row))[:k]


def test_an_approximate_index_gives_the_clips_to_score_exactly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vectors = clips(300, 8)
    (wanted, *unwanted) = clips(3, 8, seed=1)
    exclusion = Exclusion(np.stack(unwanted), 2.0).within(vectors)
    expected = best_of(vectors, wanted, exclusion, 20)
    scores, rows = gallery_of(vectors).search(wanted, 20, exclusion)
    assert rows.tolist() == expected and scores == pytest.approx(
        scores_of(vectors[rows], wanted, exclusion)
    )
    assert gallery_of(vectors).search(wanted, 1000, exclusion)[1].tolist() == best_of(
        vectors, wanted, exclusion, 300
    )

    # An approximate index names clips like this.
    contents = np.arange(300) + 7
    ids = ExactIndex(8)
    ids.add(contents, vectors)
    two_stages = gallery_of(vectors, ids, contents)
    assert two_stages.search(wanted, 20, exclusion)[1].tolist() == expected
    monkeypatch.setattr(embedded_module, "SHORTLIST", 22)
    assert two_stages.search(wanted, 20, exclusion)[1].tolist()[:10] == expected[:10]
    # The nearest clips lose most, so that all are scored.
    hard = Exclusion(wanted[None], 3.0, 0.2)
    assert two_stages.search(wanted, 20, hard)[1].tolist() == best_of(vectors, wanted, hard, 20)

    nearest = np.argsort(-(vectors @ wanted))[:40]
    # If more than the shortlist were scored, others would be found.
    index = ExactIndex(8)
    index.add(contents[nearest], vectors[nearest])
    monkeypatch.setattr(embedded_module, "SHORTLIST", 40)
    weak = replace(exclusion, weight=0.01)
    scored = vectors.copy()
    scored[np.setdiff1d(np.arange(300), nearest)] = wanted
    assert gallery_of(scored, index, contents).search(wanted, 5, weak)[1].tolist() == best_of(
        vectors, wanted, weak, 5
    )


def test_evaluation_ranks_by_the_same_scores_and_equal_clips_tie() -> None:
    vectors = clips(60, 5)
    vectors = np.concatenate([vectors, vectors[:7]])
    wanted = clips(2, 5, seed=2)
    unwanted = clips(4, 5, seed=3)
    exclusions = [Exclusion(unwanted[:1], 1.5, 0.1), None]
    queries = [JudgedQuery("composed", "x", row_array([row])) for row in (0, 5)]
    measured = measure_block(wanted, vectors, queries, exclusions=exclusions)
    scores = scores_of(vectors, wanted[0], exclusions[0]), vectors @ wanted[1]
    # The copy of the right clip ties, and ties count against it.
    assert measured.ranks.tolist() == [
        1 + int((np.delete(row, right) > row[right] - 1e-6).sum())
        for row, right in zip(scores, (0, 5), strict=True)
    ]
    penalties: Any = losses(exclusions, vectors, vectors)
    assert (penalties[:, :7] == penalties[:, 60:]).all() and not penalties[1].any()
    assert losses([None], vectors, vectors) == losses((), vectors, vectors) == 0


def test_judged_queries_exclude_by_their_known_parts() -> None:
    encoder: Any = WordEncoder()
    queries = [QUERIES[0], COMPOSED, PURE]
    hits: Any
    (hits,) = search_vectors(
        encoder, [System("words", "rectified")], queries, lambda text: Query(text)
    )
    caption, composed, pure = hits.exclusions
    assert caption is None and pure is None
    assert (composed.unwanted == embedded("dancing")).all() and composed.tau is None
    assert (hits.vectors[1] == embedded("sings")).all() and (
        hits.vectors[2] == -embedded("dancing")
    ).all()
