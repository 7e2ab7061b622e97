"""Inflection of typical caption words."""

import pytest

from nt2vr.negation.parse.inflect import forms_of, inflect, inflect_phrase


def test_words_are_inflected() -> None:
    gerunds = {"ride": "riding", "run": "running", "ski": "skiing", "fly": "flying"}
    assert {word: inflect(word, "VBG") for word in gerunds} == gerunds
    third = {"fly": "flies", "catch": "catches", "do": "does", "have": "has"}
    assert {word: inflect(word, "VBZ") for word in third} == third
    plurals = {"man": "men", "child": "children", "bus": "buses", "puppy": "puppies"}
    assert {word: inflect(word, "NNS") for word in plurals} == plurals
    assert inflect_phrase("take pictures with a camera", "VBG") == "taking pictures with a camera"


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("dogs", ("dog", "dogging", "dogged")),
        ("women", ("woman",)),
        ("ate", ("eat", "eating", "eats")),
        ("qwxz", ()),
        # In "a shot of a dog", nobody shoots.
        ("shot", ()),
    ],
)
def test_other_forms_of_a_word_begin_with_its_lemma(word: str, forms: tuple[str, ...]) -> None:
    assert forms_of(word) == forms
