"""Words of typed phrases and what they mean: those of captions in all inflections, and others that people use.

The others are in `assets/world`: `unseen_words.tsv` (in no caption), `typed_words.tsv` ("traffic",
which names several things) and `near_words.tsv`: sorts of what is drawn ("poodle"), and what the
world lacks ("quokka").
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from nt2vr.negation.parse.inflect import Form, inflect, inflect_phrase
from nt2vr.negation.parse.tokens import EMOJI, NO_EMOJI
from nt2vr.world.claims import MANY, Act
from nt2vr.world.things import (
    COLOURS,
    Names,
    all_nouns,
    deeds,
    kinds,
    places,
    plural_of,
    read_table,
    things,
    those,
)
from nt2vr.world.wording import NUMBERS, SIZES, meanings, persons

NIGHT, DAY = ("at night", "in the dark", "after dark"), ("during the day", "in daylight")
_OF_NIGHT, _OF_DAY = ("night", "nighttime"), ("day", "daytime")
# twice, since a choice of one would draw otherwise, and change what is drawn after it
PARTS = {"start": ("at the beginning", "at the start"), "end": ("at the end", "at the end")}
_BEFORE = ("then", "and then", "before", "and afterwards", "afterwards", "followed by", "later")
_WHILE = ("while", "as", "at the same time as")
_ALONE = frozenset(
    "eat drink cook read write paint ride drive photograph throw kick catch watch chase feed kiss hug repair".split()
)
TOGETHER = MANY - 1  # "a crowd" is many, and unlike "dogs" never one
_COUNTED = {1: "one", **NUMBERS, 4: "four", 5: "five"}
_WORD = re.compile(rf"[\w'-]+|{EMOJI}")
_DROPPED = frozenset(
    "a an the some any his her their its is are be being there here and this these it it's all every whole "
    "also who's".split()
)
_FILLERS = frozenset(
    "in on with of wearing who that which near beside next to background sky under dressed at by across "
    "down through along inside video videos clip clips movie movies footage scene scenes single show shows showing "
    "has have got able to other first something anything everything stuff place somewhere now recorded filmed "
    "cute nice good best great lovely funny cool beautiful pretty together hopefully please today kind sort type "
    "colour color coloured colored visible from contain contains containing featuring including what real "
    "yet already still ever again anymore really very".split()
)
_IDIOMS = ("in sight", "in view", "in frame", "in shot", "kind of", "sort of", "type of")
_PICTURES = [
    f"{name}{end} of"
    for name in ("photo", "picture", "image", "video", "clip")
    for end in ("", "s")
]


Said = Literal[
    "noun", "pronoun", "or", "verb", "passive", "adjective", "place", "night", "time", "shirt"
]


class Meaning(NamedTuple):
    """What some words mean: a noun or pronoun, a verb, an adjective, a place, a time, or nothing to be seen."""

    kind: Said | Literal["vague", "lacking", "filler"]
    names: Names = frozenset()
    value: str = (
        ""  # "night" or "day"; of a time, "start" or "end" of the clip, or how it relates two deeds
    )
    plural: bool = False
    takes_object: bool = False  # of a verb: an object follows,
    alone: bool = False  # or need not
    act: Act | None = None  # what a noun says that somebody does: "drummer"
    adjective: Mapping[str, Any] = MappingProxyType(
        {}
    )  # what it says of a `Who`: its colour, size, number or mood
    least: int = 1  # how many a noun names at least: "couple"
    near: tuple[
        str, ...
    ] = ()  # words of the world for what it lacks, or for sorts of what it shows


def _adjective(**said: object) -> Meaning:
    return Meaning("adjective", adjective=said)


def tokens_of(text: str) -> tuple[str, ...]:
    """Split a phrase into lower-case words, without articles, possessives and auxiliaries."""
    return tuple(token for token in _WORD.findall(text.lower()) if token not in _DROPPED)


def gaps_in(text: str) -> list[str]:
    """Return what stands before each token: words that are no tokens, commas, spaces; the first stands alone."""
    gaps, end = list[str](), 0
    for match in _WORD.finditer(text.lower()):
        if match[0] not in _DROPPED:
            gaps.append(text[end : match.start()].lower() if gaps else ",")
            end = match.end()
    return gaps


def _plain() -> Iterator[tuple[str, Meaning]]:
    meant: list[tuple[Iterable[str], Meaning]] = [
        ((*_FILLERS, *_PICTURES, *_IDIOMS, "each other", "for once"), Meaning("filler")),
        (("shirt", "top"), Meaning("shirt")),
        *((words, _adjective(size=size)) for size, words in SIZES.items()),
        *(((colour,), _adjective(colour=colour)) for colour in COLOURS),
        *(
            ((name, str(number)), _adjective(least=number, most=number))
            for number, name in NUMBERS.items()
        ),
        *_totals(),
        (("couple of",), _adjective(least=2, most=2)),
        (("pair of", "group of", "team of", "bunch of"), _adjective(least=2, most=TOGETHER)),
        (("herd of", "flock of", "pack of"), _adjective(least=3, most=TOGETHER)),
        (("crowd of",), _adjective(least=4, most=TOGETHER)),
        (NIGHT, Meaning("night", value="night")),
        (DAY, Meaning("night", value="day")),
        *((words, Meaning("time", value=part)) for part, words in PARTS.items()),
        (("in the end",), Meaning("time", value="end")),
        (_BEFORE, Meaning("time", value="before")),
        (_WHILE, Meaning("time", value="while")),
        (("after",), Meaning("time", value="after")),
        (("or",), Meaning("or")),
        (("he",), Meaning("pronoun", meanings()["man"] | meanings()["boy"])),
        (("she",), Meaning("pronoun", meanings()["woman"] | meanings()["girl"])),
    ]
    return ((word, meaning) for words, meaning in meant for word in words)


def _totals() -> Iterator[tuple[list[str], Meaning]]:
    """Yield numbers of all there are; "one dog" says no more than "a dog"."""
    yield ["one", "1"], _adjective(least=1, most=MANY, total=False)
    for number, name in _COUNTED.items():
        for least, most, wordings in (
            (number, MANY, ("at least", "no fewer than", "no less than")),
            (number + 1, MANY, ("more than",)),
            (1, number, ("at most", "no more than", "up to")),
            (1, number - 1, ("fewer than", "less than")),
            (number, number, ("exactly", "only", "just")),
        ):
            said = [f"{words} {each}" for words in wordings if most for each in (name, str(number))]
            yield said, _adjective(least=least, most=most, total=(least, most) != (1, MANY))


def _forms(phrase: str) -> tuple[str, str, str]:
    return phrase, inflect_phrase(phrase, "VBZ"), inflect_phrase(phrase, "VBG")


def _phrases() -> Iterator[tuple[str, str, bool]]:
    """Yield each verb with its phrases whose object comes last, without it, and whether they take one."""
    for deed in deeds().values():
        for words, takes, rest in (phrase.partition("{o}") for phrase in deed.phrases):
            if not rest:
                yield deed.verb, words.strip(), bool(takes)


def _passives() -> Iterator[tuple[str, Meaning]]:
    found = defaultdict[str, set[str]](set)
    for verb, words, takes in _phrases():
        if takes and " " not in words:
            found[inflect(words, "VBN")].add(verb)
    return ((form, Meaning("passive", frozenset(verbs))) for form, verbs in found.items())


def _numbered(word: str, meaning: Meaning) -> Iterator[tuple[str, Meaning]]:
    """Yield a noun in the plural and in the singular."""
    yield plural_of(word), meaning._replace(plural=True)
    yield word, meaning


def _doer(word: str, verb: str, needed: str) -> Iterator[tuple[str, Meaning]]:
    act = Act(frozenset((verb,)), frozenset((needed,) if needed else ()))
    return _numbered(word, Meaning("noun", persons(), act=act))


def _doers() -> Iterator[tuple[str, Meaning]]:
    for deed in deeds().values():
        for word, needed in deed.doers if deed.layer == "main" else ():
            yield from _doer(word, deed.verb, needed)
    for played in deeds()["play"].objects:
        for noun in things()[played].nouns:
            yield from _doer(f"{noun.word} player", "play", played)


def _nouns() -> Iterator[tuple[str, Meaning]]:
    nouns = [noun for noun in all_nouns() if noun.word in meanings()]
    for noun in nouns:
        plurals = (
            {noun.plural, f"{noun.word}s"} if noun.word.endswith("o") else {noun.plural}
        )  # volcanoes, volcanos
        yield from (
            (plural, Meaning("noun", meanings()[noun.word], plural=True)) for plural in plurals
        )
    yield from ((noun.word, Meaning("noun", meanings()[noun.word])) for noun in nouns)


def _others() -> Iterator[tuple[str, Meaning]]:
    """Yield what is read only if it is nothing else: places without their preposition, and words of no caption."""
    yield from ((phrase.partition(" ")[2], meaning) for phrase, meaning in _places())
    yield from ((word, Meaning("night", value="night")) for word in _OF_NIGHT)
    yield from ((word, Meaning("night", value="day")) for word in _OF_DAY)
    yield from _passives()
    yield from _listed("unseen_words")
    for _, words, takes in _phrases():
        past: tuple[Form, ...] = (
            ("VBD",) if takes else ("VBD", "VBN")
        )  # without an object, no passive
        yield from ((inflect_phrase(words, tag), verbs()[tokens_of(words)]) for tag in past)
    yield from ((emoji, Meaning("noun", meanings()[word])) for emoji, word in emojis().items())


def _places() -> Iterator[tuple[str, Meaning]]:
    for place in places().values():
        yield from (
            (phrase, Meaning("place", frozenset((place.name,)))) for phrase in place.phrases
        )


@cache
def emojis() -> dict[str, str]:
    """Map emoji to words for things, by their pictures and by Unicode's names, such as DOG FACE."""
    found = {}
    for thing in things().values():
        for word in (noun.word for noun in reversed(thing.nouns)):
            for name in (f"{word} face", word):
                with suppress(KeyError):
                    found[unicodedata.lookup(name)] = word
        with suppress(ValueError):  # of several code points
            found[chr(int(thing.picture, 16))] = thing.nouns[0].word
    return {emoji: word for emoji, word in found.items() if re.fullmatch(EMOJI, emoji)}


def _listed(table: str) -> Iterator[tuple[str, Meaning]]:
    for row in read_table(table):
        word, names = row["word"], row["name"].split(",")
        match row["kind"]:
            case "place":
                yield (
                    word,
                    Meaning(
                        "place", frozenset(name for name in places() if _is_there(name, names))
                    ),
                )
            case "deed" if "er" in word[-3:] or word.endswith("ist") or row["object"]:
                yield from _doer(word, names[0], row["object"])
            case "deed":
                yield from (
                    (form, Meaning("verb", frozenset(names), alone=True)) for form in _forms(word)
                )
            case "group":
                yield from _numbered(
                    word, Meaning("noun", _named(names), plural=True, least=int(row["object"]))
                )
            case "thing" | "kind":
                yield from _numbered(word, Meaning("noun", _named(names)))


def _is_there(place: str, names: Sequence[str]) -> bool:
    return place in names or ("indoors" if places()[place].indoors else "outdoors") in names


@cache
def unsure_words() -> frozenset[tuple[str, ...]]:
    """Words of captions by which people usually mean something else: "coach", of a bus; "wedding", in a church."""
    words = [row["word"] for row in read_table("typed_words") if row["kind"] == "none"]
    return frozenset(tokens_of(form) for word in words for form in (word, plural_of(word)))


def _named(names: Sequence[str]) -> Names:
    found = frozenset[str]().union(*(meanings().get(name, ()) for name in names))
    return found or frozenset(those(tuple(names)))


def _near_words() -> Iterator[tuple[str, Meaning]]:
    """Yield words for sorts of what is drawn, vague nouns, and for what the world lacks."""
    for row in read_table("near_words"):
        near = tuple(row["near"].split(","))
        for word in filter(None, row["sorts"].split(",")):
            yield from _numbered(word, Meaning("noun", _named(near), value="sort", near=near))
        for word in filter(None, row["lacking"].split(",")):
            yield from _numbered(word, Meaning("lacking", near=near))


@cache
def verbs() -> dict[tuple[str, ...], Meaning]:
    """Map phrases of deeds to meanings; those of equal phrases are merged: a boy bounces a ball, a ball bounces."""
    found: dict[tuple[str, ...], Meaning] = {}
    for verb, words, takes in _phrases():
        for form in map(tokens_of, _forms(words)):
            known = found.get(form, Meaning("verb", takes_object=takes))
            alone = known.alone or words in _ALONE or known.takes_object != takes
            either = known.takes_object or takes
            found[form] = Meaning("verb", known.names | {verb}, takes_object=either, alone=alone)
    for deed in deeds().values():
        for word, _ in deed.doers if deed.layer == "mood" else ():  # "smiling" is a verb as well
            found.setdefault(tokens_of(word), _adjective(acts=(Act(frozenset((deed.verb,))),)))
    return found


@cache
def lexicon() -> dict[tuple[str, ...], Meaning]:
    found = {tokens_of(word): meaning for word, meaning in _plain()} | verbs()
    found |= {tokens_of(word): meaning for word, meaning in (*_places(), *_nouns())}
    for word, meaning in (*_doers(), *_others()):
        found.setdefault(tokens_of(word), meaning)
    found |= {
        tokens_of(word): meaning for word, meaning in (*_near_words(), *_listed("typed_words"))
    }
    found.pop((), None)
    return found


class ThingAndPlace(NamedTuple):
    """Names of the things, and of the places, that one word stands for."""

    things: Names
    places: Names


@cache
def things_and_places() -> dict[tuple[str, ...], ThingAndPlace]:
    """Map words to what they name where this is both a thing and a place: "the moon", "on the moon"."""
    nouns = {tokens_of(word): meaning.names for word, meaning in _nouns()}
    found = {}
    for phrase, _ in _places():
        _, _, word = phrase.partition(" ")
        names = nouns.get(tokens_of(word))
        if names:
            found[tokens_of(word)] = ThingAndPlace(names, lexicon()[tokens_of(phrase)].names)
    return found


@cache
def synonyms() -> dict[str, str]:
    """Map emoji and words of `typed_words.tsv` to words for models to be asked by: "someone" to "person"."""
    found = {**emojis(), **dict.fromkeys(NO_EMOJI, "no")}
    for row in read_table("typed_words"):
        word, kind, name = row["word"], row["kind"], row["name"].split(",")[0]
        if " " not in word and kind == "thing":
            nouns = things()[name].nouns if name in things() else kinds().get(name)
            found |= {word: nouns[0].word} if nouns else {}
        elif " " not in word and kind == "place" and name in places():
            found[word] = places()[name].phrases[0].split()[-1]
    return found


@cache
def longest() -> int:
    return max(map(len, lexicon()))
