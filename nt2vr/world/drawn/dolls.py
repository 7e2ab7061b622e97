"""Dolls: people from OpenMoji's busts, taken apart into head and garment, with bodies, limbs and poses."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

from nt2vr.world.drawn.canvas import ANGLE_STEP, Canvas, Point, drawing, ink, recoloured
from nt2vr.world.things import read_toml

SKINS = {
    "": "#FCEA2B",
    "-1F3FB": "#FADCBC",
    "-1F3FD": "#BF8F68",
}  # darker tones hide the black outlines
HAIRS = ("#F1B31C", "#A57939", "#6A462F", "#E27022")  # plain busts are drawn blond
PLAIN_SHIRT = "#92D3F5"
CHIN, SQUEEZE = 45.0, 0.68  # y of the chin, and how much narrower a trunk is than a bust
TORSO = "M36 47C31 47 27 48 26.5 53L25 69Q25 72 28 72H44Q47 72 47 69L45.5 53C45 48 41 47 36 47Z"
FACES = frozenset({"1F916", "1F921", "1F47D", "1F47B"})  # pictures of a head alone
_ELEMENT = re.compile(r"<(path|circle|line|ellipse|rect|polygon|polyline)\b[^>]*?/>")


@dataclass(frozen=True)
class Look:
    head: str  # SVG content; the chin is at (36, CHIN)
    trunk: str  # SVG content: the collar is at (36, 47), the hips at (36, 72)
    shirt: str
    trousers: str
    skin: str
    skirt: bool = False


def _part(element: str) -> str:
    """Tell whether an element of a bust belongs to its "head", its "garment", or is a thing "beside" it."""
    left, top, right, bottom = ink(element)
    if abs(left + right - 72) > 28 or right - left > 50:
        return "beside"
    return "garment" if top + bottom > 2 * 46.5 or (bottom >= 55.5 and top > 30) else "head"


@cache
def _split(svg: str) -> tuple[str, str]:
    parts = {m[0]: _part(m[0]) for m in _ELEMENT.finditer(svg)}

    def kept(wanted: str) -> str:
        return _ELEMENT.sub(lambda m: m[0] if parts[m[0]] == wanted else "", svg)

    return kept("head"), kept("garment")


@cache
def look(picture: str, shirt: str, skin: str, hair: str, trousers: str, skirt: bool) -> Look:
    """Take a bust apart, by its code without a skin tone, and dress it; blond hair and plain shirts are tinted."""
    first, *rest = picture.split("-", 1)
    try:
        svg = drawing("-".join([first + skin, *rest]))
    except StopIteration:
        svg, skin = drawing(picture), ""
    if picture in FACES:
        left, top, right, bottom = ink(svg)
        size = 36 / (bottom - top)
        x, y = 36 - (left + right) / 2 * size, CHIN + 1 - bottom * size
        head, garment = f'<g transform="translate({x} {y}) scale({size})">{svg}</g>', ""
    else:
        head, garment = _split(svg)
    areas = defaultdict[str, float](float)
    for match in _ELEMENT.finditer(garment):
        if fill := re.search(r'fill="(#[0-9A-Fa-f]{6})"', match[0]):
            left, top, right, bottom = ink(match[0])
            areas[fill[1].upper()] += (right - left) * (bottom - top)
    usual = max(areas, key=areas.__getitem__, default=PLAIN_SHIRT)
    fills = set(re.findall(r'fill="(#[^"]*)"', garment)) - {"#000000", "#000"}
    plain = usual == PLAIN_SHIRT and len(fills) < 2
    colour = shirt if plain else usual
    worn = (
        ""
        if plain
        else f'<g transform="translate({36 - 36 * SQUEEZE} -0.5) scale({SQUEEZE} 1)">{garment}</g>'
    )
    trunk = (
        f'<defs><clipPath id="trunk"><path d="{TORSO}"/></clipPath></defs><path d="{TORSO}" fill="{colour}"/>'
        f'<g clip-path="url(#trunk)">{worn}</g><path d="{TORSO}" fill="none" stroke="#000" stroke-width="2"/>'
    )
    return Look(
        recoloured(head, {"#F1B31C": hair} if plain else {}),
        trunk,
        colour,
        trousers,
        SKINS[skin],
        skirt,
    )


@cache
def with_mood(head: str, skin: str, face: str) -> str:
    """Return a head with the features of a smiley, a picture that is a yellow disc with a face."""

    def feature(match: re.Match[str]) -> str:
        left, top, right, bottom = ink(match[0])
        return "" if right - left > 40 and bottom - top > 40 else match[0]  # unlike the disc

    features = recoloured(_ELEMENT.sub(feature, drawing(face)), {"#FCEA2B": skin})
    place = "translate(36 34) scale(0.74) translate(-36 -37)"
    return f'{head}<ellipse cx="36" cy="34.5" rx="11" ry="10.6" fill="{skin}"/><g transform="{place}">{features}</g>'


@cache
def with_body(head: str, colour: str, legs: str, biped: bool) -> str:
    """Return an animal, facing left, from a picture of its head."""
    left, top, right, bottom = ink(head)
    size = 38 / max(right - left, bottom - top)
    at = f"translate({23 - (left + right) / 2 * size} {31 - (top + bottom) / 2 * size}) scale({size})"
    width, where = (3, (38, 48)) if biped else (7, (30, 38, 50, 58))
    stood = "".join(
        f'<rect x="{x}" y="50" width="{width}" height="15" rx="2" fill="{legs}"/>' for x in where
    )
    tail = "M58 44L68 34L66 46Z" if biped else "M61 40Q69 38 67 28"
    body = (
        f'<rect x="26" y="35" width="{36 if biped else 40}" height="21" rx="10" fill="{colour}"/>'
    )
    tail = f'<path d="{tail}" fill="{colour if biped else "none"}"/>'
    return (
        f'<g stroke="#000" stroke-width="2">{tail}{stood}{body}</g><g transform="{at}">{head}</g>'
    )


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
    gear: tuple[
        tuple[tuple[Point, ...], float, str], ...
    ] = ()  # skis, clubs, …: points, width, colour


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
        x, y = turned(point, self.turn, (0, self.pivot))
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
    x, y = hold.at[step % len(hold.at)]
    rise = pose.pelvis[1] - 24 if not hold.stands else 0
    at = [(x + dx + pose.pelvis[0], y + dy + rise) for dx, dy in hold.offsets]
    far, near = (
        at[i] if side in hold.hands else pose.hands[i] for i, side in enumerate(("far", "near"))
    )
    return replace(pose, hands=(far, near))


def head_of(pose: Pose) -> Point:
    """Return the point where the chin rests."""
    return turned((pose.pelvis[0], pose.pelvis[1] + TRUNK - 1), pose.lean, pose.pelvis)


def paint_doll(
    canvas: Canvas,
    place: Placement,
    look: Look,
    pose: Pose,
    child: bool,
    behind_trunk: Callable[[], None] | None,  # paints what the doll rides, between its legs
    in_hand: Callable[[], None] | None,  # paints what it holds, under the near arm
    in_front: Callable[[], None] | None,  # paints what hides the near arm as well
) -> tuple[Point, float]:
    """Paint a doll from the back to the front, and return the middle and the radius of its face in pixels."""

    def limb(
        root: Point, target: Point, length: float, bend: int, width: float, colour: str
    ) -> Point:
        joint, end = bent(root, target, length, bend)
        canvas.line([place.at(root), place.at(joint), place.at(end)], width, colour, place.scale)
        return end

    def leg(side: int) -> None:
        root = turned(
            (pose.pelvis[0] + (-HIP, HIP)[side], pose.pelvis[1] - 1), pose.lean, pose.pelvis
        )
        x, y = pose.feet[side]
        end = limb(root, (x, y + 3), THIGH, pose.knees[side], 5.5, look.trousers)
        canvas.line(
            [place.at(end), place.at((end[0] + 3.5, end[1] - 0.5))], 4.5, SHOES, place.scale
        )

    def arm(side: int) -> None:
        across = (-SHOULDER, SHOULDER)[side]
        root = turned((pose.pelvis[0] + across, pose.pelvis[1] + TRUNK - 5), pose.lean, pose.pelvis)
        end = limb(root, pose.hands[side], ARM, pose.elbows, 4.5, look.shirt)
        canvas.line([place.at(end), place.at(end)], 5, look.skin, place.scale)

    for points, width, colour in pose.gear:
        canvas.line([*map(place.at, points)], width, colour, place.scale)
    arm(0)
    leg(0)
    if behind_trunk:
        behind_trunk()
    leg(1)
    angle, (x, y) = round(pose.lean / ANGLE_STEP) * ANGLE_STEP, pose.pelvis
    if look.skirt:
        hem = list[Point]()
        for out, (foot_x, foot_y), knee in zip((-1, 1), pose.feet, pose.knees, strict=True):
            (joint_x, joint_y), _ = bent((x + out * HIP, y - 1), (foot_x, foot_y + 3), THIGH, knee)
            hem.insert(0, (joint_x + 5 * out * (1 if joint_y < y - 4 else 0.3), joint_y - 1))
        corners = [(x - 9, y + 3), (x + 9, y + 3), *hem]
        canvas.shape(
            [place.at(turned(c, pose.lean, pose.pelvis)) for c in corners], look.shirt, place.scale
        )
    middle = turned((x, y + 36), angle, pose.pelvis)
    place.paint(canvas, look.trunk, middle, angle=angle)
    size = head_size(child)
    chin = head_of(pose)
    tilt = round(pose.tilt / ANGLE_STEP) * ANGLE_STEP
    place.paint(
        canvas, look.head, turned((chin[0], chin[1] + (CHIN - 36) * size), tilt, chin), size, tilt
    )
    if in_hand:
        in_hand()
    arm(1)
    if in_front:
        in_front()
    return place.at(turned((chin[0], chin[1] + 13 * size), tilt, chin)), 12 * size * place.scale
