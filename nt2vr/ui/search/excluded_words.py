"""What a query excludes, in the words of the sentence: "no cats, dogs or birds"."""

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from nt2vr.errors import listed
from nt2vr.negation.parse.cues import cues
from nt2vr.negation.parse.inflect import inflect_phrase, is_only_verb
from nt2vr.negation.parse.query import Query, Span
from nt2vr.negation.parse.tokens import normalised
from nt2vr.ui.view import View, Views

# The start of a word, before a cue within it: "ca" of "can't".
LETTERS = re.compile(r"[^\W\d_]*\Z")
# A helping verb before a cue: "does" of "does not".
HELPER = re.compile(
    r"(?:\b(?:do|does|did|can|could|will|would|should|must|may|might) )?\Z", re.IGNORECASE
)
# Words between a cue and what it denies: "want to see" of "don't want to see rain".
BETWEEN = re.compile(r"(?: [\w']+){0,5} ")
# An action with its object, or a place.
ACTION_OR_PLACE = re.compile(r"\w+ing \w|(?:on|in|at|with|from|under|behind) ", re.IGNORECASE)
DETERMINER = re.compile(r"^(?:an?|the|my|his|her|its|their|our|your) ", re.IGNORECASE)
# What a click on a cue does, by whether the negation is taken away.
FLIPS = ("Search without the negation (0)", "Put the negation back (0)")


class _ScopedCue(NamedTuple):
    """A cue, also as typed, and the phrases that it denies."""

    cue: Span
    typed: str
    scopes: list[Span]


def excluded_view(query: Query, parsed: Query, is_flipped: bool) -> Views:
    """Repeat what a query excludes, piece by piece: each cue, which flips the negation, and what it denies.

    Args:
        parsed: the query before a person corrected it.
    """
    if not query.unwanted:
        # "a man and nobody else" excludes other people.
        kinds = [f"other {kind.removeprefix('other ')}" for kind in query.others]
        return [{"text": listed(*kinds, joint="or")}] if kinds else []
    if len(query.scopes) != len(query.unwanted):
        return _corrected_view(query, parsed, is_flipped)

    pieces = []
    scoped_cues = _scoped_cues(query)
    for number, scoped_cue in enumerate(scoped_cues, 1):
        cue, things = _spoken(query.text, scoped_cue)
        pieces.append({"cue": cue, **flip_view(is_flipped)})
        pieces.append({"text": _joined(things, scoped_cues[number:])})
    return pieces


def flip_view(is_flipped: bool) -> View:
    """Show a cue as a button that takes the negation away, or puts it back."""
    return {"pressed": "true" if is_flipped else "false", "title": FLIPS[is_flipped]}


def _corrected_view(query: Query, parsed: Query, is_flipped: bool) -> Views:
    """List the parts that a person corrected, which stand nowhere in the sentence."""
    pieces = []
    for cue in parsed.cues[:1]:
        pieces.append({"cue": _cue_text(query.text, cue), **flip_view(is_flipped)})
    pieces.append({"text": listed(*query.unwanted, joint="or")})
    return pieces


def _scoped_cues(query: Query) -> list[_ScopedCue]:
    """Return each cue with the scopes from it to the next cue.

    The first cue has those before it, too. A cue without any takes over the last scope of the cue
    before, if that keeps one.
    """
    scoped_cues = [_ScopedCue(cue, _cue_text(query.text, cue), []) for cue in query.cues]
    for scope in query.scopes:
        num_begun = sum(cue.start <= scope.start for cue in query.cues)
        scoped_cues[max(num_begun - 1, 0)].scopes.append(scope)

    for previous, scoped_cue in pairwise(scoped_cues):
        if not scoped_cue.scopes and len(previous.scopes) > 1:
            scoped_cue.scopes.append(previous.scopes.pop())
    return [scoped_cue for scoped_cue in scoped_cues if scoped_cue.scopes]


@cache
def _typed_cues() -> frozenset[str]:
    return frozenset(cue.replace(" n't", "n't").replace(" '", "'") for cue in cues())


def _cue_text(text: str, cue: Span) -> str:
    """Return a cue as typed: "can't" for "n't"; marks and words of remarks become "no"."""
    cue_text = text[cue.start : cue.end]
    words = " ".join(map(normalised, cue_text.split()))
    is_typed = words in _typed_cues() or words.endswith((" yet to", "n't", " not"))
    if not is_typed or not words[0].isalpha():
        return "no"
    pattern = HELPER if words == "not" else LETTERS
    # Both patterns match at the end, if only nothing.
    start_of_cue = pattern.findall(text, 0, cue.start)[0]
    return f"{start_of_cue}{cue_text}"


def _spoken(text: str, scoped_cue: _ScopedCue) -> tuple[str, list[str]]:
    """Return a cue and the things that it denies, as one would say them: "no" and "ladder"."""
    cue, things = _said_in_order(text, scoped_cue)
    if not things:
        return cue, things

    first, *later = things
    first_word = first.partition(" ")[0]
    if cue in ("no", "not") and is_only_verb(first_word):
        # "cat not eat" is "not eating".
        return "not", [inflect_phrase(first, "VBG"), *later]
    # A mark before an action is "not"; a typed "no training wheels" stays as it is.
    start, end = scoped_cue.cue
    is_mark = cue == "no" and text[start:end].lower() != "no"
    if is_mark and ACTION_OR_PLACE.match(first):
        cue = "not"
    return cue, things


def _said_in_order(text: str, scoped_cue: _ScopedCue) -> tuple[str, list[str]]:
    """Return a cue and the things that it denies, in words that may follow it."""
    cue, typed, scopes = scoped_cue
    first_scope = scopes[0]
    first, *later = [text[start:end] for start, end in scopes]
    if first_scope.start < cue.start:
        # "a ladder is not involved" is "no ladder".
        return "no", [DETERMINER.sub("", thing) for thing in (first, *later)]
    if first_scope.start == cue.start:
        # The cue is a part of "hatless", "nobody", and "nothing on the counter".
        first = text[cue.end : first_scope.end].strip()
        return typed, [first, *later] if first else later

    between = text[cue.end : first_scope.start]
    if typed != "no" and BETWEEN.fullmatch(between):
        first = f"{between}{first}".strip()
    return typed, [first, *later]


def _joined(things: Sequence[str], later_cues: Sequence[_ScopedCue]) -> str:
    """List the things that a cue denies, with "and" or a comma before the next cue."""
    if later_cues and later_cues[0].typed.lower() == "nor":
        return ", ".join(things).strip()
    text = listed(*things, joint="or")
    if len(later_cues) == 1:
        text += " and"
    elif later_cues:
        text += ","
    return text.strip()
