"""Rule 3 of `scope`: whether the place at the end of a denied phrase is wanted or denied."""

from collections.abc import Sequence
from dataclasses import replace

from nt2vr.negation.parse.negations import Negation
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.wanted import WantedFinder


class PlaceFinder:
    """Assigns the places of one sentence."""

    def __init__(
        self, phrases: Phrases, wanted: WantedFinder, is_typed: bool, has_edits: bool
    ) -> None:
        self.phrases = phrases
        self._wanted = wanted
        self._is_typed = is_typed
        self._has_edits = has_edits

    def assign(self, negation: Negation, negations: Sequence[Negation]) -> Negation:
        """Return a negation whose last item has its place, or leaves it to the wanted part."""
        if not negation.items:
            return negation
        last = negation.items[-1]
        if last.setting is None:
            return negation
        if self._denies_place(negation, last, self._wanted.words(negations)):
            return negation.ending(last.end)
        return replace(negation, end=last.core)

    def _denies_place(self, negation: Negation, last: Phrase, wanted: list[int]) -> bool:
        if self._is_typed and self._requires_place(negation, last):
            return True
        if self._is_place_of_wanted(negation, wanted):
            return False
        if self._is_typed and not self._has_edits and negation.cue.kind == "order":
            return True
        return self._wants_more(last, wanted)

    def _requires_place(self, negation: Negation, last: Phrase) -> bool:
        """Return whether what is denied says little without its place.

        An example is somebody who doesn't | live in a house.
        """
        if self.phrases.lemma_is_listed(last.head, "dwelling"):
            return True
        return self._is_at_somebody(last.core) or self._denies_for_kind(negation.cue.start)

    def _denies_for_kind(self, cue: int) -> bool:
        """Return whether a denial is of a kind: "animals that don't | hide in trees"."""
        phrases = self.phrases
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

    def _is_at_somebody(self, place: int) -> bool:
        """Return whether what somebody does is meant for another: "doesn't bark | at people"."""
        if self.phrases.word(place) != "at":
            return False
        somebody = self.phrases.noun_phrase(place + 1)
        return somebody is not None and self.phrases.is_actor(somebody)

    def _is_place_of_wanted(self, negation: Negation, wanted: list[int]) -> bool:
        """Return whether a place is that of what is wanted after it.

        An example is "there is no bread on | the table, only fruit".
        """
        last = negation.items[-1]
        if last.kind != "noun" or self.phrases.word(last.core + 1) != "the":
            return False
        cue = negation.cue
        is_nor = self.phrases.word(cue.start) == "nor"
        denies_existence = is_nor or cue.kind in {"no", "nobody"}
        is_wanted_after = min(wanted, default=negation.end) >= negation.end
        return denies_existence and is_wanted_after

    def _wants_more(self, last: Phrase, wanted: list[int]) -> bool:
        """Return whether a query wants more than a subject: an action, a place, or any noun."""
        if last.kind == "noun" and wanted:
            return True
        if self._wanted.acts(wanted):
            return True
        for i in wanted:
            place = self.phrases.place_phrase(i)
            if place and self.phrases.is_setting(place):
                return True
        return False
