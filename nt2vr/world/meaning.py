"""Meanings of words, and the tokens of a phrase."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.negation.parse.tokens import EMOJI
from nt2vr.world.claims import Act
from nt2vr.world.things import Names, persons, plural_of

_WORD = re.compile(rf"[\w'-]+|{EMOJI}")
_DROPPED = frozenset(
    "a an the some any his her their its is are be being there here and this these it it's all "
    "every whole also who's".split()
)

MeaningKind = Literal[
    "noun",
    "pronoun",
    "or",
    "verb",
    "passive",
    "adjective",
    "place",
    "night",
    "time",
    "shirt",
    "vague",
    "lacking",
    "filler",
]
ObjectUse = Literal["", "may", "must"]
Words = tuple[str, ...]
# Of the lexicon: words and what they mean.
Entry = tuple[str, "Meaning"]


class Meaning(NamedTuple):
    """What some words mean: a thing, an action, a property, a place, a time, or nothing to be seen.

    Attributes:
        kind: the kind of word.
        names: the things, actions or places of which it names one.
        value: "night" or "day"; of a time, "start" or "end" of the clip, or how it relates two
            actions.
        plural: whether a noun is in the plural.
        object: whether an object may or must follow a verb.
        act: what a noun says that somebody does: "drummer".
        adjective: fields of a `SubjectClaim`: its colour, size, number or mood.
        least: how many a noun names at least: "couple".
        near: words of the world for what it lacks, or for sorts of what it shows.
    """

    kind: MeaningKind
    names: Names = frozenset()
    value: str = ""
    plural: bool = False
    object: ObjectUse = ""
    act: Act | None = None
    adjective: Mapping[str, Any] = MappingProxyType({})
    least: int = 1
    near: tuple[str, ...] = ()


def adjective(**fields: object) -> Meaning:
    return Meaning("adjective", adjective=fields)


def tokens_of(text: str) -> Words:
    """Split a phrase into lower-case words, without articles, possessives and auxiliaries."""
    return tuple(token for token in _WORD.findall(text.lower()) if token not in _DROPPED)


def runs_of(words: Words, most: int) -> Iterator[Words]:
    """Yield all words that follow one another, up to so many."""
    for start in range(len(words)):
        last = min(start + most, len(words))
        for end in range(start + 1, last + 1):
            yield words[start:end]


def gaps_in(text: str) -> list[str]:
    """Return what stands before each token: words that are no tokens, commas, spaces.

    The first token stands alone, as after a comma.
    """
    text = text.lower()
    gaps: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        if match[0] in _DROPPED:
            continue
        gap = text[end : match.start()]
        gaps.append(gap if gaps else ",")
        end = match.end()
    return gaps


def forms_of(phrase: str) -> tuple[str, str, str]:
    return phrase, inflect_phrase(phrase, "VBZ"), inflect_phrase(phrase, "VBG")


def in_both_numbers(word: str, meaning: Meaning) -> Iterator[Entry]:
    """Yield a noun in the plural and in the singular."""
    yield plural_of(word), meaning._replace(plural=True)
    yield word, meaning


def doer_entries(word: str, verb: str, needed: str) -> Iterator[Entry]:
    """Yield a noun for persons who do something, perhaps with the thing that they need."""
    return in_both_numbers(word, Meaning("noun", persons(), act=Act.of(verb, needed)))
