"""Noun, prepositional and verb phrases of captions, by the paper's Algorithm 1."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.wordlists import words
from nt2vr.settings import some_home

if TYPE_CHECKING:
    from nltk import Tree

GRAMMAR = r"""
    NP: {<DET|NUM|ADJ|POS|NOUN>*<NOUN>}                          # a noun-phrase chunk
    PP: {<ADP>+<NP|PRON>}                                        # a prepositional-phrase chunk
    VP: {<V.*><ADV>*<NP|PRON>?<ADV>*<ADP>?<PP>*<ADV>?}           # a verb-phrase chunk
"""

# Pronouns that say as much as "a person", and are read as nouns.
_NAMELESS = words("someone somebody")


class Chunk(NamedTuple):
    """Words `start` to `end` (exclusive).

    Attributes:
        kind: "NP", "PP" or "VP"; for a word that is in no phrase, its tag.
        start: first word.
        end: exclusive.
        last_noun: start and end of the last noun phrase inside.
        places: of a verb phrase, where its prepositional phrases start, except "of" phrases.
    """

    kind: str
    start: int
    end: int
    last_noun: tuple[int, int] | None = None
    places: tuple[int, ...] = ()


@cache
def _parser() -> Any:
    # NLTK looks for a home folder in which it would put data, none of which is needed here.
    with some_home():
        from nltk import RegexpParser  # noqa: PLC0415  takes 0.3 s, and the page starts without

    return RegexpParser(GRAMMAR)


def chunks_of(phrases: Phrases) -> Sequence[Chunk]:
    """Split a sentence into chunks, in order."""
    if not phrases.tokens:
        return []
    numbered_tags = []
    for i, word in enumerate(phrases.words):
        tag = "NOUN" if word in _NAMELESS else phrases.tag(i)
        numbered_tags.append((i, tag))

    chunks = []
    for node in _parser().parse(numbered_tags):
        if isinstance(node, tuple):
            i, tag = node
            chunks.append(Chunk(tag, i, i + 1))
        else:
            chunks.append(_chunk(node, phrases))
    return chunks


def _chunk(phrase: "Tree", phrases: Phrases) -> Chunk:
    start, end = _span(phrase)
    nouns = [_span(noun) for noun in phrase.subtrees(lambda part: part.label() == "NP")]
    last_noun = nouns[-1] if nouns else None
    places = []
    for part in phrase:
        if isinstance(part, tuple) or part.label() != "PP":
            continue
        place, _ = _span(part)
        if phrases.word(place) != "of":
            places.append(place)
    return Chunk(
        kind=phrase.label(),
        start=start,
        end=end,
        last_noun=last_noun,
        places=tuple(places),
    )


def _span(phrase: "Tree") -> tuple[int, int]:
    """Return the first word of a phrase, and the word after it."""
    numbers = [i for i, _ in phrase.leaves()]
    return numbers[0], numbers[-1] + 1
