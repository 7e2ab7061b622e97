"""Exclusions, refusals and requests in the words of people, from `assets/wordings`."""

import json
import re
from functools import cache
from random import Random

from nt2vr.files import JsonObject
from nt2vr.negation.generate.things import NamedThing
from nt2vr.negation.parse.wordlists import text_of

# The shares of sentences with a misspelt cue, and without capitals.
_MISSPELT_SHARE = 0.15
_LOWER_CASE_SHARE = 0.3
# Words that are left out of what people type in a hurry, with the space after them.
_SAYS_LITTLE = re.compile(r"\b(?:an?|the|is|are|his|her|its|their|some|and) (?=.)")


@cache
def wordings_in(file: str) -> JsonObject:
    """Read wordings by use, mostly with a family each."""
    wordings: JsonObject = json.loads(text_of(f"wordings/{file}"))
    return wordings


def draw_exclusion(
    wanted: str, unwanted: str, further: str, is_action: bool, rng: Random
) -> tuple[str, bool]:
    """Draw a sentence that wants one phrase and excludes another.

    Args:
        wanted: the phrase to show.
        unwanted: the phrase not to show, an action if `is_action`, otherwise a thing.
        further: another one, which only a list excludes as well; "" for none.
        is_action: chooses the wordings.
        rng: draws them.

    Returns:
        The sentence, and whether it is a list.
    """
    typed = wordings_in("typed.json")
    use = "action" if is_action else "thing"
    families = typed["either"] | typed[use]
    names = list(families)
    if not further:
        names.remove("list")
    family = rng.choice(names)

    template = rng.choice(families[family])
    fields = _fields_of_wanted(wanted) | _fields_of_unwanted(unwanted)
    text = template.format(**fields, V=further, v=bare(further), r=_term(further))
    return mistyped(text, rng), family == "list"


def draw_request(wanted: str, rng: Random) -> str:
    """Draw a request that excludes nothing."""
    template = rng.choice(wordings_in("typed.json")["asked"])
    return mistyped(template.format(**_fields_of_wanted(wanted)), rng)


def draw_refusal(unwanted: str, use: str, rng: Random) -> str:
    """Draw a sentence that excludes a phrase and wants nothing.

    The use is a key of "refused" in `typed.json`.
    """
    template = rng.choice(wordings_in("typed.json")["refused"][use])
    return mistyped(template.format(**_fields_of_unwanted(unwanted)), rng)


def _fields_of_wanted(phrase: str) -> dict[str, str]:
    """Return a wanted phrase as it is, without "is", and in its telling words."""
    return {
        "A": phrase,
        "C": re.sub(r" (?:is|are) (?=\w+ing\b)", " ", phrase),
        "k": _SAYS_LITTLE.sub("", phrase),
    }


def _fields_of_unwanted(phrase: str) -> dict[str, str]:
    """Return an unwanted phrase as it is, without its article, and as a search operator takes it."""
    return {
        "U": phrase,
        "u": bare(phrase),
        "q": _term(phrase),
    }


def mistyped(text: str, rng: Random) -> str:
    """Misspell the cues of some sentences, and leave some without capitals."""
    if rng.random() < _MISSPELT_SHARE:
        slips = wordings_in("typed.json")["slips"]
        cues = "|".join(slips)
        text = re.sub(rf"\b(?:{cues})\b", lambda cue: rng.choice(slips[cue[0]]), text)
    should_lower = rng.random() < _LOWER_CASE_SHARE
    # Nobody types "NOT" by mistake.
    if should_lower and not re.search(r"\bNOT\b", text):
        return text.lower()
    return text


def bare(phrase: str) -> str:
    """Return a phrase without its article."""
    return re.sub(r"^(an?|the) ", "", phrase)


def _term(phrase: str) -> str:
    """Return a phrase as a search operator takes it: its telling words, several in quotes."""
    words = _SAYS_LITTLE.sub("", phrase)
    if " " in words:
        return f'"{words}"'
    return words


def templates_for(use: str) -> list[str]:
    """Return the templates of `assets/wordings/denials.json` for one use.

    One given twice is twice as likely. {A} is wanted; {N} is a thing, {B_ing} and {B_s} an action, {F}
    a fragment; {n} and {f} lack the article.
    """
    templates: list[str] = wordings_in("denials.json")[use]
    return templates


def lacking(use: str, thing: NamedThing, rng: Random, wanted: str = "") -> str:
    """Fill a random template for a thing that is not there; "there is" agrees with it."""
    template = rng.choice(templates_for(use))
    if thing.is_plural:
        template = template.replace("there is", "there are")
    return template.format(A=wanted, N=thing.text, n=thing.bare)
