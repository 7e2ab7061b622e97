"""Editing words next to a reference ("replace X by Y", "add Y"); elsewhere "add" and "change" are words like others.

The reference itself ("this", "the same") is no wanted word.
"""

from collections.abc import Iterator

from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.wanted import Negation
from nt2vr.negation.parse.wordlists import listed, listed_runs, words

_EXCHANGES = {  # verb -> words before what comes instead, the surest first
    **dict.fromkeys(
        ("replace", "substitute", "swap", "exchange", "switch"), ("by", "with", "for", "to")
    ),
    **dict.fromkeys(("change", "turn", "convert", "transform"), ("into", "to")),
}
_WHOEVER = (
    "the one",
    "the person",
    "the ones",
    "the people",
    "whoever is",
    "everybody who",
    "anyone who",
)
_LAST = words("instead too")  # at the end of a clause
_LINK = ", "  # of the wanted parts around an edit


class Editing:
    """Finds the words of editing in one tagged sentence."""

    def __init__(self, phrases: Phrases) -> None:
        self.phrases, self.num_words = phrases, len(phrases.tokens)

    def edits(self) -> Iterator[Negation]:
        """Yield what is replaced, words that only say "edit this", and removals, which are orders without items."""
        i = 0
        while i < self.num_words:
            edit = self._edit(i)
            if edit is not None:
                yield edit
            i = edit.end if edit is not None else i + 1

    def _edit(self, i: int) -> Negation | None:
        phrases = self.phrases
        starts = phrases.starts_clause(i) or phrases.longest(listed_runs("reference"), 0) == i
        if (edit := self._edit_at_start(i) if starts else None) or i == 0:
            return edit
        if phrases.word(i) == "replaced" and phrases.word(i + 1) in {"by", "with"}:
            return self._unwanted(i, i + 2, phrases.clause_start(i), i, i + 2)
        is_last = phrases.word(i) in _LAST and phrases.tag(i + 1) in {"", "PUNCT", "CONJ"}
        return self._words(i, i + 1) if is_last else None

    def _edit_at_start(self, i: int) -> Negation | None:
        if edit := self._exchange(i) or self._removal(i):
            return edit
        length = self._reference(i) or self.phrases.longest(listed_runs("additions"), i)
        return self._words(i, i + length) if length else None

    def _reference(self, i: int) -> int:
        """Return the number of words of "like this, but"; 0 if there is none at word i: "the same man dances"."""
        end = i + self.phrases.longest(listed_runs("reference"), i)
        noun = self.phrases.noun_phrase(i)
        if end == i or (noun is not None and noun.end > end):
            return 0
        while end < self.num_words and self.phrases.word(end) in listed("joints"):
            end += 1
        return end - i

    def _exchange(self, i: int) -> Negation | None:
        """Read "replace X by Y", whose Y stays as the wanted part."""
        joints = _EXCHANGES.get(self.phrases.word(i), ())
        end = next(
            (j for j in range(i + 1, self.num_words) if self.phrases.tag(j) == "PUNCT"),
            self.num_words,
        )
        for joint in joints:
            for j in range(i + 2, end - 1):
                if self.phrases.word(j) == joint:
                    return self._unwanted(i, i + 1, i + 1, j, j + 1)
        return None

    def _removal(self, i: int) -> Negation | None:
        """Read "take away X"; also "remove the one dancing on stage", to the end of its clause."""
        after = i + self.phrases.longest(listed_runs("removals"), i)
        if after == i or after >= self.num_words:
            return None
        if " ".join(self.phrases.words[after : after + 2]) not in _WHOEVER:
            return Negation("order", i, after, (), i, after)
        end = after + 2
        while end < self.num_words and self.phrases.tag(end) not in {"PUNCT", "CONJ"}:
            end += 1
        return self._unwanted(i, after, after, end, end)

    def _unwanted(
        self, cue: int, after_cue: int, start: int, stop: int, end: int
    ) -> Negation | None:
        """Deny words `start` to `stop`, and take words `min(cue, start)` to `end` out of the wanted part."""
        if start >= stop:
            return None
        names = any(
            self.phrases.word(i) not in listed("referring") for i in range(start, stop)
        )  # change it to …
        things = (Phrase("noun", start, stop, stop, stop - 1),) if names else ()
        return Negation("edit", cue, after_cue, things, min(cue, start), end, link=_LINK)

    def _words(self, start: int, end: int) -> Negation:
        return Negation("edit", start, end, (), start, end, link=_LINK)
