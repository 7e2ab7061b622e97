"""Noun phrases: the words for a thing and its kinds, what they mean, and how figures are named in sentences."""

import random
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from nt2vr.world.claims import Who
from nt2vr.world.scenes import Figure
from nt2vr.world.things import Names, Noun, Thing, things, words_of_kind

USUAL_SHARE, OTHER_SHARE = 0.6, 0.26  # of mentions: by the usual name, by another name; the rest by a kind
BARE_PLURAL_SHARE = 0.25  # of mentions of several: "dogs" instead of "two dogs"
NUMBERS = {2: "two", 3: "three"}
SIZES = {"big": ("big", "large", "huge"), "small": ("small", "little", "tiny")}
SHIRTS = ("in a {} shirt", "in {}", "wearing a {} shirt", "in a {} top", "dressed in {}")
Pronoun = Literal["he", "she", "it", "they"]


@dataclass(frozen=True)
class Phrase:
    """A noun phrase in a sentence and what it claims."""

    text: str
    who: Who
    plural: bool = False
    pronoun: Pronoun = "it"


@cache
def meanings() -> dict[str, Names]:
    """Map words, in the singular, to the things they name: "bird" to all birds, "brown bear" to one bear."""
    found: dict[str, set[str]] = {}
    for name, thing in things().items():
        for noun in thing.nouns:
            found.setdefault(noun.word, set()).add(name)
        for kind in thing.kinds:
            for noun in words_of_kind(kind):
                found.setdefault(noun.word, set()).add(name)
    return {word: frozenset(names) for word, names in found.items()}


@cache
def _words(thing: Thing, countable: bool) -> tuple[tuple[Noun, ...], tuple[Noun, ...], tuple[Noun, ...]]:
    """Return the usual name, the others and those of kinds; `countable` leaves out "coffee" and "scissors"."""
    of_kinds = (noun for kind in sorted(thing.kinds) for noun in words_of_kind(kind))
    some = (thing.nouns[:1], thing.nouns[1:], of_kinds)
    usual, others, general = (tuple(noun for noun in group if noun.number == "one" or not countable) for group in some)
    return usual, others, general


def draw_noun(thing: Thing, rng: random.Random, countable: bool = False) -> Noun:
    """Draw a word for a thing."""
    usual, others, general = _words(thing, countable)
    draw = rng.random()
    if draw < USUAL_SHARE or not (others or general):
        return usual[0] if usual else (others or general)[0]
    return rng.choice(others if others and (draw < USUAL_SHARE + OTHER_SHARE or not general) else general)


def draw_phrase(figure: Figure, rng: random.Random, detail: float = 0.0, mood: str = "") -> Phrase:
    """Name a figure; size and colour are said with probability `detail`, `mood` is one more adjective."""
    thing = figure.kind
    several = figure.count > 1
    noun = draw_noun(thing, rng, several)
    who = Who(meanings()[noun.word])
    adjectives = [mood] if mood else []
    if figure.size and rng.random() < detail:
        adjectives.insert(0, rng.choice(SIZES[figure.size]))
        who = replace(who, size=figure.size)
    wearing = ""
    if figure.colour and rng.random() < detail:
        who = replace(who, colour=figure.colour)
        if thing.role == "person":
            wearing = " " + rng.choice(SHIRTS).format(figure.colour).replace(" a orange", " an orange")
        else:
            adjectives.append(figure.colour)
    words = " ".join(adjectives)
    if several:
        bare = rng.random() < BARE_PLURAL_SHARE
        who = replace(who, least=2 if bare else figure.count, most=who.most if bare else figure.count)
        text = " ".join(filter(None, ("" if bare else NUMBERS[figure.count], words, noun.plural)))
        if wearing and " a" in wearing:
            wearing = f" in {figure.colour} shirts"
        return Phrase(text + wearing, who, True, "they")
    many = noun.number == "many"
    pronoun: Pronoun = "they" if many else "he" if thing.is_a & _HE else "she" if thing.is_a & _SHE else "it"
    return Phrase(noun.with_article(words) + wearing, who, many, pronoun)


_HE, _SHE = frozenset({"man", "boy"}), frozenset({"woman", "girl"})
