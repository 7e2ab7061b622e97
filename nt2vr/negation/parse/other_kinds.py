"""Denials of an open set of kinds, which exclude nothing that could be named: "nobody else"."""

from nt2vr.negation.parse.cues import denied_by_nobody
from nt2vr.negation.parse.denied_modifiers import after_filler
from nt2vr.negation.parse.negations import Cue, Negation
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.wordlists import listed


def negation_of_other_kinds(phrases: Phrases, cue: Cue) -> Negation | None:
    """Return the negation of "other" or "else" after a cue."""
    other = _other(phrases, cue)
    if other is None or phrases.word(other + 1) in {"than", "but", "except"}:
        return None
    noun = phrases.noun_phrase(other)
    end = noun.end if noun else other + 1
    kind = phrases.text(other + 1, end)
    if not kind:
        kind = "anything"
        if cue.kind == "nobody":
            kind = denied_by_nobody(phrases, cue)
    return Negation(
        cue=cue,
        start=cue.start,
        end=after_filler(phrases, end),
        other_kinds=(kind,),
    )


def _other(phrases: Phrases, cue: Cue) -> int | None:
    """Return the position of "other" or "else"."""
    if phrases.word(cue.end - 1) == "else":
        is_nothing = phrases.word(cue.start) == "nothing"
        if is_nothing or not listed("humans").isdisjoint(phrases.words):
            return cue.end - 1
        return None

    if cue.kind not in {"no", "without"}:
        return None
    other = cue.end
    if phrases.word(other) in {"any", "the"}:
        other += 1
    return other if phrases.word(other) in {"other", "others"} else None
