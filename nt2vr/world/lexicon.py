"""Words of the world in all inflections, also those that captions do not use."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import Literal

from nt2vr.language.inflect import inflect, inflect_phrase
from nt2vr.world.vocabulary import ACCESSORIES, ACTIVITIES, PLACES, PROPS, SUBJECTS

WordKind = Literal["subject", "activity", "accessory", "place", "prop", "filler"]
Names = frozenset[str]


@dataclass(frozen=True)
class Concept:
    """Meaning of a word or phrase."""

    kind: WordKind
    names: Names = field(default_factory=frozenset)


def _of_kind(kind: str) -> tuple[str, ...]:
    return tuple(name for name, subject in SUBJECTS.items() if subject.kind == kind)


_MUSIC = ("guitar", "violin", "trumpet", "saxophone", "drum", "piano", "accordion")
_INDOORS = ("room", "kitchen", "gym", "stage")
# Query words that captions do not use, separated by commas, by the names of the vocabulary that they stand for
_QUERY_WORDS: dict[WordKind, dict[tuple[str, ...], str]] = {
    "subject": {
        _of_kind("person"): "person, human, somebody, someone, anybody, anyone, people",
        ("man", "woman"): "adult, grown-up",
        ("boy", "girl"): "child, kid, boy or girl",
        ("man",): "gentleman, male",
        ("woman",): "female",
        _of_kind("animal"): "animal",
        ("dog", "cat"): "dog or cat",
        ("dog", "cat", "rabbit"): "pet, dog or cat or rabbit",
        _of_kind("vehicle"): "vehicle",
        ("car", "bus"): "car or bus",
        ("plane", "helicopter"): "aircraft, plane or helicopter",
    },
    "activity": {
        ("pizza", "icecream", "burger", "eat"): "eat",
        _MUSIC: "play music, make music, play an instrument, play a musical instrument",
        ("guitar", "piano"): "play guitar or piano",
        ("coffee",): "drink",
        ("yoga",): "meditate, practice yoga",
        ("bike",): "cycle, bike",
        ("row",): "paddle, row",
        ("climb",): "climb",
        ("fence",): "fence",
        ("golf",): "golf",
        ("drum",): "drum, play drums",
        ("violin",): "play violin",
        ("photo",): "take pictures, take a picture, take photos, photograph",
        ("laptop",): "use a laptop, use a computer, work on a computer, type",
        ("sweep",): "sweep",
        ("soccer",): "play football, kick a ball, kick a football, hold a ball",
        ("pingpong",): "play table tennis",
        ("bike", "horse", "skate", "snowboard", "surf"): "ride",
        ("sleep",): "nap",
        ("drive",): "drive, drive past",
        ("fly", "kite"): "fly",
        ("drive", "fly"): "pass by",
    },
    "accessory": {("tophat", "cap"): "hat", ("cap",): "baseball cap", ("sunglasses",): "glasses, shades"},
    "place": {
        ("beach",): "sea, seaside",
        ("mountain",): "snow, mountain",
        ("room",): "living room, home",
        ("street",): "city, city street, road",
        ("forest",): "woods",
        _INDOORS: "indoors",
        tuple(name for name in PLACES if name not in _INDOORS): "outdoors, outside",
    },
    "prop": {("teddy",): "teddy, bear", ("plant",): "plant", ("trophy",): "cup", ("campfire",): "bonfire"},
}
# Nouns that stand for the activity they appear in: "a guitar"
_NOUNS: dict[tuple[str, ...], str] = {
    _MUSIC: "instrument",
    ("guitar", "piano"): "guitar or piano",
    ("soccer", "basketball", "ball", "juggle"): "ball",
    ("bike",): "bike, bicycle",
    ("row",): "boat",
    ("read",): "book",
    ("archery",): "bow, arrow",
    ("photo",): "camera",
    ("coffee",): "cup of coffee",
    ("cartwheel",): "cartwheel",
    ("laptop",): "computer",
    ("violin",): "fiddle",
    ("sing",): "microphone, song",
    ("fence",): "sword",
    ("lift",): "weight",
    ("eat",): "bowl",
    ("cook",): "pan, egg",
    ("burger",): "hamburger",
    ("icecream",): "ice cream",
    ("soccer",): "soccer ball, football",
    ("sweep",): "broom",
    ("skate",): "skateboard",
    ("surf",): "surfboard",
    ("ski",): "ski",
    ("paint", "photo"): "picture",
    ("climb",): "wall",
}
_ALSO_NOUNS = (
    *_MUSIC,
    *"horse pizza burger coffee phone laptop fish kite balloon umbrella basketball golf yoga soccer".split(),
)
_FILLERS = (
    "a an the some any his her their its this that there here it he she they who which is are be being been am was "
    "were do does did has have having in on at of to by with near beside next front behind background around and "
    "while as then also both together at the same time , . ; ! ? : you can see we i one video clip scene shows "
    "showing show where when wear wears wearing"
).split()
_DROPPED = frozenset(("a", "an", "the", "some", "any", "his", "her", "their", "its"))
_WORD = re.compile(r"[\w'-]+|[^\w\s]")


def tokens_of(text: str) -> tuple[str, ...]:
    """Split a phrase into lower-case words, without articles and possessives."""
    return tuple(token for token in _WORD.findall(text.lower()) if token not in _DROPPED)


def _nouns(word: str) -> Iterator[str]:
    head, _, last = word.rpartition(" ")
    yield word
    yield f"{head} {inflect(last, 'NNS')}".strip()


def _verbs(phrase: str) -> Iterator[str]:
    yield phrase
    yield inflect_phrase(phrase, "VBZ")
    yield inflect_phrase(phrase, "VBG")


def _vocabulary_entries() -> Iterator[tuple[str, WordKind, Names]]:
    """Yield the phrases of the vocabulary in every form, with their meanings."""
    for name, subject in SUBJECTS.items():
        for word in subject.words:
            yield from ((form, "subject", frozenset((name,))) for form in _nouns(word))
    for name, activity in ACTIVITIES.items():
        for phrase in activity.phrases:
            yield from ((form, "activity", frozenset((name,))) for form in _verbs(phrase))
    for kind, things in (("accessory", ACCESSORIES), ("prop", PROPS)):
        for name, thing in things.items():
            for word in thing.words:
                yield from ((form, kind, frozenset((name,))) for form in _nouns(" ".join(tokens_of(word))))  # type: ignore[misc]
    for name, place in PLACES.items():
        for phrase in place.phrases:
            yield phrase, "place", frozenset((name,))
            yield " ".join(tokens_of(phrase)[1:]), "place", frozenset((name,))  # without the preposition


def _query_entries() -> Iterator[tuple[str, WordKind, Names]]:
    """Yield further phrases of queries in every form, with their meanings."""
    for kind, words in _QUERY_WORDS.items():
        forms = _verbs if kind == "activity" else _nouns
        for names, said in words.items():
            yield from ((form, kind, frozenset(names)) for word in said.split(", ") for form in forms(word))
    for names, said in (*_NOUNS.items(), *(((name,), name) for name in _ALSO_NOUNS)):
        yield from ((form, "activity", frozenset(names)) for word in said.split(", ") for form in _nouns(word))
    yield from ((word, "filler", frozenset()) for word in _FILLERS)


@cache
def lexicon() -> dict[tuple[str, ...], Concept]:
    """Map phrases to meanings; several meanings (people and dogs both "run") are merged."""
    found: dict[tuple[str, ...], Concept] = {}
    for phrase, kind, names in chain(_vocabulary_entries(), _query_entries()):
        tokens = tokens_of(phrase)
        known = found.get(tokens)
        if known is None:
            found[tokens] = Concept(kind, names)
        elif known.kind == kind:
            found[tokens] = Concept(kind, known.names | names)
    return found
