"""Jointed dolls: a bust's head on a trunk whose arms and legs reach where a pose puts hands and feet.

Doll units: the ground is y = 0, up is positive, +x is where the doll faces; an adult is about 82 units tall. Poses and
grips are data (assets/world/poses.toml); what holds which thing is decided elsewhere.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

from nt2vr.world.drawn.canvas import Canvas, Point
from nt2vr.world.drawn.looks import CHIN, Look
from nt2vr.world.drawn.sprites import ANGLE_STEP
from nt2vr.world.things import read_toml

THIGH = 10.4  # and shin
ARM = 11.5  # upper arm and forearm, each
TRUNK = 23.0  # from hip to neck
SHOULDER, HIP = 7.5, 4.5  # from the middle
SHOES = "#3A3A46"
HEAD = 36.0  # from the chin to the top of the hair, for `head_size` 1


@dataclass(frozen=True)
class Pose:
    """Where hands and feet are at one step of a posture; far ones come first."""

    pelvis: Point = (0, 24)
    lean: float = 0  # of the trunk, degrees forward
    tilt: float = 0  # of the head
    feet: tuple[Point, Point] = ((-5, 0), (5, 0))
    hands: tuple[Point, Point] = ((-12, 22), (12, 22))
    knees: tuple[int, int] = (1, 1)  # bend forward; -1 backward
    elbows: int = -1
    turn: float = 0  # of the whole doll about its middle, degrees forward
    lift: float = 0  # of the whole doll, afterwards
    gear: tuple[tuple[tuple[Point, ...], float, str], ...] = ()  # skis, clubs, …: points, width, colour


@dataclass(frozen=True)
class Placement:
    """Where a figure stands on the canvas, and how large and which way it is drawn."""

    x: float  # pixels
    y: float  # pixels, of the ground below it
    scale: float  # pixels per unit
    facing: int = 1  # 1 right, -1 left
    turn: float = 0  # degrees forward, about `pivot`
    pivot: float = 36  # units above the ground

    def at(self, point: Point) -> Point:
        """Return the pixel of a point in units."""
        x, y = turned(point, self.turn, (0, self.pivot))
        return self.x + self.facing * self.scale * x, self.y - self.scale * y

    def paint(
        self, canvas: Canvas, svg: str, point: Point, size: float = 1, angle: float = 0, flip: bool = False
    ) -> None:
        """Paint a drawing with its middle at a point in units, turned forward by `angle`."""
        angle = (angle + self.turn) * self.facing
        canvas.picture(svg, self.at(point), self.scale * size, angle, flip != (self.facing < 0))


def turned(point: Point, angle: float, about: Point) -> Point:
    """Turn a point forward (clockwise when facing right) by degrees."""
    if not angle:
        return point
    x, y = point[0] - about[0], point[1] - about[1]
    sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    return about[0] + x * cosine + y * sine, about[1] - x * sine + y * cosine


def bent(root: Point, target: Point, length: float, bend: int) -> tuple[Point, Point]:
    """Return joint and end of a limb of two equal bones that reaches for a target (inverse kinematics)."""
    x, y = target[0] - root[0], target[1] - root[1]
    distance = math.hypot(x, y) or 1e-6
    reach = min(distance, 2.2 * length)  # cartoons stretch by a tenth
    bone = max(length, reach / 2)
    out = bend * math.sqrt(max(0.0, bone**2 - (reach / 2) ** 2))
    x, y = x / distance, y / distance
    joint = root[0] + x * reach / 2 - y * out, root[1] + y * reach / 2 + x * out
    return joint, (root[0] + x * reach, root[1] + y * reach)


def _points(values: Mapping[str, Any]) -> dict[str, Any]:
    def fixed(value: Any) -> Any:
        return tuple(map(fixed, value)) if isinstance(value, list) else value

    return {key: fixed(value) for key, value in values.items()}


def head_size(child: bool) -> float:
    """Return how much larger a head is drawn than busts have it: moods are seen at 112 pixels."""
    return 1.4 if child else 1.2


@cache
def body_of(animal: str) -> tuple[str, str, bool] | None:
    """Return colours of body and legs for an animal whose picture is a head, and whether it has two legs."""
    found = read_toml("poses")["bodies"].get(animal)
    return tuple(found) if found else None


@dataclass(frozen=True)
class Seat:
    """Where somebody rides a thing: in shares of its width, forward of its middle, and of its height."""

    posture: str
    x: float
    y: float
    hides: bool = False  # the rider's legs
    size: float = 0.8  # of the thing's usual size: dolls have short legs


@cache
def seat(thing: str) -> Seat:
    """Return how a thing is ridden."""
    seats = read_toml("poses")["seats"]
    return Seat(**seats.get(thing, seats["other"]))


@cache
def poses(posture: str) -> tuple[Pose, ...]:
    """Return the steps of a posture; a clip repeats them."""
    still = _points(read_toml("poses")["postures"][posture])
    steps = still.pop("steps", ({},))
    return tuple(Pose(**{**still, **_points(step)}) for step in steps)


@dataclass(frozen=True)
class Grip:
    """How a thing is held: where the hands go, and where the thing is."""

    at: tuple[Point, ...]  # middle of the thing, step by step
    size: float = 20  # longest side of the thing, units
    angle: float = 0
    hands: tuple[str, ...] = ("near",)  # those that hold it
    offsets: tuple[Point, ...] = ((0, 0), (0, 0))  # of the hands from the thing
    behind: bool = False  # the doll hides the thing
    stands: bool = False  # the thing stands on the ground


@cache
def grip_of(name: str, by: Literal["held", "hands", ""] = "") -> Grip | None:
    """Return a grip by its name, by the thing that has it of its own, or by a usual way to hold things: "at mouth"."""
    table = read_toml("poses")
    name = table[by].get(name, "") if by else name
    return Grip(**_points(table["grips"][name])) if name else None


def reaching(pose: Pose, hold: Grip, step: int) -> Pose:
    """Return a pose whose hands are at the thing they hold."""
    x, y = hold.at[step % len(hold.at)]
    rise = pose.pelvis[1] - 24 if not hold.stands else 0
    hands = list(pose.hands)
    for index, side in enumerate(("far", "near")):
        if side in hold.hands:
            dx, dy = hold.offsets[index]
            hands[index] = (x + dx + pose.pelvis[0], y + dy + rise)
    return replace(pose, hands=(hands[0], hands[1]))


def head_of(pose: Pose) -> Point:
    """Return the point where the chin rests."""
    return turned((pose.pelvis[0], pose.pelvis[1] + TRUNK - 1), pose.lean, pose.pelvis)


def paint_doll(
    canvas: Canvas,
    place: Placement,
    look: Look,
    pose: Pose,
    child: bool = False,
    behind_trunk: Callable[[], None] | None = None,
    in_hand: Callable[[], None] | None = None,
    in_front: Callable[[], None] | None = None,
) -> tuple[Point, float]:
    """Paint a doll from the back to the front, and return the middle and the radius of its face in pixels.

    Args:
        child: with a larger head.
        behind_trunk: paints what the doll rides, between its legs.
        in_hand: paints what it holds, under the near arm.
        in_front: paints what hides the near arm as well.
    """

    def limb(root: Point, target: Point, length: float, bend: int, width: float, colour: str) -> Point:
        joint, end = bent(root, target, length, bend)
        canvas.line([place.at(root), place.at(joint), place.at(end)], width, colour, place.scale)
        return end

    def leg(side: int) -> None:
        root = turned((pose.pelvis[0] + (-HIP, HIP)[side], pose.pelvis[1] - 1), pose.lean, pose.pelvis)
        x, y = pose.feet[side]
        end = limb(root, (x, y + 3), THIGH, pose.knees[side], 5.5, look.trousers)
        canvas.line([place.at(end), place.at((end[0] + 3.5, end[1] - 0.5))], 4.5, SHOES, place.scale)

    def arm(side: int) -> None:
        across = (-SHOULDER, SHOULDER)[side]
        root = turned((pose.pelvis[0] + across, pose.pelvis[1] + TRUNK - 5), pose.lean, pose.pelvis)
        end = limb(root, pose.hands[side], ARM, pose.elbows, 4.5, look.shirt)
        canvas.line([place.at(end), place.at(end)], 5, look.skin, place.scale)

    for points, width, colour in pose.gear:
        canvas.line([place.at(point) for point in points], width, colour, place.scale)
    arm(0)
    leg(0)
    if behind_trunk:
        behind_trunk()
    leg(1)
    angle = round(pose.lean / ANGLE_STEP) * ANGLE_STEP
    if look.skirt:
        _skirt(canvas, place, look, pose)
    middle = turned((pose.pelvis[0], pose.pelvis[1] + 36), angle, pose.pelvis)
    place.paint(canvas, look.trunk, middle, angle=angle)
    size = head_size(child)
    chin = head_of(pose)
    tilt = round(pose.tilt / ANGLE_STEP) * ANGLE_STEP
    place.paint(canvas, look.head, turned((chin[0], chin[1] + (CHIN - 36) * size), tilt, chin), size, tilt)
    if in_hand:
        in_hand()
    arm(1)
    if in_front:
        in_front()
    return place.at(turned((chin[0], chin[1] + 13 * size), tilt, chin)), 12 * size * place.scale


def _skirt(canvas: Canvas, place: Placement, look: Look, pose: Pose) -> None:
    x, y = pose.pelvis
    hem = []
    for side in (0, 1):
        root = (x + (-HIP, HIP)[side], y - 1)
        foot = pose.feet[side]
        joint, _ = bent(root, (foot[0], foot[1] + 3), THIGH, pose.knees[side])
        hem.append((joint[0] + (-5, 5)[side] * (1 if joint[1] < y - 4 else 0.3), joint[1] - 1))
    corners = [(x - 9, y + 3), (x + 9, y + 3), hem[1], hem[0]]
    canvas.shape([place.at(turned(c, pose.lean, pose.pelvis)) for c in corners], look.shirt, place.scale)
