"""One thing that is different in a scene: what it adds and what it removes."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, get_args

from nt2vr.world.casting import anywhere, props_at
from nt2vr.world.claims import Act, Claim, SubjectClaim
from nt2vr.world.scenes import Action, Figure, Scene
from nt2vr.world.things import Names, places, things

# fmt: off
ChangeKind = Literal[
    "replace subject", "replace activity", "replace place", "add actor", "add prop", "add accessory",
    "remove actor", "remove activity", "remove prop", "remove accessory",
]
# fmt: on
CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)


@dataclass(frozen=True)
class Change:
    """One thing that is different; fields that do not apply are empty.

    Attributes:
        kind: "remove activity" removes the actor, named by its activity.
        did: what `old` did, or wore.
        place: the new one.
    """

    kind: ChangeKind
    before: Scene
    old: Figure | None = None
    new: Figure | None = None
    did: Action | None = None
    does: Action | None = None
    place: str = ""

    def applied(self, scene: Scene) -> Scene:
        """Return the scene with the change, and without the things that are not found at its place."""
        if self.place:
            return self._moved(scene)
        if self.old and self.new:
            return scene.swapped(self.old, self.new)
        if self.new:
            return replace(scene, figures=(*scene.figures, self.new))
        assert self.old, "only a removal is left"
        return _without(scene, {self.old.thing})

    def _moved(self, scene: Scene) -> Scene:
        night = scene.night and not places()[self.place].indoors
        usual = {*anywhere(), *props_at(self.place, night)}
        strange = set()
        for figure in scene.figures:
            if not figure.is_actor and figure.thing not in usual:
                strange.add(figure.thing)
        return _without(replace(scene, place=self.place, night=night), strange)

    @property
    def added(self) -> Claim | None:
        """Claim of the addition; None for a removal."""
        if self.place:
            return Claim.at(self.place)
        if self.new is None or self.kind == "remove accessory":
            return None
        acts = (act_of(self.does, self.before),) if self.does else ()
        return Claim((SubjectClaim(named(self.new.thing), acts),))

    @property
    def removed(self) -> Claim | None:
        """Claim of the removal; None for an addition."""
        match self.kind:
            case "remove accessory" if self.did:
                return Claim.of_things(act_of(self.did, self.before).objects)
            case "replace activity" | "remove activity" if self.did:
                return Claim.of_act(act_of(self.did, self.before))
            case "replace subject" | "remove actor" | "remove prop" if self.old:
                return Claim.of_things(named(self.old.thing))
        return None


def named(thing: str) -> Names:
    """Return all that the usual word for a thing names: "man" an old man too."""
    return things()[thing].noun.names


def act_of(action: Action, scene: Scene) -> Act:
    name = scene.object_of(action)
    objects = named(name) if name else frozenset[str]()
    verbs = frozenset((action.verb,))
    if action.target is None:
        return Act(verbs, objects)
    return Act(verbs, targets=objects)


def _without(scene: Scene, removed_things: Collection[str]) -> Scene:
    """Leave figures out. Who does something to one of them would do it to itself, which is never possible."""
    remaining = [figure for figure in scene.figures if figure.thing not in removed_things]
    numbers = {figure.thing: number for number, figure in enumerate(remaining)}
    figures = []
    for number, figure in enumerate(remaining):
        actions = []
        for action in figure.actions:
            if action.target is not None:
                target = scene.figures[action.target].thing
                action = replace(action, object=numbers.get(target, number))
            actions.append(action)
        figures.append(replace(figure, actions=tuple(actions)))
    return replace(scene, figures=tuple(figures))
