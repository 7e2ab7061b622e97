"""Inflection of typical caption words."""

import pytest

from nt2vr.negation.parse.inflect import Form, forms_of, inflect, inflect_phrase
from nt2vr.world.things import deeds


@pytest.mark.parametrize(
    ("word", "form", "inflected"),
    [
        ("ride", "VBG", "riding"),  # e dropped
        ("run", "VBG", "running"),  # n doubled
        ("swim", "VBG", "swimming"),
        ("ski", "VBG", "skiing"),
        ("eat", "VBG", "eating"),
        ("fly", "VBG", "flying"),
        ("fly", "VBZ", "flies"),
        ("catch", "VBZ", "catches"),
        ("do", "VBZ", "does"),
        ("go", "VBZ", "goes"),
        ("have", "VBZ", "has"),
        ("snowboard", "VBZ", "snowboards"),
        ("man", "NNS", "men"),
        ("child", "NNS", "children"),
        ("bus", "NNS", "buses"),
        ("puppy", "NNS", "puppies"),
    ],
)
def test_words_are_inflected(word: str, form: Form, inflected: str) -> None:
    assert inflect(word, form) == inflected


def test_only_the_verb_of_a_phrase_is_inflected() -> None:
    assert inflect_phrase("ride a bike", "VBZ") == "rides a bike"
    assert inflect_phrase("take pictures with a camera", "VBG") == "taking pictures with a camera"
    assert inflect_phrase("sing", "VBG") == "singing"


def test_every_deed_of_the_world_has_a_progressive_and_a_third_person() -> None:
    phrases = [phrase for deed in deeds().values() for phrase in deed.phrases]
    verbs = {phrase.split()[0] for phrase in phrases}
    assert [verb for verb in verbs if not inflect(verb, "VBG").endswith("ing")] == []
    assert [verb for verb in verbs if not inflect(verb, "VBZ").endswith("s")] == []


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("dogs", ("dog", "dogging", "dogged")),
        ("women", ("woman",)),
        ("ate", ("eat", "eating", "eats")),
        ("were", ("be", "being", "is", "was")),
        ("zebra", ()),
        ("qwxz", ()),
    ],
)
def test_other_forms_of_a_word_begin_with_its_lemma(word: str, forms: tuple[str, ...]) -> None:
    assert forms_of(word) == forms


@pytest.mark.parametrize("word", ["shot", "left", "felt"])
def test_a_past_form_that_is_also_a_noun_is_not_taken_for_the_verb(word: str) -> None:
    """In "a shot of a dog", nobody shoots."""
    assert forms_of(word) == ()
