"""Rule 7 of `scope`: what is denied apart reaches to the next comma or conjunction."""

from collections.abc import Sequence

from nt2vr.negation.parse.negations import Negation
from nt2vr.negation.parse.phrases import NEW_START, Phrases
from nt2vr.negation.parse.tokens import FINITE_TAGS, VERB_TAGS
from nt2vr.negation.parse.wanted import WantedFinder

# Kinds of cues that may begin a part of their own.
_MAY_STAND_APART = frozenset({"not", "no", "without", "order", "nobody"})


class PartFinder:
    """Finds the parts of one sentence that are denied."""

    def __init__(self, phrases: Phrases, wanted: WantedFinder) -> None:
        self.phrases = phrases
        self._wanted = wanted

    def extend(self, negation: Negation, negations: Sequence[Negation]) -> Negation:
        """Return a negation that reaches to the end of its part, if it stands apart."""
        end = negation.end
        if not negation.items or negation.items[-1].core != end:
            return negation
        if not self._stands_apart(negation, negations):
            return negation
        if self.phrases.tag(end) in self._tags_of_both(negation, negations):
            return negation

        starts = {other.start for other in negations}
        while end not in starts and not self._starts_part(end):
            end += 1
        return negation.ending(end)

    def _stands_apart(self, negation: Negation, negations: Sequence[Negation]) -> bool:
        """Return whether a negation starts a part of its own, or is one such as "rather than"."""
        phrases = self.phrases
        cue = negation.cue.start
        if cue == 0 or negation.cue.kind not in _MAY_STAND_APART:
            return False
        if negation.items[-1].kind == "quality":
            return False
        if phrases.is_clause_edge(cue - 1) and phrases.word(cue - 1) != "'s":
            return True
        if phrases.words[cue : cue + 2] == ["but", "not"]:
            return True
        return phrases.is_listed(cue, "contrasts") and self._is_all_contrasted(negation, negations)

    def _is_all_contrasted(self, negation: Negation, negations: Sequence[Negation]) -> bool:
        """Return whether what follows a denied phrase is denied, too, and not of both parts."""
        phrases = self.phrases
        if phrases.tag(negation.end) != "ADP":
            return True
        if phrases.word(negation.end - 1) in {"one", "ones", "those"}:
            return True
        wanted_before = [i for i in self._wanted.words(negations) if i < negation.cue.start]
        if self._wanted.acts(wanted_before):
            return True
        return any(phrases.place_phrase(i) for i in wanted_before)

    def _tags_of_both(self, negation: Negation, negations: Sequence[Negation]) -> frozenset[str]:
        """Return the tags of words that are of both parts: "a dog and not a cat | is sleeping"."""
        phrases = self.phrases
        cue = negation.cue.start
        if negation.cue.kind == "no":
            return frozenset()
        is_joined = phrases.word(cue - 1) == "and" or phrases.word(cue) in {"rather", "instead"}
        if negation.cue.kind == "not" and is_joined:
            wanted_before = self._wanted.words(negations, negation.start)
            if not self._wanted.acts(wanted_before):
                return VERB_TAGS | {"ADP"}
        return FINITE_TAGS

    def _starts_part(self, i: int) -> bool:
        word = self.phrases.word(i)
        if word == "or":
            return False
        return self.phrases.is_clause_edge(i) or word in NEW_START
