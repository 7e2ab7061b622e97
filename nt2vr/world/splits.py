"""The scenes of each split, and scenes staged so that claims hold. Seeded: equal seeds give equal scenes.

Drawn as they come, a car is in one scene of two thousand, since it is found in few places and competes there. So most
scenes are about a thing or a deed, each as often as any other.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice

from nt2vr.errors import ConfigError
from nt2vr.world.claims import Act, Claim, Who
from nt2vr.world.deeds import ENTER, LEAVE, WEAR, deeds
from nt2vr.world.sampling import draw_actor, draw_colour, sample_scene
from nt2vr.world.scenes import BY_DAY, BY_NIGHT, Deed, Figure, Scene, SceneSplit, problems
from nt2vr.world.things import ACTING, Names, Place, places, things

ABOUT_SHARE = 0.85  # of scenes: about something that was drawn first
THING_SHARE, USED_SHARE = 0.65, 0.5  # of those: about a thing; of things with a use: somebody uses it
TRIES = 15  # until a scene about something succeeds


def stream_scenes(split: SceneSplit, seed: int) -> Iterator[Scene]:
    """Yield distinct scenes of a split, endlessly."""
    if split not in ("train", "validation", "test"):
        raise ConfigError(f"Unknown split {split!r}. Choose one of: train, validation, test.")
    rng, seen = random.Random(f"{split}-{seed}"), set[str]()
    while True:
        claim = draw_claim(rng) if rng.random() < ABOUT_SHARE else None
        for _ in range(TRIES):
            scene = staged([claim], rng) if claim else sample_scene(rng)
            if scene and scene.split == split and scene.content not in seen:
                seen.add(scene.content)
                yield scene
                break


def sample_scenes(split: SceneSplit, count: int, seed: int) -> list[Scene]:
    """Return `count` distinct scenes of a split; equal seeds give equal scenes."""
    return list(islice(stream_scenes(split, seed), count))


def draw_claim(rng: random.Random) -> Claim:
    """Draw what a scene is about: a thing, perhaps in use, or a deed."""
    if rng.random() >= THING_SHARE:
        deed = rng.choice(tuple(deeds().values()))
        target = showing(rng.choice(sorted(deed.objects))).whos if deed.targets else ()
        return Claim((*target, *_doing(deed.verb).whos))
    name = rng.choice(tuple(things()))
    uses = _uses(name)
    return _doing(rng.choice(uses), name) if uses and rng.random() < USED_SHARE else showing(name)


def _doing(verb: str, thing: str = "") -> Claim:
    act = Act(frozenset((verb,)), frozenset((thing,)) if thing else frozenset())
    return Claim((Who(acts=(act,)),))


@cache
def _uses(name: str) -> tuple[str, ...]:
    return tuple(verb for verb, deed in deeds().items() if name in deed.objects and not deed.targets)


def showing(name: str) -> Claim:
    """Return the claim that there is a thing."""
    return Claim((Who(frozenset((name,))),))


def stream_staged(claims: Sequence[Claim], split: SceneSplit, seed: object) -> Iterator[Scene]:
    """Yield scenes of a split for which all claims hold, endlessly."""
    rng = random.Random(f"{seed}-{split}")
    while True:
        scene = staged(claims, rng)
        if scene and scene.split == split:
            yield scene


def staged(claims: Sequence[Claim], rng: random.Random) -> Scene | None:
    """Draw a valid scene for which all claims hold; None if this draw failed."""
    scene = _draw(claims, rng)
    if not scene or not any(figure.acts for figure in scene.figures) or problems(scene):
        return None
    return scene if all(claim.holds(scene) for claim in claims) else None


def _draw(claims: Sequence[Claim], rng: random.Random) -> Scene | None:
    place = _place(claims, rng)
    scene = sample_scene(rng, place)
    figures, night = list(scene.figures), _night(claims, scene.night)
    whos = [(who, _in_turn(claim, number)) for claim in claims for number, who in enumerate(claim.whos)]
    for at, (who, acts) in enumerate(whos):
        figures[at:] = figures[at:] or [Figure("")]
        figure = _figure(who, acts, at, figures, place, rng)
        if figure is None:
            return None
        figures[at] = figure
    return replace(scene, night=night, figures=tuple(figures))


def _place(claims: Sequence[Claim], rng: random.Random) -> Place:
    """Draw one of the places of the claims, otherwise one where as many of their things as possible are found."""
    wanted = [name for claim in claims for name in sorted(claim.places)]
    left = [places()[name] for name in wanted] or list(places().values())
    whos = [who for claim in claims for who in claim.whos]
    for names in (who.names for who in whos):
        if names and names <= _found_somewhere():  # persons may be anywhere
            left = [place for place in left if names & set(place.found)] or left
    for verbs in (act.verbs for who in whos for act in who.acts):
        tags = [deeds()[verb].where for verb in verbs]
        left = [place for place in left if not verbs or any(not some or some & place.tags for some in tags)] or left
    return rng.choice(left)


def _night(claims: Sequence[Claim], drawn: bool) -> bool:
    """Return whether it is night: as claims say, as what they name is seen by day or night alone, or as drawn."""
    said = [claim.night for claim in claims if claim.night is not None]
    names = [who.names for claim in claims for who in claim.whos if who.names]
    by_night, by_day = (any(each <= seen for each in names) for seen in (BY_NIGHT, BY_DAY))
    return said[0] if said else by_night or (drawn and not by_day)


@cache
def _found_somewhere() -> Names:
    return frozenset(name for place in places().values() for name in place.found)


def _in_turn(claim: Claim, number: int) -> list[Act]:
    """Return the acts of a claim's figure, those that are done first before the others."""
    later = {order.second[1] for order in claim.orders if order.second[0] == number}
    acts = claim.whos[number].acts
    return [act for at, act in enumerate(acts) if at not in later] + [acts[at] for at in sorted(later)]


def _figure(
    who: Who, acts: Sequence[Act], number: int, figures: Sequence[Figure], place: Place, rng: random.Random
) -> Figure | None:
    """Draw a figure as a claim describes it; None if it cannot do that here."""
    able = who.names or frozenset.union(*(deeds()[verb].who for act in acts for verb in act.verbs))
    name = rng.choice(sorted(able))
    figure = draw_actor(0, (name,), place.name, rng) if things()[name].role in ACTING else Figure(name)
    figure = replace(figure, colour=who.colour or draw_colour(name, rng), size=who.size, count=who.least)
    if not acts:
        return figure
    done = [_deed(act, name, number, figures, place, rng) for act in acts]
    if None in done:
        return None
    comes, goes = (any(deed and deed.verb == verb for deed in done) for verb in (ENTER, LEAVE))
    new = [deed for deed in done if deed and deed.verb not in (ENTER, LEAVE)]
    main = [deed for deed in new if deed.kind.layer == "main"]
    layers = {deed.kind.layer for deed in new}
    others = [deed for deed in figure.deeds if deed.kind.layer not in layers]
    turns = [replace(deed, start=at / len(main), end=(at + 1) / len(main)) for at, deed in enumerate(main)]
    figure = replace(figure, enters=0.25 * comes, leaves=1 - 0.25 * goes)
    whole = [replace(deed, start=figure.enters, end=figure.leaves) for deed in new if deed not in main]
    if len(turns) == 1:
        turns = [replace(turns[0], start=figure.enters, end=figure.leaves)]
    others = [replace(deed, start=figure.enters, end=figure.leaves) for deed in others if not (comes or goes) or new]
    return replace(figure, deeds=(*turns, *whole, *others))


def _deed(
    act: Act, name: str, number: int, figures: Sequence[Figure], place: Place, rng: random.Random
) -> Deed | None:
    verbs = act.verbs or ({WEAR} if all(things()[each].role == "worn" for each in act.objects) else {"hold"})
    kinds = [deeds()[verb] for verb in sorted(verbs) if deeds()[verb].may(things()[name], place)]
    if not kinds:
        return None
    kind = rng.choice(kinds)
    if kind.targets:
        others = [i for i, each in enumerate(figures) if i != number and each.thing in (act.targets or kind.objects)]
        return Deed(kind.verb, rng.choice(others)) if others else None
    if not kind.objects:
        return Deed(kind.verb)
    objects = act.objects & kind.objects if act.objects else kind.objects
    thing = rng.choice(sorted(objects)) if objects else ""
    return Deed(kind.verb, thing, colour=act.colour or draw_colour(thing, rng)) if thing else None
