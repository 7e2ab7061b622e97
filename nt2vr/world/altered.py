"""Scenes with one thing changed, for captions that are false of the original; and what scenes may show, as classes."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from nt2vr.language.inflect import inflect_phrase
from nt2vr.world.captions import with_article
from nt2vr.world.scenes import Actor, Scene
from nt2vr.world.truth import Claim, Who
from nt2vr.world.vocabulary import ACTIVITIES, ANIMAL_ACTIVITIES, FLYING, PLACES, SUBJECTS


def altered(scene: Scene, change: str, rng: random.Random) -> Iterator[Scene]:
    """Yield the scenes that differ in one thing which the scene does not show, in random order.

    Args:
        change: "verb", "subject", "place", "prop replaced", "prop added" or "verbs swapped", between two actors.
    """
    found = list(_altered(scene, change))
    rng.shuffle(found)
    yield from found


def _altered(scene: Scene, change: str) -> Iterator[Scene]:
    where = PLACES[scene.place]
    done, subjects = {actor.activity for actor in scene.actors}, {actor.subject for actor in scene.actors}
    further = [prop for prop in where.props if prop not in scene.props]
    match change:
        case "verb":
            for actor in scene.actors:
                deeds = {"person": where.activities, "animal": ANIMAL_ACTIVITIES}.get(SUBJECTS[actor.subject].kind, ())
                yield from (_with(scene, actor, replace(actor, activity=deed)) for deed in deeds if deed not in done)
        case "subject":
            for actor in scene.actors:
                alike = (name for name in SUBJECTS if name not in subjects and _alike(name, actor.subject))
                yield from (_with(scene, actor, replace(actor, subject=name)) for name in alike)
        case "place":
            yield from (replace(scene, place=place) for place in PLACES if place != scene.place)
        case "prop replaced":
            for old in scene.props:
                for new in further:
                    yield replace(scene, props=tuple(new if prop == old else prop for prop in scene.props))
        case "prop added":
            yield from (replace(scene, props=(*scene.props, prop)) for prop in further)
        case "verbs swapped":
            for one, other in combinations(scene.actors, 2):
                if _alike(one.subject, other.subject):
                    swapped = _with(scene, one, replace(one, activity=other.activity))
                    yield _with(swapped, other, replace(other, activity=one.activity))


def _alike(one: str, other: str) -> bool:
    return SUBJECTS[one].kind == SUBJECTS[other].kind and (one in FLYING) == (other in FLYING)


def _with(scene: Scene, old: Actor, new: Actor) -> Scene:
    return replace(scene, actors=tuple(new if actor == old else actor for actor in scene.actors))


def shown_classes() -> Mapping[str, Sequence[tuple[str, str, Claim]]]:
    """Return who, which deeds and places scenes may show: as a sentence, its denial, and the sentence's claim."""
    return {
        "subject": [
            (f"there is {with_article(name)}", f"there is no {name}", Claim((Who(frozenset((key,))),)))
            for key, subject in SUBJECTS.items()
            for name in subject.words[:1]
        ],
        "deed": [
            (f"somebody is {doing}", f"nobody is {doing}", Claim((Who(activities=frozenset((key,))),)))
            for key, activity in ACTIVITIES.items()
            for doing in (inflect_phrase(activity.phrases[0], "VBG"),)
        ],
        "place": [
            (f"it is {place.phrases[0]}", f"it is not {place.phrases[0]}", Claim(places=frozenset((key,))))
            for key, place in PLACES.items()
        ],
    }
