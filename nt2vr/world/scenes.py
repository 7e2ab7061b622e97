"""Scenes as data: a place and up to four figures with their deeds in time. Splits are disjoint."""

import hashlib
import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

from nt2vr.world.things import ACTING, ENTER, LEAVE, WEAR, DeedKind, Thing, deeds, places, things

SceneSplit = Literal["train", "validation", "test"]
MOST_FIGURES = 4
MOST_ACTORS = 3
MOST_IN_ALL = 6  # individuals
# Things that are seen by night only, and by day only.
BY_NIGHT = frozenset({"moon", "star", "fireworks"})
BY_DAY = frozenset({"sun", "rainbow"})


@dataclass(frozen=True)
class Deed:
    """What a figure does.

    Attributes:
        verb: the name of its kind.
        object: name of a thing held, worn or ridden; number of another figure; or None.
        start: fraction of the clip, in quarters, like `end`.
        end: fraction of the clip.
        colour: of the thing, if it can be tinted.
    """

    verb: str
    object: int | str | None = None
    start: float = 0.0
    end: float = 1.0
    colour: str = ""

    @property
    def kind(self) -> DeedKind:
        return deeds()[self.verb]

    @property
    def doers(self) -> list[tuple[str, str]]:
        """Words for the subject, and the object that they need: "drummer" and "drum"."""
        return [(word, needed) for word, needed in self.kind.doers if needed in ("", self.object)]


@dataclass(frozen=True)
class Figure:
    """A thing of the scene, or two or three alike that do the same.

    Attributes:
        thing: its name.
        colour: of the shirt or the thing, if it can be tinted.
        size: "big", "small" or "" for usual.
        count: how many they are.
        deeds: what it does, wears and feels.
        enters: fraction of the clip when it has come in; 0 if it is there from the start.
        leaves: fraction when it starts to go; 1 if it stays.
    """

    thing: str
    colour: str = ""
    size: str = ""
    count: int = 1
    deeds: tuple[Deed, ...] = ()
    enters: float = 0.0
    leaves: float = 1.0

    @property
    def kind(self) -> Thing:
        return things()[self.thing]

    @property
    def is_actor(self) -> bool:
        """Whether it is a person, an animal, a vehicle, or a thing that moves."""
        return self.kind.role in ACTING or bool(self.deeds)

    @cached_property
    def doings(self) -> tuple[Deed, ...]:
        """Its deeds, with entering and leaving."""
        doings = list(self.deeds)
        if self.enters > 0:
            doings.insert(
                0,
                Deed(
                    verb=ENTER,
                    object=None,
                    start=0.0,
                    end=self.enters,
                ),
            )
        if self.leaves < 1:
            doings.append(
                Deed(
                    verb=LEAVE,
                    object=None,
                    start=self.leaves,
                    end=1.0,
                )
            )
        return tuple(doings)

    def redone(self, old: Deed, new: Deed) -> "Figure":
        """Return the figure with one deed in place of another."""
        return replace(self, deeds=tuple(new if deed == old else deed for deed in self.deeds))

    @property
    def dressed(self) -> "Figure":
        """The figure with what its picture wears."""
        worn, _, colour = self.kind.wears.partition(":")
        if not worn:
            return self
        wears = Deed(
            verb=WEAR,
            object=worn,
            start=self.enters,
            end=self.leaves,
            colour=colour,
        )
        return replace(self, deeds=(*self.deeds, wears))


@dataclass(frozen=True)
class Scene:
    """Content of a clip, in names of the data files.

    Attributes:
        place: its name.
        night: whether it is night.
        figures: all things besides the backdrop.
        seed: of what captions never mention: positions, skin and hair, phase of the motion.
    """

    place: str
    night: bool
    figures: tuple[Figure, ...]
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Scene":
        figures = []
        for fields in data["figures"]:
            done = tuple(Deed(**deed) for deed in fields["deeds"])
            figures.append(Figure(**{**fields, "deeds": done}))
        return cls(
            place=data["place"],
            night=data["night"],
            figures=tuple(figures),
            seed=data["seed"],
        )

    @cached_property
    def content(self) -> str:
        """The scene without its seed, independent of the order of the figures."""
        figures = [asdict(figure) for figure in self.figures]
        for figure in figures:
            for deed in figure["deeds"]:
                if isinstance(deed["object"], int):
                    deed["object"] = [self.figures[deed["object"]].thing]
        return json.dumps([self.place, self.night, sorted(map(json.dumps, figures))])

    @property
    def actors(self) -> list[Figure]:
        return [figure for figure in self.figures if figure.is_actor]

    @property
    def verbs(self) -> set[str]:
        return {deed.verb for figure in self.figures for deed in figure.doings}

    def object_of(self, deed: Deed) -> str | None:
        """Return the name of what a deed is done to or with, another figure or not."""
        if isinstance(deed.object, int):
            return self.figures[deed.object].thing
        return deed.object

    def swapped(self, old: Figure, new: Figure) -> "Scene":
        """Return the scene with one figure in place of another; no thing is twice in a scene."""
        figures = [new if figure.thing == old.thing else figure for figure in self.figures]
        return replace(self, figures=tuple(figures))

    @property
    def dressed(self) -> "Scene":
        """The scene with what the pictures of its figures wear, such as a queen's crown.

        Captions never mention it.
        """
        return replace(self, figures=tuple(figure.dressed for figure in self.figures))

    @property
    def gist(self) -> Hashable:
        """What an edit keeps unless its text says otherwise.

        That is the place by day or night, and who does what in turn.
        """
        cast: list[Hashable] = []
        for figure in self.actors:
            done = [(deed.verb, self.object_of(deed)) for deed in main_deeds(figure)]
            cast.append((figure.thing, figure.count, *done))
        return self.place, self.night, frozenset(cast)

    @property
    def split(self) -> SceneSplit:
        """The split of this content, decided by a hash: no scene is in two splits."""
        bucket = hashlib.sha256(self.content.encode()).digest()[0] % 10
        if bucket == 0:
            return "test"
        return "validation" if bucket == 1 else "train"


def main_deeds(figure: Figure) -> list[Deed]:
    """Return what a figure does one after the other, moods and clothes aside."""
    main = [deed for deed in figure.doings if deed.kind.layer == "main"]
    main.sort(key=lambda deed: deed.start)
    return main


def is_valid(scene: Scene) -> bool:
    """Return whether a clip can show a scene: its figures, each with deeds it may do there."""
    if not _is_cast(scene):
        return False
    if scene.night and places()[scene.place].indoors:
        return False
    unseen = BY_DAY if scene.night else BY_NIGHT
    if any(figure.thing in unseen for figure in scene.figures):
        return False
    return all(_is_able(figure, scene) for figure in scene.figures)


def _is_cast(scene: Scene) -> bool:
    """Return whether a scene has figures, none twice, and not too many."""
    num_figures = len(scene.figures)
    if not 1 <= num_figures <= MOST_FIGURES or len(scene.actors) > MOST_ACTORS:
        return False
    if len({figure.thing for figure in scene.figures}) < num_figures:
        return False
    counts = [figure.count for figure in scene.figures]
    return sum(counts) <= MOST_IN_ALL and {1, 2, 3}.issuperset(counts)


def _is_able(figure: Figure, scene: Scene) -> bool:
    """Return whether a figure can do its deeds in turn, and has a colour if it is tinted."""
    if bool(figure.colour) != bool(figure.kind.tint):
        return False
    for before, after in pairwise(main_deeds(figure)):
        if before.end > after.start:
            return False
    return all(_is_possible(deed, figure, scene) for deed in figure.deeds)


def _is_possible(deed: Deed, figure: Figure, scene: Scene) -> bool:
    """Return whether a figure can do a deed at its time and place, and to its object."""
    is_in_quarters = deed.start * 4 % 1 == deed.end * 4 % 1 == 0
    if not is_in_quarters or not figure.enters <= deed.start < deed.end <= figure.leaves:
        return False
    if not deed.kind.may(figure.kind, places()[scene.place]):
        return False
    return _suits(deed, figure, scene.figures)


def _suits(deed: Deed, figure: Figure, figures: Sequence[Figure]) -> bool:
    """Return whether the object of a deed fits its slot."""
    kind = deed.kind
    if deed.object is None:
        return not kind.objects
    if isinstance(deed.object, int):
        target = figures[deed.object]
        return kind.targets and target is not figure and target.thing in kind.objects
    if kind.targets or deed.object not in kind.objects:
        return False
    return bool(deed.colour) == bool(things()[deed.object].tint)
