"""Negations, and the wanted part of a sentence: the text outside of them, without dangling words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from nt2vr.negation.parse.phrases import HELPING_WORDS, NEW_START, Phrase, Phrases
from nt2vr.negation.parse.tokens import FINITE_TAGS, VERB_TAGS
from nt2vr.negation.parse.wordlists import listed, words

CueKind = Literal[
    "not",
    "no",
    "without",
    "nobody",
    "except",
    "minus",
    "order",
    "absent",
    "free",
    "less",
    "double",
    "edit",
]
"""What a cue denies:

not: the verb, noun, place or quality after it; the thing before it, if the words after it only mean "in the picture".
no, without, order: the thing after it; for "without" also what somebody does; for "order" at the start of a clause.
nobody: people, or what nobody does.
except: the thing after it; if that is an exception from a denial, then nothing is denied, and it is wanted.
absent: the thing before it, or after it if the order is inverted.
minus, free, less: the next word, the noun to which it is attached, the thing that its word names.
double: nothing, since two negations affirm. edit: what is replaced or removed (`nt2vr.negation.parse.editing`).
"""

_SUBJECTS, _PERSONS = words("i we you it there"), words("he she they")
_FORWARD = words("not no without order nobody")  # kinds of cues


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
    items: tuple[
        Phrase, ...
    ]  # each from its `start` to its `core`; none if two negations cancel out
    start: int
    end: int
    verb: int | None = (
        None  # first word of a verb before the cue that the first item needs: "wearing" no hat
    )
    thing: str = ""  # name of the first item, where the sentence has none: "people" for "nobody", "hat" for "hatless"
    link: str = ""  # replaces words `start` to `end` in the wanted part
    others: tuple[
        str, ...
    ] = ()  # kinds denied but for what is wanted: "animals" in "no animals except dogs"

    def ending(self, end: int, core: int) -> "Negation":
        """Return the negation with another end of its last item."""
        last = replace(self.items[-1], end=end, core=core)
        return replace(self, items=(*self.items[:-1], last), end=max(end, self.end))


class WantedFinder:
    """Finds the wanted stretches of one sentence."""

    def __init__(self, phrases: Phrases) -> None:
        self.phrases, self.num_words = phrases, len(phrases.tokens)

    def acts(self, words: Iterable[int]) -> bool:
        return any(
            self.phrases.tag(i) in VERB_TAGS and not self.phrases.is_auxiliary(i) for i in words
        )

    def words(self, negations: Sequence[Negation], end: int | None = None) -> list[int]:
        return [
            i
            for stretch in self.stretches(negations, end)
            for i in range(stretch.start, stretch.end)
        ]

    def stretches(self, negations: Sequence[Negation], end: int | None = None) -> list[Stretch]:
        """Return the trimmed stretches outside the negations, up to word `end` (exclusive; default: all)."""
        stretches: list[Stretch] = []
        first, link, after_edit = 0, "", False
        for negation in (*negations, None):
            last = negation.start if negation else self.num_words if end is None else end
            subject_only = bool(stretches) and not self.acts(
                range(stretches[-1].start, stretches[-1].end)
            )
            starts = not stretches and not after_edit
            start, stop = self._trimmed(first, last, starts=starts, subject_only=subject_only)
            is_empty = self.phrases.says_nothing(start, stop) and not self._determines(
                stop, negations
            )
            if start < stop and not is_empty:
                stretches.append(Stretch(start, stop, link or self._link(first, start)))
            if negation:
                first, link, after_edit = negation.end, negation.link, negation.kind == "edit"
        return stretches

    def without_rest(self, negation: Negation, found: Sequence[Negation]) -> Negation:
        """Rule 7 of `scope`: extend a negation, one of `found`, to the next comma or conjunction."""
        phrases, end = self.phrases, negation.end
        if (
            not negation.items
            or end != negation.items[-1].core
            or not self._stands_apart(negation, found)
        ):
            return negation
        if phrases.tag(end) in self._shared(negation, found):
            return negation
        starts = {other.start for other in found}
        while end not in starts and not self._starts_part(end):
            end += 1
        return negation.ending(end=end, core=end)

    def _shared(self, negation: Negation, found: Sequence[Negation]) -> frozenset[str]:
        """Return the tags of verbs that are of what is wanted, too: "a dog and not a cat | is sleeping"."""
        phrases, cue = self.phrases, negation.cue
        joins = phrases.word(cue - 1) == "and" or phrases.word(cue) in {"rather", "instead"}
        both = negation.kind == "not" and joins and not self.acts(self.words(found, negation.start))
        return (
            frozenset() if negation.kind == "no" else VERB_TAGS | {"ADP"} if both else FINITE_TAGS
        )

    def _starts_part(self, i: int) -> bool:
        tag, word = self.phrases.tag(i), self.phrases.word(i)
        return tag in {"", "PUNCT"} or word in NEW_START or (tag == "CONJ" and word != "or")

    def _stands_apart(self, negation: Negation, found: Sequence[Negation]) -> bool:
        """Return whether a negation starts a part of its own: after a comma or a conjunction, or as "rather than"."""
        phrases, cue = self.phrases, negation.cue
        if cue == 0 or negation.kind not in _FORWARD or negation.items[-1].kind == "quality":
            return False
        after_joint = phrases.tag(cue - 1) in {"PUNCT", "CONJ"} and phrases.word(cue - 1) != "'s"
        if after_joint or phrases.word(cue) not in listed("contrasts"):
            return after_joint or phrases.words[cue : cue + 2] == ["but", "not"]
        wanted = [i for i in self.words(found) if i < cue]
        attached = phrases.tag(negation.end) != "ADP" or phrases.word(negation.end - 1) in {
            "one",
            "ones",
            "those",
        }
        return attached or self.acts(wanted) or any(map(phrases.place_phrase, wanted))

    def _determines(self, stop: int, negations: Sequence[Negation]) -> bool:
        """Return whether a stretch ends in the article of a noun after a negation: "a | not crowded | beach"."""
        phrases = self.phrases
        kinds = {"less", "free", "minus", "not"}
        after = next((n.end for n in negations if n.kind in kinds and n.start == stop), None)
        return (
            after is not None
            and phrases.tag(stop - 1) == "DET"
            and phrases.tag(after) in {"NOUN", "ADJ"}
        )

    def _trimmed(
        self, start: int, stop: int, *, starts: bool, subject_only: bool
    ) -> tuple[int, int]:
        """Drop words left dangling at the edges of a stretch without its negation: "who is", "and he", commas."""
        phrases, first = self.phrases, start
        while start < stop and (
            phrases.tag(start) in {"PUNCT", "CONJ"} or phrases.word(start) in listed("leading")
        ):
            start += 1
        follows = starts and first > 0
        start += follows and phrases.word(start) == "from"  # missing from | the room
        start += subject_only and phrases.tag(start) == "PRON" and phrases.word(start) != "there"
        place = phrases.place_phrase(start) if follows else None
        if place and (
            phrases.is_setting(place) or phrases.word(start) in {"over", "around", "through"}
        ):
            start += 1  # nobody in the street: the street
        if stop < self.num_words:
            stop = self._without_empty_clause(start, stop)
            while start < stop and self._dangles(stop - 1):
                stop -= 1
        return start, max(start, phrases.before(stop, {"PUNCT"})) if start < stop else stop

    def _without_empty_clause(self, start: int, stop: int) -> int:
        """Return where words `start` to `stop` end without a clause about the picture: "a dog | , but the image"."""
        phrases, i = self.phrases, stop - 1
        while i > start and phrases.tag(i) not in {"CONJ", "PUNCT"}:
            i -= 1
        about_picture = phrases.word(i + 1) == "it" or any(
            phrases.word(j) in listed("frames") for j in range(i, stop)
        )
        return i if i > start and about_picture and self.phrases.says_nothing(i, stop) else stop

    def _dangles(self, i: int) -> bool:
        """Return whether word i cannot end a stretch: a conjunction, an auxiliary, "with", the "he" of "and he"."""
        phrases, before = self.phrases, self.phrases.tag(i - 1)
        match phrases.tag(i):
            case "PUNCT" | "CONJ" | "WH":
                return True
            case "PRON" if before in {"CONJ", "PUNCT", "WH"}:
                return True
            case "PRON" if phrases.word(i) in (
                _SUBJECTS | _PERSONS if before == "NOUN" else _SUBJECTS
            ):
                return True  # a runner he | isn't sweating
            case "ADP" if phrases.tag(i + 1) == "WH":  # a depot | in which no
                return True
        helps = phrases.word(i) in HELPING_WORDS and phrases.lemma(i) in {"have", "be"}
        return helps or phrases.word(i) in listed("dangling") or phrases.is_auxiliary(i)

    def _link(self, first: int, start: int) -> str:
        """Text before a stretch: its "and", "while", "as" or a comma if a new noun starts it, otherwise a space."""
        if self.phrases.tag(start) not in {"DET", "NOUN", "ADJ", "NUM", "PRON"}:
            return " "
        is_clause = self.phrases.tag(start) in {
            "DET",
            "NUM",
            "PRON",
        }  # while | a dog runs; but not: while | painting
        for joint in ("and", "while", "as") if is_clause else ("and",):
            if joint in self.phrases.words[first:start]:
                return f" {joint} "
        return ", " if any(self.phrases.tag(i) == "PUNCT" for i in range(first, start)) else " "
