"""Things of the world, their names and kinds (people, animals, food, …), deeds and places, read from `assets/world`.

A name is written "~coffee" in these tables if it takes no article, and "=scissors" if it is a
plural.
"""

import csv
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from typing import Any, Literal

from nt2vr.negation.parse.inflect import inflect
from nt2vr.settings import ASSETS

Role = Literal["person", "animal", "vehicle", "thing", "hand", "worn", "sky", "building"]
Number = Literal["one", "mass", "many"]
Names = frozenset[str]

ACTING: Names = frozenset({"person", "animal", "vehicle"})  # roles
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "brown", "black", "white")
FUR = ("brown", "black", "white", "orange")  # colours of mammals
VOWEL_SOUNDS = (*"aeiou", "SUV")
SAID_WITH_YOU = ("UFO", "uni")  # vowels that sound like "you"


@dataclass(frozen=True)
class Noun:
    """A word for a thing or a kind: "dog", "coffee" (mass), "scissors" (many)."""

    word: str
    plural: str
    number: Number = "one"

    def with_article(self, adjectives: str = "") -> str:
        """Return "a big dog", "hot coffee", "red sunglasses"."""
        words = f"{adjectives} {self.word}".lstrip()
        if self.number != "one" or words == "Earth":
            return words
        vowel = words.startswith(VOWEL_SOUNDS) and not words.startswith(SAID_WITH_YOU)
        return f"{'an' if vowel else 'a'} {words}"


@dataclass(frozen=True)
class Thing:
    """One thing."""

    name: str
    picture: str  # OpenMoji code points
    nouns: tuple[Noun, ...]
    kinds: Names  # what it is as well, always true of it: a penguin is a bird and an animal
    size: float  # height relative to a grown person
    role: Role
    held: str  # "hand", "both hands", "above", "in front", "on head", "on neck", …, "ridden", "pushed" or "none"
    tint: str  # colour of its SVG picture that may be replaced; empty if it has one look
    look: Names  # its colours if it has one look, of things whose kinds have others that are tinted
    wears: str  # what its picture wears, as "hat:blue" or "crown"; empty if nothing

    @cached_property
    def is_a(self) -> Names:
        """Its own name and its kinds."""
        return self.kinds | {self.name}

    @property
    def pronoun(self) -> Literal["he", "she", "it"]:
        return (
            "he" if self.is_a & {"man", "boy"} else "she" if self.is_a & {"woman", "girl"} else "it"
        )


def read_table(name: str) -> list[dict[str, str]]:
    with (ASSETS / "world" / f"{name}.tsv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


@cache
def read_toml(name: str) -> Mapping[str, Any]:
    return tomllib.loads((ASSETS / "world" / f"{name}.toml").read_text(encoding="utf-8"))


def plural_of(word: str) -> str:
    """Return the plural of a name of several words: "birds of prey"."""
    for joint in (" of ", " with ", " in "):
        head, found, rest = word.partition(joint)
        if found:
            return f"{plural_of(head)}{joint}{rest}"
    head, _, last = word.rpartition(" ")
    return f"{head} {inflect(last, 'NNS')}".strip()


_NUMBERS: Mapping[str, Number] = {"~": "mass", "=": "many"}


def _nouns(words: str, plural: str) -> tuple[Noun, ...]:
    """Read "coffee|cup of coffee"; `plural` is that of the first name, where it is irregular."""
    nouns = list[Noun]()
    for word in filter(None, words.split("|")):
        name, number = word.lstrip("~="), _NUMBERS.get(word[0], "one")
        irregular = "" if nouns else plural
        nouns.append(
            Noun(name, irregular or (plural_of(name) if number == "one" else name), number)
        )
    return tuple(nouns)


@cache
def things() -> dict[str, Thing]:
    found = {}
    for row in read_table("things"):
        read: dict[str, Any] = {key: value or "" for key, value in row.items()}
        nouns, size = _nouns(read.pop("names"), read.pop("plural")), float(row["size"])
        names = {key: frozenset(read[key].split()) for key in ("kinds", "look")}
        found[row["name"]] = Thing(**{**read, **names, "nouns": nouns, "size": size})
    return found


@cache
def kinds() -> dict[str, tuple[Noun, ...]]:
    """Words for kinds that are no things themselves; some kinds only serve the slots of deeds and have none."""
    return {row["kind"]: _nouns(row["names"], row["plural"]) for row in read_table("kinds")}


def words_of_kind(kind: str) -> tuple[Noun, ...]:
    """Words for a kind: of one that is a thing itself, only the usual one."""
    return things()[kind].nouns[:1] if kind in things() else kinds()[kind]


@cache
def all_nouns() -> tuple[Noun, ...]:
    """Words for all things, then for all kinds."""
    return tuple(chain(*(thing.nouns for thing in things().values()), *kinds().values()))


@cache
def those(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the things that are, or are of a kind or role, in `names`; "=bird" is a bird of no other sort."""
    wanted = frozenset(names)
    return tuple(
        name for name, thing in things().items() if wanted & (thing.is_a | {thing.role, f"={name}"})
    )


@dataclass(frozen=True)
class Place:
    name: str
    phrases: tuple[str, ...]  # each with its preposition, the usual one first
    indoors: bool
    tags: Names  # what may be done there; see `DeedKind.where`
    shows: tuple[
        tuple[str, int], ...
    ]  # things of the backdrop and how many of each, seen in every clip of the place
    found: tuple[str, ...]  # names of further things that may be there


@cache
def places() -> dict[str, Place]:
    found = {}
    for row in read_table("places"):
        shows = (part.partition(":") for part in row["shows"].split(",") if part)
        found[row["name"]] = Place(
            name=row["name"],
            phrases=tuple(row["phrases"].split("|")),
            indoors=row["setting"] == "indoors",
            tags=frozenset(row["tags"].split(",")),
            shows=tuple((thing, int(number)) for thing, _, number in shows),
            found=those(tuple(row["found"].split(","))),
        )
    return found


Layer = Literal["main", "mood", "worn"]  # a figure does one thing of each layer at a time
WEAR, ENTER, LEAVE = "wear", "enter", "leave"
IN_WATER: Names = frozenset(
    {"swim", "surf", "row", "fly", "chase", "look at", "sail", "fly past", "eat"}
)
AT_SEA: Names = frozenset({"sea", "deep"})  # tags of places without ground


@dataclass(frozen=True)
class DeedKind:
    """What somebody may do."""

    verb: str
    phrases: tuple[str, ...]  # wordings with the verb first, as a lemma; at least three
    doers: tuple[
        tuple[str, str], ...
    ]  # words for who does it, and the object they need or "": "drummer" and "drum"
    who: Names
    objects: Names
    targets: bool  # whether the object is another figure
    where: Names  # tags of places; empty for any
    posture: str  # how it is drawn, as hand, motion and sign
    hand: str
    motion: str
    sign: str  # a picture on the face or over the head
    shows: str  # a thing that is always seen with it, or ""
    share: float  # how often it is drawn, relative to others

    @cached_property
    def layer(self) -> Layer:
        """Which other deeds it excludes at the same time."""
        return "worn" if self.verb == WEAR else "mood" if self.hand == "face" else "main"

    def may(self, thing: Thing, place: Place) -> bool:
        """Return whether a thing may do it at a place."""
        swims = "sea" in thing.kinds or bool(AT_SEA & place.tags)
        if swims and self.layer == "main" and self.verb not in IN_WATER:
            return False
        return thing.name in self.who and (not self.where or bool(self.where & place.tags))


def _listed(text: str) -> Names:
    return frozenset(those(tuple(text.split(",")))) if text else frozenset()


@cache
def deeds() -> dict[str, DeedKind]:
    found = {}
    for row in read_table("deeds"):
        read: dict[str, Any] = {
            **row,
            "phrases": tuple(row["phrases"].split("|")),
            "share": float(row["share"]),
        }
        done_to = read.pop("object")
        read |= {"who": _listed(row["who"]), "objects": _listed(done_to.removeprefix("@"))}
        read |= {
            "targets": done_to.startswith("@"),
            "where": frozenset(filter(None, row["where"].split(","))),
        }
        doers = (doer.partition(":") for doer in row["doers"].split("|") if doer)
        found[row["verb"]] = DeedKind(
            **{**read, "doers": tuple((word, needed) for word, _, needed in doers)}
        )
    return found


@cache
def deeds_at(place: str, thing: str) -> tuple[DeedKind, ...]:
    """What a thing may do at a place, entering and leaving excepted; both by name."""
    return tuple(
        deed
        for deed in deeds().values()
        if deed.share and deed.may(things()[thing], places()[place])
    )
