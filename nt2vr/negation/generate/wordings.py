"""Exclusions as people type them: operators, swapped orders, lists, exceptions, requests, preferences, typos.

The parts are drawn elsewhere; the words are those of `assets/wordings/typed.json`, whose families are equally likely.
There, {A} is wanted, {C} without "is", {k} its content words, {U} unwanted, {u} without its article, {q} as a search
term; {V}, {v} and {r} are another thing or deed in the same forms. A test reads the sentences back.
"""

import random
import re

from nt2vr.negation.generate.written import wordings_in

_SLIP_SHARE = 0.15
_LOWER_SHARE = 0.3
_SAYS_LITTLE = re.compile(r"\b(?:an?|the|is|are|his|her|its|their|some|and) (?=.)")


def word(wanted: str, unwanted: str, other: str, is_deed: bool, rng: random.Random) -> tuple[str, bool]:
    """Draw a sentence that wants one phrase and excludes another; return also whether it is a list with `other`."""
    typed = wordings_in("typed.json")
    families = typed["either"] | typed["deed" if is_deed else "thing"]
    family = rng.choice([name for name in families if other or name != "list"])
    fields = {
        "U": unwanted,
        "u": bare(unwanted),
        "q": _term(unwanted),
        "V": other,
        "v": bare(other),
        "r": _term(other),
    }
    text = rng.choice(families[family]).format(**_wanted(wanted), **fields)
    return _mistyped(text, rng), family == "list"


def ask(wanted: str, rng: random.Random) -> str:
    """Draw a request that excludes nothing."""
    return _mistyped(rng.choice(wordings_in("typed.json")["asked"]).format(**_wanted(wanted)), rng)


def _wanted(phrase: str) -> dict[str, str]:
    is_doing = re.sub(r" (?:is|are) (?=\w+ing\b)", " ", phrase)
    return {"A": phrase, "C": is_doing, "k": _SAYS_LITTLE.sub("", phrase)}


def _mistyped(text: str, rng: random.Random) -> str:
    """Misspell the cues of some sentences, and leave some without capitals."""
    if rng.random() < _SLIP_SHARE:
        slips = wordings_in("typed.json")["slips"]
        text = re.sub(rf"\b(?:{'|'.join(slips)})\b", lambda match: rng.choice(slips[match[0]]), text)
    return text.lower() if rng.random() < _LOWER_SHARE and not re.search(r"\bNOT\b", text) else text


def bare(phrase: str) -> str:
    """Return a phrase without its article."""
    return re.sub(r"^(an?|the) ", "", phrase)


def _term(phrase: str) -> str:
    words = _SAYS_LITTLE.sub("", phrase)
    return f'"{words}"' if " " in words else words
