"""Verdicts on clips of the built-in world, also for a reference plus a text."""

from collections.abc import Sequence
from dataclasses import replace

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Verdict
from nt2vr.world.claims import Act, Claim, Who
from nt2vr.world.scenes import Figure, Scene, main_deeds
from nt2vr.world.things import ACTING, Names, things
from nt2vr.world.truth import judge, read_claim


def judge_video(query: Query, video: Video, reference: Video | None = None) -> Verdict | None:
    """Judge a video of the built-in world, optionally next to a reference from it; None for any other video."""
    try:
        scene, *before = (Scene.from_dict(each.scene or {}).dressed for each in (video, reference) if each)
    except (KeyError, TypeError):
        return None
    return judge_edit(query, before[0], scene) if before else judge(query, scene)


def judge_edit(query: Query, before: Scene, scene: Scene) -> Verdict | None:
    """Judge a clip next to a reference: by the text, and "miss" if it lacks actors that the text does not change.

    Those must do the same as in the reference; its place, looks and things are free, and so are further actors.
    A change leaves the other properties of an actor: "reading instead of dancing" asks for the same dancer.
    """
    verdict = judge(query, scene)
    if verdict == "violation" or (verdict is None and (query.wanted or query.unwanted)):
        return verdict
    claims = [claim for part in query.wanted if (claim := read_claim(part))]
    gone = [claim for part in query.unwanted if (claim := read_claim(part))]
    return verdict or "right" if Claim(tuple(_actors(before, claims, gone))).holds(scene) else "miss"


def _actors(before: Scene, wanted: Sequence[Claim], gone: Sequence[Claim]) -> list[Who]:
    """List the required actors: the wanted ones, each as the actor that it changes, and the unchanged ones."""
    actors = [figure for figure in before.figures if figure.acts]
    taken = [each for each in actors if any(who.fits(each, before.figures) for claim in gone for who in claim.whos)]
    left, lost = [actor for actor in actors if actor not in taken], frozenset(actor.thing for actor in taken)
    found: list[Who] = []
    for who in (who for claim in wanted for who in claim.whos):
        same = next((actor for actor in left if actor.thing in who.names), None)
        changed = same or (next(iter(_alike_first(taken, who)), None) if _may_act(who) else None)
        if same is not None:
            left.remove(same)
        elif changed is not None:
            taken.remove(changed)
        found.append(who if changed is None else _completed(who, changed, before, lost))
    return [*found, *(_completed(Who(), actor, before, lost) for actor in left)]


def _alike_first(actors: Sequence[Figure], who: Who) -> list[Figure]:
    """Sort actors so that those come first who are of the kind described: a student replaces a boy, not a train."""
    roles = {things()[name].role for name in who.names}
    return sorted(actors, key=lambda actor: actor.kind.role not in roles)


def _may_act(who: Who) -> bool:
    """Return whether somebody is described, and not "a chair"."""
    return bool(who.acts) or not who.names or any(things()[name].role in ACTING for name in who.names)


def _completed(who: Who, changed: Figure, before: Scene, lost: Names) -> Who:
    """Complete a description by what an actor of the reference is and does; clothes leave its deeds as they are.

    Whoever looked at somebody `lost` may look at anybody.
    """
    done = tuple(
        Act(
            frozenset((deed.verb,)),
            objects=frozenset((deed.object,) if isinstance(deed.object, str) else ()),
            targets=frozenset((before.figures[deed.object].thing,) if isinstance(deed.object, int) else ()) - lost,
        )
        for deed in main_deeds(changed)
    )
    names = who.names or frozenset((changed.thing,))
    is_worn = all(act.verbs <= {"wear"} for act in who.acts)
    return replace(who, names=names, acts=(*who.acts, *done) if is_worn else who.acts)
