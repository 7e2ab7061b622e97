"""The truth of a sentence about a scene: read a phrase into a claim, and see whether it holds.

Knows only the built-in world's words: a phrase with any other word in it gets no claim, and so no verdict.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Any

from nt2vr.language.query import Query
from nt2vr.media.gallery import Video
from nt2vr.search.answers import Verdict
from nt2vr.world.lexicon import Names, lexicon, tokens_of
from nt2vr.world.scenes import Actor, Scene


@dataclass(frozen=True)
class Who:
    """Somebody a sentence speaks of; an empty set leaves that open."""

    subjects: Names = frozenset()
    activities: Names = frozenset()
    wearing: Names = frozenset()

    def fits(self, actor: Actor) -> bool:
        """Whether the actor is such a one."""
        return (
            (not self.subjects or actor.subject in self.subjects)
            and (not self.activities or actor.activity in self.activities)
            and (not self.wearing or actor.wearing in self.wearing)
        )


@dataclass(frozen=True)
class Claim:
    """What a sentence says of a scene: such actors (each another one), one of these places, each of these props."""

    actors: tuple[Who, ...] = ()
    places: Names = frozenset()
    props: tuple[Names, ...] = ()

    def holds(self, scene: Scene) -> bool:
        """Whether the scene shows all of it (and maybe more)."""
        if self.places and scene.place not in self.places:
            return False
        if not all(names & set(scene.props) for names in self.props):
            return False
        return any(
            all(who.fits(actor) for who, actor in zip(self.actors, actors, strict=True))
            for actors in permutations(scene.actors, len(self.actors))
        )


@cache
def read_claim(phrase: str) -> Claim | None:
    """Read a phrase into a claim; None if it has a word the built-in world does not know, or says nothing."""
    words, tokens = lexicon(), tokens_of(phrase)
    longest = max(map(len, words))
    actors: list[Who] = []
    places: Names = frozenset()
    props: list[Names] = []
    position, leading = 0, False  # leading: right after "singing", as in "a singing man"
    while position < len(tokens):
        for length in range(longest, 0, -1):
            concept = words.get(tokens[position : position + length])
            if concept is not None and position + length <= len(tokens):
                break
        else:
            return None
        position += length
        last = actors[-1] if actors else Who()
        match concept.kind:
            case "subject" if leading:
                actors[-1] = Who(concept.names, last.activities, last.wearing)
            case "subject":
                actors.append(Who(subjects=concept.names))
            case "activity" if actors and not last.activities:
                actors[-1] = Who(last.subjects, concept.names, last.wearing)
            case "activity":  # "a man sings and dances": the same one cannot, in this world; so another does
                actors.append(Who(activities=concept.names))
            case "accessory" if actors and not last.wearing:
                actors[-1] = Who(last.subjects, last.activities, concept.names)
            case "accessory":
                actors.append(Who(wearing=concept.names))
            case "place":
                places = concept.names
            case "prop":
                props.append(concept.names)
        opens = concept.kind == "activity" and not actors[-1].subjects
        leading = opens and length == 1 and tokens[position - 1].endswith("ing")
    claim = Claim(tuple(actors), places, tuple(props))
    return claim if claim != Claim() else None


def judge(query: Query, scene: Mapping[str, Any]) -> Verdict | None:
    """Say what a clip is to a query: right, a violation (shows an unwanted thing), a miss (lacks a wanted one).

    Args:
        query: as understood.
        scene: the clip's ground truth, as `Scene.to_dict` gives it.

    Returns:
        None where the query has words whose truth is not known here, or the scene is none of the built-in world's.
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


def judge_video(query: Query, video: Video) -> Verdict | None:
    """Judge a video of the built-in world; None for any other."""
    return judge(query, video.scene) if video.scene else None
