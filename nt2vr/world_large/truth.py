"""Truth of sentences about scenes: parses phrases into claims and judges clips by them.

Limited to the words of the data files: phrases with other words have no claim, and hence no verdict.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple

from nt2vr.language.inflect import inflect_phrase
from nt2vr.language.query import Query
from nt2vr.search.answers import Verdict
from nt2vr.world_large.captions import DAY, NIGHT
from nt2vr.world_large.claims import Act, Claim, Who
from nt2vr.world_large.deeds import deeds
from nt2vr.world_large.nouns import NUMBERS, SIZES, meanings
from nt2vr.world_large.places import places
from nt2vr.world_large.scenes import Scene
from nt2vr.world_large.things import COLOURS, Names, kinds, things

MAX_READ = 4096  # phrases remembered: a search judges many clips by the same ones
_WORD = re.compile(r"[\w'-]+")
_DROPPED = frozenset("a an the some any his her their its is are be being there and".split())
_FILLERS = frozenset(
    "in on with of wearing who that near beside next to background sky under dressed shirt top".split()
)


class _Meaning(NamedTuple):
    """What some words mean: a noun, a verb, an adjective, a place, a time of day, or nothing to be seen."""

    kind: Literal["noun", "verb", "colour", "size", "number", "place", "night", "filler"]
    names: Names = frozenset()
    value: str = ""
    plural: bool = False
    takes_object: bool = False


def tokens_of(text: str) -> tuple[str, ...]:
    """Split a phrase into lower-case words, without articles, possessives and auxiliaries."""
    return tuple(token for token in _WORD.findall(text.lower()) if token not in _DROPPED)


@cache
def lexicon() -> dict[tuple[str, ...], _Meaning]:
    """Map phrases to meanings; the names of verbs with equal phrases are merged."""
    found: dict[tuple[str, ...], _Meaning] = {(word,): _Meaning("filler") for word in _FILLERS}
    found |= {tokens_of(word): _Meaning("size", value=size) for size, words in SIZES.items() for word in words}
    found |= {(colour,): _Meaning("colour", value=colour) for colour in COLOURS}
    found |= {(word,): _Meaning("number", value=str(number)) for number, word in NUMBERS.items()}
    found |= {tokens_of(word): _Meaning("night", value="night") for word in NIGHT}
    found |= {tokens_of(word): _Meaning("night", value="day") for word in DAY}
    for deed in deeds().values():
        for phrase in (phrase for phrase in deed.phrases if not phrase.partition("{o}")[2]):
            takes, words = "{o}" in phrase, phrase.replace("{o}", "").strip()
            for form in (words, inflect_phrase(words, "VBZ"), inflect_phrase(words, "VBG")):
                known = found.get(tokens_of(form))
                names = known.names if known and known.kind == "verb" else frozenset()
                found[tokens_of(form)] = _Meaning("verb", names | {deed.verb}, takes_object=takes)
    for place in places().values():
        found |= {tokens_of(phrase): _Meaning("place", frozenset((place.name,))) for phrase in place.phrases}
    nouns = [noun for group in (*(thing.nouns for thing in things().values()), *kinds().values()) for noun in group]
    for noun in nouns:
        if noun.word in meanings():
            found[tokens_of(noun.plural)] = _Meaning("noun", meanings()[noun.word], plural=True)
    for noun in nouns:
        if noun.word in meanings():
            found[tokens_of(noun.word)] = _Meaning("noun", meanings()[noun.word])
    return found


@lru_cache(MAX_READ)
def read_claim(phrase: str) -> Claim | None:
    """Parse a phrase into a claim; None if it has unknown words, no content, or says what the world cannot tell."""
    tokens, position, before = tokens_of(phrase), 0, ""
    reader = _Reader(behind="background" in tokens)
    while position < len(tokens):
        for length in range(len(tokens) - position, 0, -1):
            if meaning := lexicon().get(tokens[position : position + length]):
                break
        else:
            return None
        position += length
        if tokens[position - 1] == "orange" and _is_colour(tokens, position):
            meaning = _Meaning("colour", value="orange")
        if before == "noun" and tokens[position - 1] in _ambiguous():
            return None  # "boys fish"
        before = meaning.kind
        if not reader.read(meaning, tokens[position - length : position]):
            return None
    return reader.claim


@cache
def _ambiguous() -> frozenset[str]:
    """Nouns that are verbs as well: "fish", "pets"."""
    verbs = {phrase for deed in deeds().values() for phrase in deed.phrases}
    words = {word for phrase in verbs for word in (phrase.split()[0], inflect_phrase(phrase.split()[0], "VBZ"))}
    plurals = {noun.plural for thing in things().values() for noun in thing.nouns}
    plurals |= {noun.plural for nouns in kinds().values() for noun in nouns}
    return frozenset(words & {*meanings(), *plurals})


def _is_colour(tokens: tuple[str, ...], after: int) -> bool:
    """Return whether the "orange" before a token is a colour: "in orange", "an orange cat"."""
    following = lexicon().get(tokens[after : after + 1])
    return tokens[after - 2 : after - 1] == ("in",) or bool(following and following.kind in ("noun", "filler"))


class _Reader:
    """Collects the meanings of a phrase, from left to right."""

    def __init__(self, behind: bool) -> None:
        self._behind = behind  # "with a crown in the background" is not worn
        self._whos: list[Who] = []
        self._places: Names = frozenset()
        self._night: bool | None = None
        self._next = Who()  # adjectives of the next noun
        self._awaits = False  # an object
        self._after_with = False
        self._aside = False  # the last noun came after "with"
        self._in = False  # after "in" or "with": clothes are worn

    @property
    def claim(self) -> Claim | None:
        """What was read; None if words are left over."""
        if self._next.colour:
            self._shirt()
        claim = Claim(tuple(self._whos), self._places, self._night)
        return None if claim == Claim() or self._next != Who() or self._awaits else claim

    def read(self, meaning: _Meaning, words: tuple[str, ...]) -> bool:
        """Add a meaning; return whether it makes sense there."""
        if self._next.colour and meaning.kind in ("verb", "place", "night") and not self._shirt():
            return False
        match meaning.kind:
            case "colour":
                self._next = replace(self._next, colour=meaning.value)
            case "size":
                self._next = replace(self._next, size=meaning.value)
            case "number":
                self._next = replace(self._next, least=int(meaning.value), most=int(meaning.value))
            case "place":
                self._places = meaning.names
            case "night":
                self._night = meaning.value == "night"
            case "verb":
                if self._aside:
                    return False  # "a man with a ball looking sleepy"
                self._verb(meaning)
            case "noun":
                return self._noun(meaning)
            case "filler" if words[0] in ("shirt", "top"):
                return self._shirt()
        if meaning.kind not in ("colour", "size"):
            self._after_with = words[0] == "with"
            self._in = words[0] == "in" or (words[0] == "with" and not self._behind)
        return True

    def _verb(self, meaning: _Meaning) -> None:
        if not self._whos:
            self._whos.append(Who())
        self._whos[-1] = replace(self._whos[-1], acts=(*self._whos[-1].acts, Act(meaning.names)))
        self._awaits = meaning.takes_object

    def _noun(self, meaning: _Meaning) -> bool:
        adjectives, self._next = self._next, Who()
        people = {things()[name].role for name in meaning.names} == {"person"}
        untinted = not all(things()[name].tint for name in meaning.names)
        if adjectives.colour and (people or untinted):
            return False  # of a skin, or of something that is never recoloured
        if self._in and self._whos and any(things()[name].role == "worn" for name in meaning.names):
            self._verb(_Meaning("verb", takes_object=True))
        if not self._awaits:
            least = max(adjectives.least, 2 if meaning.plural else 1)
            self._aside = self._after_with
            if self._whos and not self._whos[-1].names:  # "a smiling | girl"
                self._whos[-1] = replace(adjectives, names=meaning.names, least=least, acts=self._whos[-1].acts)
                return True
            self._whos.append(replace(adjectives, names=meaning.names, least=least))
            return True
        *others, act = self._whos[-1].acts
        targets = any(deeds()[verb].targets for verb in act.verbs)
        held = any(not deeds()[verb].targets for verb in act.verbs)
        if targets and held:
            return False
        act = replace(act, targets=meaning.names) if targets else replace(act, objects=meaning.names)
        self._whos[-1] = replace(self._whos[-1], acts=(*others, replace(act, colour=adjectives.colour)))
        self._awaits = False
        return not (targets and adjectives.colour) and not adjectives.size

    def _shirt(self) -> bool:
        """Take the colour that was read for that of a person's clothes; return whether there is such a person."""
        colour, who = self._next.colour, self._whos[-1] if self._whos else Who()
        if not (colour and who.names and {things()[name].role for name in who.names} == {"person"}):
            return False
        if self._awaits:  # "wearing a red | shirt"
            if not who.acts[-1].verbs <= {"wear"}:
                return False
            who = replace(who, acts=who.acts[:-1])
        self._whos[-1], self._next, self._awaits = replace(who, colour=colour), Who(), False
        return True


def judge(query: Query, scene: Mapping[str, Any]) -> Verdict | None:
    """Judge a clip, a `Scene.to_dict`: "right", "violation" (shows an unwanted part) or "miss" (lacks a wanted one).

    None if the query has unknown words or the scene is not from this world.
    """
    try:
        seen = Scene.from_dict(scene)
    except (KeyError, TypeError):
        return None
    unwanted = [read_claim(part) for part in query.unwanted]
    if any(claim is not None and claim.holds(seen) for claim in unwanted):
        return "violation"
    wanted = [read_claim(part) for part in query.wanted]
    if None in wanted or None in unwanted or not wanted + unwanted:
        return None
    return "right" if all(claim is not None and claim.holds(seen) for claim in wanted) else "miss"
