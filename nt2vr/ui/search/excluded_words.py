"""What a query excludes, in the words of the sentence: "no cats, dogs or birds"."""

import re
from functools import cache
from typing import Any

from nt2vr.errors import listed
from nt2vr.negation.parse.cues import cues
from nt2vr.negation.parse.inflect import inflect_phrase, is_only_verb
from nt2vr.negation.parse.query import Query, Span
from nt2vr.negation.parse.tokens import normalised

LETTERS = re.compile(r"[^\W\d_]*$")
HELPER = re.compile(
    r"(?:\b(?:do|does|did|can|could|will|would|should|must|may|might) )?$", re.IGNORECASE
)
BETWEEN = re.compile(r"(?: [\w']+){0,5} ")  # words of a cue and of what it denies
DEED = re.compile(
    r"\w+ing \w|(?:on|in|at|with|from|under|behind) ", re.IGNORECASE
)  # a deed or a place
DETERMINER = re.compile(r"^(?:an?|the|my|his|her|its|their|our|your) ", re.IGNORECASE)
FLIPS = ("Search without the negation (0)", "Put the negation back (0)")


def excluded_view(query: Query, parsed: Query, is_flipped: bool) -> list[dict[str, Any]]:
    """Repeat what was excluded: each cue, which flips the negation, and what it denies: "no cats, dogs or birds"."""
    if not query.unwanted:
        # a man and nobody else
        others = [f"other {kind.removeprefix('other ')}" for kind in query.others]
        return [{"text": listed(*others, joint="or")}] if others else []
    text, pieces = query.text, list[dict[str, Any]]()
    if len(query.scopes) != len(query.unwanted):  # corrected
        flips = [{"cue": _cue_text(text, cue), **flip_view(is_flipped)} for cue in parsed.cues[:1]]
        return [*flips, {"text": listed(*query.unwanted, joint="or")}]
    groups = _scopes_of_cues(query)
    for number, (cue, scopes) in enumerate(groups, start=1):
        typed, things = _cue_text(text, cue), [text[slice(*scope)] for scope in scopes]
        between = text[cue.end : scopes[0].start]
        following = _cue_text(text, groups[number][0]).lower() if number < len(groups) else ""
        if scopes[0].start < cue.start:
            typed, things = "no", [DETERMINER.sub("", thing) for thing in things]
        elif scopes[0].start == cue.start:  # hatless, nobody, nothing on the counter
            things = [*filter(None, [text[cue.end : scopes[0].end].strip()]), *things[1:]]
        elif typed != "no" and BETWEEN.fullmatch(between):  # don't | want to see | rain
            things[0] = f"{between.strip()} {things[0]}".strip()
        if (
            typed in {"no", "not"} and things and is_only_verb(things[0].partition(" ")[0])
        ):  # cat not | eat
            typed, things[0] = "not", inflect_phrase(things[0], "VBG")
        is_mark = (
            typed == "no" != text[slice(*cue)].lower()
        )  # -dancing; a typed "no training wheels" stays
        typed = "not" if is_mark and things and DEED.match(things[0]) else typed
        said = listed(*things, joint="or") if following != "nor" else ", ".join(things)
        joint = "" if following in {"", "nor"} else " and" if number + 1 == len(groups) else ","
        pieces += [{"cue": typed, **flip_view(is_flipped)}, {"text": f"{said}{joint}".strip()}]
    return pieces


def _scopes_of_cues(query: Query) -> list[tuple[Span, list[Span]]]:
    """Return the scopes of each cue that has any: those up to the next cue, or the last one before it."""
    groups: list[tuple[Span, list[Span]]] = []
    starts = [cue.start for cue in query.cues[1:]]
    for cue, stop in zip(query.cues, [*starts, len(query.text) + 1], strict=True):
        scopes = [scope for scope in query.scopes if cue.start <= scope.start < stop]
        if not groups:
            scopes = [scope for scope in query.scopes if scope.start < cue.start] + scopes
        elif not scopes and len(groups[-1][1]) > 1:
            scopes = [groups[-1][1].pop()]
        groups += [(cue, scopes)] if scopes else []
    return groups


@cache
def _typed_cues() -> frozenset[str]:
    return frozenset(cue.replace(" n't", "n't").replace(" '", "'") for cue in cues())


def _cue_text(text: str, cue: Span) -> str:
    """Return a cue as typed, with the word that "n't" is part of; "no" for a mark and for words of a remark."""
    words = " ".join(map(normalised, text[slice(*cue)].split()))
    is_typed = words in _typed_cues() or words.endswith((" yet to", "n't", " not"))
    if not is_typed or not words[0].isalpha():
        return "no"
    before = (HELPER if words == "not" else LETTERS).search(text, 0, cue.start)  # does | not sink
    return text[before.start() if before else cue.start : cue.end]


def flip_view(is_flipped: bool) -> dict[str, str]:
    return {"pressed": "true" if is_flipped else "false", "title": FLIPS[is_flipped]}
