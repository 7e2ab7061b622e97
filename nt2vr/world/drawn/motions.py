"""Motions: where something is, step by step.

A track is a set of positions, an order says when each is reached. Motions that share a track show
the same positions: a single frame cannot tell a ball thrown from one caught.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

# Steps of a clip, which has as many frames, or a divisor of that.
STEPS = 8


def _onward(count: int) -> list[int]:
    return list(range(count))


def _back(count: int) -> list[int]:
    return list(reversed(range(count)))


def _to_and_fro(count: int) -> list[int]:
    return [*range(0, count, 2), *reversed(range(1, count, 2))]


def _twice(count: int) -> list[int]:
    """Go to and fro two times, each time over half of the positions."""
    first_time = [*range(0, count, 4), *reversed(range(2, count, 4))]
    second_time = [*range(1, count, 4), *reversed(range(3, count, 4))]
    return first_time + second_time


# Each maps the number of steps to the position on the track at each step.
_ORDERS: dict[str, Callable[[int], list[int]]] = {
    "onward": _onward,
    "back": _back,
    "to and fro": _to_and_fro,
    "twice": _twice,
}


@dataclass(frozen=True)
class Spot:
    """One position of a track: offsets in units of the track, and how it is turned."""

    x: float = 0
    y: float = 0
    turn: float = 0


def _topple(share: float) -> Spot:
    degrees = 90 * min(1.0, 1.3 * share)
    return Spot(-math.sin(math.radians(degrees)), turn=degrees)


# Each maps a share of the track, 0 to 1, to the position there.
_TRACKS: dict[str, Callable[[float], Spot]] = {
    "lane": lambda share: Spot(2 * share - 1),  # x in reaches of the lane
    "drive": lambda share: Spot(max(0.0, 2 * share - 1)),  # from rest, x in shares of the way out
    "entry": lambda share: Spot(1 - share),  # x in shares of the way out
    "ground": lambda share: Spot(share),  # ahead of somebody
    "air": lambda share: Spot(0.15 * math.sin(math.pi * share), share),  # ahead of somebody
    "hop": lambda share: Spot(0, share),
    "topple": _topple,
    "wheel": lambda share: Spot(turn=360 * share),
    "sway": lambda share: Spot(0.3 * (2 * share - 1), turn=10 * (2 * share - 1)),
    "float": lambda share: Spot(2 * share - 1, 0.5 * math.sin(math.pi * share)),
    "rise": lambda share: Spot(0, share),
}

# Track and order of each motion.
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


def track_of(motion: str) -> str:
    """Return the name of the track of a motion; "" for none."""
    track, _ = MOTIONS.get(motion, ("", ""))
    return track


def order_of(motion: str, count: int) -> list[int]:
    """Return the positions on its track that a motion reaches, by their number, in turn."""
    _, order = MOTIONS[motion]
    return _ORDERS[order](count)


@cache
def spots(motion: str, count: int) -> tuple[Spot, ...]:
    """Return the positions of a motion that lasts `count` steps, in the order of time."""
    position_at = _TRACKS[track_of(motion)]
    shares = [(index + 0.5) / count for index in order_of(motion, count)]
    return tuple(map(position_at, shares))


@cache
def headings(motion: str, count: int) -> tuple[int, ...]:
    """Return whether it goes on (1) or back (-1) along x at each step."""
    directions: list[int] = []
    for before, after in itertools.pairwise(spots(motion, count)):
        directions.append(1 if after.x >= before.x else -1)
    # The last step goes on as the one before it.
    last_direction = directions[-1] if directions else 1
    return (*directions, last_direction)
