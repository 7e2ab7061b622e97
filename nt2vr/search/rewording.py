"""Rewording: a query's parts written as the sentence that models trained for negation know best."""

import re
from collections.abc import Sequence
from dataclasses import replace

from nt2vr.negation.parse.inflect import inflect, is_noun, verb_of
from nt2vr.negation.parse.query import Query
from nt2vr.negation.parse.wordlists import listed

REWORDED = "reworded"  # the strategy
NO_THING, NO_DEED = "no {}", "not {}"  # with "but" and "and" best for CLIP-neg on validation scenes: trainer/LOG.md
_WHOEVER = re.compile(r"^(?:(?:any|some)(?:one|body)|people) (?=[a-z]+ing\b)", re.IGNORECASE)
_ARTICLE = re.compile(r"^(an?|the|any) ", re.IGNORECASE)


def reworded(query: Query) -> Query:
    """Return a query for the strategy `plain`, whose sentence is written from the parts."""
    return replace(query, text=reword(query.text, " ".join(query.wanted), query.unwanted), wanted=(), unwanted=())


def reword(text: str, wanted: str, unwanted: Sequence[str]) -> str:
    """Write "WANTED but no UNWANTED and not DOING"; without unwanted parts the wanted part, or else the text."""
    denied = " and ".join(_denied(part) for part in unwanted if part.strip())
    joint = " but " if denied.startswith(NO_THING.format("")) else " and "
    return joint.join(filter(str.strip, (wanted, denied))) or text


def _denied(part: str) -> str:
    part = _WHOEVER.sub("", part)
    first, _, rest = part.partition(" ")
    verb, word = verb_of(first.lower()), first.lower()
    if verb and word.endswith("ing") and word != verb:
        return NO_DEED.format(part)
    if verb and (not is_noun(word) or rest.partition(" ")[0] in listed("function_words")):
        return NO_DEED.format(f"{inflect(verb, 'VBG')} {rest}".strip())
    return NO_THING.format(_ARTICLE.sub("", part))
