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
MOST_FIGURES, MOST_ACTORS, MOST_IN_ALL = 4, 3, 6
BY_NIGHT, BY_DAY = frozenset({"moon", "star", "fireworks"}), frozenset({"sun", "rainbow"})


@dataclass(frozen=True)
class Deed:
    """What a figure does."""

    verb: str
    object: int | str | None = (
        None  # name of a thing held, worn or ridden; number of another figure; or None
    )
    start: float = 0.0  # fraction of the clip, in quarters, as the end
    end: float = 1.0
    colour: str = ""  # of the thing, if it can be tinted

    @property
    def kind(self) -> DeedKind:
        return deeds()[self.verb]

    @property
    def doers(self) -> list[tuple[str, str]]:
        """Words for who does it, and the object that they need: "drummer" and "drum"."""
        return [(word, needed) for word, needed in self.kind.doers if needed in ("", self.object)]


@dataclass(frozen=True)
class Figure:
    """A thing of the scene, or two or three alike that do the same."""

    thing: str
    colour: str = ""  # of the shirt or the thing, if it can be tinted
    size: str = ""  # "big", "small" or "" for usual
    count: int = 1
    deeds: tuple[Deed, ...] = ()
    enters: float = 0.0  # fraction of the clip when it has come in; 0 if it is there from the start
    leaves: float = 1.0  # fraction when it starts to go; 1 if it stays

    @property
    def kind(self) -> Thing:
        return things()[self.thing]

    @property
    def acts(self) -> bool:
        """Whether it is an actor: a person, an animal, a vehicle, or a thing that moves."""
        return self.kind.role in ACTING or bool(self.deeds)

    @cached_property
    def doings(self) -> tuple[Deed, ...]:
        """Its deeds, with entering and leaving."""
        coming = (Deed(ENTER, None, 0.0, self.enters),) if self.enters > 0 else ()
        going = (Deed(LEAVE, None, self.leaves, 1.0),) if self.leaves < 1 else ()
        return coming + self.deeds + going

    def redone(self, old: Deed, new: Deed) -> "Figure":
        return replace(self, deeds=tuple(new if deed == old else deed for deed in self.deeds))

    @property
    def dressed(self) -> "Figure":
        """The figure with what its picture wears."""
        worn, _, colour = self.kind.wears.partition(":")
        wears = Deed(WEAR, worn, self.enters, self.leaves, colour)
        return replace(self, deeds=(*self.deeds, wears)) if worn else self


@dataclass(frozen=True)
class Scene:
    """Content of a clip, in names of the data files."""

    place: str
    night: bool
    figures: tuple[Figure, ...]
    seed: int = 0  # of everything that captions never mention: positions, skin and hair, phase of the motion

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Scene":
        read = (
            {**figure, "deeds": tuple(Deed(**deed) for deed in figure["deeds"])}
            for figure in data["figures"]
        )
        return cls(
            data["place"], data["night"], tuple(Figure(**figure) for figure in read), data["seed"]
        )

    @cached_property
    def content(self) -> str:
        """The scene without its seed, independent of the order of the figures."""
        figures = [asdict(figure) for figure in self.figures]
        for deed in (
            deed
            for figure in figures
            for deed in figure["deeds"]
            if isinstance(deed["object"], int)
        ):
            deed["object"] = [self.figures[deed["object"]].thing]
        return json.dumps([self.place, self.night, sorted(map(json.dumps, figures))])

    @property
    def actors(self) -> list[Figure]:
        return [figure for figure in self.figures if figure.acts]

    @property
    def verbs(self) -> set[str]:
        return {deed.verb for figure in self.figures for deed in figure.doings}

    def object_of(self, deed: Deed) -> str | None:
        """Return the name of what a deed is done to or with, another figure or not."""
        return self.figures[deed.object].thing if isinstance(deed.object, int) else deed.object

    def swapped(self, old: Figure, new: Figure) -> "Scene":
        """The scene with one figure in place of another; no thing is twice in a scene."""
        return replace(
            self,
            figures=tuple(new if figure.thing == old.thing else figure for figure in self.figures),
        )

    @property
    def dressed(self) -> "Scene":
        """The scene with what the pictures of its figures wear, such as a queen's crown: captions never mention it."""
        return replace(self, figures=tuple(figure.dressed for figure in self.figures))

    @property
    def gist(self) -> Hashable:
        """What an edit keeps unless its text says otherwise: the place by day or night, and who does what in turn."""
        cast = (
            (
                figure.thing,
                figure.count,
                *((deed.verb, self.object_of(deed)) for deed in main_deeds(figure)),
            )
            for figure in self.actors
        )
        return self.place, self.night, frozenset(cast)

    @property
    def split(self) -> SceneSplit:
        """The split of this content, decided by a hash: no scene is in two splits."""
        bucket = hashlib.sha256(self.content.encode()).digest()[0] % 10
        return "test" if bucket == 0 else "validation" if bucket == 1 else "train"


def main_deeds(figure: Figure) -> list[Deed]:
    """Return what a figure does one after the other, moods and clothes aside."""
    return sorted(
        (deed for deed in figure.doings if deed.kind.layer == "main"), key=lambda deed: deed.start
    )


def is_valid(scene: Scene) -> bool:
    """Return whether a clip can show a scene: all of its figures, each with deeds that it may do there."""
    names, counts = (
        {figure.thing for figure in scene.figures},
        [figure.count for figure in scene.figures],
    )
    is_cast = 1 <= len(counts) == len(names) <= MOST_FIGURES and len(scene.actors) <= MOST_ACTORS
    is_cast &= sum(counts) <= MOST_IN_ALL and {1, 2, 3}.issuperset(counts)
    is_time = names.isdisjoint(BY_DAY if scene.night else BY_NIGHT)
    is_time &= not (scene.night and places()[scene.place].indoors)
    return is_cast and is_time and all(_is_able(figure, scene) for figure in scene.figures)


def _is_able(figure: Figure, scene: Scene) -> bool:
    """Return whether a figure can do all its deeds, one after the other, and has a colour if it is tinted."""
    in_turn = all(before.end <= after.start for before, after in pairwise(main_deeds(figure)))
    if not in_turn or bool(figure.colour) != bool(figure.kind.tint):
        return False
    return all(
        deed.start * 4 % 1 == deed.end * 4 % 1 == 0
        and figure.enters <= deed.start < deed.end <= figure.leaves
        and deed.kind.may(figure.kind, places()[scene.place])
        and _suits(deed, figure, scene.figures)
        for deed in figure.deeds
    )


def _suits(deed: Deed, figure: Figure, figures: Sequence[Figure]) -> bool:
    """Return whether the object of a deed fits its slot."""
    kind, name = deed.kind, deed.object
    if name is None:
        return not kind.objects
    if isinstance(name, int):
        return kind.targets and figures[name] is not figure and figures[name].thing in kind.objects
    return (
        not kind.targets and name in kind.objects and bool(deed.colour) == bool(things()[name].tint)
    )
