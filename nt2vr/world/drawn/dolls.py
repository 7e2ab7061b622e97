"""Dolls: people with bodies, limbs and poses; their heads and garments are in `busts`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple

from nt2vr.world.drawn.busts import CHIN, Look
from nt2vr.world.drawn.canvas import MIDDLE, Canvas, Point, stepped_angle
from nt2vr.world.things import Thing, read_toml

# Lengths are in units. A leg has two bones of one length, and an arm has two of another.
THIGH = 10.4
ARM = 11.5
# Bones of a limb that is stretched: cartoons stretch by a tenth.
MOST_BONES = 2.2
# Height of the pelvis of somebody who stands, and of an ankle.
PELVIS = 24
ANKLE = 3
# From hip to neck, and how far shoulders are below the neck, hips below the pelvis, and the chin
# below the neck.
TRUNK = 23.0
SHOULDER_DROP = 5
HIP_DROP = 1
CHIN_DROP = 1
# How far shoulders and hips are from the middle.
SHOULDER = 7.5
HIP = 4.5
# From the chin to the top of the hair, for `head_size` 1.
HEAD = 36.0
# Widths of lines.
LEG_WIDTH = 5.5
ARM_WIDTH = 4.5
HAND_WIDTH = 5
SHOE_WIDTH = 4.5
# From the ankle.
TOE: Point = (3.5, -0.5)
SHOES = "#3A3A46"

# Skirts: half the width of the waist and its height over the pelvis, and how far the hem is from
# the knees and below them.
HALF_WAIST = 9
WAIST_RISE = 3
HEM_ASIDE = 5.0
HEM_DROP = 1
# How far below the pelvis a knee is not raised yet. A raised knee carries less of the skirt, by a
# factor.
RAISED_KNEE = 4
RAISED_HEM = 0.3

Points = tuple[Point, ...]
Side = Literal[0, 1]
FAR: Side = 0
NEAR: Side = 1
# On which side of the middle the far and the near limb are, for somebody who faces right.
DIRECTIONS = (-1, 1)


@dataclass(frozen=True)
class Pose:
    """Where hands and feet are at one step of a posture; far ones come first.

    Attributes:
        posture: its name.
        pelvis: in units, as all points.
        lean: of the trunk, degrees forward.
        tilt: of the head.
        feet: far and near.
        hands: far and near.
        knees: 1 bends forward, -1 backward.
        elbows: the same.
        turn: of the whole doll about its middle, degrees forward.
        lift: of the whole doll, afterwards.
        gear: skis, clubs, …: points, width, colour.
    """

    posture: str
    pelvis: Point = (0, PELVIS)
    lean: float = 0
    tilt: float = 0
    feet: Points = ((-5, 0), (5, 0))
    hands: Points = ((-12, 22), (12, 22))
    knees: tuple[int, int] = (1, 1)
    elbows: int = -1
    turn: float = 0
    lift: float = 0
    gear: tuple[tuple[Points, float, str], ...] = ()


@dataclass(frozen=True)
class Placement:
    """Where a figure stands on the canvas, and how large and which way it is drawn.

    Attributes:
        x: pixels.
        y: pixels, of the ground below it.
        scale: pixels per unit.
        facing: 1 right, -1 left.
        turn: degrees forward, about `pivot`.
        pivot: units above the ground.
    """

    x: float
    y: float
    scale: float
    facing: int = 1
    turn: float = 0
    pivot: float = MIDDLE

    def at(self, point: Point) -> Point:
        """Return the pixel of a point in units."""
        x, y = turned(point, self.turn, about=(0, self.pivot))
        return self.x + self.facing * self.scale * x, self.y - self.scale * y

    def paint(
        self,
        canvas: Canvas,
        svg: str,
        point: Point,
        size: float = 1,
        angle: float = 0,
        flip: bool = False,
    ) -> None:
        """Paint a drawing with its middle at a point in units, turned forward by `angle`."""
        canvas.picture(
            svg,
            middle=self.at(point),
            scale=self.scale * size,
            angle=(angle + self.turn) * self.facing,
            flip=flip != (self.facing < 0),
        )


def shifted(point: Point, dx: float, dy: float) -> Point:
    """Return the point so many units farther on and up."""
    x, y = point
    return x + dx, y + dy


def above(point: Point, height: float, angle: float) -> Point:
    """Return what is at a height above a point, turned forward about it."""
    return turned(shifted(point, 0, height), angle, about=point)


def turned(point: Point, angle: float, about: Point) -> Point:
    """Turn a point forward (clockwise when facing right) by degrees."""
    if not angle:
        return point
    radians = math.radians(angle)
    sine = math.sin(radians)
    cosine = math.cos(radians)
    middle_x, middle_y = about
    x, y = shifted(point, -middle_x, -middle_y)
    return middle_x + x * cosine + y * sine, middle_y - x * sine + y * cosine


class Limb(NamedTuple):
    """Joint and end of a limb."""

    joint: Point
    end: Point


def bent(root: Point, target: Point, length: float, bend: int) -> Limb:
    """Return a limb of two equal bones that reaches for a target (inverse kinematics)."""
    root_x, root_y = root
    x, y = shifted(target, -root_x, -root_y)
    distance = math.hypot(x, y) or 1e-6
    reach = min(distance, MOST_BONES * length)

    # The joint is beside the middle of the line from the root to the end.
    half = reach / 2
    bone = max(length, half)
    aside = bend * math.sqrt(bone**2 - half**2)

    # A vector of length 1 to the end.
    x /= distance
    y /= distance
    joint = (root_x + x * half - y * aside, root_y + y * half + x * aside)
    end = (root_x + x * reach, root_y + y * reach)
    return Limb(joint, end)


@cache
def _pose_tables() -> Any:
    return _with_tuples(read_toml("poses"))


def _with_tuples(value: Any) -> Any:
    """Turn the lists in a TOML value into tuples."""
    if isinstance(value, list):
        return tuple(map(_with_tuples, value))
    if isinstance(value, dict):
        return {key: _with_tuples(element) for key, element in value.items()}
    return value


def head_size(person: Thing) -> float:
    """Return how much larger a head is drawn than busts have it: moods are seen at 112 pixels."""
    return 1.4 if "child" in person.kinds else 1.2


@dataclass(frozen=True)
class Seat:
    """Where somebody rides a thing.

    Attributes:
        posture: of the rider.
        x: in shares of the thing's width, forward of its middle.
        y: in shares of its height.
        hides: whether it hides the rider's legs.
        size: of the thing, in shares of its usual size: dolls have short legs.
    """

    posture: str
    x: float
    y: float
    hides: bool = False
    size: float = 0.8


@cache
def seat(thing: str) -> Seat:
    seats = _pose_tables()["seats"]
    return Seat(**seats.get(thing, seats["other"]))


@cache
def poses(posture: str) -> tuple[Pose, ...]:
    """Return the steps of a posture; a clip repeats them."""
    still = dict(_pose_tables()["postures"][posture])
    steps = still.pop("steps", ({},))
    return tuple(Pose(posture, **still | step) for step in steps)


@dataclass(frozen=True)
class Grip:
    """How a thing is held: where the hands go, and where the thing is.

    Attributes:
        at: middle of the thing, step by step.
        size: longest side of the thing, units.
        angle: of the thing.
        hands: those that hold it.
        offsets: of the hands from the thing.
        stands: whether the thing stands on the ground.
    """

    at: Points
    size: float = 20
    angle: float = 0
    hands: tuple[str, ...] = ("near",)
    offsets: Points = ((0, 0), (0, 0))
    stands: bool = False


@cache
def grip_of(name: str, by: Literal["held", "hands", ""] = "") -> Grip | None:
    """Return a grip by its name, by the thing that has its own, or by a way to hold things."""
    table = _pose_tables()
    if by:
        name = table[by].get(name, "")
    return Grip(**table["grips"][name]) if name else None


def reaching(pose: Pose, grip: Grip, step: int) -> Pose:
    """Return a pose whose hands reach for the thing that they hold."""
    middle = grip.at[step % len(grip.at)]
    pelvis_x, pelvis_y = pose.pelvis
    rise = 0 if grip.stands else pelvis_y - PELVIS
    hands = list(pose.hands)
    for side, name in enumerate(("far", "near")):
        if name in grip.hands:
            hand = shifted(middle, *grip.offsets[side])
            hands[side] = shifted(hand, pelvis_x, rise)
    return replace(pose, hands=tuple(hands))


def head_of(pose: Pose) -> Point:
    """Return the point where the chin rests."""
    return above(pose.pelvis, TRUNK - CHIN_DROP, pose.lean)


@dataclass(frozen=True)
class Doll:
    """Somebody in a pose at a place, painted in three steps from the back to the front.

    Between them, it gets what it rides, and what it holds.
    """

    canvas: Canvas
    place: Placement
    look: Look
    pose: Pose
    head_size: float

    def paint_far_side(self) -> None:
        for points, width, colour in self.pose.gear:
            self._line(points, width, colour)
        self.paint_arm(FAR)
        self._paint_leg(FAR)

    def paint_body(self) -> None:
        """Paint the rest but for the near arm."""
        self._paint_leg(NEAR)
        if self.look.skirt:
            self._paint_skirt()
        self._paint_trunk()
        self._paint_head()

    def _paint_leg(self, side: Side) -> None:
        hip = self._leaning(self._hip(side))
        leg = self._leg(side, hip)
        self._line((hip, *leg), LEG_WIDTH, self.look.trousers)
        toe = shifted(leg.end, *TOE)
        self._line((leg.end, toe), SHOE_WIDTH, SHOES)

    def _hip(self, side: Side) -> Point:
        """Return the hip of somebody upright."""
        return shifted(self.pose.pelvis, DIRECTIONS[side] * HIP, -HIP_DROP)

    def _leg(self, side: Side, hip: Point) -> Limb:
        ankle = shifted(self.pose.feet[side], 0, ANKLE)
        return bent(hip, target=ankle, length=THIGH, bend=self.pose.knees[side])

    def paint_arm(self, side: Side) -> None:
        pose = self.pose
        aside = DIRECTIONS[side] * SHOULDER
        shoulder = self._leaning(shifted(pose.pelvis, aside, TRUNK - SHOULDER_DROP))
        arm = bent(shoulder, target=pose.hands[side], length=ARM, bend=pose.elbows)
        self._line((shoulder, *arm), ARM_WIDTH, self.look.shirt)
        self._line((arm.end, arm.end), HAND_WIDTH, self.look.skin)

    def _paint_skirt(self) -> None:
        pelvis = self.pose.pelvis
        back = shifted(pelvis, -HALF_WAIST, WAIST_RISE)
        front = shifted(pelvis, HALF_WAIST, WAIST_RISE)
        corners = (back, front, self._hem(NEAR), self._hem(FAR))
        pixels = [self.place.at(self._leaning(corner)) for corner in corners]
        self.canvas.shape(pixels, self.look.shirt, self.place.scale)

    def _hem(self, side: Side) -> Point:
        """Return the corner of a skirt over a knee."""
        knee_x, knee_y = self._leg(side, self._hip(side)).joint
        aside = HEM_ASIDE * DIRECTIONS[side]
        if knee_y >= self.pose.pelvis[1] - RAISED_KNEE:
            aside *= RAISED_HEM
        return knee_x + aside, knee_y - HEM_DROP

    def _paint_trunk(self) -> None:
        pose = self.pose
        angle = stepped_angle(pose.lean)
        middle = above(pose.pelvis, MIDDLE, angle)
        self.place.paint(self.canvas, self.look.trunk, middle, angle=angle)

    def _paint_head(self) -> None:
        size = self.head_size
        tilt = stepped_angle(self.pose.tilt)
        middle = above(head_of(self.pose), (CHIN - MIDDLE) * size, tilt)
        self.place.paint(self.canvas, svg=self.look.head, point=middle, size=size, angle=tilt)

    def _leaning(self, point: Point) -> Point:
        """Turn a point of the trunk as it leans."""
        return turned(point, self.pose.lean, self.pose.pelvis)

    def _line(self, points: Sequence[Point], width: float, colour: str) -> None:
        pixels = [self.place.at(point) for point in points]
        self.canvas.line(pixels, width=width, colour=colour, scale=self.place.scale)
