"""Detection of queries in other languages, by script and function words.

`assets/language/small_words.txt` has small and frequent words of each, and what is denied most
often: people and pets. Two of one language are needed, since names hold one: "Leonardo da Vinci",
"La La Land". One with a "!" is enough: it is in no English sentence and in few names. Other
languages are recognised by words that the English dictionary lacks.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from nt2vr.negation.parse.inflect import is_known
from nt2vr.negation.parse.misspelt_cues import cue_of
from nt2vr.negation.parse.wordlists import lines_of, listed

NOTICE = (
    "This query does not seem to be English. "
    "The models and the parser of negations know only English."
)
_FEWEST_WORDS = 3
_UNKNOWN_SHARE = 0.6
_WORD = re.compile(r"[^\W\d_]+")
_BORROWED = re.compile(
    r"\b(?:pas de (?:deux|trois|chat ballet)|(?:tour|coup|fleur|joie|eau|chaise|papier|crème) "
    r"(?:de|du|d'|la)(?: la)? ?\w+|cirque du soleil|dulce de leche|pain au chocolat|"
    r"los angeles|las vegas|a la carte|à la \w+|día de (?:los )?muertos)",
    re.IGNORECASE,
)
# Letters that are in no word that English has borrowed.
_LETTERS = re.compile(
    "[ąćęłńśźżěřůčďňťžșțăőűğışđơưảãạầấẩẫậằắẳẵặẻẽẹềếểễệỉĩịỏõọồốổỗộờớởỡợủũụừứửữựỳỹỷỵ]"
)


class _SmallWords(NamedTuple):
    by_language: Mapping[str, set[str]]
    sure: frozenset[str]  # those of which one is enough


@cache
def _small_words() -> _SmallWords:
    by_language: dict[str, set[str]] = defaultdict(set)
    sure = set()
    for line in lines_of("language/small_words.txt"):
        language, _, marked_words = line.partition(": ")
        for marked_word in marked_words.split():
            word = marked_word.strip("!")
            by_language[language].add(word)
            if marked_word.endswith("!"):
                sure.add(word)
    for small_words in by_language.values():
        small_words -= listed("english_too")
    return _SmallWords(by_language, frozenset(sure))


def notice_of(text: str) -> str:
    """Return one sentence if `text` is hardly English; "" if it is, or cannot be told."""
    without_borrowed = _BORROWED.sub(" ", text)
    lower_case_words = [word.lower() for word in _WORD.findall(without_borrowed)]
    is_foreign = (
        _has_other_letters(text)
        or _has_other_small_words(lower_case_words)
        or _is_other_script(text)
        or _is_unknown(without_borrowed)
    )
    return NOTICE if is_foreign else ""


def _has_other_letters(text: str) -> bool:
    """Return whether two words, or half of those in lower case, have letters of no English word."""
    words = [word for word in _WORD.findall(text) if word.islower()]
    num_other = sum(_LETTERS.search(word) is not None for word in words)
    return num_other >= 2 or (num_other > 0 and 2 * num_other >= len(words))


def _is_other_script(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    num_latin = 0
    for letter in letters:
        if unicodedata.name(letter, "").startswith(("LATIN", "FULLWIDTH LATIN")):
            num_latin += 1
    return 2 * num_latin < len(letters)


def _is_unknown(text: str) -> bool:
    """Return whether most words are in no English dictionary, and none is of English grammar.

    Two words are too few: "messi ronaldo". Of 97 queries in 13 languages, 89 are noticed; of 5,400
    English texts none.
    """
    words = {cue_of(word) for word in _WORD.findall(text) if len(word) > 1}
    if len(words) < _FEWEST_WORDS:
        return False
    if words & listed("english", "grammar", "contractions", "denying_things"):
        return False
    num_unknown = sum(word.islower() and not is_known(word) for word in words)
    return num_unknown >= _UNKNOWN_SHARE * len(words)


def _has_other_small_words(words: Sequence[str]) -> bool:
    small_words = _small_words()
    num_words = len(words)
    if num_words < 2:
        return False

    num_small = max(len(small.intersection(words)) for small in small_words.by_language.values())
    has_sure = not small_words.sure.isdisjoint(words)
    is_ungrammatical = listed("grammar").isdisjoint(words)
    if has_sure and is_ungrammatical and 4 * num_small >= num_words:
        return True
    if num_small < 2 and not has_sure:
        return False
    num_english = sum(word in listed("english") for word in words)
    return num_small > num_english and 3 * num_small >= num_words
