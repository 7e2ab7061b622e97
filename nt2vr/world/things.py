"""Things of the world, their names and kinds (people, animals, food, …), actions and places.

They are read from `assets/world`. A name is written "~coffee" in these tables if it takes no
article, and "=scissors" if it is a plural.
"""

import csv
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal, cast

from nt2vr.negation.parse.inflect import inflect
from nt2vr.settings import ASSETS

Role = Literal["person", "animal", "vehicle", "thing", "hand", "worn", "sky", "building"]
Number = Literal["one", "mass", "many"]
Names = frozenset[str]
# What is drawn from them depends on their order.
OrderedNames = tuple[str, ...]
# Words, each with the object that it needs, or with another value; "" if there is none.
WordPairs = tuple[tuple[str, str], ...]

# Roles.
ACTING = frozenset({"person", "animal", "vehicle"})
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "brown", "black", "white")
# Colours of mammals.
FUR = ("brown", "black", "white", "orange")
VOWEL_SOUNDS = (*"aeiou", "SUV")
# Their vowels sound like "you".
SAID_WITH_YOU = ("UFO", "uni")


@dataclass(frozen=True)
class Noun:
    """A word for a thing or a kind: "dog", "coffee" (mass), "scissors" (many)."""

    word: str
    plural: str = ""
    number: Number = "one"

    @property
    def names(self) -> Names:
        """The things that it names: of "bird", all birds."""
        return meanings()[self.word]

    @property
    def is_countable(self) -> bool:
        return self.number == "one"

    def with_article(self, adjectives: str = "") -> str:
        """Return "a big dog", "hot coffee", "red sunglasses"."""
        words = f"{adjectives} {self.word}".lstrip()
        if not self.is_countable or words == "Earth":
            return words
        has_vowel = words.startswith(VOWEL_SOUNDS) and not words.startswith(SAID_WITH_YOU)
        article = "an" if has_vowel else "a"
        return f"{article} {words}"


Nouns = tuple[Noun, ...]


@dataclass(frozen=True)
class Thing:
    """One thing.

    Attributes:
        name: its name in the tables.
        picture: OpenMoji code points.
        nouns: words for it, the usual one first.
        kinds: what it always is as well: a penguin is a bird and an animal.
        size: height relative to a grown person.
        role: what it is in a scene.
        held: "hand", "both hands", "above", "in front", "on head", "on neck", …, "ridden",
            "pushed" or "none".
        tint: colour of its SVG picture that may be replaced; empty if it has one look.
        look: its colours if it has one look, of things whose kinds have others that are tinted.
        wears: what its picture wears, as "hat:blue" or "crown"; empty if nothing.
    """

    name: str
    picture: str
    nouns: Nouns
    kinds: Names
    size: float
    role: Role
    held: str
    tint: str
    look: Names
    wears: str

    @cached_property
    def is_a(self) -> Names:
        """Its own name and its kinds."""
        return self.kinds | {self.name}

    @property
    def noun(self) -> Noun:
        """The usual word for it."""
        return self.nouns[0]

    @property
    def pronoun(self) -> Literal["he", "she", "it"]:
        if self.is_a & {"man", "boy"}:
            return "he"
        if self.is_a & {"woman", "girl"}:
            return "she"
        return "it"


def read_table(name: str) -> list[dict[str, str]]:
    with (ASSETS / "world" / f"{name}.tsv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE, restval=""))


@cache
def read_toml(name: str) -> Mapping[str, Any]:
    return tomllib.loads((ASSETS / "world" / f"{name}.toml").read_text(encoding="utf-8"))


def plural_of(word: str) -> str:
    """Return the plural of a name of several words: "birds of prey"."""
    for joint in (" of ", " with ", " in "):
        if joint in word:
            head, _, rest = word.partition(joint)
            return f"{plural_of(head)}{joint}{rest}"
    head, _, last = word.rpartition(" ")
    return f"{head} {inflect(last, 'NNS')}".strip()


_NUMBERS: Mapping[str, Number] = {"~": "mass", "=": "many"}


def _nouns(names: str, plural: str) -> Nouns:
    """Read "coffee|cup of coffee"; `plural` is that of the first name, where it is irregular."""
    nouns: list[Noun] = []
    for marked_name in filter(None, names.split("|")):
        name = marked_name.lstrip("~=")
        number = _NUMBERS.get(marked_name[0], "one")
        own_plural = plural_of(name) if number == "one" else name
        if plural and not nouns:
            own_plural = plural
        nouns.append(Noun(name, own_plural, number))
    return tuple(nouns)


@cache
def things() -> dict[str, Thing]:
    """Return all things by name."""
    things_by_name = {}
    for row in read_table("things"):
        things_by_name[row["name"]] = Thing(
            name=row["name"],
            picture=row["picture"],
            nouns=_nouns(row["names"], row["plural"]),
            kinds=frozenset(row["kinds"].split()),
            size=float(row["size"]),
            role=cast(Role, row["role"]),
            held=row["held"],
            tint=row["tint"],
            look=frozenset(row["look"].split()),
            wears=row["wears"],
        )
    return things_by_name


def roles_of(names: Iterable[str]) -> set[Role]:
    """Return the roles of some things."""
    return {things()[name].role for name in names}


@cache
def kinds() -> dict[str, Nouns]:
    """Return the words for kinds that are not things themselves.

    Some kinds only serve the slots of actions and have no words.
    """
    return {row["kind"]: _nouns(row["names"], row["plural"]) for row in read_table("kinds")}


def words_of_kind(kind: str) -> Nouns:
    """Return the words for a kind: of one that is a thing itself, only the usual one."""
    if kind in things():
        return things()[kind].nouns[:1]
    return kinds()[kind]


@cache
def all_nouns() -> Nouns:
    """Return the words for all things, then for all kinds."""
    nouns: list[Noun] = []
    for thing in things().values():
        nouns += thing.nouns
    for kind_nouns in kinds().values():
        nouns += kind_nouns
    return tuple(nouns)


@cache
def those(*names: str) -> OrderedNames:
    """Return the things that have, or are of a kind or role with, one of some names.

    "=bird" is a bird of no other sort.
    """
    matching = []
    for name, thing in things().items():
        own_names = thing.is_a | {thing.role, f"={name}"}
        if not own_names.isdisjoint(names):
            matching.append(name)
    return tuple(matching)


@cache
def persons() -> Names:
    return frozenset(those("person"))


@cache
def meanings() -> dict[str, Names]:
    """Map words, in the singular, to the things they name: "bird" to all birds."""
    names_of_word = defaultdict[str, set[str]](set)
    for name, thing in things().items():
        nouns = list(thing.nouns)
        for kind in thing.kinds:
            nouns += words_of_kind(kind)
        for noun in nouns:
            names_of_word[noun.word].add(name)
    return {word: frozenset(names) for word, names in names_of_word.items()}


@dataclass(frozen=True)
class Place:
    """One place.

    Attributes:
        name: its name in the tables.
        phrases: words for it, each with its preposition, the usual one first.
        indoors: whether it is a room.
        tags: what may be done there; see `ActionKind.where`.
        shows: things of the backdrop and how many of each, seen in every clip of the place.
        may_have: names of further things that may be there.
    """

    name: str
    phrases: tuple[str, ...]
    indoors: bool
    tags: Names
    shows: tuple[tuple[str, int], ...]
    may_have: OrderedNames


@cache
def places() -> dict[str, Place]:
    """Return all places by name."""
    places_by_name = {}
    for row in read_table("places"):
        counts = _pairs(row["shows"], separator=",")
        places_by_name[row["name"]] = Place(
            name=row["name"],
            phrases=tuple(row["phrases"].split("|")),
            indoors=row["setting"] == "indoors",
            tags=frozenset(row["tags"].split(",")),
            shows=tuple((thing, int(count)) for thing, count in counts),
            may_have=those(*row["found"].split(",")),
        )
    return places_by_name


def _pairs(text: str, separator: str) -> WordPairs:
    """Read "palm:2,crab:1", or "drummer:drum|singer"."""
    pairs = []
    for part in filter(None, text.split(separator)):
        word, _, value = part.partition(":")
        pairs.append((word, value))
    return tuple(pairs)


# A figure does one thing of each layer at a time.
Layer = Literal["main", "mood", "worn"]
WEAR = "wear"
ENTER = "enter"
LEAVE = "leave"
IN_WATER = frozenset({"swim", "surf", "row", "fly", "chase", "look at", "sail", "fly past", "eat"})
# Tags of places without ground.
AT_SEA = frozenset({"sea", "deep"})


@dataclass(frozen=True)
class ActionKind:
    """What somebody may do.

    Attributes:
        verb: its name in the tables.
        phrases: wordings with the verb first, as a lemma; at least three.
        doers: words for the subject, and the object they need or "": "drummer" and "drum".
        subjects: names of the things that may do it.
        objects: names of the things to which, or with which, it may be done.
        targets: whether the object is another figure.
        where: tags of places; empty for any.
        posture: how the subject is drawn, like `hand`, `motion` and `sign`.
        hand: what its hands do.
        motion: how it moves.
        sign: a picture on the face or over the head.
        shows: a thing that is always seen with it, or "".
        share: how often it is drawn, relative to others.
    """

    verb: str
    phrases: tuple[str, ...]
    doers: WordPairs
    subjects: Names
    objects: Names
    targets: bool
    where: Names
    posture: str
    hand: str
    motion: str
    sign: str
    shows: str
    share: float

    @cached_property
    def layer(self) -> Layer:
        """The group of actions of which one is done at a time."""
        if self.verb == WEAR:
            return "worn"
        if self.hand == "face":
            return "mood"
        return "main"

    def may(self, thing: Thing, place: Place) -> bool:
        """Return whether a thing may do it at a place."""
        swims = "sea" in thing.kinds or bool(AT_SEA & place.tags)
        if swims and self.layer == "main" and self.verb not in IN_WATER:
            return False
        return thing.name in self.subjects and self.may_at(place)

    def may_at(self, place: Place) -> bool:
        """Return whether it may be done at a place."""
        return not self.where or not self.where.isdisjoint(place.tags)


@cache
def actions() -> dict[str, ActionKind]:
    """Return all kinds of actions by verb."""
    actions_by_verb = {}
    for row in read_table("actions"):
        actions_by_verb[row["verb"]] = ActionKind(
            verb=row["verb"],
            phrases=tuple(row["phrases"].split("|")),
            doers=_pairs(row["doers"], separator="|"),
            subjects=_listed(row["who"]),
            # "@" marks an object that is another figure.
            objects=_listed(row["object"].removeprefix("@")),
            targets=row["object"].startswith("@"),
            where=frozenset(filter(None, row["where"].split(","))),
            posture=row["posture"],
            hand=row["hand"],
            motion=row["motion"],
            sign=row["sign"],
            shows=row["shows"],
            share=float(row["share"]),
        )
    return actions_by_verb


def _listed(text: str) -> Names:
    return frozenset(those(*text.split(",")))


@cache
def actions_at(place: str, thing: str) -> tuple[ActionKind, ...]:
    """Return what a thing may do at a place, entering and leaving excepted; both by name."""
    possible = []
    for action in actions().values():
        if action.share and action.may(things()[thing], places()[place]):
            possible.append(action)
    return tuple(possible)
