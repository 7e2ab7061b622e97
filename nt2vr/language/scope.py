"""Negation cues of a sentence and their scopes, as word positions.

Rules, applied to tagged words and phrases (`nt2vr.language.phrases`):

1. A cue ("not", "without", "instead of" …) negates the phrase after it: a verb with its objects, a noun, a place or a
   quality. Cues with nothing after them are ignored, and so are those in idioms ("not only").
2. Lists share a cue: "not wine or beer", "not eating and drinking". A verb with objects of its own after "and" is
   wanted again: "not running around and playing a guitar" (nT2VR, Table 6).
3. A place at the end of a negated phrase stays wanted if the query otherwise wants only a subject: "a man is not
   dancing on the beach" wants a man on the beach. If the query wants more (nT2VR's composed queries: A and not B), or
   the verb requires its place (sit on a stool), the place is unwanted too.
4. Modifiers of a negated noun belong to it if it names actors in general, otherwise to the rest of the sentence: "a
   beach without people swimming", but "a woman without a hat dancing", "a horse without a rider jumping".

Negation by meaning alone ("hatless", "fails to sing") is not detected.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from nt2vr.language.phrases import Phrase, Phrases
from nt2vr.language.tagger import FINITE_TAGS, VERB_TAGS
from nt2vr.language.wordlists import words

CueKind = Literal["not", "no", "without", "nobody", "minus"]
_CUES: tuple[tuple[CueKind, tuple[str, ...]], ...] = (
    ("not", ("not", "n't", "never", "no longer", "neither", "nor", "but not", "rather than", "as opposed to")),
    ("not", ("instead of", "except", "except for", "except from", "other than", "apart from", "aside from")),
    ("not", ("anything but", "everything but", "everyone but", "all but")),
    ("no", ("no", "zero")),
    ("without", ("without", "w/o", "with out", "sans", "excluding", "minus", "lacking")),
    ("without", ("free of", "free from", "devoid of", "empty of", "absence of")),
    ("nobody", ("nobody", "no one", "noone", "none", "nothing")),
    ("minus", ("-",)),
)
CUES: dict[str, CueKind] = {cue: kind for kind, cues in _CUES for cue in cues}
NO_NEGATION = frozenset({  # idioms; "can't" is tokenized as "ca n't"
    "not only", "not just", "not merely", "not far", "why not", "whether or not", "no doubt", "without doubt",
    "without a doubt", "no wonder", "no matter", "nothing but", "none other than", "no other than", "with or without",
    "ca n't stop", "ca n't help", "ca n't wait", "can not stop", "can not help", "can not wait", "a no", "the no",
})  # fmt: skip
_OPENERS = frozenset(run.partition(" ")[0] for run in (*CUES, *NO_NEGATION))  # no other word starts a cue or an idiom
FILLERS = frozenset({  # these only mean "in the picture"
    "in sight", "in view", "in it", "in them", "on it", "at all", "anywhere", "around", "visible", "to be seen",
    "there", "please",
})  # fmt: skip
_HELD = words("wear hold carry eat drink use play")  # "wearing no hat": the verb is unwanted too
_LEADING = words("just only also instead then rather simply but and or while please")
_DANGLING = words(
    "with there where that when but just only having containing showing although though yet however for about to of "
    "please"
)
_SUBJECTS = words("i we you it there")
_LONGEST = 4  # words in a cue, an idiom or a filler


class Stretch(NamedTuple):
    """Wanted words `start` to `end` (exclusive), and the text that links them to the previous stretch."""

    start: int
    end: int
    link: str


@dataclass(frozen=True)
class Negation:
    """One cue with the phrases it negates.

    Attributes:
        kind: class of the cue; determines what it can negate.
        cue: first word of the cue.
        after_cue: first word after the cue.
        items: negated phrases, each reaching from its `start` to its `core`.
        start: words `start` to `end` (exclusive) are excluded from the wanted part.
        end: see `start`.
    """

    kind: CueKind
    cue: int
    after_cue: int
    items: tuple[Phrase, ...]
    start: int
    end: int


class ScopeFinder:
    """Finds the negations in one tagged sentence, and the wanted stretches around them."""

    def __init__(self, phrases: Phrases) -> None:
        """Prepare to search the sentence behind `phrases`."""
        self.phrases, self.num_words = phrases, len(phrases.tokens)

    def negations(self) -> list[Negation]:
        """Return all negations from left to right."""
        found: list[Negation] = []
        for kind, cue, after_cue in self._cues():
            if found and cue < found[-1].end:
                continue
            before = self._wanted_words(found, cue)
            negation = self._negation(kind, cue, after_cue, bool(before))
            if negation:
                found.append(self._to_clause_end(negation, self._acts(before)))
        return [self._without_setting(negation, found) for negation in found]

    def _cues(self) -> Iterator[tuple[CueKind, int, int]]:
        i = 0
        while i < self.num_words:
            if self.phrases.words[i] not in _OPENERS:
                i += 1
                continue
            idiom, length = self._longest(NO_NEGATION, i), self._longest(CUES, i)
            if length and not idiom:
                kind = CUES[" ".join(self.phrases.words[i : i + length])]
                if kind != "minus" or self.phrases.is_prefix(i):
                    yield kind, i, i + length
            i += idiom or length or 1

    def _longest(self, runs: Container[str], i: int) -> int:
        """Length in words of the longest of `runs` that starts at word i; 0 if none does."""
        longest = min(_LONGEST, self.num_words - i)
        lengths = (n for n in range(longest, 0, -1) if " ".join(self.phrases.words[i : i + n]) in runs)
        return next(lengths, 0)

    def _negation(self, kind: CueKind, cue: int, after_cue: int, wanted_before: bool) -> Negation | None:
        phrases = self.phrases
        first = self._first_item(kind, cue, after_cue)
        if first is None or (kind == "without" and phrases.tag(first.start) in {"ADJ", "VBN", *FINITE_TAGS}):
            return None
        if first.object and first.kind == "verb" and not wanted_before and phrases.tag(first.end) in FINITE_TAGS:
            first = replace(first, end=first.object, core=first.object)  # instead of singing | a man dances
        if first.kind == "noun" and kind != "minus":
            first = self._with_modifiers(first, kind, wanted_before)
        modified = first.kind == "noun" and first.end > getattr(phrases.noun_phrase(first.start), "end", first.end)
        items = [first] if modified or kind in {"minus", "nobody"} else self._listed(first, kind, wanted_before)
        holds = kind == "no" and phrases.tag(cue - 1) in VERB_TAGS and phrases.lemma(cue - 1) in _HELD
        end = items[-1].end
        end += self._filler(end)
        return Negation(kind, cue, after_cue, tuple(items), cue - holds, end)

    def _first_item(self, kind: CueKind, cue: int, after_cue: int) -> Phrase | None:
        """Return the phrase that a cue negates; it is the cue itself for "nobody" without a verb."""
        phrases = self.phrases
        if kind == "minus":
            return Phrase("noun", after_cue, after_cue + 1, after_cue + 1, after_cue)
        i = self._skip_helpers(kind, cue, after_cue)
        if kind != "nobody" or phrases.verb_phrase(i) or (phrases.word(cue) == "none" and phrases.place_phrase(i)):
            return phrases.any_phrase(i)
        return Phrase("noun", cue, after_cue, after_cue, cue)

    def _skip_helpers(self, kind: CueKind, cue: int, i: int) -> int:
        """Skip the words between a cue and what it negates, from word i on."""
        phrases = self.phrases
        if phrases.word(cue) == "nor" and phrases.tag(i + 1) == "PRON" and phrases.tag(i + 2) in VERB_TAGS:
            i += 2  # nor does he | sing
        if phrases.word(i) == "of" and (group := phrases.noun_phrase(i + 1)):  # none of them
            i = group.end
        while (kind == "nobody" and phrases.tag(i) == "WH") or (
            phrases.is_auxiliary(i) and not phrases.verb_phrase(i)
        ):
            i += 1
        return i

    def _to_clause_end(self, negation: Negation, composed: bool) -> Negation:
        """Extend B to the end of its clause in a composed query (A and not B, not B while A)."""
        phrases, last, end = self.phrases, negation.items[-1], negation.items[-1].end
        relative = phrases.tag(negation.cue - 1) == "WH" or phrases.tag(negation.cue - 2) == "WH"
        if last.kind == "noun" or negation.end > last.end:
            return negation
        while end < self.num_words and not self._ends_clause(end, relative):
            end += 1
        follows = phrases.tag(end) == "CONJ" and (phrases.word(end) == "while" or phrases.tag(end + 1) == "PRON")
        if end == last.end or not (composed or follows):
            return negation
        core = last.core if last.core < last.end else end
        return replace(negation, items=(*negation.items[:-1], replace(last, end=end, core=core)), end=end)

    def _ends_clause(self, i: int, relative: bool) -> bool:
        phrases = self.phrases
        if phrases.tag(i) == "CONJ":
            return phrases.word(i) in {"while", "but"} or phrases.tag(i + 1) in {"PRON", "NEG", "ADP", *VERB_TAGS}
        return (
            phrases.tag(i) in {"PUNCT", "NEG"}
            or phrases.word(i) in CUES
            or (relative and phrases.tag(i) in FINITE_TAGS)
        )

    def _filler(self, i: int) -> int:
        """Number of filler words at word i: "in sight", "around", the "on" of "no shirt on"."""
        ends_on = self.phrases.word(i) == "on" and (
            self.phrases.tag(i + 1) == "VBG" or not self.phrases.place_phrase(i)
        )
        return self._longest(FILLERS, i) or int(ends_on)

    def _with_modifiers(self, noun: Phrase, kind: CueKind, wanted_before: bool) -> Phrase:
        """Rule 4: extend a noun that can act by the verbs, places and relative clauses after it."""
        phrases = self.phrases
        generic = phrases.tag(noun.start) != "DET" or phrases.word(noun.start) == "any"
        acts = kind == "nobody" or (kind in {"no", "without"} and generic and phrases.is_actor(noun))
        takes_clause = acts or not wanted_before
        takes_finite = kind == "no" and not wanted_before
        end, core = noun.end, None
        while True:
            if phrases.word(end) == "as" and (as_phrase := phrases.noun_phrase(end + 1)):
                end = as_phrase.end
            elif not takes_clause:
                return replace(noun, end=end, core=end)
            elif (place := phrases.place_phrase(end)) and not self._filler(end):
                core = end if core is None and phrases.is_setting(place) else core
                end = place.end
            elif verb := self._modifying_verb(end, takes_finite):
                core = core or (verb.core if verb.core < verb.end else None)
                end = verb.end
            else:
                return replace(noun, end=end, core=core or end)

    def _modifying_verb(self, i: int, takes_finite: bool) -> Phrase | None:
        """Return "swimming", "dressed in red" or "who swim" at word i, and "swim" if `takes_finite`."""
        phrases = self.phrases
        clause = i + 1 if phrases.tag(i) == "WH" else i
        is_finite = phrases.tag(clause) in FINITE_TAGS
        if phrases.tag(clause) in {"VBG", "VBN"} or (is_finite and (clause > i or takes_finite)):
            return phrases.verb_phrase(clause)
        return None

    def _listed(self, first: Phrase, kind: CueKind, wanted_before: bool) -> list[Phrase]:
        """Rule 2: return the list items that share the cue."""
        items, pending, j = [first], list[Phrase](), first.end
        while True:
            k = j + (self.phrases.word(j) == ",")
            conjunction = self.phrases.word(k) if self.phrases.word(k) in {"and", "or"} else ""
            k += bool(conjunction)
            item = self._next_item(first, k) if k > j else None
            if item is None or not self._shares(first, item, conjunction, kind):
                break
            pending.append(item)
            j = item.end
            if conjunction:
                items, pending = items + pending, []
        if wanted_before and first.kind == "noun" and all(item.end - item.start == 1 for item in pending):
            items += pending  # a beach, no dogs, cats
        return items

    def _next_item(self, first: Phrase, i: int) -> Phrase | None:
        phrases = self.phrases
        if first.kind == "noun" and phrases.tag(i) == "VBG":
            return None  # without a hat and | wearing sunglasses
        finders = {"verb": phrases.verb_phrase, "noun": phrases.noun_phrase, "place": phrases.place_phrase}
        item = finders.get(first.kind, phrases.quality)(i)
        if item is None and first.object is not None:
            item = phrases.noun_phrase(i)
        return item

    def _shares(self, first: Phrase, item: Phrase, conjunction: str, kind: CueKind) -> bool:
        phrases = self.phrases
        if item.kind == "verb":
            bare = first.end - first.start == 1 == item.end - item.start
            return phrases.tag(first.head) == phrases.tag(item.head) and (conjunction != "and" or bare)
        if not conjunction and phrases.is_actor(item) and phrases.tag(item.end) == "VBG":
            return False  # a party without balloons, | people dancing
        if phrases.tag(item.start) == "PRON" or (
            phrases.tag(item.end) in FINITE_TAGS and (phrases.tag(item.start) == "DET" or phrases.is_actor(item))
        ):  # a new clause
            return False
        if conjunction == "and" and phrases.tag(item.start) == "DET":
            return kind != "no" and phrases.is_actor(item) == (first.kind == "noun" and phrases.is_actor(first))
        return True

    def _without_setting(self, negation: Negation, found: Sequence[Negation]) -> Negation:
        """Rule 3: assign the place at the end to the wanted or to the unwanted part."""
        last = negation.items[-1]
        if last.core == last.end:
            return negation
        wanted = self._wanted_words(found)
        places = [place for i in wanted if (place := self.phrases.place_phrase(i)) and self.phrases.is_setting(place)]
        if self._acts(wanted) or places or (last.kind == "noun" and wanted):
            return replace(negation, items=(*negation.items[:-1], replace(last, core=last.end)))
        return replace(negation, end=last.core)

    def _acts(self, words: Iterable[int]) -> bool:
        return any(self.phrases.tag(i) in VERB_TAGS and not self.phrases.is_auxiliary(i) for i in words)

    def _wanted_words(self, negations: Sequence[Negation], end: int | None = None) -> list[int]:
        return [i for stretch in self.wanted(negations, end) for i in range(stretch.start, stretch.end)]

    def wanted(self, negations: Sequence[Negation], end: int | None = None) -> list[Stretch]:
        """Return the trimmed stretches outside the negations, up to word `end` (exclusive; default: all)."""
        end = self.num_words if end is None else end
        edges = [0, *(edge for negation in negations for edge in (negation.start, negation.end)), end]
        stretches: list[Stretch] = []
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            subject_only = bool(stretches) and not self._acts(range(stretches[-1].start, stretches[-1].end))
            start, stop = self._trimmed(first, last, starts=not stretches, subject_only=subject_only)
            if start < stop:
                stretches.append(Stretch(start, stop, self._link(first, start)))
        return stretches

    def _trimmed(self, start: int, stop: int, *, starts: bool, subject_only: bool) -> tuple[int, int]:
        """Drop words left dangling at the edges of a stretch without its negation: "who is", "and he", commas."""
        phrases, first = self.phrases, start
        while start < stop and (phrases.tag(start) in {"PUNCT", "CONJ"} or phrases.word(start) in _LEADING):
            start += 1
        if subject_only and phrases.tag(start) == "PRON" and phrases.word(start) != "there":
            start += 1
        if starts and first > 0 and (place := phrases.place_phrase(start)) and phrases.is_setting(place):
            start += 1  # nobody in the street: the street
        while start < stop < self.num_words and self._dangles(stop - 1):
            stop -= 1
        while stop > start and phrases.tag(stop - 1) == "PUNCT":
            stop -= 1
        return start, stop

    def _dangles(self, i: int) -> bool:
        """Return whether word i cannot end a stretch: a conjunction, an auxiliary, "with", the "he" of "and he"."""
        phrases = self.phrases
        if phrases.tag(i) == "PRON" and (
            phrases.tag(i - 1) in {"CONJ", "PUNCT", "WH"} or phrases.word(i) in _SUBJECTS
        ):
            return True
        return (
            phrases.tag(i) in {"PUNCT", "CONJ", "WH"}
            or phrases.word(i) in _DANGLING
            or phrases.is_auxiliary(i)
            or phrases.lemma(i) in {"have", "be"}
        )

    def _link(self, first: int, start: int) -> str:
        """Text before a stretch: its "and", "while", "as" or a comma if a new noun starts it, otherwise a space."""
        if self.phrases.tag(start) not in {"DET", "NOUN", "ADJ", "NUM", "PRON"}:
            return " "
        dropped = {self.phrases.tag(i) for i in range(first, start)}
        if "PRON" in dropped:  # a man | and he | dances
            return " "
        is_clause = self.phrases.tag(start) in {"DET", "NUM", "PRON"}  # while | a dog runs; but not: while | painting
        for joint in ("and", "while", "as") if is_clause else ("and",):
            if joint in self.phrases.words[first:start]:
                return f" {joint} "
        return ", " if "PUNCT" in dropped else " "
