"""Words of a sentence: their tags, and where they start and end."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from nt2vr.language.forms import MISSPELT

VERB_TAGS = frozenset({"VB", "VBZ", "VBP", "VBD", "VBG", "VBN", "MD"})
FINITE_TAGS = frozenset({"VBZ", "VBP", "VBD", "MD"})

_MAX_WORD_CHARS = 30  # HanTa takes cubic time in the length of a word; no English word here is longer
_CONTRACTED = frozenset("do does did is are was were has have had ca could wo would ai".split())
_WITH_IS = frozenset({"thats", "whos", "theres", "hes", "shes"})
_ABBREVIATED = frozenset("mr mrs ms dr st jr sr prof mt".split())  # and initials: the period ends no sentence
_SAME_LENGTH = str.maketrans(
    {ord("\u2019"): "'", ord("\u2018"): "'", **dict.fromkeys(map(ord, '`"\u201c\u201d\x00'), " ")}
)
_QUOTED = re.compile(r"""(?<!\S)[-!]["\u201c]([^"\u201c\u201d]+)["\u201d]""")  # -"tomato sauce"


class Token(NamedTuple):
    """One word of a sentence: `text` is `sentence[start:end]`, `tag` is from the tagset of `nt2vr.language.tagger`."""

    text: str
    tag: str
    lemma: str
    start: int
    end: int


def normalised(word: str) -> str:
    """Return a word as the taggers and the rules know it: lower case, straight apostrophes, usual spellings."""
    word = word.translate(_SAME_LENGTH).lower().strip()
    return {"nt": "n't", "n t": "n't"}.get(word) or MISSPELT.get(word, word)


def as_tagged(word: str) -> str:
    """Return a word as the taggers should read it: "x" for overlong ones."""
    return normalised(word) if len(word) <= _MAX_WORD_CHARS else "x"


def word_spans(text: str, tokenize: Callable[[str], Iterable[tuple[int, int]]]) -> list[tuple[int, int]]:
    """Tokenize by `tokenize`, and further: "dont", "don t", a final period, "-man", -"old man", "car-free"."""
    same_length = text.translate(_SAME_LENGTH).replace("''", "  ")
    spans: list[tuple[int, int]] = []
    for start, end in tokenize(same_length):
        word = same_length[start:end].lower()
        if word == "t" and spans and _ends_in_not(same_length[slice(*spans[-1])].lower()):  # don t
            before, middle = spans.pop()
            spans += [(before, middle - 1), (middle - 1, end)]
            continue
        starts = not same_length[start - 1 : start].strip()
        cut = start + _cut(word, starts=starts)
        spans += [(start, cut), (cut, end)] if start < cut < end else [(start, end)]
    for quoted in _QUOTED.finditer(text):
        start, end = quoted.span()
        spans = [span for span in spans if span[1] <= start or span[0] >= end]
        spans += [(start, quoted.start(1)), quoted.span(1)]
    return sorted(spans)


def _ends_in_not(word: str) -> bool:
    return word[-1] == "n" and word[:-1] in _CONTRACTED


def _cut(word: str, *, starts: bool) -> int:
    """Return where a second word begins inside a word; 0 if none does."""
    if word[-2:] == "nt" and word[:-2] in _CONTRACTED:  # dont, isnt
        return len(word) - 2
    if word in _WITH_IS:
        return len(word) - 1
    if word[0] == "-" and word[1:2].isalpha() and starts:
        return 1
    if word.endswith("-free"):
        return len(word) - len("-free")
    if len(word) > 2 and word[-1] == "." and word[:-1].isalpha() and word[:-1] not in _ABBREVIATED:
        return len(word) - 1
    return 0
