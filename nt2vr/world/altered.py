"""Scenes with one thing changed, for captions that are false of the original; and what scenes may show, as classes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from operator import attrgetter
from random import Random

from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.world.claims import Act, Claim, SubjectClaim, shown_in
from nt2vr.world.drawn.motions import MOTIONS
from nt2vr.world.scenes import Deed, Figure, Scene, main_deeds
from nt2vr.world.things import ACTING, deeds, deeds_at, places, things
from nt2vr.world.wording import meanings


def altered(scene: Scene, change: str, rng: Random) -> Iterator[Scene]:
    """Yield the scenes that differ in one thing which the scene does not show, in random order.

    A change of "motion" is to a verb that single frames do not tell from the other; "verbs swapped"
    is of two actors.
    """
    found = list(_CHANGES[change](scene))
    rng.shuffle(found)
    yield from found


def _verbs(scene: Scene) -> Iterator[Scene]:
    done = scene.verbs
    for figure, old in ((each, deed) for each in scene.figures for deed in _only(each)):
        for kind in deeds_at(scene.place, figure.thing):
            if not (old.object or kind.objects) and kind.layer == "main" and kind.verb not in done:
                yield scene.swapped(figure, figure.redone(old, replace(old, verb=kind.verb)))


def _motions(scene: Scene) -> Iterator[Scene]:
    for figure in scene.figures:
        for old in _only(figure):
            verbs = (
                verb
                for verb in other_motions(old, figure.thing, scene.place)
                if verb not in scene.verbs
            )
            yield from (
                scene.swapped(figure, figure.redone(old, replace(old, verb=verb))) for verb in verbs
            )
        if (figure.enters > 0) != (figure.leaves < 1):
            turned = tuple(
                replace(deed, start=1 - deed.end, end=1 - deed.start) for deed in figure.deeds
            )
            new = replace(figure, enters=1 - figure.leaves, leaves=1 - figure.enters, deeds=turned)
            yield scene.swapped(figure, new)


def _subjects(scene: Scene) -> Iterator[Scene]:
    place, seen = places()[scene.place], shown_in(scene)
    for figure in scene.actors:
        for name, thing in things().items():
            may = all(deed.kind.may(thing, place) for deed in figure.deeds)
            if may and name not in seen and _alike(name, figure.thing):
                yield scene.swapped(figure, replace(figure, thing=name))


def _places(scene: Scene) -> Iterator[Scene]:
    place = places()[scene.place]
    others = (each for each in places().values() if each.indoors == place.indoors and each != place)
    return (replace(scene, place=other.name) for other in others)


def _props_replaced(scene: Scene) -> Iterator[Scene]:
    further = _further(scene)
    for figure in (each for each in scene.figures if not each.acts):
        names = [name for name in further if _alike(name, figure.thing)]
        yield from (scene.swapped(figure, replace(figure, thing=name)) for name in names)


def _props_added(scene: Scene) -> Iterator[Scene]:
    plain = (name for name in _further(scene) if not things()[name].tint)
    return (replace(scene, figures=(*scene.figures, Figure(name))) for name in plain)


def _verbs_swapped(scene: Scene) -> Iterator[Scene]:
    for one, other in combinations(scene.figures, 2):
        if one.count == other.count and _alike(one.thing, other.thing):
            for first, second in zip(_only(one), _only(other), strict=False):
                if first.verb != second.verb and (first.start, first.end) == (
                    second.start,
                    second.end,
                ):
                    yield scene.swapped(one, one.redone(first, second)).swapped(
                        other, other.redone(second, first)
                    )


_CHANGES: Mapping[str, Callable[[Scene], Iterator[Scene]]] = {
    "verb": _verbs,
    "motion": _motions,
    "subject": _subjects,
    "place": _places,
    "prop replaced": _props_replaced,
    "prop added": _props_added,
    "verbs swapped": _verbs_swapped,
}


def _further(scene: Scene) -> list[str]:
    """Return things that may be at the place and are not seen."""
    seen = shown_in(scene)
    return [
        name
        for name in places()[scene.place].found
        if name not in seen and things()[name].role not in ACTING
    ]


def other_motions(deed: Deed, thing: str, place: str) -> Iterator[str]:
    """Yield what else the thing could do there, with as much, whose frames differ in their order alone: to catch."""
    looks, motion = attrgetter("posture", "hand", "sign", "shows"), deed.kind.motion
    for kind in deeds_at(place, thing) if motion in MOTIONS else ():
        is_fit = deed.object in kind.objects if deed.object else not kind.objects
        is_other = (
            kind.motion != motion and MOTIONS.get(kind.motion, ("", ""))[0] == MOTIONS[motion][0]
        )
        if is_fit and is_other and looks(kind) == looks(deed.kind):
            yield kind.verb


def _only(figure: Figure) -> list[Deed]:
    """Return what a figure does if it is one thing, and not to another figure."""
    main = main_deeds(figure)
    return (
        main
        if len(main) == 1 and main[0] in figure.deeds and not isinstance(main[0].object, int)
        else []
    )


def _alike(one: str, other: str) -> bool:
    first, second = things()[one], things()[other]
    return first.role == second.role and bool(first.tint) == bool(second.tint)


def shown_classes() -> Mapping[str, Sequence[tuple[str, str, Claim]]]:
    """Return who, which deeds and places scenes may show: as a sentence, its denial, and the sentence's claim."""
    return {
        "subject": [
            (
                f"there is {noun.with_article()}",
                f"there is no {noun.word}",
                Claim((SubjectClaim(meanings()[noun.word]),)),
            )
            for thing in things().values()
            for noun in thing.nouns[:1]
            if thing.role in ACTING and noun.number == "one"
        ],
        "deed": [
            (
                f"somebody is {doing}",
                f"nobody is {doing}",
                Claim((SubjectClaim(acts=(Act(frozenset((kind.verb,))),)),)),
            )
            for kind in deeds().values()
            for doing in (inflect_phrase(kind.phrases[0], "VBG"),)
            if kind.layer == "main" and not kind.objects
        ],
        "place": [
            (
                f"it is {place.phrases[0]}",
                f"it is not {place.phrases[0]}",
                Claim(places=frozenset((place.name,))),
            )
            for place in places().values()
        ],
    }
