"""Motions: where something is, step by step, so that only the order of the frames tells one motion from another.

A track is a set of positions, an order says when each is reached. Motions that share a track show the same positions
in every clip: a single frame cannot tell a ball thrown from one caught, only the sequence can.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

STEPS = 8  # of a clip; it is shown in STEPS frames or in a divisor of them
Order = Callable[[int], list[int]]


def _onward(count: int) -> list[int]:
    return list(range(count))


def _back(count: int) -> list[int]:
    return list(range(count))[::-1]


def _to_and_fro(count: int) -> list[int]:
    return [*range(0, count, 2), *reversed(range(1, count, 2))]


def _twice(count: int) -> list[int]:
    """To and fro twice: every fourth position up, others down."""
    return [*range(0, count, 4), *reversed(range(2, count, 4)), *range(1, count, 4), *reversed(range(3, count, 4))]


@dataclass(frozen=True)
class Spot:
    """One position of a track: offsets in units of the track, and how it is turned."""

    x: float = 0
    y: float = 0
    turn: float = 0


# share of the track, 0 to 1 -> position
_TRACKS: dict[str, Callable[[float], Spot]] = {
    "lane": lambda u: Spot(2 * u - 1),  # x in reaches of the lane
    "drive": lambda u: Spot(max(0.0, 2 * u - 1)),  # from rest, x in shares of the way out
    "entry": lambda u: Spot(1 - u),  # x in shares of the way out
    "ground": lambda u: Spot(u),  # ahead of somebody
    "air": lambda u: Spot(0.15 * math.sin(math.pi * u), u),  # up and down ahead of somebody
    "hop": lambda u: Spot(0, u),
    "topple": lambda u: Spot(-math.sin(math.radians(90 * min(1.0, 1.3 * u))), 0, 90 * min(1.0, 1.3 * u)),
    "wheel": lambda u: Spot(0, 0, 360 * u),
    "sway": lambda u: Spot(0.3 * (2 * u - 1), 0, 10 * (2 * u - 1)),
    "float": lambda u: Spot(2 * u - 1, 0.5 * math.sin(math.pi * u)),
    "rise": lambda u: Spot(0, u),
}

# motion -> track and order
MOTIONS: dict[str, tuple[str, Order]] = {
    "to and fro": ("lane", _to_and_fro),
    "drive past": ("lane", _onward),
    "turn": ("lane", _to_and_fro),
    "chase": ("lane", _onward),
    "follow": ("lane", _onward),
    "start": ("drive", _onward),
    "stop": ("drive", _back),
    "walk in": ("entry", _onward),
    "walk out": ("entry", _back),
    "throw": ("air", _onward),
    "catch": ("air", _back),
    "dribble": ("air", _twice),
    "roll away": ("ground", _onward),
    "kick": ("ground", _to_and_fro),
    "jump": ("hop", _twice),
    "bounce": ("hop", _to_and_fro),
    "fall": ("topple", _onward),
    "spin": ("wheel", _onward),
    "roll": ("wheel", _onward),
    "sway": ("sway", _to_and_fro),
    "float": ("float", _to_and_fro),
    "rise": ("rise", _onward),
}


@cache
def spots(motion: str, count: int) -> tuple[Spot, ...]:
    """Return the positions of a motion that lasts `count` steps, in the order of time."""
    track, order = MOTIONS[motion]
    at = _TRACKS[track]
    return tuple(at((index + 0.5) / count) for index in order(count))


@cache
def headings(motion: str, count: int) -> tuple[int, ...]:
    """Return whether it goes on (1) or back (-1) along x at each step."""
    xs = [spot.x for spot in spots(motion, count)]
    steps = [b - a for a, b in itertools.pairwise(xs)]
    return tuple(1 if step >= 0 else -1 for step in [*steps, steps[-1] if steps else 1])
