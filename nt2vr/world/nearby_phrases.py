"""Phrases near to those of a query: shorter ones, others of the same kind, and what scenes show."""

import re
from collections.abc import Iterator
from functools import cache

from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.world.lexicon import lexicon, longest
from nt2vr.world.meaning import MeaningKind, runs_of, tokens_of
from nt2vr.world.part_words import PartWords
from nt2vr.world.scenes import Figure, main_actions
from nt2vr.world.things import Names, Noun, all_nouns, places, things
from nt2vr.world.words import PhraseWord, words_in

# A word for so many things says little: "an animal".
TOO_MANY_THINGS = 30
SOMEBODY = re.compile(r"(?:any|every|some)(?:one|body)")
_ANYWHERE = frozenset({"indoors", "inside", "outdoors", "outside"})


def nearer(wanted: str) -> Iterator[str]:
    """Yield the things of a phrase with one of its actions or its place, and then each alone.

    Words that the world has for those that it lacks come last.
    """
    words = PartWords(wanted)
    nouns = [_noun_text(word) for word in words.of_kind("noun")]
    where = [_place_phrase(word) for word in words.of_kind("place")]
    doings = [word.doing for word in words.of_kind("verb") if word.meaning.object != "must"]
    for noun in nouns:
        for addition in where + doings:
            yield f"{noun} {addition}"
    yield from nouns
    if "night" in tokens_of(wanted):
        for place in where:
            yield f"a person {place} at night"
    for addition in doings + where:
        yield f"a person {addition}"
    for word in words_in(wanted):
        yield from map(with_article, word.meaning.near)


def of_same_kind(wanted: str) -> Iterator[str]:
    """Yield things of the smallest kind that those of a phrase belong to."""
    for word in PartWords(wanted).of_kind("noun"):
        names = word.names
        if not names or len(names) >= TOO_MANY_THINGS:
            continue
        kinds = frozenset.intersection(*(things()[name].kinds for name in names))
        further_members = [_members(kind) - names for kind in sorted(kinds)]
        smallest = min(filter(None, further_members), key=len, default=())
        for name in sorted(smallest):
            yield things()[name].noun.with_article()


@cache
def _members(kind: str) -> Names:
    return frozenset(name for name, thing in things().items() if kind in thing.is_a)


def _place_phrase(word: PhraseWord) -> str:
    """Write a place with its preposition, in the typed way if the world calls it so."""
    phrases: list[str] = []
    for name in sorted(word.names):
        phrases += places()[name].phrases
    typed = [text for text in phrases if tokens_of(text) == word.text]
    # "outside" means many places.
    if word.first in _ANYWHERE:
        typed.append(word.typed)
    return (typed or phrases)[0]


def actions_with(word: PhraseWord) -> Iterator[str]:
    """Yield actions whose phrase has a word that alone means nothing: "moving to music"."""
    if word.kind != "vague":
        return
    for words, meaning in lexicon().items():
        if meaning.kind != "verb" or meaning.object:
            continue
        doing, *rest = words
        if doing.endswith("ing") and set(word.text) <= set(rest):
            yield " ".join(words)


def _noun_text(word: PhraseWord) -> str:
    if word.meaning.plural or SOMEBODY.fullmatch(word.typed):
        return word.typed
    return with_article(word.typed)


def with_article(text: str) -> str:
    for noun in all_nouns():
        if noun.word == text:
            return noun.with_article()
    return Noun(text).with_article()


def main_verbs(figure: Figure) -> set[str]:
    return {action.verb for action in main_actions(figure)}


def names_of_kind(text: str, kind: MeaningKind) -> Names:
    """Return the names that a text has for one kind of meaning."""
    names: set[str] = set()
    for run in runs_of(tokens_of(text), longest()):
        meaning = lexicon().get(run)
        if meaning and meaning.kind == kind:
            names |= meaning.names
    return frozenset(names)


@cache
def texts_about(figure: Figure) -> list[str]:
    """Say in a few words what a figure does, or that it is there: "a man playing a guitar"."""
    name = figure.kind.noun.with_article()
    texts = []
    for action in main_actions(figure):
        if action.target is not None:
            continue
        thing = ""
        if action.thing:
            thing = things()[action.thing].noun.with_article()
        phrase = action.kind.phrases[0].format(o=thing)
        doing = inflect_phrase(phrase, "VBG")
        texts.append(f"{name} {doing}")
    return texts or [name]
