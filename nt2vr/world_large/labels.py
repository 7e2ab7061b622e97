"""Labels: single words and short phrases of the captions with what they mean, of things, kinds, deeds and places."""

from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

from nt2vr.language.inflect import inflect_phrase
from nt2vr.world_large.claims import Act, Claim, Who
from nt2vr.world_large.deeds import deeds
from nt2vr.world_large.nouns import meanings
from nt2vr.world_large.places import places
from nt2vr.world_large.things import kinds, things


class Label(NamedTuple):
    """A claim in the ways that it may be worded, the shortest first: "drum", "a drum"."""

    texts: tuple[str, ...]
    claim: Any  # of either world


@cache
def labels() -> tuple[Label, ...]:
    """Return all labels; no two begin with the same text."""
    return tuple({label.texts[0]: label for label in (*_of_things(), *_of_deeds(), *_of_places())}.values())


def _of_things() -> Iterator[Label]:
    groups = (*(thing.nouns for thing in things().values()), *kinds().values())
    for noun in chain.from_iterable(groups):
        if noun.word in meanings():
            yield Label((noun.word, noun.with_article()), Claim((Who(meanings()[noun.word]),)))


def _of_deeds() -> Iterator[Label]:
    for deed in deeds().values():
        phrase = deed.phrases[0]
        if "{o}" not in phrase:
            doing = inflect_phrase(phrase, "VBG")
            yield Label((doing, f"somebody {doing}"), Claim((Who(acts=(Act(frozenset((deed.verb,))),)),)))


def _of_places() -> Iterator[Label]:
    for place in places().values():
        yield from (Label((phrase,), Claim(places=frozenset((place.name,)))) for phrase in place.phrases)
