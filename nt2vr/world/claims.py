"""Claims: the content of sentences about scenes, whose truth is exact.

Things count wherever they are seen: as figures, in a hand, worn, ridden, or in the backdrop.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Literal, NamedTuple

from nt2vr.world.scenes import Deed, Figure, Scene
from nt2vr.world.things import Names, places

MANY = 99  # "dogs" are two to MANY dogs


@dataclass(frozen=True)
class Act:
    """A deed as described in a sentence; what is empty is left open.

    Attributes:
        verbs: of which it is one; empty in "a man with a hat".
        objects, colour, looks: of the thing held, worn or ridden; `looks` are those that are always of this colour.
        targets: names of the other figure.
        part: "start" in the first half of the clip and not beyond, "end" in the second.
    """

    verbs: Names = frozenset()
    objects: Names = frozenset()
    colour: str = ""
    targets: Names = frozenset()
    part: Literal["", "start", "end"] = ""
    looks: Names = frozenset()

    def fits(self, deed: Deed, figures: Sequence[Figure]) -> bool:
        """Return whether a deed matches the description."""
        if self.verbs and deed.verb not in self.verbs:
            return False
        if self.targets and not (isinstance(deed.object, int) and figures[deed.object].thing in self.targets):
            return False
        if self.objects and not (isinstance(deed.object, str) and deed.object in self.objects):
            return False
        if not _has_colour(deed.object, deed.colour, self):
            return False
        return not self.part or (deed.end <= 0.5 if self.part == "start" else deed.start >= 0.5)


@dataclass(frozen=True)
class Who:
    """Somebody or something as described in a sentence: `least` to `most` of them; what is empty is left open.

    Attributes:
        looks: names of things that are always of this colour.
        total: the number is that of all who fit: "only one dog"; otherwise, that of some who are together: "two dogs".
    """

    names: Names = frozenset()
    acts: tuple[Act, ...] = ()
    colour: str = ""
    size: str = ""
    least: int = 1
    most: int = MANY
    looks: Names = frozenset()
    total: bool = False

    def fits(self, figure: Figure, figures: Sequence[Figure]) -> bool:
        """Return whether a figure matches the description, its number aside."""
        return (
            (not self.names or figure.thing in self.names)
            and _has_colour(figure.thing, figure.colour, self)
            and (not self.size or figure.size == self.size)
            and all(any(act.fits(deed, figures) for deed in figure.doings) for act in self.acts)
        )

    def found(self, seen: Sequence[Figure], figures: Sequence[Figure]) -> Iterator[frozenset[int]]:
        """Yield the choices of figures that are this many together."""
        fitting = [number for number, figure in enumerate(seen) if self.fits(figure, figures)]
        if self.total:
            if self.least <= sum(seen[number].count for number in fitting) <= self.most:
                yield frozenset(fitting)
            return
        sizes = (1,) if self.least == 1 else (1, 2, 3)
        for chosen in (some for size in sizes for some in combinations(fitting, size)):
            if self.least == 1 or self.least <= sum(seen[number].count for number in chosen) <= self.most:
                yield frozenset(chosen)


def _has_colour(thing: int | str | None, colour: str, wanted: "Act | Who") -> bool:
    """Return whether a thing has the colour described: the one it was given, or else the one it always has."""
    return not wanted.colour or (colour == wanted.colour if colour else thing in wanted.looks)


class Order(NamedTuple):
    """Relation in time of two acts, each the number of a `Who` and of its act."""

    first: tuple[int, int]
    second: tuple[int, int]
    kind: Literal["before", "while"] = "before"


@dataclass(frozen=True)
class Claim:
    """Content of a sentence: distinct matching figures, the order of their acts, one of `places`, day or night."""

    whos: tuple[Who, ...] = ()
    places: Names = frozenset()
    night: bool | None = None
    orders: tuple[Order, ...] = ()

    def holds(self, scene: Scene) -> bool:
        """Return whether the scene shows all of it, and possibly more."""
        if (self.places and scene.place not in self.places) or self.night not in (None, scene.night):
            return False
        seen, choices = seen_in(scene), []
        if len(self.whos) > len(seen):
            return False  # without trying all permutations
        for who in self.whos:
            choices.append(list(who.found(seen, scene.figures)))
            if not choices[-1]:
                return False
        return any(
            all(self._in_order(order, chosen, seen, scene.figures) for order in self.orders)
            for chosen in _distinct(choices)
        )

    def _in_order(
        self, order: Order, chosen: Sequence[frozenset[int]], seen: Sequence[Figure], figures: Sequence[Figure]
    ) -> bool:
        """Return whether two acts of the chosen figures have this order."""
        first, second = (
            [
                deed
                for number in chosen[who]
                for deed in seen[number].doings
                if self.whos[who].acts[act].fits(deed, figures)
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
    for figure in scene.figures:
        for deed in figure.deeds:
            if isinstance(deed.object, str):
                held.append(Figure(deed.object, deed.colour, count=figure.count))
            if deed.kind.shows:
                held.append(Figure(deed.kind.shows, count=figure.count))
    return (*scene.figures, *held, *_backdrop(scene.place))
