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

Each rule is a method of `ScopeFinder`, in this order.
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
from nt2vr.negation.parse.tokens import FINITE_TAGS, VERB_TAGS
from nt2vr.negation.parse.wanted import WantedFinder
from nt2vr.negation.parse.wordlists import words

# Kinds of cues that deny what comes after them.
_FORWARD = frozenset({"not", "no", "without", "order", "nobody", "minus"})
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
        self._edits: dict[int, Negation] = {}
        if editing:
            self._edits = {edit.start: edit for edit in EditFinder(phrases).edits()}
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
        negations = [self._assign_place(negation, negations) for negation in negations]
        return [self._extend_to_next_part(negation, negations) for negation in negations]

    def _with_cue(self, negations: list[Negation], cue: Cue) -> list[Negation]:
        """Return the negations and that of one more cue; most rules add one, an exception two."""
        first = negations[-1].end if negations else 0
        if cue.kind == "edit":
            if cue.start < first:
                return negations
            return [*negations, self._edits[cue.start]]

        if cue.kind == "except" and (not negations or cue.start >= negations[-1].cue.end):
            excepted = self._except(negations, cue)
            if excepted is not None:
                return excepted
            cue = cue._replace(kind="not")

        if cue.start < first:
            return negations
        if cue.kind == "order" and not self.phrases.starts_clause(cue.start):
            return negations

        negation = self._denied_before(cue, first) or self._denied_after(cue, negations)
        if negation is None:
            return negations
        return [*negations, negation]

    def _denied_after(self, cue: Cue, negations: Sequence[Negation]) -> Negation | None:
        """Return the negation of what comes after a cue, by the rules 1, 2 and 4."""
        if cue.kind not in _FORWARD:
            return None
        nothing_else = self._other_kinds.find(cue)
        if nothing_else is not None:
            return replace(nothing_else, start=self._absence_start(cue.start))

        wanted_before = self.wanted.words(negations, cue.start)
        first = self._negated_phrase(cue)
        if first is None:
            return None
        first, has_modifiers = self._with_modifiers(first, cue, bool(wanted_before))

        is_alone = cue.kind == "minus" or (cue.kind == "nobody" and first.kind != "verb")
        if is_alone or has_modifiers or self._follows_quality(cue):
            items = [first]
        else:
            items = self._list_items(first, cue, bool(wanted_before))
        if self._is_typed:
            items = self._as_typed(items)

        negation = self._negation_of(cue, first, items)
        is_composed = self.wanted.acts(wanted_before)
        return self._extend_to_clause_end(negation, is_composed)

    def _negation_of(self, cue: Cue, first: Phrase, items: list[Phrase]) -> Negation:
        thing = ""
        if first.start < cue.end:
            thing = denied_by_nobody()[" ".join(self.phrases.words[cue.start : cue.end])]
        verb = self._denied_phrases.verb_before(cue, first)
        return Negation(
            cue=cue,
            items=tuple(items),
            start=self._absence_start(cue.start) if verb is None else verb,
            end=self._modifiers.after_filler(items[-1].end),
            verb=verb,
            thing=thing,
        )

    def _negated_phrase(self, cue: Cue) -> Phrase | None:
        """Rule 1: return the phrase after a cue, which the cue negates."""
        return self._denied_phrases.find(cue)

    def _list_items(self, first: Phrase, cue: Cue, has_wanted_before: bool) -> list[Phrase]:
        """Rule 2: return the items of a list that share the cue of the first one."""
        return self._lists.items(first, cue.kind, has_wanted_before)

    def _assign_place(self, negation: Negation, negations: Sequence[Negation]) -> Negation:
        """Rule 3: assign the place at the end to the wanted or to the unwanted part."""
        return self._places.assign(negation, negations)

    def _with_modifiers(
        self, phrase: Phrase, cue: Cue, has_wanted_before: bool
    ) -> tuple[Phrase, bool]:
        """Rule 4: extend a negated noun by its modifiers; return also whether it has any."""
        if phrase.kind != "noun" or cue.kind == "minus":
            return phrase, False
        extended = self._modifiers.extend(phrase, cue.kind, has_wanted_before)
        noun = self.phrases.noun_phrase(extended.start)
        return extended, noun is not None and extended.end > noun.end

    def _denied_before(self, cue: Cue, first: int) -> Negation | None:
        """Rule 5: return what a cue denies before it; words before `first` are denied already."""
        return self._backward.find(cue, first)

    def _except(self, negations: list[Negation], cue: Cue) -> list[Negation] | None:
        """Rule 6: take a denial back for an exception; None if the exception is unwanted."""
        status = self._exceptions.status(cue, negations)
        if status == "unwanted":
            return None
        if status == "none":
            return negations
        return self._exceptions.take_back(cue, negations)

    def _extend_to_next_part(self, negation: Negation, negations: Sequence[Negation]) -> Negation:
        """Rule 7: extend what is denied apart to the next comma or conjunction."""
        return self._parts.extend(negation, negations)

    # For rule 1

    def _absence_start(self, cue: int) -> int:
        """Return the first word of "in the complete absence of"; elsewhere the cue."""
        if self.phrases.word(cue) not in _ABSENCES:
            return cue
        start = cue
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
        is_relative = "WH" in {phrases.tag(cue - 1), phrases.tag(cue - 2)}
        end = last.end
        while not self._ends_clause(end, is_relative):
            end += 1

        starts_clause = phrases.word(end) == "while" or phrases.tag(end + 1) == "PRON"
        wants_after = phrases.tag(end) == "CONJ" and starts_clause
        if end == last.end or not (is_composed or wants_after):
            return negation
        return negation.ending(end, last.setting)

    def _ends_clause(self, i: int, is_relative: bool) -> bool:
        phrases = self.phrases
        tag = phrases.tag(i)
        if tag == "CONJ":
            starts_clause = phrases.tag(i + 1) in {"PRON", "NEG", "ADP", *VERB_TAGS}
            return phrases.word(i) in {"while", "but"} or starts_clause
        if tag in {"", "PUNCT", "NEG"} or (is_relative and tag in FINITE_TAGS):
            return True
        return cues().get(phrases.word(i), "except") not in {"except", "order"}

    # For rule 2

    def _follows_quality(self, cue: Cue) -> bool:
        """Return whether a cue continues a description: "a red, not | blue and round car"."""
        if cue.kind != "not" or self.phrases.tag(cue.start - 1) != "PUNCT":
            return False
        return self.phrases.tag(cue.start - 2) == "ADJ"

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
