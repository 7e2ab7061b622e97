"""The changes that a scene allows: one figure, its action or the place replaced, added or removed."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, product
from random import Random

from nt2vr.papers.covr.change import Change, ChangeKind, named
from nt2vr.world.casting import anywhere, cast_at, draw_colour, props_at, sample_action
from nt2vr.world.scenes import Action, Figure, Scene, is_valid
from nt2vr.world.things import WEAR, actions, places, things

SceneChanges = Iterator[Change]

# Actions drawn per changed one, and new actors per kind.
TRIES = 8


def possible(scene: Scene) -> bool:
    return is_valid(scene) and bool(scene.actors)


def changes_of(scene: Scene, kind: ChangeKind, rng: Random) -> SceneChanges:
    """Yield changes of a kind that lead to possible scenes, in random order.

    What a change takes away is in the scene once, so that its words are unambiguous; what it adds
    is new to the scene.
    """
    candidates = list(_CHANGES[kind](scene, rng))
    rng.shuffle(candidates)
    for change in candidates:
        if _is_clear(change, scene):
            yield change


def _is_clear(change: Change, scene: Scene) -> bool:
    after = change.applied(scene)
    if not possible(after):
        return False
    added = change.added
    if added and added.holds(scene):
        return False
    removed = change.removed
    if removed and (removed.holds(after) or not removed.holds(scene)):
        return False
    if change.old is None:
        return True
    other_things = set(_cast(scene)) - {change.old.thing}
    return named(change.old.thing).isdisjoint(other_things)


def _cast(scene: Scene) -> list[str]:
    return [figure.thing for figure in scene.figures]


def _is_one(figure: Figure) -> bool:
    """Return whether a text can call it "the dog"."""
    return figure.count == 1 and figure.kind.noun.is_countable


def _done(figure: Figure) -> list[Action]:
    """Return what a figure does, coming and going aside."""
    return [action for action in figure.actions if action.kind.layer == "main"]


def _actors(scene: Scene) -> list[Figure]:
    return [figure for figure in scene.actors if _is_one(figure)]


def _replace_subject(scene: Scene, rng: Random) -> SceneChanges:
    for old, name in product(_actors(scene), chain(*cast_at(scene.place))):
        if _done(old) and things()[name].role == old.kind.role:
            new = replace(old, thing=name, colour=draw_colour(name, rng))
            if _is_one(new):
                yield Change(
                    kind="replace subject",
                    before=scene,
                    old=old,
                    new=new,
                    does=_done(new)[0],
                )


def _replace_activity(scene: Scene, rng: Random) -> SceneChanges:
    cast = _cast(scene)
    for old in _actors(scene):
        draw = partial(
            sample_action,
            "main",
            number=cast.index(old.thing),
            cast=cast,
            place=scene.place,
            rng=rng,
        )
        for did, _ in product(_done(old), range(TRIES)):
            drawn = draw(but=did.verb)
            if drawn:
                does = replace(drawn, start=did.start, end=did.end)
                yield Change(
                    kind="replace activity",
                    before=scene,
                    old=old,
                    new=old.redone(did, does),
                    did=did,
                    does=does,
                )


def _replace_place(scene: Scene, _rng: Random) -> SceneChanges:
    acting = {figure.thing for figure in scene.actors}
    for name in places():
        if name != scene.place and acting.issubset(chain(*cast_at(name))):
            yield Change("replace place", scene, place=name)


def _add_actor(scene: Scene, rng: Random) -> SceneChanges:
    cast = _cast(scene)
    for group in cast_at(scene.place):
        for name in rng.sample(group, min(TRIES, len(group))):
            new = Figure(name, draw_colour(name, rng))
            does = sample_action(
                "main", number=len(cast), cast=[*cast, name], place=scene.place, rng=rng
            )
            if does and _is_one(new):
                yield Change(
                    kind="add actor",
                    before=scene,
                    new=replace(new, actions=(does,)),
                    does=does,
                )


def _add_prop(scene: Scene, rng: Random) -> SceneChanges:
    for name in (*props_at(scene.place, scene.night), *rng.sample(anywhere(), TRIES)):
        # "There is a ball", not "there are scissors".
        if things()[name].noun.number != "many":
            yield Change("add prop", scene, new=Figure(name, draw_colour(name, rng)))


def _add_accessory(scene: Scene, rng: Random) -> SceneChanges:
    wear = actions()[WEAR]
    for old, worn in product(_actors(scene), sorted(wear.objects)):
        if old.thing in wear.subjects and all(action.verb != WEAR for action in old.actions):
            new = old.also(Action(WEAR, worn, colour=draw_colour(worn, rng)))
            yield Change("add accessory", scene, old, new, does=new.actions[-1])


def _remove_actor(scene: Scene, _rng: Random) -> SceneChanges:
    for old in _actors(scene):
        yield Change("remove actor", scene, old)


def _remove_activity(scene: Scene, _rng: Random) -> SceneChanges:
    for old in _actors(scene):
        if old.is_person:
            for did in _done(old):
                yield Change(
                    kind="remove activity",
                    before=scene,
                    old=old,
                    did=did,
                )


def _remove_accessory(scene: Scene, _rng: Random) -> SceneChanges:
    for old in _actors(scene):
        for did in old.actions:
            if did.verb == WEAR:
                actions = tuple(action for action in old.actions if action != did)
                yield Change(
                    kind="remove accessory",
                    before=scene,
                    old=old,
                    new=replace(old, actions=actions),
                    did=did,
                )


def _remove_prop(scene: Scene, _rng: Random) -> SceneChanges:
    for old in scene.figures:
        if not old.is_actor and old.count == 1:
            yield Change("remove prop", scene, old)


# Each yields changes, possible or not.
_CHANGES: dict[ChangeKind, Callable[[Scene, Random], SceneChanges]] = {
    "replace subject": _replace_subject,
    "replace activity": _replace_activity,
    "replace place": _replace_place,
    "add actor": _add_actor,
    "add prop": _add_prop,
    "add accessory": _add_accessory,
    "remove actor": _remove_actor,
    "remove activity": _remove_activity,
    "remove accessory": _remove_accessory,
    "remove prop": _remove_prop,
}
