"""Scenes with one thing changed, for captions that are false of the original.

Also what scenes may show, as classes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random
from typing import NamedTuple

from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.world.claims import Act, Claim, names_in
from nt2vr.world.drawn.motions import MOTIONS, track_of
from nt2vr.world.scenes import Action, Figure, Scene, main_actions
from nt2vr.world.things import ACTING, ActionKind, actions, actions_at, places, things


def altered(scene: Scene, change: str, rng: Random) -> Iterator[Scene]:
    """Yield the scenes that differ in one thing which the scene does not show, in random order.

    A change of "motion" is to a verb that single frames do not tell from the other; "verbs swapped"
    is of two actors.
    """
    scenes = list(_CHANGES[change](scene))
    rng.shuffle(scenes)
    yield from scenes


def _verbs(scene: Scene) -> Iterator[Scene]:
    done = scene.verbs
    for figure, action in _only_actions(scene):
        if action.object:
            continue
        for kind in actions_at(scene.place, figure.thing):
            if kind.layer == "main" and not kind.objects and kind.verb not in done:
                yield _with_verb(scene, figure, action, kind.verb)


def _with_verb(scene: Scene, figure: Figure, action: Action, verb: str) -> Scene:
    """Return the scene in which a figure does something else instead of an action."""
    return scene.swapped(figure, figure.redone(action, replace(action, verb=verb)))


def _motions(scene: Scene) -> Iterator[Scene]:
    done = scene.verbs
    only_actions = dict(_only_actions(scene))
    for figure in scene.figures:
        action = only_actions.get(figure)
        if action is not None:
            for verb in other_motions(action, figure.thing, scene.place):
                if verb not in done:
                    yield _with_verb(scene, figure, action, verb)
        if (figure.enters > 0) != (figure.leaves < 1):
            yield scene.swapped(figure, _reversed(figure))


def _reversed(figure: Figure) -> Figure:
    """Return a figure that leaves instead of entering, or the other way around."""
    reversed_actions = [
        replace(action, start=1 - action.end, end=1 - action.start) for action in figure.actions
    ]
    return replace(
        figure,
        enters=1 - figure.leaves,
        leaves=1 - figure.enters,
        actions=tuple(reversed_actions),
    )


def _subjects(scene: Scene) -> Iterator[Scene]:
    place = scene.location
    present = names_in(scene)
    for figure in scene.actors:
        for name, thing in things().items():
            if name in present or not _alike(name, figure.thing):
                continue
            if all(action.kind.may(thing, place) for action in figure.actions):
                yield scene.swapped(figure, replace(figure, thing=name))


def _places(scene: Scene) -> Iterator[Scene]:
    for place in places().values():
        if place.indoors == scene.location.indoors and place != scene.location:
            yield replace(scene, place=place.name)


def _props_replaced(scene: Scene) -> Iterator[Scene]:
    possible = _further_props(scene)
    for figure in scene.figures:
        if figure.is_actor:
            continue
        for name in possible:
            if _alike(name, figure.thing):
                yield scene.swapped(figure, replace(figure, thing=name))


def _props_added(scene: Scene) -> Iterator[Scene]:
    for name in _further_props(scene):
        if not things()[name].tint:
            yield replace(scene, figures=(*scene.figures, Figure(name)))


def _verbs_swapped(scene: Scene) -> Iterator[Scene]:
    for (first, action), (second, second_action) in combinations(_only_actions(scene), 2):
        if first.count != second.count or not _alike(first.thing, second.thing):
            continue
        if action.verb == second_action.verb:
            continue
        if action.start == second_action.start and action.end == second_action.end:
            new_first = first.redone(action, second_action)
            new_second = second.redone(second_action, action)
            yield scene.swapped(first, new_first).swapped(second, new_second)


_CHANGES: Mapping[str, Callable[[Scene], Iterator[Scene]]] = {
    "verb": _verbs,
    "motion": _motions,
    "subject": _subjects,
    "place": _places,
    "prop replaced": _props_replaced,
    "prop added": _props_added,
    "verbs swapped": _verbs_swapped,
}


def _further_props(scene: Scene) -> list[str]:
    """Return things that may be at the place and are not seen."""
    present = names_in(scene)
    props = [name for name in scene.location.may_have if things()[name].role not in ACTING]
    return [name for name in props if name not in present]


def other_motions(action: Action, thing: str, place: str) -> Iterator[str]:
    """Yield what else the thing could do whose frames differ in their order alone.

    To throw and to catch show the same positions.
    """
    if action.kind.motion not in MOTIONS:
        return
    for kind in actions_at(place, thing):
        if _has_slot_for(action, kind) and _looks_alike_in_frames(action.kind, kind):
            yield kind.verb


def _has_slot_for(action: Action, kind: ActionKind) -> bool:
    """Return whether an action of some kind could have the same object."""
    if action.object:
        return action.object in kind.objects
    return not kind.objects


def _looks_alike_in_frames(first: ActionKind, second: ActionKind) -> bool:
    if first.motion == second.motion or track_of(first.motion) != track_of(second.motion):
        return False
    if first.posture != second.posture or first.hand != second.hand:
        return False
    return first.sign == second.sign and first.shows == second.shows


def _only_actions(scene: Scene) -> Iterator[tuple[Figure, Action]]:
    """Yield the figures that do one thing only, and not to another figure, with what they do."""
    for figure in scene.figures:
        main = main_actions(figure)
        # Entering and leaving are not among its actions.
        if len(main) == 1 and main[0].target is None and main[0] in figure.actions:
            yield figure, main[0]


def _alike(first_name: str, second_name: str) -> bool:
    """Return whether two things have the same role, and both or neither are tinted."""
    first = things()[first_name]
    second = things()[second_name]
    return first.role == second.role and bool(first.tint) == bool(second.tint)


class ShownClass(NamedTuple):
    """What a scene may show, as a sentence, its denial, and the sentence's claim."""

    sentence: str
    denial: str
    claim: Claim


def shown_classes() -> Mapping[str, Sequence[ShownClass]]:
    """Return the subjects, actions and places that scenes may show."""
    return {
        "subject": list(_classes_of_subjects()),
        "action": list(_classes_of_actions()),
        "place": list(_classes_of_places()),
    }


def _classes_of_subjects() -> Iterator[ShownClass]:
    for thing in things().values():
        noun = thing.noun
        if thing.role in ACTING and noun.is_countable:
            claim = Claim.of_things(noun.names)
            yield ShownClass(f"there is {noun.with_article()}", f"there is no {noun.word}", claim)


def _classes_of_actions() -> Iterator[ShownClass]:
    for kind in actions().values():
        if kind.layer == "main" and not kind.objects:
            doing = inflect_phrase(kind.phrases[0], "VBG")
            claim = Claim.of_act(Act.of(kind.verb))
            yield ShownClass(f"somebody is {doing}", f"nobody is {doing}", claim)


def _classes_of_places() -> Iterator[ShownClass]:
    for place in places().values():
        phrase = place.phrases[0]
        yield ShownClass(f"it is {phrase}", f"it is not {phrase}", Claim.at(place.name))
