"""Individuals of a scene: how large each is, and how it is painted at every step of the clip."""

from dataclasses import dataclass, replace
from functools import cache

from nt2vr.world.drawn.canvas import Canvas, Point
from nt2vr.world.drawn.dolls import HEAD, Placement, head_size, seat
from nt2vr.world.drawn.motions import MOTIONS, STEPS, Spot, headings, spots
from nt2vr.world.drawn.persons import Individual, paint_person
from nt2vr.world.drawn.props import ADULT, LOOKING_RIGHT, SIZES, active, centred, flying, held, picture, size_of
from nt2vr.world.drawn.sprites import drawing, ink
from nt2vr.world.scenes import Deed, Figure
from nt2vr.world.things import things

DASH = "1F4A8"
SIGN = 0.4  # of a picture


@dataclass(frozen=True)
class Stand:
    """Where an individual is when it does not move, and how far it may."""

    place: Placement
    reach: float = 0  # units to each side
    side: int = 1  # the nearer edge: 1 right, -1 left
    out: float = 0  # units from here until it is out of sight on that side
    ahead: float = 0  # units until it is out of sight where it faces


def ahead_of(figure: Figure) -> float:
    """Return how many units a figure needs before it for what it holds, rides or moves."""
    need = 0.0
    for deed in figure.deeds:
        if deed.kind.layer == "main" and (isinstance(deed.object, str) or deed.kind.shows):
            long = deed.kind.verb == "push" or deed.kind.motion in ("roll away", "kick")
            need = max(need, 50 if long else 34)
    return need


def extent(figure: Figure) -> tuple[float, float, float]:
    """Return how far an individual reaches behind and before its middle, and its height, in units."""
    thing = figure.kind
    if thing.role != "person":
        _, width, height = size_of(thing, SIZES[figure.size])
        return width / 2, width / 2 + ahead_of(figure), height
    behind, front = 16.0, 16.0 + ahead_of(figure)
    height = ADULT + HEAD * (head_size("child" in thing.kinds) - 1)
    for deed in figure.deeds:
        if deed.kind.hand == "under" and isinstance(deed.object, str):
            sits = seat(deed.object)
            _, width, tall = size_of(things()[deed.object], sits.size)
            behind, front = max(behind, width / 2), max(front, width / 2)
            height = max(height, sits.y * tall + 60)
        elif deed.kind.hand == "behind":
            behind = 50.0
        elif deed.kind.posture in ("lie", "swim", "cartwheel", "surf", "ski") or deed.kind.motion == "fall":
            behind, front = max(behind, 40.0), max(front, 40.0)
    return behind * thing.size, front * thing.size, height * thing.size


@cache
def _squashed(svg: str, factor: float) -> str:
    bottom = ink(svg)[3]
    return f'<g transform="translate(0 {bottom * (1 - factor)}) scale(1 {factor})">{svg}</g>'


def _spot(deed: Deed | None, step: int) -> tuple[str, Spot, int]:
    """Return the track of a deed, the position on it and the heading at a step."""
    if deed is None or deed.kind.motion not in MOTIONS:
        return "", Spot(), 1
    first, count = round(deed.start * STEPS), max(1, round((deed.end - deed.start) * STEPS))
    motion = deed.kind.motion
    return MOTIONS[motion][0], spots(motion, count)[step - first], headings(motion, count)[step - first]


def placed(who: Individual, stand: Stand, step: int, led: Deed | None = None) -> tuple[Placement, Deed | None, Spot]:
    """Return where an individual is at a step, what it does, and where on its track the thing is that it moves.

    Args:
        led: deed of somebody who chases or leads it, and whom it goes along with.
    """
    deed = active(who.figure, step).get("main")
    track, spot, heading = _spot(deed, step)
    if led and not track:
        track, spot, heading = _spot(led, step)
        deed = deed or Deed("walk", None, led.start, led.end)
    place, person = stand.place, who.look is not None
    away = deed is not None and isinstance(deed.object, str) and track in ("air", "ground")
    if not track or deed is None or away:
        return place, deed, spot
    facing, x, y = place.facing, 0.0, 0.0
    if track == "lane":
        x, facing = facing * stand.reach * spot.x, facing * heading
    elif track == "drive":
        x, facing = facing * stand.ahead * spot.x, facing * heading
    elif track == "entry":
        x, facing = stand.side * stand.out * spot.x, facing if person else stand.side * heading
    elif track == "ground":
        x = facing * stand.reach * (2 * spot.x - 1)
    elif track == "float":
        x, y = 8 * spot.x, 8 * spot.y
    elif track in ("hop", "air", "rise"):
        y = {"hop": 14, "air": 40, "rise": 55}[track] * spot.y
    turn = spot.turn
    if track == "wheel" and deed.kind.posture == "stand":
        facing, turn = facing * (-1) ** step, 0
    pivot = 36 if person else who.figure.kind.size * ADULT / 2
    if track == "sway" or (track == "topple" and person):
        pivot = 0
    if track == "topple" and person:
        x, y = facing * 38 * spot.x * who.figure.kind.size, turn / 90 * 12
    scale = place.scale
    moved = replace(place, x=place.x + x * scale, y=place.y - y * scale, facing=facing, turn=turn, pivot=pivot)
    return moved, deed, spot


def paint(
    canvas: Canvas, who: Individual, stand: Stand, step: int, led: Deed | None = None, leashed: Point | None = None
) -> tuple[Point, float] | None:
    """Paint an individual at a step, and return middle and radius of a person's face; `leashed` ends a leash."""
    place, deed, spot = placed(who, stand, step, led)
    behind, front, height = extent(who.figure)
    if place.x + 60 * place.scale < 0 or place.x - 60 * place.scale > canvas.size:
        return None
    in_air = who.figure.kind.role == "sky" or (deed and (deed.kind.motion == "float" or deed.verb == "fly past"))
    if not in_air:
        canvas.shadow(place.x, stand.place.y, 2 * min(behind, front) * place.scale)
    face = None
    if who.look:
        face = paint_person(canvas, who, place, step, deed, spot, leashed)
    else:
        _paint_thing(canvas, who, place, step, deed, spot)
    sign = deed.kind.sign if deed and deed.kind.hand != "at face" else ""
    if sign == DASH:
        place.paint(canvas, drawing(sign), (-behind - 6, 12), 0.3, flip=True)
    elif sign and deed and deed.kind.posture == "lie" and who.look:
        place.paint(canvas, drawing(sign), (-34, 40 + step % 2 * 3), 0.42)
    elif sign:
        top = height + 2 if who.look else height * 0.9
        place.paint(canvas, drawing(sign), (min(behind, front) + (9 if who.look else 0), top + step % 2 * 3), SIGN)
    return face


def _paint_thing(canvas: Canvas, who: Individual, place: Placement, step: int, deed: Deed | None, spot: Spot) -> None:
    thing = who.figure.kind
    svg = picture(thing, who.figure.colour)
    scale, width, height = size_of(thing, SIZES[who.figure.size])
    left, _, right, bottom = ink(svg)
    posture = deed.kind.posture if deed else ""
    angle = 0.0
    if posture == "lie" and deed and deed.kind.motion == "none":
        svg = _squashed(svg, 0.7)
    elif posture in ("sit", "jump"):
        angle = -15
    elif posture == "run" and thing.role == "animal":
        angle = (-15, 0, 15, 0)[(step + who.phase) % 4]
    hop = 2.5 * (step % 2) if posture in ("walk", "run") and thing.role == "animal" else 0
    jitter = 1.5 * (-1) ** step if deed and deed.kind.motion == "shake" else 0
    turns = thing.role in ("animal", "vehicle")  # others are never mirrored: signs have letters
    flip = thing.name not in LOOKING_RIGHT if turns else place.facing < 0
    x = (-1 if flip else 1) * (36 - (left + right) / 2) * scale + jitter
    place.paint(canvas, svg, (x, hop + (bottom - 36) * scale), scale, angle, flip)
    if deed and (prop := held(deed))[1] and thing.role == "animal":
        longest = 24.0
        track = MOTIONS[deed.kind.motion][0] if deed.kind.motion in MOTIONS else ""
        if track in ("air", "ground"):
            at = width / 2 - 16 + flying(spot, track, longest)[0], flying(spot, track, longest)[1] * 0.7
        else:
            at = (width / 2 + 9, 0.45 * height if deed.kind.hand == "at mouth" else longest / 2.4)
        centred(place, canvas, prop[1], at, longest, 0, prop[0] is None or prop[0].name not in LOOKING_RIGHT)
