"""Actors: where people, animals, vehicles and things are at a step, and their painting."""

from dataclasses import replace
from typing import NamedTuple

from nt2vr.world.drawn.canvas import Canvas, Point, drawing, ink
from nt2vr.world.drawn.dolls import Face, Placement
from nt2vr.world.drawn.motions import STEPS, Spot, headings, spots, track_of
from nt2vr.world.drawn.persons import PersonPainter, flying, paint_centred
from nt2vr.world.drawn.sizes import (
    ADULT,
    LOOKING_RIGHT,
    SIZES,
    Individual,
    Stand,
    active,
    extent,
    picture,
    prop_of,
    size_of,
)
from nt2vr.world.scenes import Deed
from nt2vr.world.things import DeedKind, Thing

DASH = "1F4A8"


class _OnTrack(NamedTuple):
    """A position on the track of a deed."""

    track: str = ""
    spot: Spot = Spot()
    heading: int = 1


def _on_track(deed: Deed | None, step: int) -> _OnTrack:
    """Return the position at a step on the track of a deed, if it has one."""
    if deed is None or not track_of(deed.kind.motion):
        return _OnTrack()
    motion = deed.kind.motion
    count = round((deed.end - deed.start) * STEPS)
    at = step - round(deed.start * STEPS)
    return _OnTrack(track_of(motion), spots(motion, count)[at], headings(motion, count)[at])


class AtStep(NamedTuple):
    """Where an individual is at a step, what it does, and where the thing is that it moves."""

    place: Placement
    deed: Deed | None
    spot: Spot  # on its track


def placed_at(individual: Individual, stand: Stand, step: int, led: Deed | None = None) -> AtStep:
    """Return where an individual is at a step.

    It goes along with somebody who chases or leads it; `led` is the deed of that one.
    """
    deed = active(individual.figure, step).get("main")
    position = _on_track(deed, step)
    if led and not position.track:
        position = _on_track(led, step)
        deed = deed or Deed(
            verb="walk",
            object=None,
            start=led.start,
            end=led.end,
        )
    track, spot, _ = position
    if not track or deed is None:
        return AtStep(stand.place, deed, spot)
    # A thing moves, not its doer.
    if isinstance(deed.object, str) and track in ("air", "ground"):
        return AtStep(stand.place, deed, spot)

    place = _moved(individual, stand, position)
    turn = spot.turn
    if individual.look:
        pivot = 36.0
    else:
        pivot = individual.figure.kind.size * ADULT / 2
    if track == "wheel" and deed.kind.posture == "stand":
        place = replace(place, facing=place.facing * (-1) ** step)
        turn = 0
    if track == "sway" or (track == "topple" and individual.look):
        pivot = 0
    return AtStep(replace(place, turn=turn, pivot=pivot), deed, spot)


def _moved(individual: Individual, stand: Stand, position: _OnTrack) -> Placement:
    """Return the place of somebody on a track, and where it faces."""
    place = stand.place
    facing = place.facing
    track, spot, heading = position
    is_person = individual.look is not None
    # In units from its stand.
    x = 0.0
    y = 0.0
    match track:
        case "lane":
            x = facing * stand.reach * spot.x
            facing *= heading
        case "drive":
            x = facing * stand.ahead * spot.x
            facing *= heading
        case "entry":
            x = stand.side * stand.out * spot.x
            if not is_person:
                facing = stand.side * heading
        case "ground":
            x = facing * stand.reach * (2 * spot.x - 1)
        case "float":
            x = 8 * spot.x
            y = 8 * spot.y
        case "hop":
            y = 14 * spot.y
        case "air":
            y = 40 * spot.y
        case "rise":
            y = 55 * spot.y
        case "topple" if is_person:
            x = facing * 38 * spot.x * individual.figure.kind.size
            y = spot.turn / 90 * 12
    return replace(place, x=place.x + x * place.scale, y=place.y - y * place.scale, facing=facing)


def paint(
    canvas: Canvas,
    individual: Individual,
    stand: Stand,
    step: int,
    led: Deed | None = None,
    leash: Point | None = None,
) -> Face | None:
    """Paint an individual at a step, and return a person's face; `leash` is the end of a leash."""
    place, deed, spot = placed_at(individual, stand, step, led)
    if place.x + 60 * place.scale < 0 or place.x - 60 * place.scale > canvas.size:
        return None

    figure = individual.figure
    floats = deed is not None and (deed.kind.motion == "float" or deed.verb == "fly past")
    if figure.kind.role != "sky" and not floats:
        behind, front, _ = extent(figure)
        canvas.shadow(place.x, stand.place.y, 2 * min(behind, front) * place.scale)

    face = None
    if individual.look:
        person = PersonPainter(canvas, individual, place, step, deed, spot)
        face = person.paint(individual.look, leash)
    else:
        _paint_thing(canvas, individual, place, step, deed, spot)
    if deed:
        _paint_sign(canvas, individual, place, step, deed.kind)
    return face


def _paint_sign(
    canvas: Canvas, individual: Individual, place: Placement, step: int, kind: DeedKind
) -> None:
    """Paint what tells a deed, if anything does, over the head or behind."""
    if not kind.sign or kind.hand == "at face":
        return
    behind, front, height = extent(individual.figure)
    nearer = min(behind, front)
    bob = 3 if step % 2 else 0
    size = 0.4
    at = (nearer + 9, height + 2 + bob)
    if kind.sign == DASH:
        size = 0.3
        at = (-behind - 6, 12)
    elif not individual.look:
        at = (nearer, height * 0.9 + bob)
    elif kind.posture == "lie":
        size = 0.42
        at = (-34, 40 + bob)
    place.paint(canvas, drawing(kind.sign), at, size, flip=kind.sign == DASH)


def _paint_thing(
    canvas: Canvas,
    individual: Individual,
    place: Placement,
    step: int,
    deed: Deed | None,
    spot: Spot,
) -> None:
    """Paint an animal, a vehicle or a thing."""
    figure = individual.figure
    thing = figure.kind
    svg = picture(thing, figure.colour)
    box = ink(svg)
    gait = _gait(svg, thing, deed, step, individual.phase)
    scale = size_of(thing, SIZES[figure.size]).scale

    flip = _is_flipped(thing, place)
    x = (36 - box.middle[0]) * scale
    if flip:
        x = -x
    x += gait.sideways
    y = gait.upwards + (box.bottom - 36) * scale
    place.paint(canvas, gait.svg, (x, y), scale, gait.angle, flip)
    if deed and thing.role == "animal":
        _paint_prop_of_animal(canvas, individual, place, deed, spot)


def _is_flipped(thing: Thing, place: Placement) -> bool:
    """Return whether to mirror a picture before its place does."""
    if thing.role in ("animal", "vehicle"):
        return thing.name not in LOOKING_RIGHT
    # Other things are never mirrored in the end, since signs have letters.
    return place.facing < 0


def _paint_prop_of_animal(
    canvas: Canvas, individual: Individual, place: Placement, deed: Deed, spot: Spot
) -> None:
    """Paint what an animal has in its mouth, or before it."""
    prop = prop_of(deed)
    if not prop.svg:
        return
    size = size_of(individual.figure.kind, SIZES[individual.figure.size])
    longest = 24.0
    track = track_of(deed.kind.motion)
    if track in ("air", "ground"):
        x, y = flying(spot, track, longest)
        at = (size.width / 2 - 16 + x, y * 0.7)
    elif deed.kind.hand == "at mouth":
        at = (size.width / 2 + 9, 0.45 * size.height)
    else:
        at = (size.width / 2 + 9, longest / 2.4)
    flip = prop.thing is None or prop.thing.name not in LOOKING_RIGHT
    paint_centred(place, canvas, prop.svg, at, longest, angle=0, flip=flip)


class _Gait(NamedTuple):
    """A drawing as a deed has it at a step, and how many units it is off its place."""

    svg: str
    angle: float
    upwards: float
    sideways: float


def _gait(svg: str, thing: Thing, deed: Deed | None, step: int, phase: int) -> _Gait:
    posture = deed.kind.posture if deed else ""
    motion = deed.kind.motion if deed else ""
    moves = posture in ("walk", "run") and thing.role == "animal"
    angle = 0.0
    if posture in ("sit", "jump"):
        angle = -15.0
    elif posture == "run" and moves:
        angle = (-15, 0, 15, 0)[(step + phase) % 4]
    elif posture == "lie" and motion == "none":
        down = ink(svg).bottom * (1 - 0.7)
        svg = f'<g transform="translate(0 {down}) scale(1 0.7)">{svg}</g>'
    return _Gait(
        svg,
        angle,
        upwards=2.5 if moves and step % 2 else 0,
        sideways=1.5 * (-1) ** step if motion == "shake" else 0,
    )
