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

from dataclasses import replace

from nt2vr.negation.parse.cues import cues, denied_by_nobody, find_cues
from nt2vr.negation.parse.denied_before import negation_before
from nt2vr.negation.parse.denied_lists import list_items, split_runs
from nt2vr.negation.parse.denied_modifiers import after_filler, with_modifiers
from nt2vr.negation.parse.denied_parts import to_end_of_part
from nt2vr.negation.parse.denied_phrases import denied_phrase, verb_before
from nt2vr.negation.parse.denied_places import with_place
from nt2vr.negation.parse.editing import find_edits
from nt2vr.negation.parse.exceptions import exception_status, take_back
from nt2vr.negation.parse.negations import Cue, Negation, Negations
from nt2vr.negation.parse.other_kinds import negation_of_other_kinds
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.tokens import VERB_TAGS
from nt2vr.negation.parse.wanted import wanted_positions
from nt2vr.negation.parse.wordlists import words

# Kinds of cues that deny what comes after them.
_FORWARD = words("not no without order nobody minus")
_CLAUSE_STARTS = VERB_TAGS | {"PRON", "NEG", "ADP"}
_ABSENCES = words("absence lack shortage")


class ScopeFinder:
    """Finds the negations in one tagged sentence."""

    def __init__(self, phrases: Phrases, editing: bool, typed: bool) -> None:
        """Prepare a search.

        Args:
            phrases: the sentence.
            editing: whether words of editing deny what they replace or remove.
            typed: whether a person typed the sentence as a query, so that every cue that can
                denies something.
        """
        self.phrases = phrases
        self._is_typed = typed
        edits = find_edits(phrases) if editing else ()
        self._edits = {edit.start: edit for edit in edits}

    def negations(self) -> list[Negation]:
        """Return the negations from left to right."""
        negations: list[Negation] = []
        for cue in find_cues(self.phrases, self._edits):
            negations = self._with_cue(negations, cue)
        # Rules 3 and 7 ask what is wanted, so they need all negations.
        has_edits = bool(self._edits)
        placed = [
            with_place(
                self.phrases, negation, negations, is_typed=self._is_typed, has_edits=has_edits
            )
            for negation in negations
        ]
        return [to_end_of_part(self.phrases, negation, placed) for negation in placed]

    def _with_cue(self, negations: list[Negation], cue: Cue) -> list[Negation]:
        """Return the negations and that of one more cue; most rules add one, an exception two."""
        if cue.kind == "except" and (not negations or cue.start >= negations[-1].cue.end):
            match exception_status(self.phrases, cue, negations):
                case "none":
                    return negations
                case "wanted":
                    return take_back(self.phrases, cue, negations)
            cue = cue._replace(kind="not")

        negation = self._negation(cue, negations)
        if negation is None:
            return negations
        return [*negations, negation]

    def _negation(self, cue: Cue, negations: Negations) -> Negation | None:
        """Return what a cue denies; None if that is nothing, or denied already."""
        first = negations[-1].end if negations else 0
        if cue.start < first:
            return None
        if cue.kind == "edit":
            return self._edits[cue.start]
        if cue.kind == "order" and not self.phrases.starts_clause(cue.start):
            return None
        return negation_before(self.phrases, cue, first) or self._denied_after(cue, negations)

    def _denied_after(self, cue: Cue, negations: Negations) -> Negation | None:
        """Return the negation of what comes after a cue, by the rules 1, 2 and 4."""
        if cue.kind not in _FORWARD:
            return None
        nothing_else = negation_of_other_kinds(self.phrases, cue)
        if nothing_else:
            return replace(nothing_else, start=_absence_start(self.phrases, cue.start))
        phrase = denied_phrase(self.phrases, cue, self._is_typed)
        if phrase is None:
            return None

        wanted_before = wanted_positions(self.phrases, negations, cue.start)
        items = self._items(phrase, cue, bool(wanted_before))
        negation = _negation_of(self.phrases, cue, items)
        is_composed = self.phrases.acts(wanted_before)
        return _extend_to_clause_end(self.phrases, negation, is_composed)

    def _items(self, phrase: Phrase, cue: Cue, has_wanted_before: bool) -> list[Phrase]:
        """Return a denied phrase with its modifiers, or the list to which it belongs."""
        if cue.kind == "minus":
            return [phrase]
        first = phrase
        if phrase.kind == "noun":
            first = with_modifiers(
                self.phrases, phrase, kind=cue.kind, has_wanted_before=has_wanted_before
            )

        items = [first]
        if _may_start_list(self.phrases, first, cue):
            items = list_items(
                self.phrases, first, kind=cue.kind, has_wanted_before=has_wanted_before
            )
        if self._is_typed:
            return _as_typed(self.phrases, items)
        return items


def _may_start_list(phrases: Phrases, first: Phrase, cue: Cue) -> bool:
    """Return whether the cue of a denied phrase may be shared by more phrases after it."""
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


def _negation_of(phrases: Phrases, cue: Cue, items: list[Phrase]) -> Negation:
    first = items[0]
    thing = ""
    if first.start < cue.end:
        thing = denied_by_nobody(phrases, cue)
    verb = verb_before(phrases, cue, first)
    return Negation(
        cue=cue,
        items=tuple(items),
        start=_absence_start(phrases, cue.start) if verb is None else verb,
        end=after_filler(phrases, items[-1].end),
        verb=verb,
        thing=thing,
    )


def _absence_start(phrases: Phrases, cue: int) -> int:
    """Return the first word of "in the complete absence of"; elsewhere the cue."""
    start = cue
    if phrases.word(cue) not in _ABSENCES:
        return start
    while phrases.is_listed(start - 1, "before_absence"):
        start -= 1
    return start


def _extend_to_clause_end(phrases: Phrases, negation: Negation, is_composed: bool) -> Negation:
    """Extend B to the end of its clause in a composed query (A and not B, not B while A)."""
    last = negation.items[-1]
    if last.kind == "noun" or negation.end > last.end:
        return negation

    cue = negation.cue.start
    is_relative = phrases.tag(cue - 1) == "WH" or phrases.tag(cue - 2) == "WH"
    end = last.end
    while not _ends_clause(phrases, end, is_relative):
        end += 1
    if is_composed or _wants_clause(phrases, end):
        return negation.ending(end, last.setting)
    return negation


def _wants_clause(phrases: Phrases, i: int) -> bool:
    """Return whether a clause that is wanted begins at word i: "while", "and he"."""
    if phrases.tag(i) != "CONJ":
        return False
    return phrases.word(i) == "while" or phrases.tag(i + 1) == "PRON"


def _ends_clause(phrases: Phrases, i: int, is_relative: bool) -> bool:
    tag = phrases.tag(i)
    if tag == "CONJ":
        joins_clauses = phrases.word(i) in {"while", "but"}
        return joins_clauses or phrases.tag(i + 1) in _CLAUSE_STARTS
    if tag in {"", "PUNCT", "NEG"}:
        return True
    if is_relative and phrases.is_finite(i):
        return True
    return cues().get(phrases.word(i), "except") not in {"except", "order"}


def _as_typed(phrases: Phrases, items: list[Phrase]) -> list[Phrase]:
    """Return the items as people mean them who leave out commas and words."""
    typed_items = []
    for item in items:
        for part in split_runs(phrases, item):
            typed_items.append(_without_place_of_other(phrases, part))
    return typed_items


def _without_place_of_other(phrases: Phrases, item: Phrase) -> Phrase:
    """Cut off a place with somebody else: "isn't kneeling | beside a king who"."""
    if item.kind != "verb" or phrases.tag(item.end) != "WH":
        return item
    for i in range(item.head + 1, item.end):
        place = phrases.place_phrase(i)
        if place and place.end == item.end:
            return replace(item, end=place.start, setting=None)
    return item
