"""Claims: the content of sentences about scenes. Things count wherever they are seen: as figures, held, or behind."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, combinations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.world.scenes import Deed, Figure, Scene
from nt2vr.world.things import Names, deeds, places, things

MANY = 99  # "dogs" are two to MANY dogs


@dataclass(frozen=True)
class Act:
    """A deed as described in a sentence; what is empty is left open."""

    verbs: Names = frozenset()  # of which it is one; empty in "a man with a hat"
    objects: Names = frozenset()  # things held, worn or ridden
    colour: str = ""  # of these
    targets: Names = frozenset()  # names of the other figure
    part: Literal["", "start", "end"] = (
        ""  # "start" in the first half of the clip and not beyond, "end" in the second
    )
    looks: Names = frozenset()  # objects that are always of this colour

    def fits(self, deed: Deed, figures: Sequence[Figure]) -> bool:
        target = figures[deed.object].thing if isinstance(deed.object, int) else ""
        thing = deed.object if isinstance(deed.object, str) else ""
        return (
            _among(deed.verb, self.verbs)
            and _among(target, self.targets)
            and _among(thing, self.objects)
            and _has_colour(deed.object, deed.colour, self)
            and (not self.part or (deed.end <= 0.5 if self.part == "start" else deed.start >= 0.5))
        )


def _among(name: str, names: Names) -> bool:
    return not names or name in names


@dataclass(frozen=True)
class SubjectClaim:
    """Somebody or something as described in a sentence: `least` to `most` of them; what is empty is left open."""

    names: Names = frozenset()
    acts: tuple[Act, ...] = ()
    colour: str = ""
    size: str = ""
    least: int = 1
    most: int = MANY
    looks: Names = frozenset()  # names of things that are always of this colour
    total: bool = False  # the number is that of all who fit, as in "only one dog"; otherwise, of some who are together

    def fits(self, figure: Figure, figures: Sequence[Figure]) -> bool:
        """Return whether a figure matches the description, its number aside."""
        return (
            _among(figure.thing, self.names)
            and _has_colour(figure.thing, figure.colour, self)
            and (not self.size or figure.size == self.size)
            and all(any(act.fits(deed, figures) for deed in figure.doings) for act in self.acts)
        )

    def found(self, seen: Sequence[Figure], figures: Sequence[Figure]) -> Iterator[frozenset[int]]:
        """Yield the choices of figures that are this many together."""
        fitting = [number for number, figure in enumerate(seen) if self.fits(figure, figures)]
        if self.least == 1 and not self.total:
            yield from map(frozenset, zip(fitting, strict=True))
            return
        together = chain.from_iterable(combinations(fitting, size) for size in (1, 2, 3))
        for chosen in [fitting] if self.total else together:
            if self.least <= sum(seen[number].count for number in chosen) <= self.most:
                yield frozenset(chosen)


def _has_colour(thing: int | str | None, colour: str, wanted: "Act | SubjectClaim") -> bool:
    """Return whether a thing has the colour described: the one it was given, or else the one it always has."""
    return not wanted.colour or (colour == wanted.colour if colour else thing in wanted.looks)


class Order(NamedTuple):
    """Relation in time of two acts, each the number of a `SubjectClaim` and of its act."""

    first: tuple[int, int]
    second: tuple[int, int]
    kind: Literal["before", "while"] = "before"


@dataclass(frozen=True)
class Claim:
    """Content of a sentence: distinct matching figures, the order of their acts, one of `places`, day or night.

    A vague claim holds wherever the sentence is true, and possibly for other scenes.
    """

    subjects: tuple[SubjectClaim, ...] = ()
    places: Names = frozenset()
    night: bool | None = None
    orders: tuple[Order, ...] = ()
    vague: bool = False

    def holds(self, scene: Scene) -> bool:
        """Return whether the scene shows all of it, and possibly more."""
        if (self.places and scene.place not in self.places) or self.night not in (
            None,
            scene.night,
        ):
            return False
        seen, choices = seen_in(scene), []
        for who in self.subjects:
            choices.append(list(who.found(seen, scene.figures)))
            if not choices[-1]:
                return False
        return any(
            all(self._in_order(order, chosen, seen, scene) for order in self.orders)
            for chosen in _distinct(choices)
        )

    def _in_order(
        self, order: Order, chosen: Sequence[frozenset[int]], seen: Sequence[Figure], scene: Scene
    ) -> bool:
        """Return whether two acts of the chosen figures have this order."""
        first, second = (
            [
                deed
                for n in chosen[who]
                for deed in seen[n].doings
                if self.subjects[who].acts[act].fits(deed, scene.figures)
            ]
            for who, act in (order.first, order.second)
        )
        return any(
            a.end <= b.start if order.kind == "before" else a.start < b.end and b.start < a.end
            for a in first
            for b in second
        )


def _distinct(choices: Sequence[list[frozenset[int]]]) -> Iterator[tuple[frozenset[int], ...]]:
    """Yield one choice of each, without a figure in two of them."""
    if not choices:
        yield ()
        return
    for rest in _distinct(choices[:-1]):
        taken = frozenset().union(*rest)
        for chosen in choices[-1]:
            if not chosen & taken:
                yield (*rest, chosen)


@cache
def _backdrop(place: str) -> tuple[Figure, ...]:
    return tuple(Figure(thing, count=count) for thing, count in places()[place].shows)


def seen_in(scene: Scene) -> tuple[Figure, ...]:
    """Return all that is seen: the figures, then what they hold, wear, ride and use, then the backdrop."""
    held = []
    for figure, deed in ((each, deed) for each in scene.figures for deed in each.deeds):
        if isinstance(deed.object, str):
            held.append(Figure(deed.object, deed.colour, count=figure.count))
        if deed.kind.shows:
            held.append(Figure(deed.kind.shows, count=figure.count))
    return (*scene.figures, *held, *_backdrop(scene.place))


def shown_in(scene: Scene) -> set[str]:
    return {figure.thing for figure in seen_in(scene)}


CACHED_CLAIMS = 4096  # 32 kB each for 32,000 scenes
SceneMask = NDArray[np.bool_]


class _Shown:
    """Which scenes show each of some names."""

    def __init__(self, names: Iterable[str], scenes: Sequence[Collection[str]]) -> None:
        self._rows = {name: row for row, name in enumerate(names)}
        self._table = np.zeros((len(self._rows), len(scenes)), bool)
        for column, shown in enumerate(scenes):
            self._table[[self._rows[name] for name in shown], column] = True

    def any_of(self, names: Iterable[str]) -> SceneMask:
        """Mask of the scenes that show one of the names: (N,)."""
        return np.asarray(self._table[[self._rows[name] for name in names]].any(axis=0), bool)


class SceneTable:
    """`Claim.holds` for all scenes at once, cached."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._scenes = scenes
        self._things = _Shown(things(), [*map(shown_in, scenes)])
        self._deeds = _Shown(deeds(), [scene.verbs for scene in scenes])
        self._places = _Shown(places(), [{scene.place} for scene in scenes])
        self.holding = lru_cache(CACHED_CLAIMS)(self._holding)

    def holding_any(self, claims: Iterable[Claim]) -> SceneMask:
        found = np.zeros(len(self._scenes), bool)
        for claim in claims:
            found |= self.holding(claim)
        return found

    def _holding(self, claim: Claim) -> SceneMask:
        """Mask of the scenes for which the claim holds: (N,), read-only."""
        needed = [
            (self._places, claim.places),
            *((self._things, who.names) for who in claim.subjects),
        ]
        for act in (act for who in claim.subjects for act in who.acts):
            needed += [
                (self._deeds, act.verbs),
                (self._things, act.objects),
                (self._things, act.targets),
            ]
        holds = np.ones(len(self._scenes), bool)
        for shown, names in needed:
            if names:
                holds &= shown.any_of(names)
        if not _is_plain(claim):
            for row in np.flatnonzero(holds).tolist():
                holds[row] = claim.holds(self._scenes[row])
        holds.setflags(write=False)
        return holds


def _is_plain(claim: Claim) -> bool:
    """Return whether the index alone decides: at most a place, and one thing or one verb."""
    if claim.night is not None or len(claim.subjects) > 1:
        return False
    return all(
        who
        in (
            SubjectClaim(who.names),
            *(SubjectClaim(acts=(Act(act.verbs),)) for act in who.acts[:1]),
        )
        for who in claim.subjects
    )
