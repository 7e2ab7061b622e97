"""Tokens: the words of a sentence, with their tags and positions in the text."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from nt2vr.negation.parse.misspelt_cues import cue_of
from nt2vr.negation.parse.wordlists import spellings, words

VERB_TAGS = words("VB VBZ VBP VBD VBG VBN MD")
FINITE_TAGS = words("VBZ VBP VBD MD")
HELPERS = spellings("helpers")

_MAX_CLITICS = 3  # would|n't|'ve
# HanTa takes cubic time in the length of a word; no English word here is longer.
_MAX_WORD_CHARS = 30
# Words before "nt" and "s" where the apostrophe is left out: "dont", "thats".
_BEFORE_NT = words(
    "do does did is are was were has have had ca could wo would ai should must might need"
)
_BEFORE_S = words("that who there he she")
# The period of these, and of initials, ends no sentence.
_ABBREVIATED = words("mr mrs ms dr st jr sr prof mt")
# Also the one letter that becomes two in lower case: the dotted capital I of Turkish.
_SAME_LENGTH = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u0130": "i", **dict.fromkeys('`"\u201c\u201d\x00', " ")}
)
_WORD = re.compile(
    r"""
    \.{2,} | --+
    | [;@#$%&?!()\[\]{}<>]
    # But of "10,000" and "3:1", marks are a part.
    | [,:](?!\d)
    | (?: (?!\.\.|--) [^\s;@#$%&?!()\[\]{}<>,:] | [,:](?=\d) )+
    """,
    re.VERBOSE,
)
EMOJI = "[\u2600-\u27bf\U0001f300-\U0001faff]"
NO_EMOJI = "\u274c\u26d4\u2716\u2717\u2718\U0001f6ab"
_CLITIC = re.compile(r"(?:n't|'(?:s|m|d|ll|re|ve)?)$")
_QUOTED = re.compile(r"""(?<!\S)[-!]["\u201c]([^"\u201c\u201d]+)["\u201d]""")  # -"tomato sauce"


# Few are needed, and one of a rare word takes HanTa 0.1 ms.
Lemma = Callable[[], str]
# First character and end of a word.
WordSpan = tuple[int, int]


class Token(NamedTuple):
    """One word of a sentence.

    Its `text` is `sentence[start:end]`, its `tag` is from the tagset of `tagger`.
    """

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
    """Return a word in lower case, with straight apostrophes and usual spellings."""
    word = word.translate(_SAME_LENGTH).lower().strip()
    if word in {"nt", "n t"}:
        return "n't"
    return cue_of(word)


def as_tagged(word: str) -> str:
    """Return a word as the taggers should read it: "x" for overlong ones."""
    if len(word) <= _MAX_WORD_CHARS:
        return normalised(word)
    return "x"


def word_spans(text: str) -> list[WordSpan]:
    """Tokenize like the Penn Treebank, and split further: "dont", "-man", "car-free"."""
    spans = []
    for match in _QUOTED.finditer(text):
        spans += [(match.start(), match.start(1)), match.span(1)]

    # Quoted phrases are single words, so the rest is split without them.
    unquoted = _with_plain_marks(_QUOTED.sub(lambda match: " " * len(match[0]), text))
    # A full stop may be within quotation marks or brackets.
    text_end = len(_with_plain_marks(text).rstrip("'()[]{}<> \t\n"))
    for match in _WORD.finditer(unquoted):
        # don t
        if match[0] in {"t", "T"} and _ends_in_not(unquoted, spans):
            start, end = spans.pop()
            spans += [(start, end - 1), (end - 1, match.end())]
        else:
            spans += _spans_of_word(match, ends_text=match.end() == text_end)
    return sorted(spans)


def _spans_of_word(match: re.Match[str], ends_text: bool) -> list[WordSpan]:
    """Split what spaces and marks separate: "-|man", "is|n't"; a full stop ends the text."""
    word = match[0].lower()
    start, end = match.span()
    marks = []
    if ends_text and word.endswith(".") and word.strip("."):
        marks.append((end - 1, end))
        word = word[:-1]

    follows_space = not match.string[start - 1 : start].strip()
    has_prefix = word[0] in "-'" and word[1:2].isalpha() and not _CLITIC.fullmatch(word)
    if follows_space and has_prefix:
        marks.append((start, start + 1))
        word = word[1:]
        start += 1
    return marks + _split_clitics(word, start)


def _with_plain_marks(text: str) -> str:
    """Straighten apostrophes and drop quotation marks, without changing the length."""
    return text.translate(_SAME_LENGTH).replace("''", "  ")


def _split_clitics(word: str, start: int) -> list[WordSpan]:
    """Split a word that starts at a character into its parts: "is|n't"."""
    end = start + len(word)
    clitics = []
    for _ in range(_MAX_CLITICS):
        cut = start + _clitic_start(word[: end - start])
        if cut == start:
            break
        clitics.append((cut, end))
        end = cut
    return [(start, end), *reversed(clitics)]


def _ends_in_not(text: str, spans: list[WordSpan]) -> bool:
    """Return whether the last word lacks only the "t" of a contraction: "don"."""
    if not spans:
        return False
    start, end = spans[-1]
    word = text[start:end].lower()
    return word.endswith("n") and word[:-1] in _BEFORE_NT


def _clitic_start(word: str) -> int:
    """Return where the last part of a word begins; 0 if it has one part."""
    # isn't, it's, dogs'
    clitic = _CLITIC.search(word)
    if clitic:
        return clitic.start()
    if word.endswith("-free"):
        return len(word) - len("-free")
    if word == "cannot":
        return len("can")

    # a dog. the cat
    stem = word[:-1]
    if word.endswith(".") and len(stem) > 1 and stem.isalpha() and stem not in _ABBREVIATED:
        return len(stem)
    if word.endswith("s") and stem in _BEFORE_S:
        return len(stem)
    if word.endswith("nt") and word[:-2] in _BEFORE_NT:
        return len(word) - len("nt")
    return 0
