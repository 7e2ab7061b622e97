"""Motions: where something is, step by step.

A track is a set of positions, an order says when each is reached. Motions that share a track show
the same positions: a single frame cannot tell a ball thrown from one caught.
"""

import itertools
import math
from dataclasses import dataclass
from functools import cache
from typing import Literal

# Steps of a clip, which has as many frames, or a divisor of that.
STEPS = 8
# Tracks of what somebody throws, rolls or kicks.
THROWN = ("air", "ground")
TrackOrder = Literal["onward", "back", "to and fro", "twice"]


@dataclass(frozen=True)
class Spot:
    """One position of a track: offsets in units of the track, and how it is turned."""

    x: float = 0
    y: float = 0
    turn: float = 0


def _spot(track: str, share: float) -> Spot:
    """Return the position at a share of a track, 0 to 1."""
    centred = 2 * share - 1
    match track:
        # In reaches of the lane.
        case "lane":
            return Spot(centred)
        # From rest, in shares of the way out.
        case "drive":
            return Spot(max(0.0, centred))
        # In shares of the way out.
        case "entry":
            return Spot(1 - share)
        # Ahead of somebody: on the ground, or in the air.
        case "ground":
            return Spot(share)
        case "air":
            return Spot(0.15 * math.sin(math.pi * share), share)
        case "hop" | "rise":
            return Spot(0, share)
        case "float":
            return Spot(centred, 0.5 * math.sin(math.pi * share))
        case "sway":
            return Spot(0.3 * centred, turn=10 * centred)
        case "wheel":
            return Spot(turn=360 * share)
        case "topple":
            degrees = 90 * min(1.0, 1.3 * share)
            return Spot(-math.sin(math.radians(degrees)), turn=degrees)
    raise KeyError(track)


# Track and order of each motion.
MOTIONS: dict[str, tuple[str, TrackOrder]] = {
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
    match order:
        case "onward":
            return list(range(count))
        case "back":
            return list(reversed(range(count)))
        case "to and fro":
            return _to_and_fro(count, stride=2)
        case "twice":
            # Each time over half of the positions.
            return _to_and_fro(count, stride=4) + _to_and_fro(count, stride=4, start=1)


def _to_and_fro(count: int, stride: int, start: int = 0) -> list[int]:
    """Skip positions on the way there, and reach those halfway between on the way back."""
    there = range(start, count, stride)
    back = range(start + stride // 2, count, stride)
    return [*there, *reversed(back)]


@cache
def spots(motion: str, count: int) -> tuple[Spot, ...]:
    """Return the positions of a motion that lasts `count` steps, in the order of time."""
    track = track_of(motion)
    return tuple(_spot(track, (number + 0.5) / count) for number in order_of(motion, count))


@cache
def headings(motion: str, count: int) -> tuple[int, ...]:
    """Return whether it goes on (1) or back (-1) along x at each step."""
    directions = []
    for before, after in itertools.pairwise(spots(motion, count)):
        directions.append(1 if after.x >= before.x else -1)
    # The last step goes on as the one before it.
    last_direction = directions[-1] if directions else 1
    return (*directions, last_direction)
