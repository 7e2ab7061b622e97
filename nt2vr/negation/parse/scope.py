"""Negation cues of a sentence and their scopes, as word positions.

Rules, applied to tagged words and phrases (`phrases`):

1. A cue ("not", "without", "instead of" …) negates the phrase after it: a verb with its objects, a
   noun, a place or a quality. Cues with nothing after them are ignored, and so are those in idioms
   ("not only").
2. Lists share a cue: "not wine or beer". A verb with objects of its own after "and" is wanted
   again: "not running around and playing a guitar" (nT2VR, Table 6).
3. A place at the end of a negated phrase stays wanted if the query otherwise wants only a subject:
   "a man is not dancing on the beach". If it wants more (A and not B), or the verb requires its
   place, the place is unwanted too.
4. Modifiers of a negated noun belong to it if it names actors in general, otherwise to the rest of
   the sentence: "a beach without people swimming", but "a woman without a hat dancing".
5. A cue that only says "not in the picture" denies the thing before it: "a cat is not visible".
6. An exception from a denial is wanted, and the denial is taken back.
7. What is denied after a comma or a conjunction reaches to the next one: "a river, no boats passing
   under a bridge". An action after "and not" is of both: "a man and not a woman playing".

Rule 1 is in `denied_phrases`, 2 in `denied_lists`, 3 in `denied_places`, 4 in `denied_modifiers`, 5 in
`denied_before`, 6 in `exceptions` and 7 in `denied_parts`. `ScopeFinder` applies them.
"""

from collections.abc import Sequence
from dataclasses import replace

from nt2vr.negation.parse.cues import CueFinder, cues, denied_by_nobody
from nt2vr.negation.parse.denied_before import BackwardFinder
from nt2vr.negation.parse.denied_lists import DeniedListFinder
from nt2vr.negation.parse.denied_modifiers import ModifierFinder
from nt2vr.negation.parse.denied_parts import PartFinder
from nt2vr.negation.parse.denied_phrases import DeniedPhraseFinder
from nt2vr.negation.parse.denied_places import PlaceFinder
from nt2vr.negation.parse.editing import EditFinder
from nt2vr.negation.parse.exceptions import ExceptionFinder
from nt2vr.negation.parse.negations import Cue, Negation
from nt2vr.negation.parse.other_kinds import OtherKindFinder
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.tokens import VERB_TAGS
from nt2vr.negation.parse.wanted import WantedFinder
from nt2vr.negation.parse.wordlists import words

# Kinds of cues that deny what comes after them.
_FORWARD = frozenset({"not", "no", "without", "order", "nobody", "minus"})
_CLAUSE_STARTS = VERB_TAGS | {"PRON", "NEG", "ADP"}
_ABSENCES = words("absence lack shortage")


class ScopeFinder:
    """Finds the negations in one tagged sentence, and the wanted stretches around them."""

    def __init__(self, phrases: Phrases, editing: bool = False, typed: bool = False) -> None:
        """Prepare a search.

        Args:
            phrases: the sentence.
            editing: whether words of editing deny what they replace or remove.
            typed: whether a person typed the sentence as a query, so that every cue that can
                denies something.
        """
        self.phrases = phrases
        self.wanted = WantedFinder(phrases)
        self._is_typed = typed
        edits = EditFinder(phrases).edits() if editing else ()
        self._edits = {edit.start: edit for edit in edits}
        self._cues = CueFinder(phrases, self._edits)
        self._denied_phrases = DeniedPhraseFinder(phrases, typed)
        self._lists = DeniedListFinder(phrases)
        self._modifiers = ModifierFinder(phrases)
        self._backward = BackwardFinder(phrases)
        self._exceptions = ExceptionFinder(phrases)
        self._other_kinds = OtherKindFinder(phrases, self._modifiers)
        self._places = PlaceFinder(phrases, self.wanted, typed, bool(self._edits))
        self._parts = PartFinder(phrases, self.wanted)

    def negations(self) -> list[Negation]:
        """Return the negations from left to right."""
        negations: list[Negation] = []
        for cue in self._cues.find():
            negations = self._with_cue(negations, cue)
        # Rules 3 and 7 ask what is wanted, so they need all negations.
        placed = [self._places.assign(negation, negations) for negation in negations]
        return [self._parts.extend(negation, placed) for negation in placed]

    def _with_cue(self, negations: list[Negation], cue: Cue) -> list[Negation]:
        """Return the negations and that of one more cue; most rules add one, an exception two."""
        if cue.kind == "except" and (not negations or cue.start >= negations[-1].cue.end):
            match self._exceptions.status(cue, negations):
                case "none":
                    return negations
                case "wanted":
                    return self._exceptions.take_back(cue, negations)
            cue = cue._replace(kind="not")

        negation = self._negation(cue, negations)
        if negation is None:
            return negations
        return [*negations, negation]

    def _negation(self, cue: Cue, negations: Sequence[Negation]) -> Negation | None:
        """Return what a cue denies; None if that is nothing, or denied already."""
        first = negations[-1].end if negations else 0
        if cue.start < first:
            return None
        if cue.kind == "edit":
            return self._edits[cue.start]
        if cue.kind == "order" and not self.phrases.starts_clause(cue.start):
            return None
        return self._backward.find(cue, first) or self._denied_after(cue, negations)

    def _denied_after(self, cue: Cue, negations: Sequence[Negation]) -> Negation | None:
        """Return the negation of what comes after a cue, by the rules 1, 2 and 4."""
        if cue.kind not in _FORWARD:
            return None
        nothing_else = self._other_kinds.find(cue)
        if nothing_else:
            return replace(nothing_else, start=self._absence_start(cue.start))
        phrase = self._denied_phrases.find(cue)
        if phrase is None:
            return None

        wanted_before = self.wanted.words(negations, cue.start)
        items = self._items(phrase, cue, bool(wanted_before))
        negation = self._negation_of(cue, items)
        is_composed = self.wanted.acts(wanted_before)
        return self._extend_to_clause_end(negation, is_composed)

    def _items(self, phrase: Phrase, cue: Cue, has_wanted_before: bool) -> list[Phrase]:
        """Return a denied phrase with its modifiers, or the list to which it belongs."""
        if cue.kind == "minus":
            return [phrase]
        first = phrase
        if phrase.kind == "noun":
            first = self._modifiers.extend(phrase, cue.kind, has_wanted_before)

        items = [first]
        if self._may_start_list(first, cue):
            items = self._lists.items(first, cue.kind, has_wanted_before)
        if self._is_typed:
            return self._as_typed(items)
        return items

    def _may_start_list(self, first: Phrase, cue: Cue) -> bool:
        """Return whether the cue of a denied phrase may be shared by more phrases after it."""
        phrases = self.phrases
        if cue.kind == "nobody":
            return first.kind == "verb"
        if first.kind == "noun":
            noun = phrases.noun_phrase(first.start)
            has_modifiers = noun is not None and first.end > noun.end
            if has_modifiers:
                return False
        # a red, not | blue and round car
        follows_mark = phrases.tag(cue.start - 1) == "PUNCT"
        follows_quality = follows_mark and phrases.tag(cue.start - 2) == "ADJ"
        return cue.kind != "not" or not follows_quality

    def _negation_of(self, cue: Cue, items: list[Phrase]) -> Negation:
        first = items[0]
        thing = ""
        if first.start < cue.end:
            thing = denied_by_nobody(" ".join(self.phrases.words[cue.start : cue.end]))
        verb = self._denied_phrases.verb_before(cue, first)
        return Negation(
            cue=cue,
            items=tuple(items),
            start=self._absence_start(cue.start) if verb is None else verb,
            end=self._modifiers.after_filler(items[-1].end),
            verb=verb,
            thing=thing,
        )

    def _absence_start(self, cue: int) -> int:
        """Return the first word of "in the complete absence of"; elsewhere the cue."""
        start = cue
        if self.phrases.word(cue) not in _ABSENCES:
            return start
        while self.phrases.is_listed(start - 1, "before_absence"):
            start -= 1
        return start

    def _extend_to_clause_end(self, negation: Negation, is_composed: bool) -> Negation:
        """Extend B to the end of its clause in a composed query (A and not B, not B while A)."""
        phrases = self.phrases
        last = negation.items[-1]
        if last.kind == "noun" or negation.end > last.end:
            return negation

        cue = negation.cue.start
        is_relative = phrases.tag(cue - 1) == "WH" or phrases.tag(cue - 2) == "WH"
        end = last.end
        while not self._ends_clause(end, is_relative):
            end += 1
        if is_composed or self._wants_clause(end):
            return negation.ending(end, last.setting)
        return negation

    def _wants_clause(self, i: int) -> bool:
        """Return whether a clause that is wanted begins at word i: "while", "and he"."""
        if self.phrases.tag(i) != "CONJ":
            return False
        return self.phrases.word(i) == "while" or self.phrases.tag(i + 1) == "PRON"

    def _ends_clause(self, i: int, is_relative: bool) -> bool:
        phrases = self.phrases
        tag = phrases.tag(i)
        if tag == "CONJ":
            joins_clauses = phrases.word(i) in {"while", "but"}
            return joins_clauses or phrases.tag(i + 1) in _CLAUSE_STARTS
        if tag in {"", "PUNCT", "NEG"}:
            return True
        if is_relative and phrases.is_finite(i):
            return True
        return cues().get(phrases.word(i), "except") not in {"except", "order"}

    def _as_typed(self, items: list[Phrase]) -> list[Phrase]:
        """Return the items as people mean them who leave out commas and words."""
        typed_items = []
        for item in items:
            for part in self._lists.split_runs(item):
                typed_items.append(self._without_place_of_other(part))
        return typed_items

    def _without_place_of_other(self, item: Phrase) -> Phrase:
        """Cut off a place with somebody else: "isn't kneeling | beside a king who"."""
        if item.kind != "verb" or self.phrases.tag(item.end) != "WH":
            return item
        for i in range(item.head + 1, item.end):
            place = self.phrases.place_phrase(i)
            if place and place.end == item.end:
                return replace(item, end=place.start, setting=None)
        return item
