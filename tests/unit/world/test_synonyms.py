"""The table of everyday words."""

import pytest

from nt2vr.world.lexicon import lexicon, tokens_of
from nt2vr.world.synonyms import offered_words, synonyms
from nt2vr.world.truth import read_claim
from nt2vr.world.vocabulary import ACCESSORIES, ACTIVITIES, PLACES, PROPS, SUBJECTS


def caption_words() -> set[str]:
    things = [word for table in (SUBJECTS, ACCESSORIES, PROPS) for each in table.values() for word in each.words]
    phrases = [phrase for table in (ACTIVITIES, PLACES) for each in table.values() for phrase in each.phrases]
    return {token for phrase in (*things, *phrases) for token in tokens_of(phrase)}


def names_in(phrase: str) -> set[str]:
    claim = read_claim(phrase)
    assert claim is not None
    return {name for who in claim.actors for name in who.subjects | who.activities}


def test_no_word_of_the_captions_is_read_as_another() -> None:
    assert not synonyms().keys() & caption_words()


def test_every_answer_consists_of_words_that_the_judge_knows() -> None:
    words = {token for phrase in lexicon() for token in phrase} | {"the", "a", "an"}
    assert {word for phrase in synonyms().values() for word in phrase.split()} <= words


@pytest.mark.parametrize("phrase", sorted({phrase for phrase in synonyms().values() if " or " in phrase}))
def test_alternatives_are_true_of_each_of_them(phrase: str) -> None:
    assert names_in(phrase) == set().union(*map(names_in, phrase.split(" or ")))


@pytest.mark.parametrize(
    ("word", "phrase"),
    [
        ("kid", "boy or girl"),
        ("someone", "person"),
        ("music", "guitar or piano"),
        ("jogging", "running"),
        ("cycling", "riding a bike"),
        ("cyclist", "person riding a bike"),
    ],
)
def test_everyday_words_are_read(word: str, phrase: str) -> None:
    assert synonyms()[word] == phrase
    assert read_claim(phrase) is not None


def test_playing_music_is_judged_as_read() -> None:
    assert read_claim("a man playing guitar or piano") is not None


def test_words_are_offered_as_captions_have_them() -> None:
    words = offered_words()
    assert words == sorted(set(words))
    assert {"guitar", "playing", "woman", "sunglasses", "beach", "tent"} <= set(words)
    assert not {"play", "dogs", "person's", "a"} & set(words)
