"""Words of typed phrases and what they mean.

They are those of captions in all inflections, and others that people use.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from typing import NamedTuple

from nt2vr.negation.parse.inflect import inflect, inflect_phrase
from nt2vr.world.claims import Act
from nt2vr.world.meaning import (
    Entry,
    Meaning,
    ObjectUse,
    Words,
    adjective,
    doer_entries,
    forms_of,
    tokens_of,
)
from nt2vr.world.small_words import small_words
from nt2vr.world.things import Names, actions, all_nouns, meanings, places, things
from nt2vr.world.word_tables import emojis, listed_words, near_words

# Verbs whose object may be left out.
_ALONE = frozenset(
    "eat drink cook read write paint ride drive photograph throw kick catch watch chase feed kiss "
    "hug repair".split()
)


Lexicon = dict[Words, Meaning]


class _ActionPhrase(NamedTuple):
    """A phrase for an action without its object, which comes last."""

    verb: str
    words: str
    object: ObjectUse


def _action_phrases() -> Iterator[_ActionPhrase]:
    for action in actions().values():
        for phrase in action.phrases:
            words, slot, rest = phrase.partition("{o}")
            words = words.strip()
            use: ObjectUse = ""
            if slot:
                use = "may" if words in _ALONE else "must"
            if not rest:
                yield _ActionPhrase(action.verb, words, use)


def _passives() -> Iterator[Entry]:
    verbs_by_form = defaultdict[str, set[str]](set)
    for phrase in _action_phrases():
        if phrase.object and " " not in phrase.words:
            verbs_by_form[inflect(phrase.words, "VBN")].add(phrase.verb)
    for form, verb_names in verbs_by_form.items():
        yield form, Meaning("passive", frozenset(verb_names))


def _doers() -> Iterator[Entry]:
    for action in actions().values():
        if action.layer == "main":
            for word, needed in action.doers:
                yield from doer_entries(word, action.verb, needed)
    for played in actions()["play"].objects:
        for noun in things()[played].nouns:
            yield from doer_entries(f"{noun.word} player", "play", played)


def _nouns() -> Iterator[Entry]:
    for noun in all_nouns():
        several = Meaning("noun", noun.names, plural=True)
        yield noun.plural, several
        # volcanoes, volcanos
        if noun.word.endswith("o"):
            yield f"{noun.word}s", several
    for noun in all_nouns():
        yield noun.word, Meaning("noun", noun.names)


def _fallbacks() -> Iterator[Entry]:
    """Yield what is read only if it is nothing else.

    These are places without their preposition, and words of no caption.
    """
    for phrase, meaning in _places():
        _, _, bare_place = phrase.partition(" ")
        yield bare_place, meaning
    yield from _passives()
    yield from listed_words("unseen_words")
    yield from _past_forms()
    for emoji, word in emojis().items():
        yield emoji, Meaning("noun", meanings()[word])


def _past_forms() -> Iterator[Entry]:
    for phrase in _action_phrases():
        meaning = verbs()[tokens_of(phrase.words)]
        yield inflect_phrase(phrase.words, "VBD"), meaning
        # Without an object there is no passive, so that the participle is of the past.
        if not phrase.object:
            yield inflect_phrase(phrase.words, "VBN"), meaning


def _places() -> Iterator[Entry]:
    for place in places().values():
        for phrase in place.phrases:
            yield phrase, Meaning("place", frozenset((place.name,)))


@cache
def verbs() -> Lexicon:
    """Map phrases of actions to meanings.

    Those of equal phrases are merged: a boy bounces a ball, a ball bounces.
    """
    meanings_of_verbs: Lexicon = {}
    for phrase in _action_phrases():
        for form in map(tokens_of, forms_of(phrase.words)):
            old = meanings_of_verbs.get(form, Meaning("verb", object=phrase.object))
            use = old.object if old.object == phrase.object else "may"
            names = old.names | {phrase.verb}
            meanings_of_verbs[form] = Meaning("verb", names, object=use)

    # "Smiling" is a verb as well.
    for action in actions().values():
        if action.layer == "mood":
            mood = adjective(acts=(Act.of(action.verb),))
            for word, _ in action.doers:
                meanings_of_verbs.setdefault(tokens_of(word), mood)
    return meanings_of_verbs


@cache
def lexicon() -> Lexicon:
    """Map words to what they mean; of the same words, later entries replace earlier ones."""
    entries = _by_tokens(small_words()) | verbs()
    entries |= _by_tokens(chain(_places(), _nouns()))
    for word, meaning in chain(_doers(), _fallbacks()):
        entries.setdefault(tokens_of(word), meaning)
    entries |= _by_tokens(chain(near_words(), listed_words("typed_words")))
    entries.pop((), None)
    return entries


def _by_tokens(entries: Iterable[Entry]) -> Lexicon:
    return {tokens_of(word): meaning for word, meaning in entries}


class ThingAndPlace(NamedTuple):
    """Names of the things, and of the places, that one word stands for."""

    things: Names
    places: Names


@cache
def things_and_places() -> dict[tuple[str, ...], ThingAndPlace]:
    """Map words for both a thing and a place to what they name: "the moon", "on the moon"."""
    nouns = _by_tokens(_nouns())
    both = {}
    for phrase, _ in _places():
        _, _, bare_place = phrase.partition(" ")
        words = tokens_of(bare_place)
        if words in nouns:
            both[words] = ThingAndPlace(nouns[words].names, lexicon()[tokens_of(phrase)].names)
    return both


@cache
def longest() -> int:
    """Return the length in words of the longest entry."""
    return max(map(len, lexicon()))
