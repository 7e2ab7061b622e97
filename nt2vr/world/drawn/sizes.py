"""Pictures of things, and how much room figures take."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from nt2vr.world.drawn import dolls
from nt2vr.world.drawn.animal_bodies import body_of, with_body
from nt2vr.world.drawn.busts import Look
from nt2vr.world.drawn.canvas import drawing, ink, recoloured
from nt2vr.world.drawn.dolls import head_size, seat
from nt2vr.world.drawn.motions import STEPS
from nt2vr.world.scenes import Action, Figure
from nt2vr.world.things import Layer, Thing, things

# Lengths are in units.
ADULT = 82.0
# Small things are enlarged to be recognised: the least size of one without any, and how much of its
# size is added. Things that are wide are at most so much wider than high.
LEAST_SIZE = 0.3
SIZE_SHARE = 0.45
WIDTH_SHARE = 0.6
# Room of persons to each side: standing, lying, and behind if they pull something.
STANDING = 16.0
LYING = 40.0
PULLING = 50.0
# Of a rider above the seat.
RIDER = 60
# Room ahead for what is held, and for what is pushed, rolled or kicked.
AHEAD = 34
FAR_AHEAD = 50
SIZES = {"big": 1.35, "small": 0.68, "": 1.0}
COLOURS = {
    "red": "#E0403A",
    "orange": "#F08A2C",
    "yellow": "#F7D038",
    "green": "#45A84F",
    "blue": "#3F7FD9",
    "purple": "#9254C8",
    "pink": "#F083B0",
    "brown": "#8A5A34",
    "black": "#3B3B44",
    "white": "#F4F4F4",
}
# All other pictures look to the left, or to no side.
LOOKING_RIGHT = frozenset(
    {"polar bear", "bison", "hippo", "raccoon", "bird", "snake", "dragon", "dinosaur", "snail"}
    | {"bee", "plane", "helicopter", "rocket", "kick scooter"}
)
_LYING_POSTURES = frozenset({"lie", "swim", "cartwheel", "surf", "ski"})


@dataclass(frozen=True)
class Individual:
    """One of the (up to three) things that a figure stands for.

    Attributes:
        figure: what it is and does.
        number: of the figure in the scene.
        look: of a person.
        phase: steps by which it is ahead, so that those who do the same are not in step.
    """

    figure: Figure
    number: int
    look: Look | None
    phase: int


Individuals = Sequence[Individual]


@cache
def picture(thing: Thing, colour: str = "") -> str:
    """Return the drawing of a thing, in a colour if it can be tinted."""
    svg = drawing(thing.picture)
    body = body_of(thing.name)
    if body:
        svg = with_body(svg, body)
    if not colour or not thing.tint:
        return svg
    return recoloured(svg, thing.tint, COLOURS[colour])


class Size(NamedTuple):
    """Size of a drawn thing in units of dolls; `scale` is units per unit of its picture."""

    scale: float
    width: float
    height: float


def size_of(thing: Thing, factor: float = 1) -> Size:
    """Return the size of a thing that is not a person."""
    box = ink(picture(thing))
    size = max(thing.size, LEAST_SIZE + SIZE_SHARE * thing.size)
    drawn_size = max(box.height, WIDTH_SHARE * box.width)
    scale = factor * size * ADULT / drawn_size
    return Size(scale, width=scale * box.width, height=scale * box.height)


def active(figure: Figure, step: int) -> dict[Layer, Action]:
    """Return what a figure does at a step, by layer."""
    time = (step + 0.5) / STEPS
    current = (action for action in figure.doings if action.start <= time < action.end)
    return {action.kind.layer: action for action in current}


# What those do who do nothing.
IDLE = Action("stand")


def main_action(figure: Figure, step: int) -> Action:
    """Return what a figure does at a step."""
    return active(figure, step).get("main", IDLE)


class Prop(NamedTuple):
    """What is seen with an action besides its doer: a thing, or only the drawing of a sign."""

    thing: Thing | None = None
    svg: str = ""

    @property
    def looks_left(self) -> bool:
        """Whether its picture does, as those of signs."""
        return self.thing is None or self.thing.name not in LOOKING_RIGHT


def prop_of(action: Action) -> Prop:
    """Return what is seen with an action, if anything is."""
    name = action.thing or action.kind.shows
    if name:
        return Prop(things()[name], picture(things()[name], action.colour))
    if action.kind.hand == "at face":
        return Prop(svg=drawing(action.kind.sign))
    return Prop()


def ahead_of(figure: Figure) -> float:
    """Return how many units a figure needs before it for what it holds, rides or moves."""
    ahead = 0.0
    for action in figure.actions:
        has_thing = action.thing or action.kind.shows
        if action.kind.layer != "main" or not has_thing:
            continue
        if action.kind.verb == "push" or action.kind.motion in ("roll away", "kick"):
            return FAR_AHEAD
        ahead = AHEAD
    return ahead


class Extent(NamedTuple):
    """How far an individual reaches behind and before its middle, and its height, in units."""

    behind: float
    front: float
    height: float

    @property
    def width(self) -> float:
        return self.behind + self.front


@lru_cache(maxsize=64)  # layouts ask for those of a scene hundreds of times
def extent(figure: Figure) -> Extent:
    """Return the room that each individual of a figure takes."""
    thing = figure.kind
    if thing.role != "person":
        size = size_of(thing, SIZES[figure.size])
        half_width = size.width / 2
        return Extent(half_width, half_width + ahead_of(figure), size.height)

    adult = _extent_of_adult(figure)
    return Extent._make(length * thing.size for length in adult)


def _extent_of_adult(figure: Figure) -> Extent:
    """Return the room that a person would take as large as an adult."""
    behind = STANDING
    front = STANDING + ahead_of(figure)
    head = head_size(figure.kind)
    height = ADULT + dolls.HEAD * (head - 1)
    for action in figure.actions:
        kind = action.kind
        least_width = 0.0
        if kind.hand == "under" and action.thing:
            ridden_seat = seat(action.thing)
            ridden = size_of(things()[action.thing], ridden_seat.size)
            least_width = ridden.width / 2
            height = max(height, ridden_seat.y * ridden.height + RIDER)
        elif kind.hand == "behind":
            behind = PULLING
        elif kind.posture in _LYING_POSTURES or kind.motion == "fall":
            least_width = LYING
        behind = max(behind, least_width)
        front = max(front, least_width)
    return Extent(behind, front, height)
