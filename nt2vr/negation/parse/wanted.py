"""The wanted part of a sentence: the text outside its negations, without dangling words."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from nt2vr.negation.parse.negations import Negation
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.tagged_words import HELPING_WORDS
from nt2vr.negation.parse.wordlists import listed, words

_SUBJECTS = words("i we you it there")
_PERSONS = words("he she they")
# Kinds of cues that may deny what describes the noun after it.
_BEFORE_NOUN = frozenset({"less", "free", "minus", "not"})


class Stretch(NamedTuple):
    """Wanted words `start` to `end` (exclusive), and the text that links them to those before."""

    start: int
    end: int
    link: str


class _Gap(NamedTuple):
    """Words `start` to `end` (exclusive) between negations, and the link of the one before."""

    start: int
    end: int
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
        start = 0
        link = ""
        is_after_edit = False
        for negation in negations:
            yield _Gap(start, negation.start, link, is_after_edit)
            start = negation.end
            link = negation.link
            is_after_edit = negation.cue.kind == "edit"
        yield _Gap(start, self.num_words if end is None else end, link, is_after_edit)

    def _stretch_in(
        self, gap: _Gap, stretches: Sequence[Stretch], negations: Sequence[Negation]
    ) -> Stretch | None:
        """Return the words of a gap without what dangles; None if they say nothing."""
        start = gap.start
        while start < gap.end and self._may_lead(start):
            start += 1
        if stretches:
            start = self._after_pronoun(start, stretches[-1])
        elif gap.start > 0 and not gap.is_after_edit:
            start = self._after_preposition(start)

        end = self._trimmed_end(start, gap.end)
        if start >= end:
            return None
        if self.phrases.says_nothing(start, end) and not self._is_article(end, negations):
            return None
        return Stretch(start, end, gap.link or self._link(gap.start, start))

    def _is_article(self, end: int, negations: Sequence[Negation]) -> bool:
        """Return whether a stretch ends in the article of a noun: "a | not crowded | beach"."""
        if self.phrases.tag(end - 1) != "DET":
            return False
        for negation in negations:
            if negation.start == end and negation.cue.kind in _BEFORE_NOUN:
                return self.phrases.tag(negation.end) in {"NOUN", "ADJ"}
        return False

    def _may_lead(self, i: int) -> bool:
        """Return whether word i dangles at the start of a stretch: "and", "is", a comma."""
        return self.phrases.tag(i) in {"PUNCT", "CONJ"} or self.phrases.is_listed(i, "leading")

    def _after_pronoun(self, i: int, previous: Stretch) -> int:
        """Skip the pronoun of a subject that stands alone before: "a man, not sitting, he | sings"."""
        is_pronoun = self.phrases.tag(i) == "PRON" and self.phrases.word(i) != "there"
        if is_pronoun and not self.acts(range(previous.start, previous.end)):
            return i + 1
        return i

    def _after_preposition(self, i: int) -> int:
        """Skip the preposition of a place at the start: "missing from | the room"."""
        phrases = self.phrases
        if phrases.word(i) == "from":
            i += 1
        # nobody in | the street
        place = phrases.place_phrase(i)
        if not place:
            return i
        is_way = phrases.word(i) in {"over", "around", "through"}
        if is_way or phrases.is_setting(place):
            return i + 1
        return i

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
        clause = phrases.clause_start(end) - 1
        if clause <= start:
            return end

        names_picture = not listed("frames").isdisjoint(phrases.words[clause:end])
        is_about_picture = names_picture or phrases.word(clause + 1) == "it"
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
