"""English inflection of verbs and nouns, by lemminflect, whose wheel includes its data."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from lemminflect import getAllLemmas, getInflection

from nt2vr.negation.parse.wordlists import listed

# Penn tags: eat, eats, eating, ate, eaten; dogs
Form = Literal["VB", "VBZ", "VBG", "VBD", "VBN", "NNS"]
_VERB_FORMS: tuple[Form, ...] = ("VBG", "VBZ", "VBD")
# Remembered per kind of look-up; Flickr8k's 40,460 captions need 4,700.
_NUM_WORDS = 10_000


@lru_cache(_NUM_WORDS)
def inflect(word: str, form: Form) -> str:
    """Inflect a lemma: ("ride", "VBG") gives "riding"."""
    forms: tuple[str, ...] = getInflection(word, form)
    return forms[0] if forms else word


@lru_cache(_NUM_WORDS)
def _lemmas_of(word: str) -> Mapping[str, tuple[str, ...]]:
    """Return the lemmas of a word by their part of speech; none if the dictionary does not have it."""
    lemmas: dict[str, tuple[str, ...]] = getAllLemmas(word)
    return lemmas


def verb_of(word: str) -> str:
    """Return the lemma of a verb in any form; "" if the dictionary does not have it."""
    return _lemmas_of(word).get("VERB", ("",))[0]


def is_noun(word: str) -> bool:
    """Return whether the dictionary lists a word as a noun."""
    return "NOUN" in _lemmas_of(word)


def is_only_verb(word: str) -> bool:
    """Return whether a word is the lemma of a verb and nothing else: "eat", but not "open"."""
    lemmas = _lemmas_of(word)
    return lemmas.get("VERB") == (word,) and lemmas.keys().isdisjoint({"NOUN", "ADJ"})


@lru_cache(_NUM_WORDS)
def forms_of(word: str) -> tuple[str, ...]:
    """List other forms of the same word, its lemma first: "ate" gives "eat", "eating", "eats".

    A past form that is also a noun or an adjective, such as "shot" or "left", is not taken for a
    verb.
    """
    lemmas = _lemmas_of(word)
    nouns = lemmas.get("NOUN", ())
    verbs = lemmas.get("VERB", ())
    is_other_word = word in nouns or word in lemmas.get("ADJ", ())
    if is_other_word and word not in verbs and not word.endswith("ing"):
        verbs = ()

    forms = [*nouns, *verbs]
    for verb in verbs:
        forms += [inflect(verb, form) for form in _VERB_FORMS]
    return tuple(form for form in dict.fromkeys(forms) if form != word)


def with_article(noun: str) -> str:
    """Put "a" or "an" before a noun, by its first letter."""
    if noun[0] in "aeiou":
        return f"an {noun}"
    return f"a {noun}"


def is_or_are(is_plural: bool) -> str:
    return "are" if is_plural else "is"


def do_or_does(is_plural: bool) -> str:
    return "do" if is_plural else "does"


def inflect_phrase(phrase: str, form: Form) -> str:
    """Inflect the verb that begins a phrase: ("ride a bike", "VBZ") gives "rides a bike"."""
    verb, _, rest = phrase.partition(" ")
    return f"{inflect(verb, form)} {rest}".rstrip()


def finite(phrase: str, is_plural: bool) -> str:
    """Put the verb that begins a phrase into the present: one "sings", several "sing"."""
    if is_plural:
        return phrase
    return inflect_phrase(phrase, "VBZ")


def with_not(helper: str, rest: str) -> tuple[str, str]:
    """Deny a verb by its auxiliary: ("does", "run") gives "does not run", "doesn't run"."""
    return f"{helper} not {rest}", f"{helper}n't {rest}"


def is_known(word: str) -> bool:
    """Return whether the dictionary lists a word; words with digits are not words."""
    return word.isalpha() and (bool(_lemmas_of(word)) or word in listed("function_words"))
