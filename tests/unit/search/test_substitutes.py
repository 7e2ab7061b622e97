"""Queries as read for models that know few words."""

from collections.abc import Collection
from typing import Any

import pytest

from nt2vr.models.open_clip_encoder import WORD
from nt2vr.negation.parse.query import Query, Span
from nt2vr.search.embed_query import known_substitute, substitutes, with_words

SYNONYMS = {
    "kid": "boy or girl",
    "someone": "person",
    "jog": "run",
    "guitarist": "person playing the guitar",
}
CAPTIONS = "a the and is not dog cat man boy girl person dancing running guitar playing"


class Reader:
    """An encoder that knows some words."""

    def __init__(self, known: str) -> None:
        self.known = set(known.split())

    def unseen_words(self, text: str) -> tuple[str, ...]:
        return tuple(
            word for word in dict.fromkeys(WORD.findall(text.lower())) if word not in self.known
        )


def read(
    query: Query, literal: Collection[str] = (), **models: Reader
) -> dict[str, tuple[Query, dict[str, str]]]:
    """Return by model the query as asked, and the words replaced."""
    encoders: dict[str, Any] = models or {"small": Reader(CAPTIONS)}
    replaced = substitutes(query, encoders, SYNONYMS, literal)
    return {name: (with_words(query, words), words) for name, words in replaced.items()}


@pytest.mark.parametrize(
    ("word", "substitute"),
    [
        # A form comes before the table.
        ("dogs", "dog"),
        ("danced", "dancing"),
        ("someone", "person"),
        # The table's word in another form; "or" need not be known.
        ("kids", "boy or girl"),
        # The table's answer in another form.
        ("jogs", "running"),
        ("guitarist", "person playing the guitar"),
        ("red", None),
        ("qwxz", None),
    ],
)
def test_an_unknown_word_becomes_a_known_form_or_synonym(word: str, substitute: str | None) -> None:
    assert known_substitute(word, set(CAPTIONS.split()).__contains__, SYNONYMS) == substitute


def test_the_sentence_and_its_parts_are_read_alike() -> None:
    query = Query(
        "kids dance, no dogs", ("kids dance",), ("dogs",), (Span(12, 14),), (Span(15, 19),)
    )
    model_query, replacements = read(query)["small"]
    assert model_query == Query("boy or girl dancing, no dog", ("boy or girl dancing",), ("dog",))
    assert replacements == {"kids": "boy or girl", "dance": "dancing", "dogs": "dog"}


def test_models_without_a_word_get_the_same_replacement() -> None:
    """Columns would otherwise differ because of the words, not because of the models."""
    query = Query("danced", ("danced",))
    readings = read(query, one=Reader("dances dancing"), other=Reader("dances"))
    assert [model_query.text for model_query, _ in readings.values()] == ["dances", "dances"]
    readings = read(query, one=Reader("dances"), other=Reader("dancing"))
    assert [words for _, words in readings.values()] == [{}, {}]


def test_literal_words_are_left_as_typed() -> None:
    model_query, replacements = read(
        Query("dogs and kids", ("dogs and kids",)), literal=["Kids", "red"]
    )["small"]
    assert (model_query.text, replacements) == ("dog and kids", {"dogs": "dog"})


def test_negation_words_and_words_outside_the_parts_stay() -> None:
    model_query, _ = read(Query("there are not dogs", (), ("dogs",)))["small"]
    assert model_query == Query("there are not dog", (), ("dog",))


@pytest.mark.parametrize(
    ("text", "read_as", "expected"),
    [
        ("an adult, A kid", {"adult": "person", "kid": "animal"}, "a person, An animal"),
        ("Dogs bark at dogs' dogs", {"dogs": "dog"}, "dog bark at dog' dog"),
        ("hotdogs dogs's", {"dogs": "dog"}, "hotdogs dogs's"),
        ("a  kid", {"kid": "boy"}, "a  boy"),
    ],
)
def test_whole_words_are_replaced_with_their_article(
    text: str, read_as: dict[str, str], expected: str
) -> None:
    assert with_words(Query(text), read_as).text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("🐶 no 🐱", "dog no cat"),
        ("🐶🚫🐱", "dog no cat"),
        ("a ❤️ on a 🐶", "a ❤️ on a dog"),
        ("🐶🐶", "dog dog"),
    ],
)
def test_emoji_are_read_as_words_of_their_own(text: str, expected: str) -> None:
    encoders: dict[str, Any] = {"small": Reader("dog cat no a on")}
    emoji = {"🐶": "dog", "🐱": "cat", "🚫": "no"}
    query = Query(text, (text,))
    model_query = with_words(query, substitutes(query, encoders, emoji)["small"])
    assert (model_query.text, model_query.wanted) == (expected, (expected,))
