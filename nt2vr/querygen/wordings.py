"""Exclusions as people type them: operators, swapped orders, lists, exceptions, requests, preferences, typos.

The parts are drawn elsewhere; this is about the words alone. The test reads the sentences back with the parser.
"""

import random
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

# {A} is wanted, {C} without "is", {k} its content words, {U} unwanted, {u} without its article, {q} as a search term;
# {V}, {v} and {r} are another thing or deed in the same forms. One family is as likely as another.
_EITHER: Mapping[str, Sequence[str]] = {
    "operator": ("{k} -{q}", "{k} NOT {q}", "{k} AND NOT {q}", "{k} !{q}", "{A} (no {u})", "{k} no {u}"),
    "minus": ("{A} minus {U}", "{k} w/o {u}", "{A} excluding {U}"),
    "order": ("no {u}, but {A}", "no {u} but {A}", "not {U} but {A}", "without {U}, {A}"),
    "preference": (
        *("{A} rather than {U}", "{A} instead of {U}", "{A} as opposed to {U}", "{A} in place of {U}"),
        *("{A}, I hate {u}", "{A}, not {U}"),
    ),
    "request": (
        *("show me {C}, I don't want to see {U}", "please find {C} but don't show {U}", "{A}, please avoid {u}"),
        *("can you find a clip where {A} but not {U}", "I'm looking for {C} without {U}", "videos of {C}, no {u} pls"),
    ),
}
_THING: Mapping[str, Sequence[str]] = {
    "list": (
        *("{A}, no {u} or {v}", "{A} without {U} or {V}", "{A} with neither {u} nor {v}", "{A}, no {u}, no {v}"),
        *("no {u}/{v}, {A}", "{A}, but no {u} nor {v}", "{k} -{q} -{r}"),
    ),
    "exception": (
        *("all clips of {C} except those with {U}", "any video of {C} except ones with {U}", "{A}, except with {U}"),
        *("everything with {C} apart from clips with {U}", "{A} except {U}", "{u} excluded, {A}"),
    ),
    "absence": (
        *("{A} and there's no {u}", "{A} with hardly any {u}", "{A}, {u} missing", "{A} and not a single {u}"),
        *("{A} in the absence of {U}", "{A}, there is no {u} to be seen", "{A} with no sign of {U}"),
    ),
}
_DEED: Mapping[str, Sequence[str]] = {
    "list": (
        *("{A}, not {U} or {V}", "{A} without {U} or {V}", "{A}, neither {U} nor {V}", "{A}, not {U}, not {V}"),
        *("{k} -{q} -{r}", "nobody is {U} or {V}, {A}"),
    ),
    "exception": (
        *("all clips of {C} except anyone {U}", "any video of {C} except those {U}", "{A} except people {U}"),
        *("{A} except when {U}", "everything with {C} apart from the ones {U}"),
    ),
    "absence": (
        *("{A} who isn't {U}", "{A} who is not {U}", "{A} and nobody is {U}", "{A} while no one is {U}"),
        *("{A}, never {U}", "{A} but there isn't anyone {U}"),
    ),
}
_ASKED = (  # nothing is unwanted
    *(
        "show me {C}",
        "can you find a clip where {A}",
        "I'm looking for {C} please",
        "videos of {C}",
        "I want to see {C}",
    ),
    *("{A} pls", "find me {C}, thanks", "do you have {C}?"),
)
_SLIPS: Mapping[str, Sequence[str]] = {
    "without": ("wihtout", "witout", "whithout", "w/o", "with out"),
    "except": ("excpet", "exept", "execpt"),
    "excluding": ("exluding", "excludng"),
    "instead": ("insted", "insead"),
    "rather than": ("rather then",),
    "neither": ("niether", "neihter"),
    "not": ("nto",),
    "don't": ("dont", "do'nt"),
    "isn't": ("isnt", "is'nt"),
    "there's": ("theres",),
    "I'm": ("im",),
}
_SLIP = re.compile(rf"\b(?:{'|'.join(_SLIPS)})\b")
_SLIP_SHARE = 0.15
_LOWER_SHARE = 0.3
_SAYS_LITTLE = re.compile(r"\b(?:an?|the|is|are|his|her|its|their|some|and) (?=.)")


class Worded(NamedTuple):
    """A sentence, and whether it also excludes the other thing or deed."""

    text: str
    with_other: bool


def word(wanted: str, unwanted: str, other: str, is_deed: bool, rng: random.Random) -> Worded:
    """Draw a sentence that wants one phrase and excludes another; lists also exclude `other`, if there is any."""
    families = {**_EITHER, **(_DEED if is_deed else _THING)}
    family = rng.choice([name for name in families if other or name != "list"])
    fields = {
        "U": unwanted,
        "u": _bare(unwanted),
        "q": _term(unwanted),
        "V": other,
        "v": _bare(other),
        "r": _term(other),
    }
    text = rng.choice(families[family]).format(**_wanted(wanted), **fields)
    return Worded(_mistyped(text, rng), family == "list")


def ask(wanted: str, rng: random.Random) -> str:
    """Draw a request that excludes nothing."""
    return _mistyped(rng.choice(_ASKED).format(**_wanted(wanted)), rng)


def _wanted(phrase: str) -> dict[str, str]:
    is_doing = re.sub(r" (?:is|are) (?=\w+ing\b)", " ", phrase)
    return {"A": phrase, "C": is_doing, "k": _SAYS_LITTLE.sub("", phrase)}


def _mistyped(text: str, rng: random.Random) -> str:
    """Misspell the cues of some sentences, and leave some without capitals."""
    if rng.random() < _SLIP_SHARE:
        text = _SLIP.sub(lambda match: rng.choice(_SLIPS[match[0]]), text)
    return text.lower() if rng.random() < _LOWER_SHARE and not re.search(r"\bNOT\b", text) else text


def _bare(phrase: str) -> str:
    return re.sub(r"^(an?|the) ", "", phrase)


def _term(phrase: str) -> str:
    words = _SAYS_LITTLE.sub("", phrase)
    return f'"{words}"' if " " in words else words
