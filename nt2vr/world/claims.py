"""Claims: the content of sentences about scenes.

Things count wherever they are seen: as figures, held, or behind.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations, product, starmap
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from nt2vr.world.scenes import Action, ClipPart, Figure, Scene
from nt2vr.world.things import Names, actions, places, things

# "dogs" are two to MANY dogs.
MANY = 99
# Numbers of the visible figures that are taken for a subject.
FigureChoice = frozenset[int]


@dataclass(frozen=True)
class Act:
    """An action as described in a sentence; what is empty is left open.

    Attributes:
        verbs: the action is one of these; empty in "a man with a hat".
        objects: names of the thing held, worn or ridden.
        colour: of that thing.
        targets: names of the other figure.
        part: "start" in the first half of the clip and not beyond, "end" in the second half.
        looks: objects that are always of this colour.
    """

    verbs: Names = frozenset()
    objects: Names = frozenset()
    colour: str = ""
    targets: Names = frozenset()
    part: ClipPart = ""
    looks: Names = frozenset()

    @classmethod
    def of(cls, verb: str, thing: str = "") -> Self:
        """Describe an action by its verb, and by the thing that it is done to or with."""
        objects = frozenset((thing,)) if thing else frozenset()
        return cls(frozenset((verb,)), objects)

    def fits(self, action: Action, scene: Scene) -> bool:
        """Return whether an action of a scene matches the description."""
        if self.verbs and action.verb not in self.verbs:
            return False
        if self.objects and action.object not in self.objects:
            return False
        if self.targets and scene.target_of(action) not in self.targets:
            return False
        if not _has_colour(action.object, action.colour, self):
            return False
        return self.part in ("", action.part)

    def is_done_by(self, figure: Figure, scene: Scene) -> bool:
        return any(self.fits(action, scene) for action in figure.doings)


@dataclass(frozen=True)
class SubjectClaim:
    """Somebody or something as described in a sentence; what is empty is left open.

    Attributes:
        names: the things of which it is one.
        acts: all that it does.
        colour: of it, or of its clothes.
        size: "big" or "small".
        least: at least so many.
        most: at most so many.
        looks: names of things that are always of this colour.
        total: whether the number is that of all who fit, as in "only one dog"; otherwise it is of
            some who are together.
    """

    names: Names = frozenset()
    acts: tuple[Act, ...] = ()
    colour: str = ""
    size: str = ""
    least: int = 1
    most: int = MANY
    looks: Names = frozenset()
    total: bool = False

    def fits(self, figure: Figure, scene: Scene) -> bool:
        """Return whether a figure of a scene matches the description, its number aside."""
        if self.names and figure.thing not in self.names:
            return False
        if not _has_colour(figure.thing, figure.colour, self):
            return False
        if self.size not in ("", figure.size):
            return False
        return all(act.is_done_by(figure, scene) for act in self.acts)

    def fitting(self, candidates: Sequence[Figure], scene: Scene) -> list[Figure]:
        """Return those of some figures of a scene that match the description."""
        return [figure for figure in candidates if self.fits(figure, scene)]

    def choices(self, visible: Sequence[Figure], scene: Scene) -> Iterator[FigureChoice]:
        """Yield the sets of visible figures, by number, that match the description and its number."""
        fitting = [i for i, figure in enumerate(visible) if self.fits(figure, scene)]
        if self.least == 1 and not self.total:
            for i in fitting:
                yield frozenset((i,))
            return

        # A total is of all who fit, another number of up to three figures.
        group_sizes = (len(fitting),) if self.total else (1, 2, 3)
        for size in group_sizes:
            for group in combinations(fitting, size):
                count = sum(visible[i].count for i in group)
                if self.least <= count <= self.most:
                    yield frozenset(group)


def _has_colour(thing: int | str | None, colour: str, wanted: "Act | SubjectClaim") -> bool:
    """Return whether a thing has the described colour: the one it was given or always has."""
    if not wanted.colour:
        return True
    if colour:
        return colour == wanted.colour
    return thing in wanted.looks


# Number of a subject of a claim, and of its act.
ActPosition = tuple[int, int]


class ActOrder(NamedTuple):
    """Relation in time of two acts."""

    first: ActPosition
    second: ActPosition
    kind: Literal["before", "while"] = "before"

    def holds(self, first: Action, second: Action) -> bool:
        """Return whether two actions have this order."""
        if self.kind == "before":
            return first.end <= second.start
        return first.start < second.end and second.start < first.end


@dataclass(frozen=True)
class Claim:
    """Content of a sentence: distinct figures, the order of their acts, a place, day or night.

    A vague claim holds wherever the sentence is true, and possibly for other scenes.
    """

    subjects: tuple[SubjectClaim, ...] = ()
    places: Names = frozenset()  # it is one of these
    night: bool | None = None
    orders: tuple[ActOrder, ...] = ()
    vague: bool = False

    @classmethod
    def of_things(cls, names: Names) -> Self:
        """Claim that one of some things is there."""
        return cls((SubjectClaim(names),))

    @classmethod
    def of_act(cls, act: Act) -> Self:
        """Claim that somebody does something."""
        return cls((SubjectClaim(acts=(act,)),))

    @classmethod
    def at(cls, place: str) -> Self:
        return cls(places=frozenset((place,)))

    def holds(self, scene: Scene) -> bool:
        """Return whether a scene shows all that is claimed; it may show more."""
        if self.places and scene.place not in self.places:
            return False
        if self.night not in (None, scene.night):
            return False

        visible = visible_in(scene)
        choices = []
        for subject in self.subjects:
            subject_choices = list(subject.choices(visible, scene))
            if not subject_choices:
                return False
            choices.append(subject_choices)
        distinct_choices = filter(_are_distinct, product(*choices))
        return any(self._has_orders(chosen, scene) for chosen in distinct_choices)

    def act_at(self, position: ActPosition) -> Act:
        subject, number = position
        return self.subjects[subject].acts[number]

    def _has_orders(self, chosen: Sequence[FigureChoice], scene: Scene) -> bool:
        """Return whether the chosen figures act in all the claimed orders."""
        for order in self.orders:
            first_actions = self._actions_of(order.first, chosen, scene)
            second_actions = self._actions_of(order.second, chosen, scene)
            pairs = product(first_actions, second_actions)
            if not any(starmap(order.holds, pairs)):
                return False
        return True

    def _actions_of(
        self, position: ActPosition, chosen: Sequence[FigureChoice], scene: Scene
    ) -> list[Action]:
        """Return the actions of the chosen figures that match an act."""
        subject, _ = position
        act = self.act_at(position)
        fitting: list[Action] = []
        # Of all that is visible only figures act, and they come first.
        for i in chosen[subject]:
            doings = scene.figures[i].doings
            fitting += [action for action in doings if act.fits(action, scene)]
        return fitting


def _are_distinct(chosen: Sequence[FigureChoice]) -> bool:
    """Return whether no figure is chosen twice."""
    return len(frozenset().union(*chosen)) == sum(map(len, chosen))


@cache
def _backdrop(place: str) -> tuple[Figure, ...]:
    return tuple(Figure(thing, count=count) for thing, count in places()[place].shows)


def visible_in(scene: Scene) -> tuple[Figure, ...]:
    """Return all that is seen: the figures, what they hold, wear, ride and use, the backdrop."""
    belongings = []
    for figure in scene.figures:
        for action in figure.actions:
            if action.thing:
                belongings.append(Figure(action.thing, action.colour, count=figure.count))
            if action.kind.shows:
                belongings.append(Figure(action.kind.shows, count=figure.count))
    return (*scene.figures, *belongings, *_backdrop(scene.place))


def names_in(scene: Scene) -> set[str]:
    """Return the names of all that is seen."""
    return {figure.thing for figure in visible_in(scene)}


# Claims whose masks are kept, each of 32 kB for 32,000 scenes.
CACHED_CLAIMS = 4096
SceneMask = NDArray[np.bool_]


def _masks_of(
    names: Iterable[str], names_of_scenes: Sequence[Collection[str]]
) -> dict[str, SceneMask]:
    """Return the mask of the scenes that have a name, for each of some names: (N,)."""
    masks = {name: np.zeros(len(names_of_scenes), bool) for name in names}
    for row, scene_names in enumerate(names_of_scenes):
        for name in scene_names:
            masks[name][row] = True
    return masks


class SceneTable:
    """`Claim.holds` for all scenes at once, cached."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._scenes = scenes
        self._things = _masks_of(things(), [names_in(scene) for scene in scenes])
        self._verbs = _masks_of(actions(), [scene.verbs for scene in scenes])
        self._places = _masks_of(places(), [{scene.place} for scene in scenes])
        self.holding = lru_cache(CACHED_CLAIMS)(self._holding)

    def holding_any(self, claims: Iterable[Claim]) -> SceneMask:
        """Mask of the scenes for which one of the claims holds: (N,)."""
        mask = np.zeros(len(self._scenes), bool)
        for claim in claims:
            mask |= self.holding(claim)
        return mask

    def _holding(self, claim: Claim) -> SceneMask:
        """Mask of the scenes for which the claim holds: (N,), read-only."""
        mask = self._possible(claim)
        if not _is_plain(claim):
            for row in np.flatnonzero(mask).tolist():
                mask[row] = claim.holds(self._scenes[row])
        mask.setflags(write=False)
        return mask

    def _possible(self, claim: Claim) -> SceneMask:
        """Mask of the scenes that show what the claim names, in whatever relation: (N,)."""
        required = [(self._places, claim.places)]
        for subject in claim.subjects:
            required.append((self._things, subject.names))
            for act in subject.acts:
                required.append((self._verbs, act.verbs))
                required.append((self._things, act.objects | act.targets))

        mask = np.ones(len(self._scenes), bool)
        for masks, names in required:
            if names:
                mask &= np.any([masks[name] for name in names], axis=0)
        return mask


def _is_plain(claim: Claim) -> bool:
    """Return whether `_possible` alone decides: at most a place, and one thing or one verb."""
    if claim.night is not None or len(claim.subjects) > 1:
        return False
    for subject in claim.subjects:
        verbs_only = [SubjectClaim(acts=(Act(act.verbs),)) for act in subject.acts]
        if subject not in (SubjectClaim(subject.names), *verbs_only):
            return False
    return True
