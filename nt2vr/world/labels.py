"""Labels: single words and short phrases of the captions with what they mean, of things, kinds, deeds and places."""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.world.claims import Claim, Who
from nt2vr.world.deeds import deeds
from nt2vr.world.nouns import meanings
from nt2vr.world.things import all_nouns, places, things
from nt2vr.world.truth import read_claim


class Label(NamedTuple):
    """A claim in the ways that it may be worded, the shortest first: "drum", "a drum"."""

    texts: tuple[str, ...]
    claim: Claim


@cache
def labels() -> tuple[Label, ...]:
    """Return all labels; no two begin with the same text."""
    return tuple({label.texts[0]: label for label in (*_of_things(), *_of_deeds(), *_of_places())}.values())


def _of_things() -> Iterator[Label]:
    for noun in all_nouns():
        if noun.word in meanings():
            yield Label((noun.word, noun.with_article()), Claim((Who(meanings()[noun.word]),)))


def _of_deeds() -> Iterator[Label]:
    """Yield deeds, also with each object, and words for who does them: "eating", "eating a pizza", "eater"."""
    for deed in deeds().values():
        for phrase in deed.phrases:
            doing = inflect_phrase(phrase, "VBG")
            yield from _read(doing.replace(" {o}", ""), "somebody {}")
        for name in sorted(deed.objects) if not deed.targets else ():
            doing = inflect_phrase(deed.phrases[0], "VBG").format(o=things()[name].nouns[0].with_article())
            yield from _read(doing, "somebody {}")
        for doer, _ in deed.doers if deed.layer == "main" else ():
            yield from _read(doer, "a {}")


def _read(text: str, longer: str) -> Iterator[Label]:
    """Yield a label of what the words mean, if they are understood alone."""
    if claim := read_claim(text):
        yield Label((text, longer.format(text)), claim)


def _of_places() -> Iterator[Label]:
    for place in places().values():
        yield from (Label((phrase,), Claim(places=frozenset((place.name,)))) for phrase in place.phrases)
