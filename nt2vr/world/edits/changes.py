"""Changes of a scene for covr: one thing replaced, added or removed, and what matches."""

import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

from nt2vr.language.inflect import inflect_phrase
from nt2vr.querygen.families import Families
from nt2vr.querygen.modifications import ChangeKind
from nt2vr.world.captions import with_article
from nt2vr.world.scenes import PEOPLE, Actor, Scene, stream_scenes
from nt2vr.world.truth import Claim, Who
from nt2vr.world.vocabulary import ACCESSORIES, ACTIVITIES, ANIMAL_ACTIVITIES, FLYING, PLACES, PROPS, SUBJECTS

MAX_ACTORS, MAX_PROPS = 3, 2  # of a scene, see `draw_scene`


@dataclass(frozen=True)
class Change:
    """One thing that is different; fields that do not apply are empty."""

    kind: ChangeKind  # "remove activity" removes the actor, named by its activity
    old: Actor | None = None
    new: Actor | None = None
    prop: str = ""  # added or removed
    place: str = ""  # the new one

    def applied(self, scene: Scene) -> Scene:
        """Return the scene with the change, and without the props that its place does not have."""
        actors = tuple(self.new if actor == self.old else actor for actor in scene.actors)
        if self.old is None and self.new is not None:
            actors = (*actors, self.new)
        place = self.place or scene.place
        props = [prop for prop in scene.props if prop != self.prop] + [self.prop] * (self.kind == "add prop")
        kept = tuple(prop for prop in props if prop in PLACES[place].props)
        return replace(scene, place=place, actors=tuple(filter(None, actors)), props=kept)

    @property
    def names(self) -> frozenset[str]:
        """Names of the vocabulary that a text about it mentions."""
        claims = [claim for claim in (self.shown, self.gone) if claim]
        of_actors = (who.subjects | who.activities | who.wearing for claim in claims for who in claim.actors)
        others = (names for claim in claims for names in (claim.places, *claim.props))
        return frozenset(actor.subject for actor in (self.old, self.new) if actor).union(*of_actors, *others)

    @property
    def shown(self) -> Claim | None:
        """Claim of the addition; None for a removal."""
        if self.kind == "add prop":
            return Claim(props=(frozenset((self.prop,)),))
        if self.new is None or self.kind == "remove accessory":
            return Claim(places=frozenset((self.place,))) if self.place else None
        if self.kind == "add accessory":
            return Claim((Who(frozenset((self.new.subject,)), wearing=frozenset((self.new.wearing or "",))),))
        return Claim((Who(frozenset((self.new.subject,)), frozenset((self.new.activity,))),))

    @property
    def gone(self) -> Claim | None:
        """Claim of the removal; None for an addition."""
        if self.kind == "remove prop":
            return Claim(props=(frozenset((self.prop,)),))
        if self.old is None or self.kind == "add accessory":
            return None
        if self.kind == "remove accessory":
            return Claim((Who(wearing=frozenset((self.old.wearing or "",))),))
        if self.kind in ("remove activity", "replace activity"):
            return Claim((Who(activities=frozenset((self.old.activity,))),))
        return Claim((Who(frozenset((self.old.subject,))),))


def possible(scene: Scene) -> bool:
    """Return whether `draw_scene` could draw a scene."""
    place = PLACES[scene.place]
    vehicles = [actor for actor in scene.actors if SUBJECTS[actor.subject].kind == "vehicle"]
    return (
        1 <= len(scene.actors) == len(scene.cast) <= MAX_ACTORS
        and len(vehicles) <= 1
        and all((actor.subject, actor.activity) in _deeds(scene.place) for actor in scene.actors)
        and len(scene.props) == len(set(scene.props)) <= MAX_PROPS
        and set(scene.props) <= set(place.props)
    )


@cache
def _deeds(place: str) -> Collection[tuple[str, str]]:
    """Return the possible (subject, activity) pairs of a place, in the order of the vocabulary."""
    where = PLACES[place]
    driven = ((vehicle, "fly" if vehicle in FLYING else "drive") for vehicle in where.vehicles)
    return dict.fromkeys((*product(PEOPLE, where.activities), *product(where.animals, ANIMAL_ACTIVITIES), *driven))


def changes_of(scene: Scene, kind: ChangeKind, rng: random.Random) -> Iterator[Change]:
    """Yield the changes of a kind that lead to possible scenes, in random order.

    What a change takes away is in the scene once, so that its words are unambiguous; what it adds is new to the scene.
    """
    candidates = list(_CANDIDATES[kind.split()[0]](scene, kind))
    rng.shuffle(candidates)
    yield from (change for change in candidates if _is_clear(change, scene))


def _is_clear(change: Change, scene: Scene) -> bool:
    after = change.applied(scene)
    without = replace(scene, actors=tuple(actor for actor in scene.actors if actor != change.old))
    return (
        possible(after)
        and not (change.shown and change.shown.holds(scene))
        and not (change.gone and (change.gone.holds(after) or not change.gone.holds(scene)))
        and not (change.old is not None and change.new is not None and _names_another(change.old, without))
    )


def _names_another(actor: Actor, others: Scene) -> bool:
    """Return whether "the man" could mean another actor too."""
    return any(other.subject == actor.subject for other in others.actors)


def _replacements(scene: Scene, kind: ChangeKind) -> Iterator[Change]:
    if kind == "replace place":
        yield from (Change(kind, place=place) for place in PLACES if place != scene.place)
        return
    subjects, activities = ({getattr(a, name) for a in scene.actors} for name in ("subject", "activity"))
    for old, (subject, activity) in product(scene.actors, _deeds(scene.place)):
        if SUBJECTS[subject].kind != SUBJECTS[old.subject].kind:
            continue
        if kind == "replace subject" and activity == old.activity and subject not in subjects:
            yield Change(kind, old, replace(old, subject=subject))
        if kind == "replace activity" and subject == old.subject and activity not in activities:
            yield Change(kind, old, replace(old, activity=activity))


def _additions(scene: Scene, kind: ChangeKind) -> Iterator[Change]:
    match kind:
        case "add actor":
            subjects, activities = ({getattr(a, name) for a in scene.actors} for name in ("subject", "activity"))
            for subject, activity in _deeds(scene.place):
                if subject not in subjects and activity not in activities:
                    yield Change(kind, new=Actor(subject, activity))
        case "add prop":
            yield from (Change(kind, prop=prop) for prop in PLACES[scene.place].props if prop not in scene.props)
        case "add accessory":
            worn = {actor.wearing for actor in scene.actors}
            for actor, accessory in product(scene.actors, ACCESSORIES):
                if SUBJECTS[actor.subject].kind == "person" and not actor.wearing and accessory not in worn:
                    yield Change(kind, actor, replace(actor, wearing=accessory))


def _removals(scene: Scene, kind: ChangeKind) -> Iterator[Change]:
    match kind:
        case "remove prop":
            yield from (Change(kind, prop=prop) for prop in scene.props)
        case "remove accessory":
            yield from (Change(kind, actor, replace(actor, wearing=None)) for actor in scene.actors if actor.wearing)
        case "remove actor" | "remove activity":
            for actor in scene.actors:
                if kind == "remove actor" or SUBJECTS[actor.subject].kind != "vehicle":
                    yield Change(kind, actor)


_CANDIDATES = {"replace": _replacements, "add": _additions, "remove": _removals}


def fields_of(scene: Scene, change: Change, rng: random.Random) -> dict[str, str]:
    """Draw words for everything that a wording of a change may name."""
    fields = {"here": rng.choice(PLACES[scene.place].phrases)}
    if change.place:
        fields["there"] = rng.choice(PLACES[change.place].phrases)
    if change.old:
        fields |= {"old": (old := rng.choice(SUBJECTS[change.old.subject].words)), "a_old": with_article(old)}
        phrase = rng.choice(ACTIVITIES[change.old.activity].phrases)
        fields |= {"did": inflect_phrase(phrase, "VBG"), "was_doing": phrase}
    if change.new:
        fields |= {"new": (new := rng.choice(SUBJECTS[change.new.subject].words)), "a_new": with_article(new)}
        phrase = rng.choice(ACTIVITIES[change.new.activity].phrases)
        fields |= {"doing": inflect_phrase(phrase, "VBG"), "does": inflect_phrase(phrase, "VBZ")}
    if thing := _thing(change, rng):
        bare = thing.removeprefix("a ").removeprefix("an ").removeprefix("the ")
        fields |= {"thing": thing, "bare": bare, "the_thing": f"the {bare}"}
    return fields


def _thing(change: Change, rng: random.Random) -> str:
    """Draw words for the prop or accessory of a change, with their article; empty if it has none."""
    if change.prop:
        return rng.choice(PROPS[change.prop].words)
    actor = {"add accessory": change.new, "remove accessory": change.old}.get(change.kind)
    return rng.choice(ACCESSORIES[actor.wearing].words) if actor and actor.wearing else ""


EDITS = Families(stream_scenes, changes_of, possible, fields_of, look="look")
