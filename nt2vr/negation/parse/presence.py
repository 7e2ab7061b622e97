"""Phrases that only assert presence or absence: "is visible in this image", "in sight"."""

from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.tokens import VERB_TAGS
from nt2vr.negation.parse.wordlists import Runs, listed, listed_runs, words

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
        while (phrases.word(j) in listed("helping") and phrases.word(j + 1)) or self._is_remark(j):
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
        while phrases.is_auxiliary(j) or (self._is_remark(j) and phrases.is_auxiliary(j + 1)):
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

    def _is_remark(self, i: int) -> bool:
        is_other = self.phrases.tag(i) == "ADV" and self.phrases.word(i) not in listed("present")
        return is_other and not self.longest(listed_runs("fillers"), i)

    def _closes(self, i: int) -> bool:
        """Return whether a predicate may end before word i: "not visible | on a table", but not "not shown eating"."""
        if self.phrases.word(i) in {"as", "which"}:  # begins a clause
            return True
        return self.phrases.tag(i) not in {"NOUN", "DET", "ADJ", "NUM", "PRON", "OTHER", "POS", *VERB_TAGS}
