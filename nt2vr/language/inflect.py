"""English inflection of verbs and nouns, over lemminflect: its data travels in the wheel."""

from functools import cache
from typing import Literal

from lemminflect import getInflection

Form = Literal["VB", "VBZ", "VBG", "NNS"]  # Penn tags: play, plays, playing; dogs


@cache
def inflect(word: str, form: Form) -> str:
    """Put a lemma into a form: "ride" as VBG is "riding"."""
    forms: tuple[str, ...] = getInflection(word, form)
    return forms[0] if forms else word


def inflect_phrase(phrase: str, form: Form) -> str:
    """Inflect the first word, the verb, and leave its object: ("ride a bike", "VBZ") is "rides a bike"."""
    verb, _, rest = phrase.partition(" ")
    return f"{inflect(verb, form)} {rest}".rstrip()
