"""Places of a caption where texts deny something, and the tagged words of the result."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.tokens import Token

# Tags of words that a denial adds; any other is a verb in its base form.
_TAGS = {
    "not": "NEG",
    "without": "ADP",
    "do": "VBP",
    "does": "VBZ",
    "did": "VBD",
}
# Lemmas of words that a denial adds; others are their own.
_LEMMAS = {"does": "do", "did": "do"}


class CaptionEdit(NamedTuple):
    """Characters `start` to `end` of a caption, and texts that deny something there."""

    start: int
    end: int
    texts: tuple[str, ...]
    says_little: bool = False

    def applied(self, caption: str) -> tuple[str, ...]:
        """Return the caption with each of the texts filled in."""
        before = caption[: self.start]
        after = caption[self.end :]
        return tuple(before + text + after for text in self.texts)


def not_before(phrases: Phrases, i: int, says_little: bool = False) -> CaptionEdit:
    """Put "not" before word i."""
    start = phrases.tokens[i].start
    return CaptionEdit(start, start, ("not ",), says_little)


def edited_tokens(phrases: Phrases, denial: CaptionEdit) -> list[Token]:
    """Return the tagged words of a caption with a denial; unchanged words keep their tags."""
    text = denial.texts[0]
    num_added = len(text) - (denial.end - denial.start)
    before = []
    after = []
    replaced = {}
    for token in phrases.tokens:
        if token.end <= denial.start:
            before.append(token)
        elif token.start < denial.end:
            replaced[token.text.lower()] = token
        else:
            moved = token._replace(start=token.start + num_added, end=token.end + num_added)
            after.append(moved)
    return [*before, *_added_tokens(text, denial.start, replaced), *after]


def _added_tokens(text: str, offset: int, replaced: dict[str, Token]) -> Iterator[Token]:
    """Yield the words of a text that starts at a character; replaced words keep their tags."""
    end = 0
    for word in text.split():
        start = text.index(word, end)
        end = start + len(word)
        new = Token(
            text=word,
            tag=_TAGS.get(word, "VB"),
            # The lemma is known, so it need not be looked up.
            find_lemma=partial(str, _LEMMAS.get(word, word)),
            start=offset + start,
            end=offset + end,
        )
        old = replaced.get(word.lower())
        if old:
            new = new._replace(tag=old.tag, find_lemma=old.find_lemma)
        yield new
