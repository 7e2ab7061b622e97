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
from nt2vr.world.scenes import Action
from nt2vr.world.things import ActionKind, Thing

# The code of OpenMoji's cloud of dust, which is drawn behind somebody, not above.
DASH = "1F4A8"


class _OnTrack(NamedTuple):
    """A position on the track of an action.

    Attributes:
        track: its name; "" for none.
        spot: where on it.
        heading: 1 onward, -1 back.
    """

    track: str = ""
    spot: Spot = Spot()
    heading: int = 1


def _on_track(action: Action | None, step: int) -> _OnTrack:
    """Return the position at a step on the track of an action, if it has one."""
    if action is None or not track_of(action.kind.motion):
        return _OnTrack()
    motion = action.kind.motion
    num_steps = round((action.end - action.start) * STEPS)
    steps_done = step - round(action.start * STEPS)
    return _OnTrack(
        track=track_of(motion),
        spot=spots(motion, num_steps)[steps_done],
        heading=headings(motion, num_steps)[steps_done],
    )


class AtStep(NamedTuple):
    """Where an individual is at a step, what it does, and where the thing is that it moves."""

    place: Placement
    action: Action | None
    spot: Spot  # on its track


def placed_at(individual: Individual, stand: Stand, step: int, led: Action | None = None) -> AtStep:
    """Return where an individual is at a step.

    It goes along with somebody who chases or leads it; `led` is the action of that one.
    """
    action = active(individual.figure, step).get("main")
    position = _on_track(action, step)
    if led and not position.track:
        position = _on_track(led, step)
        action = action or Action(
            verb="walk",
            object=None,
            start=led.start,
            end=led.end,
        )
    track, spot, _ = position
    if not track or action is None:
        return AtStep(stand.place, action, spot)
    # What moves is a thing, and somebody who throws or rolls it stands still.
    if isinstance(action.object, str) and track in ("air", "ground"):
        return AtStep(stand.place, action, spot)

    place = _moved(individual, stand, position)
    turn = spot.turn
    # Who spins upright faces the other way at every second step instead of turning over.
    if track == "wheel" and action.kind.posture == "stand":
        turn = 0
        if step % 2:
            place = replace(place, facing=-place.facing)
    place = replace(place, turn=turn, pivot=_pivot(individual, track))
    return AtStep(place, action, spot)


def _pivot(individual: Individual, track: str) -> float:
    """Return about which height somebody turns, in units: its middle, or its feet."""
    is_person = individual.look is not None
    if track == "sway" or (track == "topple" and is_person):
        return 0.0
    if is_person:
        return 36.0
    return individual.figure.kind.size * ADULT / 2


def _moved(individual: Individual, stand: Stand, position: _OnTrack) -> Placement:
    """Return the place of somebody on a track, and where it faces."""
    place = stand.place
    x, y = _offset(individual, stand, position)
    return replace(
        place,
        x=place.x + x * place.scale,
        y=place.y - y * place.scale,
        facing=_facing(individual, stand, position),
    )


def _facing(individual: Individual, stand: Stand, position: _OnTrack) -> int:
    """Return where somebody on a track faces: 1 right, -1 left."""
    if position.track in ("lane", "drive"):
        return stand.place.facing * position.heading
    # A person looks the same coming and going, so that a single frame does not tell which it is.
    if position.track == "entry" and individual.look is None:
        return stand.side * position.heading
    return stand.place.facing


def _offset(individual: Individual, stand: Stand, position: _OnTrack) -> Point:
    """Return how far somebody on a track is from its stand, in units; y is up."""
    facing = stand.place.facing
    spot = position.spot
    is_person = individual.look is not None
    x = 0.0
    y = 0.0
    match position.track:
        case "lane":
            x = facing * stand.reach * spot.x
        case "drive":
            x = facing * stand.ahead * spot.x
        case "entry":
            x = stand.side * stand.out * spot.x
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
    return x, y


def paint(
    canvas: Canvas,
    individual: Individual,
    stand: Stand,
    step: int,
    led: Action | None = None,
    leash: Point | None = None,
) -> Face | None:
    """Paint an individual at a step, and return a person's face; `leash` is the end of a leash."""
    place, action, spot = placed_at(individual, stand, step, led)
    if place.x + 60 * place.scale < 0 or place.x - 60 * place.scale > canvas.size:
        return None

    figure = individual.figure
    floats = action is not None and (action.kind.motion == "float" or action.verb == "fly past")
    if figure.kind.role != "sky" and not floats:
        behind, front, _ = extent(figure)
        canvas.shadow(place.x, stand.place.y, 2 * min(behind, front) * place.scale)

    face = None
    if individual.look:
        person = PersonPainter(canvas, individual, place, step, action, spot)
        face = person.paint(individual.look, leash)
    else:
        _paint_thing(canvas, individual, place, step, action, spot)
    if action:
        _paint_sign(canvas, individual, place, step, action.kind)
    return face


def _paint_sign(
    canvas: Canvas, individual: Individual, place: Placement, step: int, kind: ActionKind
) -> None:
    """Paint the sign of an action, if it has one, over the head or behind."""
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
    action: Action | None,
    spot: Spot,
) -> None:
    """Paint an animal, a vehicle or a thing."""
    figure = individual.figure
    thing = figure.kind
    svg = picture(thing, figure.colour)
    box = ink(svg)
    gait = _gait(svg, thing, action, step, individual.phase)
    scale = size_of(thing, SIZES[figure.size]).scale

    flip = _is_flipped(thing, place)
    x = (36 - box.middle[0]) * scale
    if flip:
        x = -x
    x += gait.sideways
    y = gait.upwards + (box.bottom - 36) * scale
    place.paint(canvas, gait.svg, (x, y), scale, gait.angle, flip)
    if action and thing.role == "animal":
        _paint_prop_of_animal(canvas, individual, place, action, spot)


def _is_flipped(thing: Thing, place: Placement) -> bool:
    """Return whether to mirror a picture before its place does."""
    if thing.role in ("animal", "vehicle"):
        return thing.name not in LOOKING_RIGHT
    # Other things are never mirrored in the end, since signs have letters.
    return place.facing < 0


def _paint_prop_of_animal(
    canvas: Canvas, individual: Individual, place: Placement, action: Action, spot: Spot
) -> None:
    """Paint what an animal has in its mouth, or before it."""
    prop = prop_of(action)
    if not prop.svg:
        return
    size = size_of(individual.figure.kind, SIZES[individual.figure.size])
    longest = 24.0
    track = track_of(action.kind.motion)
    if track in ("air", "ground"):
        x, y = flying(spot, track, longest)
        at = (size.width / 2 - 16 + x, y * 0.7)
    elif action.kind.hand == "at mouth":
        at = (size.width / 2 + 9, 0.45 * size.height)
    else:
        at = (size.width / 2 + 9, longest / 2.4)
    flip = prop.thing is None or prop.thing.name not in LOOKING_RIGHT
    paint_centred(place, canvas, prop.svg, at, longest, angle=0, flip=flip)


class _Gait(NamedTuple):
    """A drawing as an action has it at a step, and how many units it is off its place."""

    svg: str
    angle: float
    upwards: float
    sideways: float


def _gait(svg: str, thing: Thing, action: Action | None, step: int, phase: int) -> _Gait:
    """Return how an animal, a vehicle or a thing is drawn at a step of its action."""
    posture = ""
    motion = ""
    if action:
        posture = action.kind.posture
        motion = action.kind.motion
    walks_or_runs = posture in ("walk", "run") and thing.role == "animal"

    angle = 0.0
    if posture in ("sit", "jump"):
        angle = -15.0
    elif posture == "run" and walks_or_runs:
        angle = (-15, 0, 15, 0)[(step + phase) % 4]
    elif posture == "lie" and motion == "none":
        # It is flattened, and stays on the ground.
        down = ink(svg).bottom * (1 - 0.7)
        svg = f'<g transform="translate(0 {down}) scale(1 0.7)">{svg}</g>'

    is_odd_step = step % 2 == 1
    upwards = 0.0
    if walks_or_runs and is_odd_step:
        upwards = 2.5
    sideways = 0.0
    if motion == "shake":
        sideways = -1.5 if is_odd_step else 1.5
    return _Gait(svg, angle, upwards, sideways)
