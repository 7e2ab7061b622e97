"""Detection of queries in other languages, by script and function words.

`assets/language/small_words.txt` has small and frequent words of each, and what is denied most
often: people and pets. Two of one language are needed, since names hold one: "Leonardo da Vinci",
"La La Land". One with a "!" is enough: it is in no English sentence and in few names. Other
languages are told by words that the English dictionary lacks.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from functools import cache

from nt2vr.negation.parse.inflect import is_known
from nt2vr.negation.parse.tokens import cue_of
from nt2vr.negation.parse.wordlists import lines_of, listed

NOTICE = "This query does not seem to be English. The models and the reading of negations know English only."
_FEWEST_WORDS, _UNKNOWN_SHARE = 3, 0.6
_WORD = re.compile(r"[^\W\d_]+")
_BORROWED = re.compile(
    r"\b(?:pas de (?:deux|trois|chat ballet)|(?:tour|coup|fleur|joie|eau|chaise|papier|crème) "
    r"(?:de|du|d'|la)(?: la)? ?\w+|cirque du soleil|dulce de leche|pain au chocolat|"
    r"los angeles|las vegas|a la carte|à la \w+|día de (?:los )?muertos)",
    re.IGNORECASE,
)
_LETTERS = re.compile(
    "[ąćęłńśźżěřůčďňťžășțăőűğışđơưảãạầấẩẫậằắẳẵặẻẽẹềếểễệỉĩịỏõọồốổỗộờớởỡợủũụừứửữựỳỹỷỵ]"
)  # in no word that English has borrowed


@cache
def _small_words() -> tuple[Mapping[str, set[str]], frozenset[str]]:
    read: dict[str, set[str]] = defaultdict(set)
    for line in lines_of("language/small_words.txt"):
        language, _, small = line.partition(": ")
        read[language].update(small.split())
    sure = frozenset(word[:-1] for small in read.values() for word in small if word[-1] == "!")
    too = listed("english_too")
    return {
        language: {word.strip("!") for word in small} - too for language, small in read.items()
    }, sure


def notice_of(text: str) -> str:
    """Return one sentence if `text` is hardly English; "" if it is, or cannot be told."""
    own = _BORROWED.sub(" ", text)
    lower = [word for word in _WORD.findall(text) if word.islower()]
    spelt = sum(_LETTERS.search(word) is not None for word in lower)
    has_other_letters = (
        2 * spelt >= len(lower) > 0 < spelt or spelt >= 2
    )  # half of the words in lower case, or two
    other = has_other_letters or _has_other_small_words([*map(str.lower, _WORD.findall(own))])
    return NOTICE if other or _is_other_script(text) or _is_unknown(own) else ""


def _is_other_script(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    latin = sum(
        unicodedata.name(letter, "").startswith(("LATIN", "FULLWIDTH LATIN")) for letter in letters
    )
    return 2 * latin < len(letters)


def _is_unknown(text: str) -> bool:
    """Return whether of three words or more 60 % are in no English dictionary, and none is of English grammar.

    Two words are too few: "messi ronaldo". Of 97 queries in 13 languages, 89 are noticed; of 5,400
    English texts none.
    """
    found = {cue_of(word) for word in _WORD.findall(text) if len(word) > 1}
    told = len(found) >= _FEWEST_WORDS and not found & listed(
        "english", "grammar", "contractions", "denying_things"
    )
    return told and sum(
        word.islower() and not is_known(word) for word in found
    ) >= _UNKNOWN_SHARE * len(found)


def _has_other_small_words(found: list[str]) -> bool:
    english = sum(word in listed("english") for word in found)
    by_language, all_sure = _small_words()
    most = max(len(small.intersection(found)) for small in by_language.values())
    sure = not all_sure.isdisjoint(found)
    if sure and len(found) > 1 and listed("grammar").isdisjoint(found) and 4 * most >= len(found):
        return True
    return most > english and 3 * most >= len(found) > 1 and (most >= 2 or sure)
