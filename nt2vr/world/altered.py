"""Scenes with one thing changed, for captions that are false of the original; and what scenes may show, as classes."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.world.claims import Act, Claim, Who, seen_in
from nt2vr.world.drawn.motions import MOTIONS
from nt2vr.world.scenes import Deed, Figure, Scene, main_deeds
from nt2vr.world.things import ACTING, DeedKind, deeds, deeds_at, places, things
from nt2vr.world.wording import meanings


def altered(scene: Scene, change: str, rng: random.Random) -> Iterator[Scene]:
    """Yield the scenes that differ in one thing which the scene does not show, in random order.

    Args:
        change: "verb", "motion" for a verb that single frames do not tell from the other, "subject", "place",
            "prop replaced", "prop added" or "verbs swapped", between two actors.
    """
    found = list(_altered(scene, change))
    rng.shuffle(found)
    yield from found


def _altered(scene: Scene, change: str) -> Iterator[Scene]:
    place = places()[scene.place]
    seen, done = {each.thing for each in seen_in(scene)}, {deed.verb for each in scene.figures for deed in each.doings}
    further = [name for name in place.found if name not in seen and things()[name].role not in ACTING]
    match change:
        case "verb":
            for figure in scene.figures:
                for old in _only(figure):
                    for kind in deeds_at(scene.place, figure.thing):
                        if not (old.object or kind.objects) and kind.layer == "main" and kind.verb not in done:
                            new = replace(old, verb=kind.verb)
                            yield _with(scene, figure, deeds=_swapped(figure, old, new))
        case "motion":
            for figure in scene.figures:
                for old in _only(figure):
                    for verb in other_motions(old, figure.thing, scene.place):
                        if verb not in done:
                            yield _with(scene, figure, deeds=_swapped(figure, old, replace(old, verb=verb)))
                if (figure.enters > 0) != (figure.leaves < 1):
                    turned = (replace(deed, start=1 - deed.end, end=1 - deed.start) for deed in figure.deeds)
                    yield _with(scene, figure, enters=1 - figure.leaves, leaves=1 - figure.enters, deeds=tuple(turned))
        case "subject":
            for figure in scene.figures:
                for name, thing in things().items() if figure.acts else ():
                    may = all(deed.kind.may(thing, place) for deed in figure.deeds)
                    if may and name not in seen and _alike(name, figure.thing):
                        yield _with(scene, figure, thing=name)
        case "place":
            others = (each for each in places().values() if each.indoors == place.indoors and each != place)
            yield from (replace(scene, place=other.name) for other in others)
        case "prop replaced":
            for figure in scene.figures:
                names = [name for name in further if not figure.acts and _alike(name, figure.thing)]
                yield from (_with(scene, figure, thing=name) for name in names)
        case "prop added":
            plain = (name for name in further if not things()[name].tint)
            yield from (replace(scene, figures=(*scene.figures, Figure(name))) for name in plain)
        case "verbs swapped":
            for one, other in combinations(scene.figures, 2):
                alike = one.count == other.count and _alike(one.thing, other.thing)
                for first, second in zip(_only(one), _only(other), strict=False) if alike else ():
                    if first.verb != second.verb and (first.start, first.end) == (second.start, second.end):
                        found = _with(scene, one, deeds=_swapped(one, first, second))
                        yield _with(found, other, deeds=_swapped(other, second, first))


def other_motions(deed: Deed, thing: str, place: str) -> Iterator[str]:
    """Yield what else the thing could do there, with as much, whose frames differ in their order alone: to catch."""
    for kind in deeds_at(place, thing):
        is_fit = deed.object in kind.objects if deed.object else not kind.objects
        if is_fit and _share_frames(kind, deed.kind):
            yield kind.verb


def _share_frames(one: DeedKind, other: DeedKind) -> bool:
    looks = [(kind.posture, kind.hand, kind.sign, kind.shows) for kind in (one, other)]
    if looks[0] != looks[1] or one.motion == other.motion:
        return False
    return one.motion in MOTIONS and other.motion in MOTIONS and MOTIONS[one.motion][0] == MOTIONS[other.motion][0]


def _only(figure: Figure) -> list[Deed]:
    """Return what a figure does if it is one thing, and not to another figure."""
    main = main_deeds(figure)
    return main if len(main) == 1 and main[0] in figure.deeds and not isinstance(main[0].object, int) else []


def _swapped(figure: Figure, old: Deed, new: Deed) -> tuple[Deed, ...]:
    return tuple(new if deed == old else deed for deed in figure.deeds)


def _alike(one: str, other: str) -> bool:
    first, second = things()[one], things()[other]
    return first.role == second.role and bool(first.tint) == bool(second.tint)


def _with(scene: Scene, figure: Figure, **changes: object) -> Scene:
    new = replace(figure, **changes)  # type: ignore[arg-type]
    return replace(scene, figures=tuple(new if each is figure else each for each in scene.figures))


def shown_classes() -> Mapping[str, Sequence[tuple[str, str, Claim]]]:
    """Return who, which deeds and places scenes may show: as a sentence, its denial, and the sentence's claim."""
    return {
        "subject": [
            (f"there is {noun.with_article()}", f"there is no {noun.word}", Claim((Who(meanings()[noun.word]),)))
            for thing in things().values()
            for noun in thing.nouns[:1]
            if thing.role in ACTING and noun.number == "one"
        ],
        "deed": [
            (f"somebody is {doing}", f"nobody is {doing}", Claim((Who(acts=(Act(frozenset((kind.verb,))),)),)))
            for kind in deeds().values()
            for doing in (inflect_phrase(kind.phrases[0], "VBG"),)
            if kind.layer == "main" and not kind.objects
        ],
        "place": [
            (f"it is {place.phrases[0]}", f"it is not {place.phrases[0]}", Claim(places=frozenset((place.name,))))
            for place in places().values()
        ],
    }
