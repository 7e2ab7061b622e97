"""Where the negation of a typed sentence stands and how far it reaches, in words.

The rules, over tagged words and phrases (`nt2vr.language.phrases`):

1. A cue ("not", "without", "instead of" …) negates the phrase that follows it: a verb with its objects, a noun, a
   place or a quality. A cue that nothing follows is none, nor is one in an idiom ("not only").
2. A list shares the cue: "not wine or beer", "not eating and drinking". After "and", a verb with objects of its own
   is wanted again: "not running around and playing a guitar" (nT2VR, Table 6).
3. The place at the end of a negated phrase stays wanted where the query wants nothing else but a subject: "a man is
   not dancing on the beach" wants a man on the beach. Where something else is wanted (nT2VR's composed queries: A and
   not B), or the verb needs its place (sit on a stool), all of B is unwanted.
4. What follows a negated noun belongs to it if the noun names actors at large, else to the rest: "a beach without
   people swimming", but "a woman without a hat dancing", "a horse without a rider jumping".

It does not judge meaning: "hatless" and "fails to sing" are no negations here.
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
NO_NEGATION = frozenset({  # idioms; "ca n't" is how "can't" is split into words
    "not only", "not just", "not merely", "not far", "why not", "whether or not", "no doubt", "without doubt",
    "without a doubt", "no wonder", "no matter", "nothing but", "none other than", "no other than", "with or without",
    "ca n't stop", "ca n't help", "ca n't wait", "can not stop", "can not help", "can not wait", "a no", "the no",
})  # fmt: skip
_OPENERS = frozenset(run.partition(" ")[0] for run in (*CUES, *NO_NEGATION))  # all else needs no closer look
FILLERS = frozenset({  # they only say "in the picture"
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
    """Words `start` to `end` (exclusive) of what stays wanted, and the text that links them to the stretch before."""

    start: int
    end: int
    link: str


@dataclass(frozen=True)
class Negation:
    """One cue and what it negates.

    Attributes:
        kind: what the cue is like, and so what it can negate.
        cue: its first word; `after_cue` is the first word after it.
        items: the negated phrases, each from `start` to `core`.
        start: words `start` to `end` (exclusive) are not part of the wanted.
    """

    kind: CueKind
    cue: int
    after_cue: int
    items: tuple[Phrase, ...]
    start: int
    end: int


class ScopeFinder:
    """Finds the negations of one tagged sentence, and what is left of it without them."""

    def __init__(self, phrases: Phrases) -> None:
        """Look at the sentence that `phrases` was made of."""
        self.phrases, self.num_words = phrases, len(phrases.tokens)

    def negations(self) -> list[Negation]:
        """Return all negations, from left to right."""
        found: list[Negation] = []
        for kind, cue, after_cue in self._cues():
            if found and cue < found[-1].end:
                continue
            before = self._kept_words(found, cue)
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
        """Number of words from word i on that together are one of `runs`; 0 if none."""
        longest = min(_LONGEST, self.num_words - i)
        lengths = (n for n in range(longest, 0, -1) if " ".join(self.phrases.words[i : i + n]) in runs)
        return next(lengths, 0)

    def _negation(self, kind: CueKind, cue: int, after_cue: int, wanted_before: bool) -> Negation | None:
        phrases = self.phrases
        i = after_cue
        if phrases.word(cue) == "nor" and phrases.tag(i + 1) == "PRON" and phrases.tag(i + 2) in VERB_TAGS:
            i += 2  # nor does he | sing
        if phrases.word(i) == "of" and (group := phrases.noun_phrase(i + 1)):  # none of them
            i = group.end
        while (kind == "nobody" and phrases.tag(i) == "WH") or (
            phrases.is_auxiliary(i) and not phrases.verb_phrase(i)
        ):
            i += 1
        if kind == "minus":
            first: Phrase | None = Phrase("noun", after_cue, after_cue + 1, after_cue + 1, after_cue)
        elif kind == "nobody" and not (
            phrases.verb_phrase(i) or (phrases.word(cue) == "none" and phrases.place_phrase(i))
        ):
            first = Phrase("noun", cue, after_cue, after_cue, cue)
        else:
            first = phrases.any_phrase(i)
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

    def _to_clause_end(self, negation: Negation, composed: bool) -> Negation:
        """In a composed query (A and not B, not B while A) all of clause B is unwanted, however it is built."""
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
        """Number of words at i that only say "in the picture": "in sight", "around", the "on" of "no shirt on"."""
        ends_on = self.phrases.word(i) == "on" and (
            self.phrases.tag(i + 1) == "VBG" or not self.phrases.place_phrase(i)
        )
        return self._longest(FILLERS, i) or int(ends_on)

    def _with_modifiers(self, noun: Phrase, kind: CueKind, wanted_before: bool) -> Phrase:
        """Rule 4: let a noun that can act take the verb, place or relative clause after it."""
        phrases = self.phrases
        generic = phrases.tag(noun.start) != "DET" or phrases.word(noun.start) == "any"
        acts = kind == "nobody" or (kind in {"no", "without"} and generic and phrases.is_actor(noun))
        takes_clause = acts or not wanted_before
        end, core = noun.end, None
        while True:
            as_phrase = phrases.word(end) == "as" and phrases.noun_phrase(end + 1)
            place = phrases.place_phrase(end)
            clause = end + 1 if phrases.tag(end) == "WH" else end
            is_verb = phrases.tag(clause) in {"VBG", "VBN"} or (
                phrases.tag(clause) in FINITE_TAGS and (clause > end or (kind == "no" and not wanted_before))
            )
            verb = phrases.verb_phrase(clause) if is_verb else None
            if as_phrase:
                end = as_phrase.end
            elif not takes_clause:
                return replace(noun, end=end, core=end)
            elif place and not self._filler(end):
                core = end if core is None and phrases.is_setting(place) else core
                end = place.end
            elif verb:
                core = core or (verb.core if verb.core < verb.end else None)
                end = verb.end
            else:
                return replace(noun, end=end, core=core or end)

    def _listed(self, first: Phrase, kind: CueKind, wanted_before: bool) -> list[Phrase]:
        """Rule 2: the items of a list that share the cue."""
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
        """Rule 3: give the place at the end back to the wanted, or let the unwanted part have it."""
        last = negation.items[-1]
        if last.core == last.end:
            return negation
        kept = self._kept_words(found)
        places = [place for i in kept if (place := self.phrases.place_phrase(i)) and self.phrases.is_setting(place)]
        if self._acts(kept) or places or (last.kind == "noun" and kept):
            return replace(negation, items=(*negation.items[:-1], replace(last, core=last.end)))
        return replace(negation, end=last.core)

    def _acts(self, words: Iterable[int]) -> bool:
        return any(self.phrases.tag(i) in VERB_TAGS and not self.phrases.is_auxiliary(i) for i in words)

    def _kept_words(self, negations: Sequence[Negation], end: int | None = None) -> list[int]:
        return [i for stretch in self.kept(negations, end) for i in range(stretch.start, stretch.end)]

    def kept(self, negations: Sequence[Negation], end: int | None = None) -> list[Stretch]:
        """Return the trimmed stretches outside the negations, up to word `end` (exclusive; None is the sentence's)."""
        end = self.num_words if end is None else end
        edges = [0, *(edge for negation in negations for edge in (negation.start, negation.end)), end]
        kept: list[Stretch] = []
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            subject_only = bool(kept) and not self._acts(range(kept[-1].start, kept[-1].end))
            start, stop = self._trimmed(first, last, starts=not kept, subject_only=subject_only)
            if start < stop:
                kept.append(Stretch(start, stop, self._link(first, start)))
        return kept

    def _trimmed(self, start: int, stop: int, *, starts: bool, subject_only: bool) -> tuple[int, int]:
        """Drop what dangles at the edges of a stretch once the negation is out: "who is", "and he", commas."""
        phrases, first = self.phrases, start
        while start < stop and (phrases.tag(start) in {"PUNCT", "CONJ"} or phrases.word(start) in _LEADING):
            start += 1
        if subject_only and phrases.tag(start) == "PRON" and phrases.word(start) != "there":
            start += 1
        if starts and first > 0 and (place := phrases.place_phrase(start)) and phrases.is_setting(place):
            start += 1  # nobody in the street: the street
        while stop > start and stop < self.num_words:
            last = stop - 1
            pronoun = phrases.tag(last) == "PRON" and (
                phrases.tag(last - 1) in {"CONJ", "PUNCT", "WH"} or phrases.word(last) in _SUBJECTS
            )
            if not (
                phrases.tag(last) in {"PUNCT", "CONJ", "WH"}
                or phrases.word(last) in _DANGLING
                or phrases.is_auxiliary(last)
                or self.phrases.lemma(last) in {"have", "be"}
                or pronoun
            ):
                break
            stop = last
        while stop > start and phrases.tag(stop - 1) == "PUNCT":
            stop -= 1
        return start, stop

    def _link(self, first: int, start: int) -> str:
        """How a stretch goes on: with its "and", "while", "as" or a comma before a new noun, else with nothing."""
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
