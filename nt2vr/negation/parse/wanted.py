"""Negations, and the wanted part of a sentence: the text outside of them, without dangling words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from nt2vr.negation.parse.phrases import HELPING_WORDS, NEW_START, Phrase, Phrases
from nt2vr.negation.parse.tokens import FINITE_TAGS, VERB_TAGS
from nt2vr.negation.parse.wordlists import Runs, listed, listed_runs, words

CueKind = Literal[
    "not", "no", "without", "nobody", "except", "minus", "order", "absent", "free", "less", "double", "edit"
]
"""What a cue denies:

not: the verb, noun, place or quality after it; the thing before it, if the words after it only mean "in the picture".
no, without: the thing after it; for "without" also what somebody does.
order: the thing after it, at the start of a clause only.
nobody: people, or what nobody does.
except: the thing after it, unless it is an exception from a denial: then nothing is denied, and the thing is wanted.
minus: the next word, to which it is attached.
absent: the thing before it, or after it if the order is inverted.
free: the noun to which it is attached.
less: the thing that its word names, in LESS.
double: nothing, since two negations affirm.
edit: what is replaced or removed, or nothing: see `nt2vr.negation.parse.editing`.
"""


_ABOUT = words("in from within on of throughout across inside")
_POINTING = words("the this that these any its our a an given entire whole current same")


class Presence:
    """Finds such words in one sentence."""

    def __init__(self, phrases: Phrases) -> None:
        self.phrases, self.num_words = phrases, len(phrases.tokens)

    def longest(self, runs: Runs, i: int) -> int:
        """Return the length in words of the longest of `runs` that starts at word i; 0 if none does."""
        first = self.phrases.word(i)
        if first not in runs.openers:
            return 0
        if (first, self.phrases.word(i + 1)) not in runs.pairs:
            return int(first in runs)
        words = self.phrases.words[i : i + runs.longest]
        return next((n for n in range(len(words), 0, -1) if " ".join(words[:n]) in runs), 0)

    def after_frame(self, i: int) -> int:
        """Return the end of "in this image", "in sight", "anywhere in the picture" at word i; i without one."""
        while (end := i + self.longest(listed_runs("fillers"), i)) > i or (end := self._after_medium(i)) > i:
            i = end
        return i

    def _after_medium(self, i: int) -> int:
        phrases, j = self.phrases, i + 1
        if phrases.word(i) not in _ABOUT:
            return i
        while phrases.word(j) in _POINTING:
            j += 1
        is_last = phrases.tag(j + 1) not in {"NOUN", "POS"} and phrases.word(j + 1) != "of"
        return j + 1 if phrases.word(j) in listed("frames") and is_last else i

    def after_predicate(self, i: int) -> int:
        """Return the end of "visible", "to be seen here", "part of this scene" at word i; i without one."""
        phrases, j, there = self.phrases, i, listed("present", "appearing")
        while phrases.word(j) in listed("helping") and phrases.word(j + 1):
            j += 1
        if phrases.word(j) in there:
            j += 1
        elif j == i or phrases.word(j - 1) not in there:
            frame = self.after_frame(j)
            if frame == j:
                return i
            j = frame
        end = self.after_frame(j)
        return end if self._closes(end) else i

    def after_tail(self, i: int) -> int:
        """Return the end of "is visible in this image", "in sight" or "present" at word i; i without one."""
        phrases, j = self.phrases, i
        while phrases.is_auxiliary(j):
            j += 1
        return max(self.after_predicate(j) if self.after_predicate(j) > j else i, self.after_frame(i))

    def says_nothing(self, start: int, end: int) -> bool:
        """Return whether words `start` to `end` name nothing to be seen: "in this image there is"."""
        return all(self._is_empty(i) for i in range(start, end))

    def _is_empty(self, i: int) -> bool:
        phrases = self.phrases
        return (
            phrases.tag(i) in {"DET", "ADP", "PUNCT", "CONJ", "WH", "MD", "TO", "POS"}
            or phrases.word(i) in listed("frames", "present", "appearing", "showing", "helping", "small_words")
            or phrases.is_auxiliary(i)
        )

    def _closes(self, i: int) -> bool:
        """Return whether a predicate may end before word i: "not visible | on a table", but not "not shown eating"."""
        return self.phrases.tag(i) not in {"NOUN", "DET", "ADJ", "NUM", "PRON", "OTHER", "POS", *VERB_TAGS}


_LEADING = words("just only also instead then rather simply but and or while please")
_SUBJECTS, _PERSONS = words("i we you it there"), words("he she they")
_FORWARD = words("not no without order nobody")  # kinds of cues
_CONTRASTS = words("rather instead except besides excluding")


class Stretch(NamedTuple):
    """Wanted words `start` to `end` (exclusive), and the text that links them to the previous stretch."""

    start: int
    end: int
    link: str


@dataclass(frozen=True)
class Negation:
    """One cue with the phrases it negates; words `start` to `end` (exclusive) are excluded from the wanted part."""

    kind: CueKind  # determines what the cue can negate
    cue: int
    after_cue: int
    items: tuple[Phrase, ...]  # each from its `start` to its `core`; none if two negations cancel out
    start: int
    end: int
    verb: int | None = None  # first word of a verb before the cue that the first item needs: "wearing" no hat
    thing: str = ""  # name of the first item, where the sentence has none: "people" for "nobody", "hat" for "hatless"
    link: str = ""  # replaces words `start` to `end` in the wanted part
    others: tuple[str, ...] = ()  # kinds denied but for what is wanted: "animals" in "no animals except dogs"


class WantedFinder:
    """Finds the wanted stretches of one sentence."""

    def __init__(self, phrases: Phrases, presence: Presence) -> None:
        self.phrases, self.presence, self.num_words = phrases, presence, len(phrases.tokens)

    def acts(self, words: Iterable[int]) -> bool:
        """Return whether somebody does something in these words."""
        return any(self.phrases.tag(i) in VERB_TAGS and not self.phrases.is_auxiliary(i) for i in words)

    def words(self, negations: Sequence[Negation], end: int | None = None) -> list[int]:
        """Return the words of `stretches`."""
        return [i for stretch in self.stretches(negations, end) for i in range(stretch.start, stretch.end)]

    def stretches(self, negations: Sequence[Negation], end: int | None = None) -> list[Stretch]:
        """Return the trimmed stretches outside the negations, up to word `end` (exclusive; default: all)."""
        end = self.num_words if end is None else end
        starts, stops = [0, *(negation.end for negation in negations)], [*(n.start for n in negations), end]
        stretches: list[Stretch] = []
        edited = [False, *(negation.kind == "edit" for negation in negations)]
        links = ["", *(negation.link for negation in negations)]
        for first, last, given, edit in zip(starts, stops, links, edited, strict=True):
            subject_only = bool(stretches) and not self.acts(range(stretches[-1].start, stretches[-1].end))
            start, stop = self._trimmed(first, last, starts=not stretches and not edit, subject_only=subject_only)
            if start < stop and (self._determines(stop, negations) or not self.presence.says_nothing(start, stop)):
                stretches.append(Stretch(start, stop, given or self._link(first, start)))
        return stretches

    def without_rest(self, negation: Negation, found: Sequence[Negation]) -> Negation:
        """Rule 7 of `scope`: extend a negation, one of `found`, to the next comma or conjunction."""
        phrases, end = self.phrases, negation.end
        if not negation.items or end != negation.items[-1].core or not self._stands_apart(negation, found):
            return negation
        if phrases.tag(end) in {"", "PUNCT"}:
            return negation
        both = negation.kind == "not" and phrases.word(negation.cue - 1) == "and"  # a man and not a woman | playing
        if phrases.tag(end) in (VERB_TAGS if both else FINITE_TAGS) and negation.kind != "no":
            return negation  # a dog and not a cat | is sleeping
        starts = {other.start for other in found}
        while phrases.word(end) == "or" or phrases.tag(end) not in {"", "PUNCT", "CONJ"}:
            if end in starts or phrases.word(end) in NEW_START:
                break
            end += 1
        last = replace(negation.items[-1], end=end, core=end)
        return replace(negation, items=(*negation.items[:-1], last), end=end)

    def placed(self, wanted: Sequence[int]) -> bool:
        """Return whether the wanted words name a place of their own."""
        return any(map(self.phrases.is_setting, filter(None, map(self.phrases.place_phrase, wanted))))

    def _stands_apart(self, negation: Negation, found: Sequence[Negation]) -> bool:
        """Return whether a negation starts a part of its own: after a comma or a conjunction, or as "rather than"."""
        phrases, cue = self.phrases, negation.cue
        if cue == 0 or negation.kind not in _FORWARD or negation.items[-1].kind == "quality":
            return False
        after_joint = phrases.tag(cue - 1) in {"PUNCT", "CONJ"} and phrases.word(cue - 1) != "'s"
        if after_joint or phrases.words[cue : cue + 2] == ["but", "not"]:
            return True
        wanted = [i for i in self.words(found) if i < cue]
        is_more = self.acts(wanted) or any(map(phrases.place_phrase, wanted))
        attached = phrases.tag(negation.end) != "ADP" or phrases.word(negation.end - 1) in {"one", "ones", "those"}
        return phrases.word(cue) in _CONTRASTS and (is_more or attached)

    def _determines(self, stop: int, negations: Sequence[Negation]) -> bool:
        """Return whether a stretch ends in the article of a noun after a negation: "a | not crowded | beach"."""
        phrases = self.phrases
        kinds = {"less", "free", "minus", "not"}
        after = next((n.end for n in negations if n.kind in kinds and n.start == stop), None)
        return after is not None and phrases.tag(stop - 1) == "DET" and phrases.tag(after) in {"NOUN", "ADJ"}

    def _trimmed(self, start: int, stop: int, *, starts: bool, subject_only: bool) -> tuple[int, int]:
        """Drop words left dangling at the edges of a stretch without its negation: "who is", "and he", commas."""
        phrases, first = self.phrases, start
        while start < stop and (phrases.tag(start) in {"PUNCT", "CONJ"} or phrases.word(start) in _LEADING):
            start += 1
        start += starts and first > 0 and phrases.word(start) == "from"  # missing from | the room
        if subject_only and phrases.tag(start) == "PRON" and phrases.word(start) != "there":
            start += 1
        place = phrases.place_phrase(start) if starts and first > 0 else None
        if place and (phrases.is_setting(place) or phrases.word(start) in {"over", "around", "through"}):
            start += 1  # nobody in the street: the street
        if stop < self.num_words:
            stop = self._without_empty_clause(start, stop)
        while start < stop < self.num_words and self._dangles(stop - 1):
            stop -= 1
        while stop > start and phrases.tag(stop - 1) == "PUNCT":
            stop -= 1
        return start, stop

    def _without_empty_clause(self, start: int, stop: int) -> int:
        """Return where words `start` to `stop` end without a clause about the picture: "a dog | , but the image"."""
        phrases, i = self.phrases, stop - 1
        while i > start and phrases.tag(i) not in {"CONJ", "PUNCT"}:
            i -= 1
        about_picture = phrases.word(i + 1) == "it" or any(phrases.word(j) in listed("frames") for j in range(i, stop))
        return i if i > start and about_picture and self.presence.says_nothing(i, stop) else stop

    def _dangles(self, i: int) -> bool:
        """Return whether word i cannot end a stretch: a conjunction, an auxiliary, "with", the "he" of "and he"."""
        phrases = self.phrases
        if phrases.tag(i) == "PRON" and (
            phrases.tag(i - 1) in {"CONJ", "PUNCT", "WH"}
            or phrases.word(i) in _SUBJECTS
            or (phrases.word(i) in _PERSONS and phrases.tag(i - 1) == "NOUN")  # a runner he | isn't sweating
        ):
            return True
        return (
            phrases.tag(i) in {"PUNCT", "CONJ", "WH"}
            or phrases.word(i) in listed("dangling")
            or phrases.is_auxiliary(i)
            or (phrases.tag(i) == "ADP" and phrases.tag(i + 1) == "WH")  # a depot | in which no
            or (phrases.tag(i) == "ADV" and phrases.tag(i - 1) == "DET")  # a decidedly | not modern kitchen
            or (phrases.word(i) in HELPING_WORDS and phrases.lemma(i) in {"have", "be"})
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
