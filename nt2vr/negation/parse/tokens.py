"""Tokens: the words of a sentence, with their tags and positions in the text; slips of typing in words of negation."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from nt2vr.negation.parse.wordlists import listed, spellings

_CUES, _CONTRACTIONS = listed("mended"), listed("contractions")
_WORDS = listed("not_misspelt")  # a test compares them with the dictionary
_USUAL, _USUAL_CONTRACTIONS = spellings("usual"), spellings("contractions")
_SURE_CHARS = 6  # shorter words have too many neighbours: only swapped or doubled letters count
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _slips(word: str) -> Iterator[str]:
    """Yield a word with two letters swapped, a letter doubled or, in longer words, missing, wrong or added."""
    yield word + word[-1]
    if len(word) >= _SURE_CHARS:
        yield from (word + letter for letter in _LETTERS if letter not in "sd")
    for i in range(1, len(word)):
        yield word[: i - 1] + word[i] + word[i - 1] + word[i + 1 :]
        yield word[:i] + word[i - 1 :]
        if len(word) >= _SURE_CHARS:
            yield word[:i] + word[i + 1 :]
            for letter in _LETTERS:
                yield word[:i] + letter + word[i:]
                yield word[:i] + letter + word[i + 1 :]


def _neighbours(cues: Iterable[str]) -> dict[str, str]:
    return {slip: cue for cue in cues for slip in _slips(cue) if slip not in cues}


_MISSPELT = _neighbours(_CUES)
_MISSPELT_CONTRACTIONS = _neighbours(_CONTRACTIONS)


@lru_cache(10_000)
def cue_of(word: str) -> str:
    """Return the cue that a lower-case word is a misspelling of; otherwise the word."""
    if usual := _USUAL.get(word):
        return usual
    return word if word in _WORDS else _MISSPELT.get(word, word)


@lru_cache(10_000)
def contraction(word: str) -> str | None:
    """Return the contraction that a word is a misspelling of: "doesn't" for "does'nt" or "dosent"; None otherwise."""
    letters = "".join(filter(str.isalpha, word))
    if usual := _USUAL_CONTRACTIONS.get(letters):
        return usual
    misplaced = letters in _CONTRACTIONS and word not in {letters, f"{letters[:-1]}'t"}
    slip = (
        _MISSPELT_CONTRACTIONS.get(letters)
        if letters[-1:] == "t" and letters not in _WORDS
        else None
    )
    right = letters if misplaced else slip
    return f"{right[:-1]}'t" if right else None


VERB_TAGS = frozenset({"VB", "VBZ", "VBP", "VBD", "VBG", "VBN", "MD"})
FINITE_TAGS = frozenset({"VBZ", "VBP", "VBD", "MD"})
HELPERS = spellings("helpers")

_MAX_CLITICS = 3  # would|n't|'ve
_MAX_WORD_CHARS = (
    30  # HanTa takes cubic time in the length of a word; no English word here is longer
)
_CONTRACTED = frozenset(
    "do does did is are was were has have had ca could wo would ai should must might need".split()
)
_CUTS = {  # where the second word begins in "cannot", "dont", "thats"
    "cannot": 3,
    **{f"{helper}nt": len(helper) for helper in _CONTRACTED},
    **{word: len(word) - 1 for word in ("thats", "whos", "theres", "hes", "shes")},
}
_ABBREVIATED = frozenset(
    "mr mrs ms dr st jr sr prof mt".split()
)  # and initials: the period ends no sentence
_SAME_LENGTH = str.maketrans(
    {ord("\u2019"): "'", ord("\u2018"): "'", **dict.fromkeys(map(ord, '`"\u201c\u201d\x00'), " ")}
)
_WORD = re.compile(
    r"\.{2,}|--+|[;@#$%&?!()\[\]{}<>]|[,:](?!\d)|(?:(?!\.\.|--)[^\s;@#$%&?!()\[\]{}<>,:]|[,:](?=\d))+"
)
EMOJI, NO_EMOJI = "[\u2600-\u27bf\U0001f300-\U0001faff]", "\u274c\u26d4\u2716\u2717\u2718\U0001f6ab"
_CLITIC = re.compile(r"(?:n't|'(?:s|m|d|ll|re|ve)?)$")
_QUOTED = re.compile(r"""(?<!\S)[-!]["\u201c]([^"\u201c\u201d]+)["\u201d]""")  # -"tomato sauce"


Lemma = Callable[[], str]  # few are needed, and one of a rare word takes HanTa 0.1 ms


class Token(NamedTuple):
    """One word of a sentence: `text` is `sentence[start:end]`, `tag` is from the tagset of `tagger`."""

    text: str
    tag: str
    find_lemma: Lemma
    start: int
    end: int

    @property
    def lemma(self) -> str:
        """The dictionary form: "run" for "running"."""
        return self.find_lemma()


@lru_cache(10_000)
def normalised(word: str) -> str:
    """Return a word as the taggers and the rules know it: lower case, straight apostrophes, usual spellings."""
    word = word.translate(_SAME_LENGTH).lower().strip()
    return {"nt": "n't", "n t": "n't"}.get(word) or cue_of(word)


def as_tagged(word: str) -> str:
    """Return a word as the taggers should read it: "x" for overlong ones."""
    return normalised(word) if len(word) <= _MAX_WORD_CHARS else "x"


def word_spans(text: str) -> list[tuple[int, int]]:
    """Tokenize like the Penn Treebank, and further: "dont", "don t", "sings.", "-man", -"old man", "car-free"."""
    same_length = text.translate(_SAME_LENGTH).replace("''", "  ")
    last = len(same_length.rstrip("'()[]{}<> \t\n"))
    spans = [
        span
        for match in _QUOTED.finditer(text)
        for span in ((match.start(), match.start(1)), match.span(1))
    ]
    hidden = (
        _QUOTED.sub(lambda match: " " * len(match[0]), text)
        .translate(_SAME_LENGTH)
        .replace("''", "  ")
    )
    for match in _WORD.finditer(hidden):
        start, end = match.span()
        word = hidden[start:end].lower()
        if word == "t" and _ends_in_not(hidden[slice(*(spans or [(0, 0)])[-1])].lower()):  # don t
            before, middle = spans.pop()
            spans += [(before, middle - 1), (middle - 1, end)]
            continue
        ends = end == last and word.rstrip(".") not in {word, ""}
        spans += _pieces(
            word[:-1] if ends else word, start, starts=not hidden[start - 1 : start].strip()
        )
        if ends:
            spans.append((end - 1, end))
    return sorted(spans)


def _pieces(word: str, start: int, *, starts: bool) -> list[tuple[int, int]]:
    if starts and word[0] in "-'" and word[1:2].isalpha() and not _CLITIC.fullmatch(word):
        return [(start, start + 1), *_pieces(word[1:], start + 1, starts=False)]
    spans: list[tuple[int, int]] = []
    while len(spans) < _MAX_CLITICS and 0 < (cut := _cut(word)) < len(word):
        spans.append((start + cut, start + len(word)))
        word = word[:cut]
    return [(start, start + len(word)), *reversed(spans)]


def _ends_in_not(word: str) -> bool:
    return word[-1:] == "n" and word[:-1] in _CONTRACTED


def _cut(word: str) -> int:
    if "'" in word and (clitic := _CLITIC.search(word)):  # isn't, it's, dogs'
        return clitic.start()
    if word.endswith("-free"):
        return len(word) - len("-free")
    ends = (
        len(word) > 2 and word[-1] == "." and word[:-1].isalpha() and word[:-1] not in _ABBREVIATED
    )
    return len(word) - 1 if ends else _CUTS.get(word, 0)
