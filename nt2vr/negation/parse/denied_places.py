"""Rule 3 of `scope`: whether the place at the end of a denied phrase is wanted or denied."""

from dataclasses import replace

from nt2vr.negation.parse.negations import Negation, Negations
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.wanted import wanted_positions


def with_place(
    phrases: Phrases,
    negation: Negation,
    negations: Negations,
    is_typed: bool,
    has_edits: bool,
) -> Negation:
    """Return a negation whose last item has its place, or leaves it to the wanted part."""
    if not negation.items:
        return negation
    last = negation.items[-1]
    if last.setting is None:
        return negation

    wanted = wanted_positions(phrases, negations)
    if is_typed and _requires_place(phrases, negation, last):
        is_denied = True
    elif _is_place_of_wanted(phrases, negation, wanted):
        is_denied = False
    elif is_typed and not has_edits and negation.cue.kind == "order":
        is_denied = True
    else:
        is_denied = _wants_more(phrases, last, wanted)
    if is_denied:
        return negation.ending(last.end)
    return replace(negation, end=last.core)


def _requires_place(phrases: Phrases, negation: Negation, last: Phrase) -> bool:
    """Return whether what is denied says little without its place.

    An example is somebody who doesn't | live in a house.
    """
    if phrases.lemma_is_listed(last.head, "dwelling"):
        return True
    return _is_at_somebody(phrases, last.core) or _denies_for_kind(phrases, negation.cue.start)


def _denies_for_kind(phrases: Phrases, cue: int) -> bool:
    """Return whether a denial is of a kind: "animals that don't | hide in trees"."""
    while phrases.is_auxiliary(cue - 1):
        cue -= 1
    if phrases.tag(cue - 1) != "WH":
        return False
    # But not: a man who isn't
    noun = cue - 2
    if phrases.word(noun) == phrases.lemma(noun):
        return False
    start = phrases.before(cue - 1, {"NOUN", "ADJ"})
    return phrases.is_clause_edge(start - 1)


def _is_at_somebody(phrases: Phrases, place: int) -> bool:
    """Return whether what somebody does is meant for another: "doesn't bark | at people"."""
    if phrases.word(place) != "at":
        return False
    somebody = phrases.noun_phrase(place + 1)
    return somebody is not None and phrases.is_actor(somebody)


def _is_place_of_wanted(phrases: Phrases, negation: Negation, wanted: list[int]) -> bool:
    """Return whether a place is that of what is wanted after it.

    An example is "there is no bread on | the table, only fruit".
    """
    last = negation.items[-1]
    if last.kind != "noun" or phrases.word(last.core + 1) != "the":
        return False
    cue = negation.cue
    is_nor = phrases.word(cue.start) == "nor"
    denies_existence = is_nor or cue.kind in {"no", "nobody"}
    is_wanted_after = min(wanted, default=negation.end) >= negation.end
    return denies_existence and is_wanted_after


def _wants_more(phrases: Phrases, last: Phrase, wanted: list[int]) -> bool:
    """Return whether a query wants more than a subject: an action, a place, or any noun."""
    if last.kind == "noun" and wanted:
        return True
    if phrases.acts(wanted):
        return True
    for i in wanted:
        place = phrases.place_phrase(i)
        if place and phrases.is_setting(place):
            return True
    return False
