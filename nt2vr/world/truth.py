"""Truth of sentences about scenes: parses phrases into claims and checks them.

Limited to the vocabulary of the built-in world: phrases with other words have no claim, and hence no verdict.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import permutations
from typing import Any

from nt2vr.language.query import Query
from nt2vr.search.answers import Verdict
from nt2vr.world.lexicon import Concept, Names, lexicon, tokens_of
from nt2vr.world.scenes import Actor, Scene

MAX_READ = 4096  # phrases remembered: a search judges many clips by the same ones


@dataclass(frozen=True)
class Who:
    """An actor as described in a sentence; empty sets leave a property open."""

    subjects: Names = frozenset()
    activities: Names = frozenset()
    wearing: Names = frozenset()

    def fits(self, actor: Actor) -> bool:
        """Return whether an actor matches the description."""
        return (
            (not self.subjects or actor.subject in self.subjects)
            and (not self.activities or actor.activity in self.activities)
            and (not self.wearing or actor.wearing in self.wearing)
        )


@dataclass(frozen=True)
class Claim:
    """Content of a sentence: distinct matching actors, one of `places`, and all `props`."""

    actors: tuple[Who, ...] = ()
    places: Names = frozenset()
    props: tuple[Names, ...] = ()

    def holds(self, scene: Scene) -> bool:
        """Return whether the scene shows all of it, and possibly more."""
        if self.places and scene.place not in self.places:
            return False
        if not all(names & set(scene.props) for names in self.props):
            return False
        return any(
            all(who.fits(actor) for who, actor in zip(self.actors, actors, strict=True))
            for actors in permutations(scene.actors, len(self.actors))
        )


@lru_cache(MAX_READ)
def read_claim(phrase: str) -> Claim | None:
    """Parse a phrase into a claim; None if it has unknown words or no content."""
    reader, tokens = _ClaimReader(), tokens_of(phrase)
    position = 0
    while position < len(tokens):
        concept, length = _longest_match(tokens, position)
        if concept is None:
            return None
        reader.add(concept)
        position += length
        reader.expects_subject &= length == 1 and tokens[position - 1].endswith("ing")
    return reader.claim if reader.claim != Claim() else None


def _longest_match(tokens: tuple[str, ...], position: int) -> tuple[Concept | None, int]:
    """Return the longest phrase of the lexicon that starts at a token: its meaning and its length."""
    words = lexicon()
    for length in range(min(_longest_phrase(), len(tokens) - position), 0, -1):
        if concept := words.get(tokens[position : position + length]):
            return concept, length
    return None, 0


@cache
def _longest_phrase() -> int:
    return max(map(len, lexicon()))


class _ClaimReader:
    """Collects the meanings of a phrase, from left to right."""

    def __init__(self) -> None:
        self.expects_subject = False  # after "singing", as in "a singing man"
        self._actors: list[Who] = []
        self._places: Names = frozenset()
        self._props: list[Names] = []

    @property
    def claim(self) -> Claim:
        return Claim(tuple(self._actors), self._places, tuple(self._props))

    def add(self, concept: Concept) -> None:
        match concept.kind:
            case "subject" if self.expects_subject:
                self._actors[-1] = replace(self._actors[-1], subjects=concept.names)
            case "subject":
                self._actors.append(Who(subjects=concept.names))
            case "activity" if self._actors and not self._actors[-1].activities:
                self._actors[-1] = replace(self._actors[-1], activities=concept.names)
            case "activity":  # "a man sings and dances": in this world, one actor cannot do both
                self._actors.append(Who(activities=concept.names))
            case "accessory" if self._actors and not self._actors[-1].wearing:
                self._actors[-1] = replace(self._actors[-1], wearing=concept.names)
            case "accessory":
                self._actors.append(Who(wearing=concept.names))
            case "place":
                self._places = concept.names
            case "prop":
                self._props.append(concept.names)
        self.expects_subject = concept.kind == "activity" and not self._actors[-1].subjects


def judge(query: Query, scene: Mapping[str, Any]) -> Verdict | None:
    """Judge a clip, a `Scene.to_dict`: "right", "violation" (shows an unwanted part) or "miss" (lacks a wanted one).

    None if the query has unknown words or the scene is not from the built-in world.
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
