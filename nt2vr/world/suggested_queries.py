"""Sentences of suggested queries: as they were typed, or "WANTED but no UNWANTED"."""

import re
from collections.abc import Sequence

from nt2vr.negation.parse.inflect import inflect, is_noun, verb_of
from nt2vr.negation.parse.query import Query
from nt2vr.negation.parse.wordlists import listed
from nt2vr.world.nearby_phrases import SOMEBODY

_WHOEVER = re.compile(rf"^(?:{SOMEBODY.pattern}|people) (?=[a-z]+ing\b)", re.IGNORECASE)
_ARTICLE = re.compile(r"^(an?|the|any) ", re.IGNORECASE)
_BEFORE_PLACES = frozenset({"at", "behind", "in", "inside", "near", "on", "under"})


def written(query: Query, wanted: str, unwanted: Sequence[str]) -> str:
    """Write a suggestion: the typed sentence with another wanted part, if it has one part of its own."""
    typed_wanted = " ".join(query.wanted)
    is_same = list(unwanted) == list(query.unwanted)
    is_typed = bool(typed_wanted) and typed_wanted in query.text
    if is_same and is_typed and wanted:
        return query.text.strip().replace(typed_wanted, wanted, 1)
    return query_of(wanted, unwanted)


def query_of(wanted: str, unwanted: Sequence[str]) -> str:
    """Write "WANTED but no UNWANTED and not DOING".

    It is the sentence that models trained for negation know best.
    """
    denied = " and ".join(_denied(part) for part in unwanted if part.strip())
    if not wanted.strip():
        return denied
    if not denied:
        return wanted
    joint = "but" if denied.startswith("no ") else "and"
    return f"{wanted} {joint} {denied}"


def _denied(part: str) -> str:
    """Write "not DOING", "not AT NIGHT" or "no UNWANTED"."""
    first, _, rest = _WHOEVER.sub("", part).partition(" ")
    word = first.lower()
    if word in _BEFORE_PLACES:
        return f"not {part}"
    verb = verb_of(word)
    if not verb:
        return _no(part)
    doing = first
    is_doing = word.endswith("ing") and word != verb
    if not is_doing:
        second, _, _ = rest.partition(" ")
        if is_noun(word) and second not in listed("function_words"):
            return _no(part)
        doing = inflect(verb, "VBG")
    return f"not {doing} {rest}".strip()


def _no(part: str) -> str:
    bare_part = _ARTICLE.sub("", part)
    return f"no {bare_part}"
