"""Motions: where something is, step by step. A track is a set of positions, an order says when each is reached.

Motions that share a track show the same positions: a single frame cannot tell a ball thrown from
one caught.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

STEPS = 8  # of a clip; it is shown in STEPS frames or in a divisor of them

# number of steps -> position on the track at each
_ORDERS: dict[str, Callable[[int], list[int]]] = {
    "onward": lambda n: [*range(n)],
    "back": lambda n: [*range(n)[::-1]],
    "to and fro": lambda n: [*range(0, n, 2), *range(1, n, 2)[::-1]],
    "twice": lambda n: [
        *range(0, n, 4),
        *range(2, n, 4)[::-1],
        *range(1, n, 4),
        *range(3, n, 4)[::-1],
    ],
}


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
    "topple": lambda u: Spot(
        -math.sin(math.radians(90 * min(1.0, 1.3 * u))), 0, 90 * min(1.0, 1.3 * u)
    ),
    "wheel": lambda u: Spot(0, 0, 360 * u),
    "sway": lambda u: Spot(0.3 * (2 * u - 1), 0, 10 * (2 * u - 1)),
    "float": lambda u: Spot(2 * u - 1, 0.5 * math.sin(math.pi * u)),
    "rise": lambda u: Spot(0, u),
}

# motion -> track and order
MOTIONS: dict[str, tuple[str, str]] = {
    "to and fro": ("lane", "to and fro"),
    "drive past": ("lane", "onward"),
    "turn": ("lane", "to and fro"),
    "chase": ("lane", "onward"),
    "follow": ("lane", "onward"),
    "start": ("drive", "onward"),
    "stop": ("drive", "back"),
    "walk in": ("entry", "onward"),
    "walk out": ("entry", "back"),
    "throw": ("air", "onward"),
    "catch": ("air", "back"),
    "dribble": ("air", "twice"),
    "roll away": ("ground", "onward"),
    "kick": ("ground", "to and fro"),
    "jump": ("hop", "twice"),
    "bounce": ("hop", "to and fro"),
    "fall": ("topple", "onward"),
    "spin": ("wheel", "onward"),
    "roll": ("wheel", "onward"),
    "sway": ("sway", "to and fro"),
    "float": ("float", "to and fro"),
    "rise": ("rise", "onward"),
}


def order_of(motion: str, count: int) -> list[int]:
    """Return the positions on its track that a motion reaches, by their number, in the order of time."""
    return _ORDERS[MOTIONS[motion][1]](count)


@cache
def spots(motion: str, count: int) -> tuple[Spot, ...]:
    """Return the positions of a motion that lasts `count` steps, in the order of time."""
    at = _TRACKS[MOTIONS[motion][0]]
    return tuple(at((index + 0.5) / count) for index in order_of(motion, count))


@cache
def headings(motion: str, count: int) -> tuple[int, ...]:
    """Return whether it goes on (1) or back (-1) along x at each step."""
    xs = [spot.x for spot in spots(motion, count)]
    steps = [b - a for a, b in itertools.pairwise(xs)]
    return tuple(1 if step >= 0 else -1 for step in [*steps, steps[-1] if steps else 1])
