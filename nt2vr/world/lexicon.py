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


def _people() -> Names:
    return frozenset(name for name, subject in SUBJECTS.items() if subject.kind == "person")


_EATING = ("pizza", "icecream", "burger", "eat")
_MUSIC = ("guitar", "violin", "trumpet", "saxophone", "drum", "piano", "accordion")
# Query words that captions do not use
_QUERY_WORDS: dict[WordKind, dict[str, tuple[str, ...]]] = {
    "subject": {
        **dict.fromkeys(("person", "human", "somebody", "someone", "anybody", "anyone", "people"), tuple(_people())),
        "adult": ("man", "woman"),
        "grown-up": ("man", "woman"),
        "child": ("boy", "girl"),
        "kid": ("boy", "girl"),
        "gentleman": ("man",),
        "male": ("man",),
        "female": ("woman",),
        "animal": tuple(name for name, subject in SUBJECTS.items() if subject.kind == "animal"),
        "pet": ("dog", "cat", "rabbit"),
        "vehicle": tuple(name for name, subject in SUBJECTS.items() if subject.kind == "vehicle"),
        "aircraft": ("plane", "helicopter"),
        "boy or girl": ("boy", "girl"),
        "dog or cat": ("dog", "cat"),
        "dog or cat or rabbit": ("dog", "cat", "rabbit"),
        "car or bus": ("car", "bus"),
        "plane or helicopter": ("plane", "helicopter"),
    },
    "activity": {
        "eat": _EATING,
        "play music": _MUSIC,
        "make music": _MUSIC,
        "play an instrument": _MUSIC,
        "play a musical instrument": _MUSIC,
        "play guitar or piano": ("guitar", "piano"),
        "drink": ("coffee",),
        "meditate": ("yoga",),
        "practice yoga": ("yoga",),
        "cycle": ("bike",),
        "bike": ("bike",),
        "paddle": ("row",),
        "row": ("row",),
        "climb": ("climb",),
        "fence": ("fence",),
        "golf": ("golf",),
        "drum": ("drum",),
        "play drums": ("drum",),
        "play violin": ("violin",),
        "take pictures": ("photo",),
        "take a picture": ("photo",),
        "take photos": ("photo",),
        "photograph": ("photo",),
        "use a laptop": ("laptop",),
        "use a computer": ("laptop",),
        "work on a computer": ("laptop",),
        "type": ("laptop",),
        "sweep": ("sweep",),
        "play football": ("soccer",),
        "kick a ball": ("soccer",),
        "kick a football": ("soccer",),
        "play table tennis": ("pingpong",),
        "ride": ("bike", "horse", "skate", "snowboard", "surf"),
        "hold a ball": ("soccer",),
        "nap": ("sleep",),
        "drive": ("drive",),
        "fly": ("fly", "kite"),
        "drive past": ("drive",),
        "pass by": ("drive", "fly"),
    },
    "accessory": {
        "hat": ("tophat", "cap"),
        "baseball cap": ("cap",),
        "glasses": ("sunglasses",),
        "shades": ("sunglasses",),
    },
    "place": {
        "sea": ("beach",),
        "seaside": ("beach",),
        "snow": ("mountain",),
        "mountain": ("mountain",),
        "living room": ("room",),
        "home": ("room",),
        "city": ("street",),
        "city street": ("street",),
        "road": ("street",),
        "woods": ("forest",),
        "indoors": ("room", "kitchen", "gym", "stage"),
        "outdoors": tuple(name for name in PLACES if name not in ("room", "kitchen", "gym", "stage")),
        "outside": tuple(name for name in PLACES if name not in ("room", "kitchen", "gym", "stage")),
    },
    "prop": {
        "teddy": ("teddy",),
        "bear": ("teddy",),
        "plant": ("plant",),
        "cup": ("trophy",),
        "bonfire": ("campfire",),
    },
}
# Nouns that stand for the activity they appear in: "a guitar"
_NOUNS: dict[str, tuple[str, ...]] = {
    "instrument": _MUSIC,
    "guitar or piano": ("guitar", "piano"),
    "ball": ("soccer", "basketball", "ball", "juggle"),
    "bike": ("bike",),
    "bicycle": ("bike",),
    "boat": ("row",),
    "book": ("read",),
    "bow": ("archery",),
    "camera": ("photo",),
    "cup of coffee": ("coffee",),
    "cartwheel": ("cartwheel",),
    "computer": ("laptop",),
    "fiddle": ("violin",),
    "microphone": ("sing",),
    "song": ("sing",),
    "sword": ("fence",),
    "weight": ("lift",),
    "bowl": ("eat",),
    "pan": ("cook",),
    "egg": ("cook",),
    "hamburger": ("burger",),
    "ice cream": ("icecream",),
    "soccer ball": ("soccer",),
    "football": ("soccer",),
    "broom": ("sweep",),
    "skateboard": ("skate",),
    "surfboard": ("surf",),
    "ski": ("ski",),
    "arrow": ("archery",),
    "picture": ("paint", "photo"),
    "wall": ("climb",),
    **{
        name: (name,)
        for name in (
            *_MUSIC,
            "horse",
            "pizza",
            "burger",
            "coffee",
            "phone",
            "laptop",
            "fish",
            "kite",
            "balloon",
            "umbrella",
            "basketball",
            "golf",
            "yoga",
            "soccer",
        )
    },
}
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
        for word, names in words.items():
            yield from ((form, kind, frozenset(names)) for form in forms(word))
    for word, names in _NOUNS.items():
        yield from ((form, "activity", frozenset(names)) for form in _nouns(word))
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
