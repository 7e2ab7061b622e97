"""The words of a text, and those that a text side knows."""

import re
from dataclasses import dataclass

from nt2vr.negation.parse.wordlists import listed

MAX_READ = 200  # words of a text
BETWEEN = re.compile("[^A-Za-z0-9]+")


def words_of(text: str) -> list[str]:
    """Split a text as W2VV++ does: in lower case, at everything but Latin letters and digits."""
    return [word for word in BETWEEN.split(text.lower()) if word][:MAX_READ]


def content_of(text: str) -> list[str]:
    """Return the words of a text without stop words, among which are no, nor, not and what is left of don't."""
    return [word for word in words_of(text) if word not in listed("stop_words")]


@dataclass(frozen=True)
class Vocabulary:
    """The words that each encoder knows; those of the bag are without stop words."""

    bow: tuple[str, ...]
    gru: tuple[str, ...]
    vectors: tuple[str, ...]  # words with a vector
    source: str = ""  # what the vectors are
