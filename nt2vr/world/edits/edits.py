"""Verdicts on clips of the built-in world, also for a reference plus a text.

Exact truth, with the place and without further actors, is `families.Wish`; few clips of a gallery are right by it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nt2vr.language.query import Query
from nt2vr.media.gallery import Video
from nt2vr.search.answers import Verdict
from nt2vr.world.scenes import Actor, Scene
from nt2vr.world.truth import Claim, Who, judge, read_claim


def judge_video(query: Query, video: Video, reference: Video | None = None) -> Verdict | None:
    """Judge a video of the built-in world, optionally next to a reference from it; None for any other video."""
    if not video.scene:
        return None
    if reference is None:
        return judge(query, video.scene)
    return judge_edit(query, reference.scene, video.scene) if reference.scene else None


def judge_edit(query: Query, reference: Mapping[str, Any], scene: Mapping[str, Any]) -> Verdict | None:
    """Judge a clip next to a reference: by the text, and "miss" if it lacks actors that the text does not change.

    Those must do the same as in the reference; its place, props and accessories are free, and so are further actors.
    A change leaves the other properties of an actor: "reading instead of dancing" asks for the same dancer.
    """
    try:
        before, seen = Scene.from_dict(reference), Scene.from_dict(scene)
    except (KeyError, TypeError):
        return None
    verdict = judge(query, scene)
    if verdict == "violation" or (verdict is None and (query.wanted or query.unwanted)):
        return verdict
    claims = [claim for part in query.wanted if (claim := read_claim(part))]
    gone = [claim for part in query.unwanted if (claim := read_claim(part))]
    kept = Claim(tuple(_actors(before.actors, claims, gone)))
    return verdict or "right" if kept.holds(seen) else "miss"


def _actors(actors: Sequence[Actor], wanted: Sequence[Claim], gone: Sequence[Claim]) -> list[Who]:
    """List the required actors: the wanted ones, each as the actor that it changes, and the unchanged ones."""
    taken = [actor for actor in actors if any(_names(who, actor) for claim in gone for who in claim.actors)]
    left = [actor for actor in actors if actor not in taken]
    found: list[Who] = []
    for who in (who for claim in wanted for who in claim.actors):
        same = next((actor for actor in left if actor.subject in who.subjects), None)
        changed = same or next(iter(taken), None)
        if same is not None:
            left.remove(same)
        elif changed is not None:
            taken.remove(changed)
        found.append(who if changed is None else _completed(who, changed))
    return [*found, *(Who(frozenset((actor.subject,)), frozenset((actor.activity,))) for actor in left)]


def _names(who: Who, actor: Actor) -> bool:
    """Return whether an unwanted part means the actor itself, not only what it wears."""
    return bool(who.subjects or who.activities) and who.fits(actor)


def _completed(who: Who, changed: Actor) -> Who:
    subjects = who.subjects or frozenset((changed.subject,))
    return replace(who, subjects=subjects, activities=who.activities or frozenset((changed.activity,)))
