"""The wanted part of a sentence: the text outside its negations, without dangling words."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from nt2vr.negation.parse.negations import Negation
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.tagged_words import HELPING_WORDS
from nt2vr.negation.parse.wordlists import words

_SUBJECTS = words("i we you it there")
_PERSONS = words("he she they")


class Stretch(NamedTuple):
    """Wanted words `start` to `end` (exclusive), and the text that links them to those before."""

    start: int
    end: int
    link: str


class _Gap(NamedTuple):
    """Words `first` to `last` (exclusive) between negations, and the link of the one before."""

    first: int
    last: int
    link: str
    is_after_edit: bool


class WantedFinder:
    """Finds the wanted stretches of one sentence."""

    def __init__(self, phrases: Phrases) -> None:
        self.phrases = phrases
        self.num_words = len(phrases.tokens)

    def acts(self, positions: Iterable[int]) -> bool:
        """Return whether one of some words is a main verb."""
        return any(map(self.phrases.is_main_verb, positions))

    def words(self, negations: Sequence[Negation], end: int | None = None) -> list[int]:
        """Return the positions of the wanted words, up to word `end` (exclusive; default: all)."""
        positions: list[int] = []
        for stretch in self.stretches(negations, end):
            positions += range(stretch.start, stretch.end)
        return positions

    def stretches(self, negations: Sequence[Negation], end: int | None = None) -> list[Stretch]:
        """Return the trimmed stretches outside the negations, up to word `end`."""
        stretches: list[Stretch] = []
        for gap in self._gaps(negations, end):
            stretch = self._stretch_in(gap, stretches, negations)
            if stretch is not None:
                stretches.append(stretch)
        return stretches

    def _gaps(self, negations: Sequence[Negation], end: int | None) -> Iterator[_Gap]:
        first = 0
        link = ""
        is_after_edit = False
        for negation in negations:
            yield _Gap(first, negation.start, link, is_after_edit)
            first = negation.end
            link = negation.link
            is_after_edit = negation.cue.kind == "edit"
        yield _Gap(first, self.num_words if end is None else end, link, is_after_edit)

    def _stretch_in(
        self, gap: _Gap, stretches: Sequence[Stretch], negations: Sequence[Negation]
    ) -> Stretch | None:
        """Return the words of a gap without what dangles; None if they say nothing."""
        follows_subject = False
        if stretches:
            previous = stretches[-1]
            follows_subject = not self.acts(range(previous.start, previous.end))
        is_opening = not stretches and not gap.is_after_edit

        start = self._trimmed_start(gap.first, gap.last, is_opening, follows_subject)
        end = self._trimmed_end(start, gap.last)
        if start >= end:
            return None
        if self.phrases.says_nothing(start, end) and not self._is_article(end, negations):
            return None
        return Stretch(start, end, gap.link or self._link(gap.first, start))

    def _is_article(self, end: int, negations: Sequence[Negation]) -> bool:
        """Return whether a stretch ends in the article of a noun: "a | not crowded | beach"."""
        for negation in negations:
            if negation.start != end or negation.cue.kind not in {"less", "free", "minus", "not"}:
                continue
            is_article = self.phrases.tag(end - 1) == "DET"
            return is_article and self.phrases.tag(negation.end) in {"NOUN", "ADJ"}
        return False

    def _trimmed_start(self, first: int, last: int, is_opening: bool, follows_subject: bool) -> int:
        """Drop words that dangle at the start of a stretch: "and he", "who is", commas."""
        phrases = self.phrases
        start = first
        while start < last and self._may_lead(start):
            start += 1

        is_after_negation = is_opening and first > 0
        # missing from | the room
        if is_after_negation and phrases.word(start) == "from":
            start += 1
        if follows_subject and phrases.tag(start) == "PRON" and phrases.word(start) != "there":
            start += 1

        # nobody in the street: the street
        place = None
        if is_after_negation:
            place = phrases.place_phrase(start)
        if place:
            is_way = phrases.word(start) in {"over", "around", "through"}
            if is_way or phrases.is_setting(place):
                start += 1
        return start

    def _may_lead(self, i: int) -> bool:
        return self.phrases.tag(i) in {"PUNCT", "CONJ"} or self.phrases.is_listed(i, "leading")

    def _trimmed_end(self, start: int, last: int) -> int:
        """Drop words that dangle at the end of a stretch, if words follow it."""
        end = last
        if last < self.num_words:
            end = self._without_empty_clause(start, last)
            while start < end and self._dangles(end - 1):
                end -= 1
        if start >= end:
            return end
        return max(start, self.phrases.before(end, {"PUNCT"}))

    def _without_empty_clause(self, start: int, end: int) -> int:
        """Return where words end without a clause about the picture: "a dog | , but the image"."""
        phrases = self.phrases
        clause = end - 1
        while clause > start and phrases.tag(clause) not in {"CONJ", "PUNCT"}:
            clause -= 1
        if clause <= start:
            return end

        is_about_picture = phrases.word(clause + 1) == "it" or any(
            phrases.is_listed(i, "frames") for i in range(clause, end)
        )
        if is_about_picture and phrases.says_nothing(clause, end):
            return clause
        return end

    def _dangles(self, i: int) -> bool:
        """Return whether word i cannot end a stretch: a conjunction, an auxiliary, "with"."""
        phrases = self.phrases
        before = phrases.tag(i - 1)
        match phrases.tag(i):
            case "PUNCT" | "CONJ" | "WH":
                return True
            case "PRON" if before in {"CONJ", "PUNCT", "WH"} or phrases.word(i) in _SUBJECTS:
                return True
            # a runner he | isn't sweating
            case "PRON" if before == "NOUN" and phrases.word(i) in _PERSONS:
                return True
            # a depot | in which no
            case "ADP" if phrases.tag(i + 1) == "WH":
                return True

        if phrases.word(i) in HELPING_WORDS and phrases.lemma(i) in {"have", "be"}:
            return True
        return phrases.is_listed(i, "dangling") or phrases.is_auxiliary(i)

    def _link(self, first: int, start: int) -> str:
        """Return the text before a stretch: its conjunction, a comma before a noun, or a space."""
        phrases = self.phrases
        tag = phrases.tag(start)
        if tag not in {"DET", "NOUN", "ADJ", "NUM", "PRON"}:
            return " "

        words_before = phrases.words[first:start]
        joints = ["and"]
        # while | a dog runs; but not: while | painting
        if tag in {"DET", "NUM", "PRON"}:
            joints += ["while", "as"]
        for joint in joints:
            if joint in words_before:
                return f" {joint} "
        if any(phrases.tag(i) == "PUNCT" for i in range(first, start)):
            return ", "
        return " "
