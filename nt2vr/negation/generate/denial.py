"""What a negated sentence is, and how it may deny.

Kinds:
    negated     a caption with one thing denied
    composed    A and not B
    without     A without a thing N
    absent      the same in other words, such as "lacking"; A may be a single thing
    not         not B alone
    fragment    a caption joined with a few words of another one, which teaches the words of
                negation rather than one generator's grammar
    typed       "A and not B" or "A without N" in the words of people who search
    typed not   "not B" in their words
    idiom       a sentence that denies nothing
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

DenialKind = Literal[
    "negated", "composed", "without", "not", "fragment", "typed", "idiom", "typed not", "absent"
]


class Sentence(NamedTuple):
    """A sentence with its wanted and its unwanted part."""

    text: str
    wanted: str
    unwanted: str


@dataclass(frozen=True)
class Denial:
    """A negated sentence.

    Attributes:
        kind: how it denies.
        text: the sentence.
        wanted: phrase the video should show; empty for "not B", an affirmative paraphrase for an
            idiom.
        unwanted: affirmative phrase it should not show; empty for an idiom, and for a mere request.
    """

    kind: DenialKind
    text: str
    wanted: str
    unwanted: str
