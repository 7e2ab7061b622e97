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
from nt2vr.negation.parse.denied_phrases import DeniedPhraseFinder
from nt2vr.negation.parse.editing import EditFinder
from nt2vr.negation.parse.exceptions import ExceptionFinder
from nt2vr.negation.parse.negations import Cue, Negation
from nt2vr.negation.parse.phrases import CLAUSE_EDGES, NEW_START, Phrase, Phrases
from nt2vr.negation.parse.tokens import FINITE_TAGS, VERB_TAGS
from nt2vr.negation.parse.wanted import WantedFinder
from nt2vr.negation.parse.wordlists import listed, words

# Kinds of cues that deny what comes after them.
_FORWARD = frozenset({"not", "no", "without", "order", "nobody", "minus"})
_MAY_STAND_APART = _FORWARD - {"minus"}
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
        nothing_else = self._nothing_else(cue)
        if nothing_else is not None:
            return nothing_else

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
        if not negation.items or negation.cue.kind == "edit":
            return negation
        last = negation.items[-1]
        if last.core == last.end:
            return negation

        with_place = negation.ending(last.end, last.end)
        # The verb requires its place: somebody who doesn't | live in a house.
        if self._is_typed:
            requires_place = self.phrases.lemma(last.head) in listed("dwelling")
            requires_place = requires_place or self._is_at_somebody(last.core)
            if requires_place or self._denies_for_kind(negation.cue.start):
                return with_place

        wanted = self.wanted.words(negations)
        if self._is_place_of_wanted(negation, wanted):
            return replace(negation, end=last.core)
        is_order = negation.cue.kind == "order" and self._is_typed and not self._edits
        if is_order or self._wants_more(last, wanted):
            return with_place
        return replace(negation, end=last.core)

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
        if not negation.items or negation.end != negation.items[-1].core:
            return negation
        if not self._stands_apart(negation, negations):
            return negation
        end = negation.end
        if self.phrases.tag(end) in self._tags_of_both(negation, negations):
            return negation

        starts = {one.start for one in negations}
        while end not in starts and not self._starts_part(end):
            end += 1
        return negation.ending(end=end, core=end)

    # For rule 1

    def _nothing_else(self, cue: Cue) -> Negation | None:
        """Return "no other dogs" and "nobody else", which deny an open set of kinds."""
        phrases = self.phrases
        if phrases.word(cue.end - 1) == "else":
            start = cue.end - 1
            is_nothing = phrases.word(cue.start) == "nothing"
            applies = is_nothing or not listed("humans").isdisjoint(phrases.words)
        else:
            start = cue.end
            if phrases.word(start) in {"any", "the"}:
                start += 1
            is_other = phrases.word(start) in {"other", "others"}
            applies = cue.kind in {"no", "without"} and is_other
        if not applies or phrases.word(start + 1) in {"than", "but", "except"}:
            return None

        noun = phrases.noun_phrase(start)
        end = noun.end if noun else start + 1
        kind = " ".join(phrases.words[start + 1 : end])
        if not kind:
            is_people = cue.kind == "nobody" and phrases.word(cue.start) != "nothing"
            kind = "people" if is_people else "anything"
        return Negation(
            cue,
            items=(),
            start=self._absence_start(cue.start),
            end=self._modifiers.after_filler(end),
            other_kinds=(kind,),
        )

    def _absence_start(self, cue: int) -> int:
        """Return the first word of "in the complete absence of"; elsewhere the cue."""
        if self.phrases.word(cue) not in _ABSENCES:
            return cue
        start = cue
        while self.phrases.word(start - 1) in listed("before_absence"):
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
        return negation.ending(end, last.core if last.core < last.end else end)

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
                return replace(item, end=place.start, core=place.start)
        return item

    # For rule 3

    def _denies_for_kind(self, cue: int) -> bool:
        """Return whether a denial is of a kind: "animals that don't | hide in trees"."""
        phrases = self.phrases
        while phrases.is_auxiliary(cue - 1):
            cue -= 1
        if phrases.tag(cue - 1) != "WH":
            return False
        start = phrases.before(cue - 1, {"NOUN", "ADJ"})
        starts_clause = phrases.tag(start - 1) in CLAUSE_EDGES
        # But not: a man who isn't
        is_plural = phrases.word(cue - 2) != phrases.lemma(cue - 2)
        return starts_clause and is_plural

    def _is_at_somebody(self, place: int) -> bool:
        """Return whether what somebody does is meant for another: "doesn't bark | at people"."""
        somebody = self.phrases.noun_phrase(place + 1)
        is_at = self.phrases.word(place) == "at"
        return is_at and somebody is not None and self.phrases.is_actor(somebody)

    def _is_place_of_wanted(self, negation: Negation, wanted: list[int]) -> bool:
        """Return whether a place is that of what is wanted after it.

        An example is "there is no bread on | the table, only fruit".
        """
        last = negation.items[-1]
        if last.kind != "noun" or self.phrases.word(last.core + 1) != "the":
            return False
        denies_all = negation.cue.kind in {"no", "nobody"}
        if not denies_all and self.phrases.word(negation.cue.start) != "nor":
            return False
        return not wanted or min(wanted) >= negation.end

    def _wants_more(self, last: Phrase, wanted: list[int]) -> bool:
        """Return whether a query wants more than a subject: an action, a place, or any noun."""
        if last.kind == "noun" and wanted:
            return True
        if self.wanted.acts(wanted):
            return True
        for i in wanted:
            place = self.phrases.place_phrase(i)
            if place and self.phrases.is_setting(place):
                return True
        return False

    # For rule 7

    def _stands_apart(self, negation: Negation, negations: Sequence[Negation]) -> bool:
        """Return whether a negation starts a part of its own, or is one such as "rather than"."""
        phrases = self.phrases
        cue = negation.cue.start
        if cue == 0 or negation.cue.kind not in _MAY_STAND_APART:
            return False
        if negation.items[-1].kind == "quality":
            return False

        is_joined = phrases.tag(cue - 1) in {"PUNCT", "CONJ"} and phrases.word(cue - 1) != "'s"
        if is_joined or phrases.words[cue : cue + 2] == ["but", "not"]:
            return True
        if phrases.word(cue) not in listed("contrasts"):
            return False

        is_pronoun = phrases.word(negation.end - 1) in {"one", "ones", "those"}
        if phrases.tag(negation.end) != "ADP" or is_pronoun:
            return True
        wanted_before = [i for i in self.wanted.words(negations) if i < cue]
        if self.wanted.acts(wanted_before):
            return True
        return any(phrases.place_phrase(i) for i in wanted_before)

    def _tags_of_both(self, negation: Negation, negations: Sequence[Negation]) -> frozenset[str]:
        """Return the tags of words that are of both parts: "a dog and not a cat | is sleeping"."""
        phrases = self.phrases
        cue = negation.cue.start
        if negation.cue.kind == "no":
            return frozenset()
        is_joint = phrases.word(cue - 1) == "and" or phrases.word(cue) in {"rather", "instead"}
        if negation.cue.kind == "not" and is_joint:
            wanted_before = self.wanted.words(negations, negation.start)
            if not self.wanted.acts(wanted_before):
                return VERB_TAGS | {"ADP"}
        return FINITE_TAGS

    def _starts_part(self, i: int) -> bool:
        tag = self.phrases.tag(i)
        word = self.phrases.word(i)
        if tag in {"", "PUNCT"} or word in NEW_START:
            return True
        return tag == "CONJ" and word != "or"
