"""Actors: where people, animals, vehicles and things are at a step, and their painting."""

from dataclasses import replace
from typing import NamedTuple

from nt2vr.world.drawn.canvas import MIDDLE, Canvas, Point, drawing, ink
from nt2vr.world.drawn.dolls import Placement
from nt2vr.world.drawn.motions import STEPS, THROWN, Spot, headings, spots, track_of
from nt2vr.world.drawn.persons import AtStep, PersonPainter, flying, paint_centred
from nt2vr.world.drawn.sizes import (
    ADULT,
    IDLE,
    LOOKING_RIGHT,
    SIZES,
    Individual,
    Size,
    extent,
    main_action,
    picture,
    prop_of,
    size_of,
)
from nt2vr.world.drawn.stands import Placed
from nt2vr.world.scenes import Action
from nt2vr.world.things import ActionKind, Thing

# Lengths are in units.
# Nothing is seen of somebody so far outside the frame.
OUT_OF_SIGHT = 60
# How far tracks go from the stand; people who topple lie on their side, raised by half their depth.
FLOAT = 8
HOP = 14
AIR = 40
RISE = 55
TOPPLE = 38
TOPPLE_RISE = 12

# The code of OpenMoji's cloud of dust, which is drawn behind somebody, not above.
DASH = "1F4A8"
DASH_SIZE = 0.3
DASH_FROM_BACK = 6
DASH_HEIGHT = 12
# Other signs: the scale of their pictures, where they are, and how far they bob.
SIGN_SIZE = 0.4
SIGN_FROM_HEAD = (9, 2)
SIGN_AT_ANIMAL = 0.9  # of its height
SIGN_OF_LYING_SIZE = 0.42
SIGN_OF_LYING_AT = (-34, 40)
BOB = 3

# What an animal has: its longest side, and where it is, from the front or the back of the animal
# and in shares of the animal's height, or of its own size where it lies on the ground.
PROP_SIZE = 24.0
PROP_FROM_FRONT = 9
MOUTH = 0.45
PROP_ON_GROUND = 2.4
# Animals throw and roll things from so far behind their front, and lower than people do.
ANIMAL_THROWS_FROM = 16
ANIMAL_THROWS_LOW = 0.7

# How drawings of animals, vehicles and things are turned, in degrees, moved and flattened.
REARED = -15.0
RUNNING = (-15, 0, 15, 0)
STEP_RISE = 2.5
SHAKE = 1.5
FLATTENED = 0.7


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


def _on_track(action: Action, step: int) -> _OnTrack:
    """Return the position at a step on the track of an action, if it has one."""
    motion = action.kind.motion
    track = track_of(motion)
    if not track:
        return _OnTrack()
    # Who spins upright faces the other way at every second step instead of turning over.
    if track == "wheel" and action.kind.posture == "stand":
        return _OnTrack("pirouette", heading=-1 if step % 2 else 1)
    num_steps = round((action.end - action.start) * STEPS)
    steps_done = step - round(action.start * STEPS)
    return _OnTrack(
        track,
        spot=spots(motion, num_steps)[steps_done],
        heading=headings(motion, num_steps)[steps_done],
    )


class Role(NamedTuple):
    """Somebody at a step.

    Attributes:
        placed: who, and where.
        led: the action of somebody with whom it goes along.
        leash: where a leash ends that it holds.
    """

    placed: Placed
    led: Action | None = None
    leash: Point | None = None


def placed_at(role: Role, step: int) -> AtStep:
    """Return where an individual is at a step; it goes along with somebody who leads it."""
    placed = role.placed
    led = role.led
    action = main_action(placed.individual.figure, step)
    position = _on_track(action, step)
    if led and not position.track:
        position = _on_track(led, step)
        if action is IDLE:
            action = Action("walk", start=led.start, end=led.end)

    place = placed.place
    # What moves is a thing, and somebody who throws or rolls it stands still.
    is_thrower = action.thing and position.track in THROWN
    if position.track and not is_thrower:
        place = _moved(placed, position)
    return AtStep(step, place, action, position.spot)


def _moved(placed: Placed, position: _OnTrack) -> Placement:
    """Return the place of somebody on a track, where it faces, and how it is turned."""
    place = placed.place
    track = position.track
    is_person = placed.individual.look is not None

    facing = place.facing
    if track in ("lane", "drive", "pirouette"):
        facing *= position.heading
    # A person looks the same coming and going, so that a single frame does not tell which it is.
    elif track == "entry" and not is_person:
        facing = placed.side * position.heading

    # It turns about its middle, or its feet.
    pivot = MIDDLE if is_person else placed.individual.figure.kind.size * ADULT / 2
    if track == "sway" or (track == "topple" and is_person):
        pivot = 0.0

    x, y = _offset(placed, position)
    return replace(
        place,
        x=place.x + x * place.scale,
        y=place.y - y * place.scale,
        facing=facing,
        turn=position.spot.turn,
        pivot=pivot,
    )


def _offset(placed: Placed, position: _OnTrack) -> Point:
    """Return how far somebody on a track is from where it stands, in units; y is up."""
    facing = placed.place.facing
    spot = position.spot
    individual = placed.individual
    x = 0.0
    y = 0.0
    match position.track:
        case "lane":
            x = facing * placed.reach * spot.x
        case "drive":
            x = facing * placed.ahead * spot.x
        case "entry":
            x = placed.side * placed.out * spot.x
        case "ground":
            x = facing * placed.reach * (2 * spot.x - 1)
        case "float":
            x = FLOAT * spot.x
            y = FLOAT * spot.y
        case "hop":
            y = HOP * spot.y
        case "air":
            y = AIR * spot.y
        case "rise":
            y = RISE * spot.y
        case "topple" if individual.look:
            x = facing * TOPPLE * spot.x * individual.figure.kind.size
            y = spot.turn / 90 * TOPPLE_RISE
    return x, y


def paint(canvas: Canvas, role: Role, step: int) -> None:
    """Paint an individual at a step."""
    individual = role.placed.individual
    at_step = placed_at(role, step)
    place = at_step.place
    action = at_step.action
    margin = OUT_OF_SIGHT * place.scale
    if place.x + margin < 0 or place.x - margin > canvas.size:
        return

    is_floating = action.kind.motion == "float" or action.verb == "fly past"
    if individual.figure.kind.role != "sky" and not is_floating:
        behind, front, _ = extent(individual.figure)
        width = 2 * min(behind, front) * place.scale
        canvas.shadow(place.x, role.placed.place.y, width)

    if individual.look:
        PersonPainter(canvas, individual, at_step).paint(individual.look, role.leash)
    else:
        _paint_thing(canvas, individual, at_step)
    # A sign at the face is a thing in the hand.
    if action.kind.sign and action.kind.hand != "at face":
        _paint_sign(canvas, individual, at_step)


def _paint_sign(canvas: Canvas, individual: Individual, at_step: AtStep) -> None:
    """Paint the sign of an action over the head or behind."""
    kind = at_step.action.kind
    is_dash = kind.sign == DASH
    (x, y), size = _place_of_sign(individual, kind)
    if at_step.step % 2 and not is_dash:
        y += BOB
    at_step.place.paint(canvas, svg=drawing(kind.sign), point=(x, y), size=size, flip=is_dash)


def _place_of_sign(individual: Individual, kind: ActionKind) -> tuple[Point, float]:
    """Return where a sign is, and its size."""
    behind, front, height = extent(individual.figure)
    nearer = min(behind, front)
    if kind.sign == DASH:
        return (-behind - DASH_FROM_BACK, DASH_HEIGHT), DASH_SIZE
    if not individual.look:
        return (nearer, height * SIGN_AT_ANIMAL), SIGN_SIZE
    if kind.posture == "lie":
        return SIGN_OF_LYING_AT, SIGN_OF_LYING_SIZE
    aside, above = SIGN_FROM_HEAD
    return (nearer + aside, height + above), SIGN_SIZE


def _paint_thing(canvas: Canvas, individual: Individual, at_step: AtStep) -> None:
    """Paint an animal, a vehicle or a thing."""
    figure = individual.figure
    thing = figure.kind
    svg = picture(thing, figure.colour)
    box = ink(svg)
    gait = _gait(svg, thing, at_step, phase=individual.phase)
    size = size_of(thing, SIZES[figure.size])

    place = at_step.place
    flip = _is_flipped(thing, place)
    x = (MIDDLE - box.middle_x) * size.scale
    if flip:
        x = -x
    x += gait.sideways
    y = gait.upwards + (box.bottom - MIDDLE) * size.scale
    place.paint(canvas, svg=gait.svg, point=(x, y), size=size.scale, angle=gait.angle, flip=flip)
    if thing.role == "animal":
        _paint_prop_of_animal(canvas, at_step, size)


def _is_flipped(thing: Thing, place: Placement) -> bool:
    """Return whether to mirror a picture before its place does."""
    if thing.role in ("animal", "vehicle"):
        return thing.name not in LOOKING_RIGHT
    # Other things are never mirrored in the end, since signs have letters.
    return place.facing < 0


def _paint_prop_of_animal(canvas: Canvas, at_step: AtStep, size: Size) -> None:
    """Paint what an animal has in its mouth, or before it."""
    action = at_step.action
    prop = prop_of(action)
    if not prop.svg:
        return
    front = size.width / 2
    track = track_of(action.kind.motion)
    if track in THROWN:
        x, y = flying(at_step.spot, track, PROP_SIZE)
        at = (front - ANIMAL_THROWS_FROM + x, y * ANIMAL_THROWS_LOW)
    elif action.kind.hand == "at mouth":
        at = (front + PROP_FROM_FRONT, MOUTH * size.height)
    else:
        at = (front + PROP_FROM_FRONT, PROP_SIZE / PROP_ON_GROUND)
    paint_centred(
        at_step.place, canvas, svg=prop.svg, at=at, longest=PROP_SIZE, flip=prop.looks_left
    )


class _Gait(NamedTuple):
    """A drawing as an action has it at a step, and how many units it is off its place."""

    svg: str
    angle: float = 0.0
    upwards: float = 0.0
    sideways: float = 0.0


def _gait(svg: str, thing: Thing, at_step: AtStep, phase: int) -> _Gait:
    """Return how an animal, a vehicle or a thing is drawn at a step of its action."""
    posture = at_step.action.kind.posture
    motion = at_step.action.kind.motion
    is_odd_step = at_step.step % 2 == 1
    sideways = 0.0
    if motion == "shake":
        sideways = -SHAKE if is_odd_step else SHAKE

    angle = 0.0
    upwards = 0.0
    if posture in ("sit", "jump"):
        angle = REARED
    elif posture == "lie" and motion == "none":
        # It stays on the ground.
        down = ink(svg).bottom * (1 - FLATTENED)
        svg = f'<g transform="translate(0 {down}) scale(1 {FLATTENED})">{svg}</g>'
    elif thing.role == "animal" and posture in ("walk", "run"):
        if posture == "run":
            angle = RUNNING[(at_step.step + phase) % len(RUNNING)]
        if is_odd_step:
            upwards = STEP_RISE
    return _Gait(svg, angle, upwards, sideways)
