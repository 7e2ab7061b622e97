"""Denials of an open set of kinds, which exclude nothing that could be named: "nobody else"."""

from nt2vr.negation.parse.denied_modifiers import ModifierFinder
from nt2vr.negation.parse.negations import Cue, Negation
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.wordlists import listed


class OtherKindFinder:
    """Finds "no other dogs" and "nobody else" in one sentence."""

    def __init__(self, phrases: Phrases, modifiers: ModifierFinder) -> None:
        self.phrases = phrases
        self._modifiers = modifiers

    def find(self, cue: Cue) -> Negation | None:
        """Return the negation of "other" or "else" after a cue."""
        phrases = self.phrases
        other = self._other(cue)
        if other is None or phrases.word(other + 1) in {"than", "but", "except"}:
            return None
        noun = phrases.noun_phrase(other)
        end = noun.end if noun else other + 1
        kind = " ".join(phrases.words[other + 1 : end])
        if not kind:
            is_of_people = cue.kind == "nobody" and phrases.word(cue.start) != "nothing"
            kind = "people" if is_of_people else "anything"
        return Negation(
            cue=cue,
            start=cue.start,
            end=self._modifiers.after_filler(end),
            other_kinds=(kind,),
        )

    def _other(self, cue: Cue) -> int | None:
        """Return the position of "other" or "else"."""
        phrases = self.phrases
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
