"""Words of typed phrases and what they mean.

They are those of captions in all inflections, and others that people use. The others are in
`assets/world`: `unseen_words.tsv` (in no caption), `typed_words.tsv` ("traffic", which names
several things) and `near_words.tsv`: sorts of what is drawn ("poodle"), and what the world lacks
("quokka").
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from nt2vr.negation.parse.inflect import Form, inflect, inflect_phrase
from nt2vr.negation.parse.tokens import EMOJI, NO_EMOJI
from nt2vr.world.claims import MANY, Act
from nt2vr.world.things import (
    COLOURS,
    Names,
    actions,
    all_nouns,
    kinds,
    places,
    plural_of,
    read_table,
    things,
    those,
)
from nt2vr.world.wording import NUMBERS, SIZES, meanings, persons

NIGHT = ("at night", "in the dark", "after dark")
DAY = ("during the day", "in daylight")
_OF_NIGHT = ("night", "nighttime")
_OF_DAY = ("day", "daytime")
# The end has its words twice, since a choice of one would draw otherwise, and change what is drawn
# after it.
PARTS = {"start": ("at the beginning", "at the start"), "end": ("at the end", "at the end")}
_BEFORE = ("then", "and then", "before", "and afterwards", "afterwards", "followed by", "later")
_WHILE = ("while", "as", "at the same time as")
# Verbs whose object may be left out.
_ALONE = frozenset(
    "eat drink cook read write paint ride drive photograph throw kick catch watch chase feed kiss "
    "hug repair".split()
)
# "A crowd" is many, and unlike "dogs" never one.
TOGETHER = MANY - 1
_COUNTED = {1: "one", **NUMBERS, 4: "four", 5: "five"}
_WORD = re.compile(rf"[\w'-]+|{EMOJI}")
_DROPPED = frozenset(
    "a an the some any his her their its is are be being there here and this these it it's all "
    "every whole also who's".split()
)
_FILLERS = frozenset(
    "in on with of wearing who that which near beside next to background sky under dressed at by "
    "across down through along inside video videos clip clips movie movies footage scene scenes "
    "single show shows showing has have got able to other first something anything everything "
    "stuff place somewhere now recorded filmed cute nice good best great lovely funny cool "
    "beautiful pretty together hopefully please today kind sort type colour color coloured "
    "colored visible from contain contains containing featuring including what real yet already "
    "still ever again anymore really very".split()
)
_IDIOMS = ("in sight", "in view", "in frame", "in shot", "kind of", "sort of", "type of")
_PICTURES = [
    f"{name}{ending} of"
    for name in ("photo", "picture", "image", "video", "clip")
    for ending in ("", "s")
]


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
        takes_object: whether an object may follow a verb.
        alone: whether the object may be left out.
        act: what a noun says that somebody does: "drummer".
        adjective: fields of a `SubjectClaim`: its colour, size, number or mood.
        least: how many a noun names at least: "couple".
        near: words of the world for what it lacks, or for sorts of what it shows.
    """

    kind: MeaningKind
    names: Names = frozenset()
    value: str = ""
    plural: bool = False
    takes_object: bool = False
    alone: bool = False
    act: Act | None = None
    adjective: Mapping[str, Any] = MappingProxyType({})
    least: int = 1
    near: tuple[str, ...] = ()


def _adjective(**fields: object) -> Meaning:
    return Meaning("adjective", adjective=fields)


def tokens_of(text: str) -> Words:
    """Split a phrase into lower-case words, without articles, possessives and auxiliaries."""
    return tuple(token for token in _WORD.findall(text.lower()) if token not in _DROPPED)


def gaps_in(text: str) -> list[str]:
    """Return what stands before each token: words that are no tokens, commas, spaces.

    The first token stands alone, as after a comma.
    """
    lower_text = text.lower()
    gaps: list[str] = []
    end = 0
    for match in _WORD.finditer(lower_text):
        if match[0] in _DROPPED:
            continue
        gaps.append(text[end : match.start()].lower() if gaps else ",")
        end = match.end()
    return gaps


def _small_words() -> Iterator[Entry]:
    """Yield the words that belong to no thing, action or place."""
    for words, meaning in _small_word_groups():
        for word in words:
            yield word, meaning


def _small_word_groups() -> Iterator[tuple[Iterable[str], Meaning]]:
    yield (*_FILLERS, *_PICTURES, *_IDIOMS, "each other", "for once"), Meaning("filler")
    yield ("shirt", "top"), Meaning("shirt")
    for size, words in SIZES.items():
        yield words, _adjective(size=size)
    for colour in COLOURS:
        yield (colour,), _adjective(colour=colour)

    for number, name in NUMBERS.items():
        yield (name, str(number)), _adjective(least=number, most=number)
    yield from _totals()
    yield ("couple of",), _adjective(least=2, most=2)
    many = ("pair of", "group of", "team of", "bunch of")
    yield many, _adjective(least=2, most=TOGETHER)
    yield ("herd of", "flock of", "pack of"), _adjective(least=3, most=TOGETHER)
    yield ("crowd of",), _adjective(least=4, most=TOGETHER)

    yield NIGHT, Meaning("night", value="night")
    yield DAY, Meaning("night", value="day")
    for part, part_words in PARTS.items():
        yield part_words, Meaning("time", value=part)
    yield ("in the end",), Meaning("time", value="end")
    yield _BEFORE, Meaning("time", value="before")
    yield _WHILE, Meaning("time", value="while")
    yield ("after",), Meaning("time", value="after")

    yield ("or",), Meaning("or")
    yield ("he",), Meaning("pronoun", meanings()["man"] | meanings()["boy"])
    yield ("she",), Meaning("pronoun", meanings()["woman"] | meanings()["girl"])


def _totals() -> Iterator[tuple[list[str], Meaning]]:
    """Yield numbers of all there are; "one dog" says no more than "a dog"."""
    yield ["one", "1"], _adjective(least=1, most=MANY, total=False)
    for number, name in _COUNTED.items():
        numerals = (name, str(number))
        yield from _total(
            numerals,
            wordings=("at least", "no fewer than", "no less than"),
            least=number,
            most=MANY,
        )
        yield from _total(numerals, wordings=("more than",), least=number + 1, most=MANY)
        yield from _total(
            numerals, wordings=("at most", "no more than", "up to"), least=1, most=number
        )
        yield from _total(numerals, wordings=("fewer than", "less than"), least=1, most=number - 1)
        yield from _total(numerals, wordings=("exactly", "only", "just"), least=number, most=number)


def _total(
    numerals: tuple[str, str], wordings: tuple[str, ...], least: int, most: int
) -> Iterator[tuple[list[str], Meaning]]:
    """Yield some wordings of a total, unless there can be none: "fewer than one"."""
    if not most:
        return
    texts = []
    for wording in wordings:
        for numeral in numerals:
            texts.append(f"{wording} {numeral}")
    yield texts, _adjective(least=least, most=most, total=(least, most) != (1, MANY))


def _forms(phrase: str) -> tuple[str, str, str]:
    return phrase, inflect_phrase(phrase, "VBZ"), inflect_phrase(phrase, "VBG")


class _ActionPhrase(NamedTuple):
    """A phrase for an action without its object, which comes last."""

    verb: str
    words: str
    takes_object: bool


def _action_phrases() -> Iterator[_ActionPhrase]:
    for action in actions().values():
        for phrase in action.phrases:
            words, slot, rest = phrase.partition("{o}")
            if not rest:
                yield _ActionPhrase(action.verb, words.strip(), bool(slot))


def _passives() -> Iterator[Entry]:
    verbs_by_form = defaultdict[str, set[str]](set)
    for phrase in _action_phrases():
        if phrase.takes_object and " " not in phrase.words:
            verbs_by_form[inflect(phrase.words, "VBN")].add(phrase.verb)
    for form, verb_names in verbs_by_form.items():
        yield form, Meaning("passive", frozenset(verb_names))


def _in_both_numbers(word: str, meaning: Meaning) -> Iterator[Entry]:
    """Yield a noun in the plural and in the singular."""
    yield plural_of(word), meaning._replace(plural=True)
    yield word, meaning


def _doer(word: str, verb: str, needed: str) -> Iterator[Entry]:
    objects = frozenset((needed,)) if needed else frozenset()
    act = Act(frozenset((verb,)), objects)
    return _in_both_numbers(word, Meaning("noun", persons(), act=act))


def _doers() -> Iterator[Entry]:
    for action in actions().values():
        if action.layer == "main":
            for word, needed in action.doers:
                yield from _doer(word, action.verb, needed)
    for played in actions()["play"].objects:
        for noun in things()[played].nouns:
            yield from _doer(f"{noun.word} player", "play", played)


def _nouns() -> Iterator[Entry]:
    nouns = [noun for noun in all_nouns() if noun.word in meanings()]
    for noun in nouns:
        plurals = {noun.plural}
        # volcanoes, volcanos
        if noun.word.endswith("o"):
            plurals.add(f"{noun.word}s")
        for plural in plurals:
            yield plural, Meaning("noun", meanings()[noun.word], plural=True)
    for noun in nouns:
        yield noun.word, Meaning("noun", meanings()[noun.word])


def _fallbacks() -> Iterator[Entry]:
    """Yield what is read only if it is nothing else.

    These are places without their preposition, and words of no caption.
    """
    for phrase, meaning in _places():
        yield phrase.partition(" ")[2], meaning
    for word in _OF_NIGHT:
        yield word, Meaning("night", value="night")
    for word in _OF_DAY:
        yield word, Meaning("night", value="day")
    yield from _passives()
    yield from _listed("unseen_words")
    yield from _past_forms()
    for emoji, word in emojis().items():
        yield emoji, Meaning("noun", meanings()[word])


def _past_forms() -> Iterator[Entry]:
    for phrase in _action_phrases():
        # Without an object there is no passive, so that the participle is of the past.
        if phrase.takes_object:
            forms: tuple[Form, ...] = ("VBD",)
        else:
            forms = ("VBD", "VBN")
        meaning = verbs()[tokens_of(phrase.words)]
        for form in forms:
            yield inflect_phrase(phrase.words, form), meaning


def _places() -> Iterator[Entry]:
    for place in places().values():
        for phrase in place.phrases:
            yield phrase, Meaning("place", frozenset((place.name,)))


@cache
def emojis() -> dict[str, str]:
    """Map emoji to words for things, by their pictures and by Unicode's names, such as DOG FACE."""
    words: dict[str, str] = {}
    for thing in things().values():
        for noun in reversed(thing.nouns):
            for name in (f"{noun.word} face", noun.word):
                with suppress(KeyError):
                    words[unicodedata.lookup(name)] = noun.word
        # Pictures of several code points are no numbers.
        with suppress(ValueError):
            words[chr(int(thing.picture, 16))] = thing.nouns[0].word
    return {emoji: word for emoji, word in words.items() if re.fullmatch(EMOJI, emoji)}


def _listed(table: str) -> Iterator[Entry]:
    """Yield the entries of a table of words that captions do not have."""
    for row in read_table(table):
        word = row["word"]
        names = row["name"].split(",")
        match row["kind"]:
            case "place":
                fitting = [name for name in places() if _is_among(name, names)]
                yield word, Meaning("place", frozenset(fitting))
            case "action" if "er" in word[-3:] or word.endswith("ist") or row["object"]:
                yield from _doer(word, names[0], row["object"])
            case "action":
                for form in _forms(word):
                    yield form, Meaning("verb", frozenset(names), alone=True)
            case "group":
                least = int(row["object"])
                group = Meaning(
                    kind="noun",
                    names=_things_named(names),
                    plural=True,
                    least=least,
                )
                yield from _in_both_numbers(word, group)
            case "thing" | "kind":
                yield from _in_both_numbers(word, Meaning("noun", _things_named(names)))


def _is_among(place: str, names: Sequence[str]) -> bool:
    setting = "indoors" if places()[place].indoors else "outdoors"
    return place in names or setting in names


@cache
def unsure_words() -> frozenset[Words]:
    """Return the words of captions by which people usually mean something else.

    Examples are "coach", of a bus, and "wedding", in a church.
    """
    unsure: set[Words] = set()
    for row in read_table("typed_words"):
        if row["kind"] == "none":
            unsure.add(tokens_of(row["word"]))
            unsure.add(tokens_of(plural_of(row["word"])))
    return frozenset(unsure)


def _things_named(names: Sequence[str]) -> Names:
    """Return the things of some words, or of some kinds and roles if there are no such words."""
    things_of_words: set[str] = set()
    for name in names:
        things_of_words |= meanings().get(name, frozenset())
    return frozenset(things_of_words or those(tuple(names)))


def _near_words() -> Iterator[Entry]:
    """Yield words for sorts of what is drawn, vague nouns, and for what the world lacks."""
    for row in read_table("near_words"):
        near = tuple(row["near"].split(","))
        sort = Meaning(
            kind="noun",
            names=_things_named(near),
            value="sort",
            near=near,
        )
        for word in filter(None, row["sorts"].split(",")):
            yield from _in_both_numbers(word, sort)
        for word in filter(None, row["lacking"].split(",")):
            yield from _in_both_numbers(word, Meaning("lacking", near=near))


@cache
def verbs() -> dict[Words, Meaning]:
    """Map phrases of actions to meanings.

    Those of equal phrases are merged: a boy bounces a ball, a ball bounces.
    """
    meanings_of_verbs: dict[Words, Meaning] = {}
    for phrase in _action_phrases():
        for form in map(tokens_of, _forms(phrase.words)):
            new = Meaning("verb", takes_object=phrase.takes_object)
            old = meanings_of_verbs.get(form, new)
            is_both = old.takes_object != phrase.takes_object
            meanings_of_verbs[form] = Meaning(
                kind="verb",
                names=old.names | {phrase.verb},
                takes_object=old.takes_object or phrase.takes_object,
                alone=old.alone or is_both or phrase.words in _ALONE,
            )

    # "Smiling" is a verb as well.
    for action in actions().values():
        if action.layer == "mood":
            mood = _adjective(acts=(Act(frozenset((action.verb,))),))
            for word, _ in action.doers:
                meanings_of_verbs.setdefault(tokens_of(word), mood)
    return meanings_of_verbs


@cache
def lexicon() -> dict[Words, Meaning]:
    """Map words to what they mean; of the same words, later entries replace earlier ones."""
    entries: dict[Words, Meaning] = {}
    for word, meaning in _small_words():
        entries[tokens_of(word)] = meaning
    entries |= verbs()
    for word, meaning in chain(_places(), _nouns()):
        entries[tokens_of(word)] = meaning
    for word, meaning in chain(_doers(), _fallbacks()):
        entries.setdefault(tokens_of(word), meaning)
    for word, meaning in chain(_near_words(), _listed("typed_words")):
        entries[tokens_of(word)] = meaning
    entries.pop((), None)
    return entries


class ThingAndPlace(NamedTuple):
    """Names of the things, and of the places, that one word stands for."""

    things: Names
    places: Names


@cache
def things_and_places() -> dict[tuple[str, ...], ThingAndPlace]:
    """Map words for both a thing and a place to what they name: "the moon", "on the moon"."""
    nouns = {tokens_of(word): meaning.names for word, meaning in _nouns()}
    both = {}
    for phrase, _ in _places():
        _, _, word = phrase.partition(" ")
        names = nouns.get(tokens_of(word))
        if names:
            both[tokens_of(word)] = ThingAndPlace(names, lexicon()[tokens_of(phrase)].names)
    return both


@cache
def synonyms() -> dict[str, str]:
    """Map emoji and words of `typed_words.tsv` to words for models: "someone" to "person"."""
    words = {**emojis(), **dict.fromkeys(NO_EMOJI, "no")}
    for row in read_table("typed_words"):
        word = row["word"]
        if " " in word:
            continue
        name = row["name"].split(",")[0]
        if row["kind"] == "thing":
            nouns = things()[name].nouns if name in things() else kinds().get(name)
            if nouns:
                words[word] = nouns[0].word
        elif row["kind"] == "place" and name in places():
            words[word] = places()[name].phrases[0].split()[-1]
    return words


@cache
def longest() -> int:
    """Return the length in words of the longest entry."""
    return max(map(len, lexicon()))
