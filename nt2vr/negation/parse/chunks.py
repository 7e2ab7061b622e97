"""Chunking of tagged sentences by NLTK, with the grammar of nT2VR's Algorithm 1."""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from nltk import RegexpParser, Tree

from nt2vr.negation.parse.phrases import Phrases

GRAMMAR = r"""
    NP: {<DET|NUM|ADJ|POS|NOUN>*<NOUN>}                          # a noun-phrase chunk
    PP: {<ADP>+<NP|PRON>}                                        # a prepositional-phrase chunk
    VP: {<V.*><ADV>*<NP|PRON>?<ADV>*<ADP>?<PP>*<ADV>?}           # a verb-phrase chunk
"""

_NAMELESS = frozenset({"someone", "somebody"})  # pronouns as informative as "a person"


class Chunk(NamedTuple):
    """Words `start` to `end` (exclusive): an "NP", "PP" or "VP", or a single other word with its tag as `kind`."""

    kind: str
    start: int
    end: int
    last_noun: tuple[int, int] | None = None  # start and end of the last noun phrase inside
    places: tuple[int, ...] = ()  # first words of its prepositional phrases, except "of" phrases


@cache
def _parser() -> Any:
    return RegexpParser(GRAMMAR)


def chunks_of(phrases: Phrases) -> Sequence[Chunk]:
    """Split a sentence into chunks, in order."""
    if not phrases.tokens:
        return []
    tags = ("NOUN" if word in _NAMELESS else phrases.tag(i) for i, word in enumerate(phrases.words))
    tree = _parser().parse(list(enumerate(tags)))
    return [_chunk(node, phrases) for node in tree]


def _chunk(node: Any, phrases: Phrases) -> Chunk:
    if not isinstance(node, Tree):
        i, tag = node
        return Chunk(tag, i, i + 1)
    leaves = node.leaves()
    nouns = list(node.subtrees(lambda tree: tree.label() == "NP"))
    last = nouns[-1].leaves() if nouns else None
    prepositions = [child.leaves()[0][0] for child in node if isinstance(child, Tree) and child.label() == "PP"]
    return Chunk(
        kind=node.label(),
        start=leaves[0][0],
        end=leaves[-1][0] + 1,
        last_noun=(last[0][0], last[-1][0] + 1) if last else None,
        places=tuple(i for i in prepositions if phrases.word(i) != "of"),
    )
