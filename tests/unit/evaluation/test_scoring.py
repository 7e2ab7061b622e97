"""Query vectors of systems, by hand."""

from typing import Any

import numpy as np
import pytest

from nt2vr.evaluation import text_systems
from nt2vr.evaluation.queries import JudgedQuery, cue_of, row_array
from nt2vr.evaluation.text_systems import search_vectors
from nt2vr.search.strategies import System
from tests.support.word_encoder import QUERIES, WordEncoder, embedded

CAPTION, _, NEGATED, COMPOSED, PURE = QUERIES
UNREAD = JudgedQuery("composed", "someone who sings, not dancing and no dog", row_array([0]))


def searched(strategy: str, alpha: float | None = None, queries: Any = QUERIES) -> Any:
    (search,) = search_vectors(WordEncoder(), [System("words", strategy, alpha)], queries)
    return search.vectors


def test_strategies_use_the_known_parts_of_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_systems, "understand", lambda _: pytest.fail("parsed"))
    vector = embedded(COMPOSED.text)
    wanted = embedded("sings")
    unwanted = embedded("dancing")
    assert (searched("plain", queries=[COMPOSED]) == vector).all()
    assert (searched("drop", queries=[COMPOSED]) == wanted).all()
    assert (searched("boolean", 0.25, [COMPOSED]) == wanted - 0.25 * unwanted).all()
    # The page's default is the same.
    assert (searched("boolean", queries=[COMPOSED]) == wanted - 0.5 * unwanted).all()
    assert searched("anchored", 2, queries=[COMPOSED]) == pytest.approx(vector - 2 * unwanted)


def test_unknown_parts_are_parsed_as_in_search() -> None:
    vectors = searched("boolean", 1, [UNREAD])
    assert (vectors == embedded("sings") - embedded("dancing") - embedded("dog")).all()


def test_texts_are_encoded_once_per_model() -> None:
    encoder: Any = WordEncoder()
    systems = [System("words"), System("words", "drop"), System("words", "boolean", 1.0)]
    searches = search_vectors(encoder, systems, [*QUERIES, *QUERIES])
    plain, drop, boolean = (searched_texts.vectors for searched_texts in searches)
    assert len(encoder.encoded) == len(set(encoder.encoded))
    np.testing.assert_array_equal(plain[:5], plain[5:])
    assert not (drop == boolean).all()


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("a man does not sing", "not"),
        ("a man doesn\u2019t sing", "n't"),
        ("No one sings", "no one"),
        ("a notable man without hat, not singing", "without"),
        ("a man sings", ""),
        ("nobody is nothing", "nobody"),
    ],
)
def test_the_cue_is_the_first_negation_word(text: str, cue: str) -> None:
    assert cue_of(text) == cue
