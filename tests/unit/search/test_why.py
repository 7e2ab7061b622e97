"""Explanations of scores, by hand: an encoder of one-hot keywords, and a clip that changes half-way.

first frame   (man + guitar) / √2        mean of both  (√2/4, √2/4, 1/2), of length 1/√2
second frame  sing                       clip          (1/2, 1/2, 1/√2)
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.media.gallery import Gallery, Video
from nt2vr.models.card import Card
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.embedded_gallery import EmbeddedGallery
from nt2vr.search.index import ExactIndex
from nt2vr.search.strategies import (
    STRATEGIES,
    STRENGTHS,
    EmbeddedParts,
    System,
    anchor_of,
    exclusion_of,
)
from nt2vr.search.why import NOT_SEARCHED, Why, explain
from tests.support.text_encoder import TextEncoder

KEYWORDS = ("man", "guitar", "sing", "dog")
QUERY = Query("a man with a guitar who does not sing", ("a man with a guitar",), ("sing",))
H = 1 / sqrt(2)


class KeywordEncoder(TextEncoder):
    """Embeds a text as the normalised sum of its keywords."""

    embed_dim = len(KEYWORDS)

    def __init__(self, card: Card | None = None) -> None:
        self.card = card or Card("keywords")

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), len(KEYWORDS)), np.float32)
        for row, text in enumerate(texts):
            words = re.findall("[a-z]+", text)
            rows[row] = [keyword in words for keyword in KEYWORDS]
        return np.asarray(
            rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), np.float32
        )


def gallery_of(frames: Any) -> EmbeddedGallery:
    frames = np.array(frames, np.float32)  # (V, F, D)
    means = frames.mean(axis=1)
    clips = (means / np.linalg.norm(means, axis=1, keepdims=True)).astype(np.float32)
    videos = tuple(Video(f"clip {n}", Path(f"{n}.webm")) for n in range(len(frames)))
    return EmbeddedGallery(
        Gallery("g", videos), clips, ExactIndex(4), (), frames, np.arange(len(frames))
    )


GALLERY = gallery_of([[[H, H, 0, 0], [0, 0, 1, 0]]])


def parts_of(query: Query, system: System, encoder: KeywordEncoder) -> EmbeddedParts:
    sentence, wanted, *unwanted = encoder.encode_text(
        [query.text, " ".join(query.wanted), *query.unwanted]
    )
    strength = system.strength_for(encoder.card)
    return EmbeddedParts(
        sentence, wanted, np.array(unwanted).reshape(-1, 4), strength, anchor_of(encoder)
    )


def vector_of(query: Query, system: System, encoder: KeywordEncoder) -> Any:
    return STRATEGIES[system.strategy].vector(parts_of(query, system, encoder))


def why(system: System, query: Query = QUERY, encoder: Any = None, **changed: Any) -> Why:
    encoder = encoder or KeywordEncoder()
    exclusion = exclusion_of(system.strategy, parts_of(query, system, encoder))
    ranking = Ranking(
        system,
        (),
        gallery=GALLERY,
        vector=vector_of(query, system, encoder),
        exclusion=exclusion and exclusion.within(GALLERY.embeddings),
        strength=system.strength_for(encoder.card),
    )
    answer = Answer(query, (replace(ranking, **changed),))
    (explanation,) = explain(answer, "clip 0", lambda _: encoder)
    return explanation


def shares(explanation: Why) -> dict[tuple[str, str], float | None]:
    return {(word.role, word.text): word.share for word in explanation.words}


def test_frames_have_their_own_scores() -> None:
    explanation = why(System("CLIP"))
    assert explanation.frames == pytest.approx((2 / sqrt(6), 1 / sqrt(3)))
    assert explanation.score == pytest.approx((1 + H) / sqrt(3))
    assert np.mean(explanation.frames) < (explanation.score or 0) - 0.2
    # Scaled by the length of the mean.
    assert np.mean(explanation.frames) / H == pytest.approx(explanation.score)


def test_a_word_s_share_is_the_loss_without_it() -> None:
    explanation = why(System("CLIP"))
    score = (1 + H) / sqrt(3)
    assert [word.text for word in explanation.words] == QUERY.text.split()
    assert shares(explanation) == pytest.approx(
        dict.fromkeys((("sentence", word) for word in QUERY.text.split()), 0)
        | {("sentence", word): score - (0.5 + H) / sqrt(2) for word in ("man", "guitar")}
        | {("sentence", "sing"): score - H},
        abs=1e-6,
    )


def test_the_parts_of_boolean_add_up() -> None:
    explanation = why(System("CLIP", "boolean", 0.5))
    assert [part.text for part in explanation.parts] == [QUERY.text, *QUERY.wanted, *QUERY.unwanted]
    assert [part.role for part in explanation.parts] == ["sentence", "wanted", "unwanted"]
    sentence, wanted, unwanted = explanation.parts
    assert (sentence.weight, sentence.contribution) == (None, None)
    assert wanted.similarity == pytest.approx(H)
    assert wanted.weight == pytest.approx(1)
    assert wanted.contribution == pytest.approx(H)
    assert unwanted.similarity == pytest.approx(H)
    assert unwanted.weight == pytest.approx(-0.5)
    assert unwanted.contribution == pytest.approx(-H / 2)


def test_anchored_splits_the_sentence_and_adds_the_anchor() -> None:
    encoder = KeywordEncoder(Card("keywords", exclusion={"lambda": 2.0, "anchor": ["man", "dog"]}))
    sentence, wanted, unwanted, anchor = why(System("CLIP", "anchored"), encoder=encoder).parts
    assert sentence.weight == pytest.approx(1)
    assert wanted.weight is None
    # The sentence's cosine with "sing" is 1/√3.
    assert unwanted.weight == pytest.approx(-2 / sqrt(3))
    assert anchor.role == "anchor"
    assert (anchor.weight, anchor.similarity) == pytest.approx((2, 0.25))


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
@pytest.mark.parametrize(
    "query",
    [
        QUERY,
        Query("a man", ("a man",)),
        Query("a man, no guitar, does not sing", ("a man",), ("guitar", "sing")),
        Query("a man who does not sing or sing", ("a man",), ("sing", "sing")),
    ],
)
def test_the_parts_of_a_system_add_up(strategy: str, query: Query) -> None:
    strength = STRENGTHS[strategy].default if strategy in STRENGTHS else None
    explanation = why(System("CLIP", strategy, strength), query)
    assert not explanation.notice
    assert sum(part.contribution or 0 for part in explanation.parts) == pytest.approx(
        explanation.score, abs=1e-5
    )
    assert {part.role for part in explanation.parts if part.weight is not None} <= {
        *STRATEGIES[strategy].uses
    }


def test_words_are_those_that_the_model_was_asked() -> None:
    typed = Query("a dude singing", ("a dude singing",))
    model_query = Query("a man singing", ("a man singing",))
    encoder = KeywordEncoder()
    vector = vector_of(model_query, System("CLIP"), encoder)
    explanation = why(System("CLIP"), typed, encoder, vector=vector, read_as={"dude": "man"})
    assert [word.text for word in explanation.words] == ["a", "man", "singing"]


def test_a_clip_outside_the_gallery_has_no_score() -> None:
    none = why(System("CLIP"), vector=None)
    assert (none.score, none.notice) == (None, NOT_SEARCHED)
    answer = Answer(
        QUERY, (Ranking(System("CLIP"), (), gallery=GALLERY, vector=np.ones(4, np.float32)),) * 3
    )
    assert [
        explanation.score
        for explanation in explain(answer, "nowhere", lambda _: KeywordEncoder(), [0, 2])
    ] == [None, None]
