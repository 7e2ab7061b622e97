"""The words of a text, and the vocabulary that a text side knows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nt2vr.negation.parse.wordlists import listed

# Words of a text that are read.
MAX_WORDS = 200
WORD = re.compile("[a-z0-9]+")

# The words of each of several texts.
TextWords = Sequence[Sequence[str]]


def words_of(text: str) -> list[str]:
    """Split a text as W2VV++ does: in lower case, at everything but Latin letters and digits."""
    return WORD.findall(text.lower())[:MAX_WORDS]


def content_of(text: str) -> list[str]:
    """Return the words of a text without stop words, among which are no, nor, not, and don and t of don't."""
    stop_words = listed("stop_words")
    return [word for word in words_of(text) if word not in stop_words]


@dataclass(frozen=True)
class Vocabulary:
    """The words that each encoder knows.

    Attributes:
        bow: words of the bag of words, without stop words.
        gru: words of the GRU.
        vectors: words with a vector.
        source: what the vectors are, for a person to read.
    """

    bow: tuple[str, ...]
    gru: tuple[str, ...]
    vectors: tuple[str, ...]
    source: str = ""
