"""Measures of denying sentences, by hand."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.world.captions import describe
from nt2vr.world.negation import Sentence
from nt2vr.world.scenes import sample_scenes
from nt2vr.world.sentences import Sentences
from nt2vr.world.truth import Claim
from trainer.clips import ClipSet
from trainer.denials import boolean, denial_metrics, draw_queries, drop, first_ranks, ordered_share, plain

SCENES = sample_scenes("validation", 60, seed=0)
CLIPS = ClipSet(
    np.zeros((60, 1, 2, 2, 3), np.uint8), lambda row, rng: describe(SCENES[row], rng).text, Sentences(SCENES)
)
YES, NO = True, False


def test_the_rank_of_the_best_right_video_counts_wrong_ones_and_ties_against_it() -> None:
    scores = np.array([[5, 4, 3, 2], [5, 4, 4, 2], [1, 1, 1, 1], [np.nan, 3, 2, 1]], np.float32)
    fitting = np.array([[NO, NO, YES, YES], [NO, YES, NO, YES], [YES, YES, NO, NO], [NO, YES, NO, NO]])
    assert first_ranks(scores, fitting).tolist() == [3, 3, 3, 2]


@pytest.mark.parametrize(("tie", "expected"), [(0.0, (3 / 4 + 0) / 2), (0.5, (3.5 / 4 + 0.5) / 2)])
def test_pairs_in_order_are_counted_sentence_by_sentence(tie: float, expected: float) -> None:
    scores = np.array([[4, 3, 3, 1], [1, 1, 9, 9]], np.float32)
    right = np.array([[YES, YES, NO, NO], [YES, NO, NO, NO]])
    wrong = np.array([[NO, NO, YES, YES], [NO, YES, NO, NO]])
    assert ordered_share(scores, right, wrong, tie) == pytest.approx(expected)


def of_truth(right: float, both: float) -> Any:
    """A way of scoring that knows the truth: so much for clips that fit, so much for those that show both parts."""
    assert CLIPS.sentences is not None

    def score(sentences: Sequence[Sentence]) -> NDArray[np.float32]:
        source = CLIPS.sentences
        assert source is not None
        return np.array([right * source.fitting(s) + both * source.showing_both(s) for s in sentences], np.float32)

    return score


def test_one_who_knows_the_truth_is_perfect_and_one_who_ignores_what_is_denied_is_not() -> None:
    captions = np.eye(60, dtype=np.float32)
    perfect = denial_metrics(CLIPS, of_truth(1, 0), captions)
    assert perfect["negated/delta_MIR"] > 0.9  # its own clip is last
    del perfect["negated/delta_MIR"]
    assert perfect == {
        "composed/MIR": 1, "composed/hard_pairs": 100, "without/MIR": 1, "without/hard_pairs": 100, "not/auc": 1,
    }  # fmt: skip
    deaf = denial_metrics(CLIPS, of_truth(1, 1), captions)
    assert (deaf["composed/hard_pairs"], deaf["without/hard_pairs"], deaf["not/auc"]) == (0, 0, 0.5)
    assert deaf["composed/MIR"] < 0.6
    reverse = denial_metrics(CLIPS, of_truth(0, 1), captions)
    assert (reverse["composed/hard_pairs"], reverse["not/auc"]) == (0, 0)


def test_every_query_has_a_right_clip_and_a_hard_one() -> None:
    for kind in ("composed", "without", "not"):
        queries = draw_queries(CLIPS, kind)  # type: ignore[arg-type]
        assert queries is not None
        assert {sentence.kind for sentence in queries.sentences} == {kind}
        assert queries.fitting.any(axis=1).all() and queries.both.any(axis=1).all()
        assert not (queries.fitting & queries.both).any()


def test_the_negated_captions_are_those_of_the_captions_that_are_searched() -> None:
    queries = draw_queries(CLIPS, "negated")
    assert queries is not None
    for sentence, caption in zip(queries.sentences, CLIPS.captions("validation"), strict=True):
        assert sentence.text.split()[:2] == caption.split()[:2]
        assert len(set(caption.split()) - set(sentence.text.split())) <= 2


def test_clips_with_captions_only_have_none_of_these_measures() -> None:
    assert denial_metrics(ClipSet(CLIPS.frames, CLIPS.describe), of_truth(1, 0), np.eye(60, dtype=np.float32)) == {}


@dataclass
class Words:
    """An encoder that knows three words."""

    def encode_text(self, texts: list[str]) -> NDArray[np.float32]:
        return np.array([[word in text.split() for word in ("sings", "dancing", "not")] for text in texts], np.float32)


def test_the_ways_of_scoring_by_hand() -> None:
    composed = Sentence("composed", "he sings and not dancing", "he sings", "dancing", Claim(), Claim())
    pure = Sentence("not", "not dancing", "", "dancing", Claim(), Claim())
    videos = np.array([[1, 0, 0], [1, 1, 0]], np.float32)  # both sing, the second dances too
    encoder: Any = Words()
    assert plain(encoder, videos)([composed, pure]).tolist() == [[1, 2], [0, 1]]
    assert drop(encoder, videos)([composed, pure]).tolist() == [[1, 1], [0, 0]]
    assert boolean(encoder, videos, 0.5)([composed, pure]).tolist() == [[1, 0.5], [0, -0.5]]
