"""Rule 7 of `scope`: what is denied apart reaches to the next comma or conjunction."""

from nt2vr.negation.parse.negations import Negation, Negations
from nt2vr.negation.parse.phrases import NEW_START, Phrases
from nt2vr.negation.parse.tokens import FINITE_TAGS, VERB_TAGS
from nt2vr.negation.parse.wanted import wanted_positions
from nt2vr.negation.parse.wordlists import words

# Kinds of cues that may begin a part of their own.
_MAY_STAND_APART = words("not no without order nobody")


def to_end_of_part(phrases: Phrases, negation: Negation, negations: Negations) -> Negation:
    """Return a negation that reaches to the end of its part, if it stands apart."""
    end = negation.end
    if not negation.items or negation.items[-1].core != end:
        return negation
    if not _stands_apart(phrases, negation, negations):
        return negation
    if phrases.tag(end) in _tags_of_both(phrases, negation, negations):
        return negation

    starts = {other.start for other in negations}
    while end not in starts and not _starts_part(phrases, end):
        end += 1
    return negation.ending(end)


def _stands_apart(phrases: Phrases, negation: Negation, negations: Negations) -> bool:
    """Return whether a negation starts a part of its own, or is one such as "rather than"."""
    cue = negation.cue.start
    if cue == 0 or negation.cue.kind not in _MAY_STAND_APART:
        return False
    if negation.items[-1].kind == "quality":
        return False
    if phrases.is_clause_edge(cue - 1) and phrases.word(cue - 1) != "'s":
        return True
    if phrases.words[cue : cue + 2] == ["but", "not"]:
        return True
    return phrases.is_listed(cue, "contrasts") and _is_all_contrasted(phrases, negation, negations)


def _is_all_contrasted(phrases: Phrases, negation: Negation, negations: Negations) -> bool:
    """Return whether what follows a denied phrase is denied, too, and not of both parts."""
    if phrases.tag(negation.end) != "ADP":
        return True
    if phrases.word(negation.end - 1) in {"one", "ones", "those"}:
        return True
    wanted_before = [i for i in wanted_positions(phrases, negations) if i < negation.cue.start]
    if phrases.acts(wanted_before):
        return True
    return any(phrases.place_phrase(i) for i in wanted_before)


def _tags_of_both(phrases: Phrases, negation: Negation, negations: Negations) -> frozenset[str]:
    """Return the tags of words that are of both parts: "a dog and not a cat | is sleeping"."""
    cue = negation.cue.start
    if negation.cue.kind == "no":
        return frozenset()
    is_joined = phrases.word(cue - 1) == "and" or phrases.word(cue) in {"rather", "instead"}
    if negation.cue.kind == "not" and is_joined:
        wanted_before = wanted_positions(phrases, negations, negation.start)
        if not phrases.acts(wanted_before):
            return VERB_TAGS | {"ADP"}
    return FINITE_TAGS


def _starts_part(phrases: Phrases, i: int) -> bool:
    word = phrases.word(i)
    if word == "or":
        return False
    return phrases.is_clause_edge(i) or word in NEW_START
