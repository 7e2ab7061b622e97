"""Scenes as data: a place and up to four figures with their actions in time. Splits are disjoint."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

from nt2vr.world.things import (
    ACTING,
    ENTER,
    LEAVE,
    WEAR,
    ActionKind,
    Place,
    Thing,
    actions,
    places,
    things,
)

SceneSplit = Literal["train", "validation", "test"]
ClipPart = Literal["", "start", "end"]
MOST_FIGURES = 4
MOST_ACTORS = 3
MOST_IN_ALL = 6  # individuals
# Things that are seen by night only, and by day only.
BY_NIGHT = frozenset({"moon", "star", "fireworks"})
BY_DAY = frozenset({"sun", "rainbow"})


@dataclass(frozen=True)
class Action:
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
    def kind(self) -> ActionKind:
        return actions()[self.verb]

    @property
    def thing(self) -> str:
        """Name of the thing held, worn or ridden; "" if there is none."""
        return self.object if isinstance(self.object, str) else ""

    @property
    def target(self) -> int | None:
        """Number of the other figure to which it is done."""
        return self.object if isinstance(self.object, int) else None

    @property
    def part(self) -> ClipPart:
        """The half of the clip in which it is done; "" if in both."""
        if self.end <= 0.5:
            return "start"
        return "end" if self.start >= 0.5 else ""

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
        actions: what it does, wears and feels.
        enters: fraction of the clip when it has come in; 0 if it is there from the start.
        leaves: fraction when it starts to go; 1 if it stays.
    """

    thing: str
    colour: str = ""
    size: str = ""
    count: int = 1
    actions: tuple[Action, ...] = ()
    enters: float = 0.0
    leaves: float = 1.0

    @property
    def kind(self) -> Thing:
        return things()[self.thing]

    @property
    def is_person(self) -> bool:
        return self.kind.role == "person"

    @property
    def is_actor(self) -> bool:
        """Whether it is a person, an animal, a vehicle, or a thing that moves."""
        return self.kind.role in ACTING or bool(self.actions)

    @cached_property
    def doings(self) -> tuple[Action, ...]:
        """Its actions, with entering and leaving."""
        doings = list(self.actions)
        if self.enters > 0:
            doings.insert(0, Action(ENTER, end=self.enters))
        if self.leaves < 1:
            doings.append(Action(LEAVE, start=self.leaves))
        return tuple(doings)

    def redone(self, old: Action, new: Action) -> "Figure":
        """Return the figure with one action in place of another."""
        redone = [new if action == old else action for action in self.actions]
        return replace(self, actions=tuple(redone))

    def also(self, action: Action) -> "Figure":
        """Return the figure with one more action, which it does as long as it is there."""
        action = replace(action, start=self.enters, end=self.leaves)
        return replace(self, actions=(*self.actions, action))

    @property
    def dressed(self) -> "Figure":
        """The figure with what its picture wears."""
        worn, _, colour = self.kind.wears.partition(":")
        if not worn:
            return self
        return self.also(Action(WEAR, worn, colour=colour))


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

    @property
    def key_data(self) -> dict[str, Any]:
        """The scene as version 0.2.0 wrote it, of which the keys of stored clips are hashes."""
        return asdict(self, dict_factory=_with_old_names)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Scene":
        figures = []
        for fields in data["figures"]:
            properties = dict(fields)
            # Version 0.2.0 wrote "deeds".
            rows = properties.pop("deeds", None) or properties.pop("actions", ())
            actions_done = tuple(Action(**row) for row in rows)
            figures.append(Figure(**properties, actions=actions_done))
        return cls(
            place=data["place"],
            night=data["night"],
            figures=tuple(figures),
            seed=data["seed"],
        )

    @cached_property
    def content(self) -> str:
        """The scene without its seed, independent of the order of the figures."""
        figures = self.key_data["figures"]
        for figure in figures:
            for action in figure["deeds"]:
                if isinstance(action["object"], int):
                    action["object"] = [self.figures[action["object"]].thing]
        return json.dumps([self.place, self.night, sorted(map(json.dumps, figures))])

    @property
    def location(self) -> Place:
        return places()[self.place]

    @property
    def actors(self) -> list[Figure]:
        return [figure for figure in self.figures if figure.is_actor]

    @property
    def verbs(self) -> set[str]:
        return {action.verb for figure in self.figures for action in figure.doings}

    def target_of(self, action: Action) -> str:
        """Return the name of the other figure to which an action is done; "" if there is none."""
        if action.target is None:
            return ""
        return self.figures[action.target].thing

    def object_of(self, action: Action) -> str:
        """Return the name of what an action is done to or with, another figure or not."""
        return self.target_of(action) or action.thing

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
    def split(self) -> SceneSplit:
        """The split of this content, decided by a hash: no scene is in two splits."""
        digest = hashlib.sha256(self.content.encode()).digest()
        match digest[0] % 10:
            case 0:
                return "test"
            case 1:
                return "validation"
        return "train"


def _with_old_names(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    return {"deeds" if name == "actions" else name: value for name, value in fields}


def main_actions(figure: Figure) -> list[Action]:
    """Return what a figure does one after the other, moods and clothes aside."""
    main = [action for action in figure.doings if action.kind.layer == "main"]
    main.sort(key=lambda action: action.start)
    return main


def is_valid(scene: Scene) -> bool:
    """Return whether a clip can show a scene: its figures, each with actions it may do there."""
    if not _is_cast(scene):
        return False
    if scene.night and scene.location.indoors:
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
    """Return whether a figure can do its actions in turn, and has a colour if it is tinted."""
    if bool(figure.colour) != bool(figure.kind.tint):
        return False
    for before, after in pairwise(main_actions(figure)):
        if before.end > after.start:
            return False
    return all(_is_possible(action, figure, scene) for action in figure.actions)


def _is_possible(action: Action, figure: Figure, scene: Scene) -> bool:
    """Return whether a figure can do an action at its time and place, and to its object."""
    is_in_quarters = action.start * 4 % 1 == action.end * 4 % 1 == 0
    is_there = figure.enters <= action.start < action.end <= figure.leaves
    if not is_in_quarters or not is_there:
        return False
    if not action.kind.may(figure.kind, scene.location):
        return False
    return _suits(action, figure, scene)


def _suits(action: Action, figure: Figure, scene: Scene) -> bool:
    """Return whether the object of an action fits its slot."""
    kind = action.kind
    if not kind.objects:
        return action.object is None
    if kind.targets:
        target = scene.target_of(action)
        return target in kind.objects and target != figure.thing
    if action.thing not in kind.objects:
        return False
    return bool(action.colour) == bool(things()[action.thing].tint)
