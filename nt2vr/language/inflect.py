"""English inflection of verbs and nouns, over lemminflect: its data travels in the wheel."""

from functools import cache
from typing import Literal

from lemminflect import getAllLemmas, getInflection

Form = Literal["VB", "VBZ", "VBG", "VBD", "NNS"]  # Penn tags: play, plays, playing, played; dogs


@cache
def inflect(word: str, form: Form) -> str:
    """Put a lemma into a form: "ride" as VBG is "riding"."""
    forms: tuple[str, ...] = getInflection(word, form)
    return forms[0] if forms else word


@cache
def verb_of(word: str) -> str:
    """Return the lemma of a verb in any form, "" if the dictionary has no such verb (a name, a typing error)."""
    lemmas: tuple[str, ...] = getAllLemmas(word, upos="VERB").get("VERB", ())
    return lemmas[0] if lemmas else ""


def inflect_phrase(phrase: str, form: Form) -> str:
    """Inflect the first word, the verb, and leave its object: ("ride a bike", "VBZ") is "rides a bike"."""
    verb, _, rest = phrase.partition(" ")
    return f"{inflect(verb, form)} {rest}".rstrip()
