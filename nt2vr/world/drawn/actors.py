"""Actors: people, animals, vehicles and things, with what they hold, wear, ride and move."""

from dataclasses import dataclass, replace
from functools import cache, partial

from nt2vr.world.drawn import dolls
from nt2vr.world.drawn.canvas import Canvas, Point, drawing, ink, recoloured
from nt2vr.world.drawn.dolls import Grip, Look, Placement, Pose, grip_of, head_size, seat
from nt2vr.world.drawn.motions import MOTIONS, STEPS, Spot, headings, spots
from nt2vr.world.scenes import Deed, Figure
from nt2vr.world.things import ENTER, LEAVE, DeedKind, Thing, things

ADULT = 82.0  # units
SIZES = {"big": 1.35, "small": 0.68, "": 1.0}
COLOURS = {
    "red": "#E0403A",
    "orange": "#F08A2C",
    "yellow": "#F7D038",
    "green": "#45A84F",
    "blue": "#3F7FD9",
    "purple": "#9254C8",
    "pink": "#F083B0",
    "brown": "#8A5A34",
    "black": "#3B3B44",
    "white": "#F4F4F4",
}
LOOKING_RIGHT = {"polar bear", "kick scooter"}.union(
    "bison hippo raccoon bird snake dragon dinosaur snail bee plane helicopter rocket".split()
)


@cache
def picture(thing: Thing, colour: str = "") -> str:
    svg = drawing(thing.picture)
    if body := dolls.body_of(thing.name):
        svg = dolls.with_body(svg, *body)
    return recoloured(svg, {thing.tint: COLOURS[colour]}) if colour and thing.tint else svg


def size_of(thing: Thing, factor: float = 1) -> tuple[float, float, float]:
    """Return scale, width and height of a thing that is not a person, in units of dolls."""
    left, top, right, bottom = ink(picture(thing))
    size = max(thing.size, 0.3 + 0.45 * thing.size)  # small things are enlarged to be recognised
    scale = factor * size * ADULT / max(bottom - top, 0.6 * (right - left))
    return scale, scale * (right - left), scale * (bottom - top)


def active(figure: Figure, step: int) -> dict[str, Deed]:
    """Return what a figure does at a step, by layer."""
    time = (step + 0.5) / STEPS
    return {deed.kind.layer: deed for deed in figure.doings if deed.start <= time < deed.end}


def held(deed: Deed) -> tuple[Thing | None, str]:
    """Return what is seen with a deed besides its doer, and its drawing."""
    if name := deed.object if isinstance(deed.object, str) else deed.kind.shows:
        return things()[name], picture(things()[name], deed.colour)
    return None, drawing(deed.kind.sign) if deed.kind.hand == "at face" else ""


def centred(
    place: Placement, canvas: Canvas, svg: str, at: Point, longest: float, angle: float, flip: bool
) -> None:
    """Paint a drawing so that what it fills is `longest` units long around a point."""
    left, top, right, bottom = ink(svg)
    size = longest / max(right - left, bottom - top)
    x = at[0] - (-1 if flip else 1) * ((left + right) / 2 - 36) * size
    place.paint(canvas, svg, (x, at[1] + ((top + bottom) / 2 - 36) * size), size, angle, flip)


def flying(spot: Spot, track: str, longest: float) -> Point:
    """Return where a thing is that somebody throws, rolls or kicks, in units."""
    x, height = (26, 74) if track == "air" else (24, 0)
    return x + 40 * spot.x, longest / 2 + height * spot.y


BALL, DASH = "1F534", "1F4A8"
LARGER, OUTWARD, LONG = (
    1.45,
    1.2,
    50,
)  # things in hands, unless long, than in their grips: to be recognised


@dataclass(frozen=True)
class Individual:
    """One of the (up to three) things that a figure stands for."""

    figure: Figure
    number: int  # of the figure in the scene
    look: Look | None  # of a person
    phase: int  # steps by which it is ahead of others that do the same, who would else be in step


def paint_person(
    canvas: Canvas,
    who: Individual,
    place: Placement,
    step: int,
    deed: Deed | None,
    spot: Spot,
    leash: Point | None,
) -> tuple[Point, float]:
    """Paint a person, and return middle and radius of the face in pixels; a leash ends at one, too."""
    assert who.look, "of a person"
    thing, look, beat = who.figure.kind, who.look, step + who.phase
    place, child = replace(place, scale=place.scale * thing.size), "child" in thing.kinds
    prop, svg = held(deed) if deed else (None, "")
    ridden = prop if deed and (deed.kind.hand == "under" or deed.kind.posture == "bathe") else None
    pose, posture = _pose(deed, ridden, beat, spot)
    place = replace(place, turn=place.turn + pose.turn)
    if pose.lift:  # it turns about its feet, not about its middle
        x, y = place.x + place.facing * place.scale * 38, place.y - place.scale * pose.lift
        place = replace(place, x=x, y=y, pivot=0)
    behind_trunk = in_hand = in_front = None
    if ridden:
        size, hides = size_of(ridden, seat(ridden.name).size)[0], seat(ridden.name).hides
        foot = (0, (ink(svg)[3] - 36) * size)
        ride = partial(place.paint, canvas, svg, foot, size, 0, ridden.name not in LOOKING_RIGHT)
        behind_trunk, in_front = (None, ride) if hides else (ride, None)
    elif deed and (hold := _grip_for(deed, prop, posture)):
        pose = dolls.reaching(pose, hold, beat)
        if svg:
            in_hand = partial(_paint_held, canvas, place, deed, hold, pose, beat, spot)
    layers = active(who.figure, step)
    if mood := layers.get("mood"):
        look = replace(look, head=dolls.with_mood(look.head, look.skin, mood.kind.sign))
    if leash and deed and deed.kind.hand == "leash":
        canvas.line([place.at(pose.hands[1]), leash], 1, "#7A4E2B", place.scale)
    face = dolls.paint_doll(canvas, place, look, pose, child, behind_trunk, in_hand, in_front)
    for ball in range(3 if posture == "juggle" else 0):
        at = (2 * step + 3 * ball) % 9
        centred(place, canvas, drawing(BALL), (6 * at - 24, 50 + 2.4 * at * (9 - at)), 12, 0, False)
    if worn := layers.get("worn"):
        _paint_worn(canvas, place, worn, pose, child)
    return face


def _pose(deed: Deed | None, ridden: Thing | None, beat: int, spot: Spot) -> tuple[Pose, str]:
    """Return the pose of a deed, and the name of its posture."""
    posture = deed.kind.posture if deed else "stand"
    if ridden:
        posture = seat(ridden.name).posture
    elif deed and deed.kind.verb in (ENTER, LEAVE):
        posture, beat = (
            "march",
            round(spot.x * STEPS),
        )  # the same at the same spot, coming and going
    table = dolls.poses(posture)
    pose = table[beat % len(table)]
    if not ridden:
        return pose, posture
    sits = seat(ridden.name)
    _, width, height = size_of(ridden, sits.size)
    base = 0 if posture in ("balance", "scoot") else table[0].pelvis[1] - 4
    dx, dy = sits.x * width, sits.y * height - base
    pelvis, *feet, hand, other = (
        (x + dx, y + dy) for x, y in (pose.pelvis, *pose.feet, *pose.hands)
    )
    return replace(pose, pelvis=pelvis, feet=(feet[0], feet[1]), hands=(hand, other)), posture


def _grip_for(deed: Deed, thing: Thing | None, posture: str) -> Grip | None:
    kind = deed.kind
    if kind.motion == "wave" or kind.verb == "push":
        return grip_of("wave" if kind.motion == "wave" else "push")
    if (
        thing
        and kind.hand in ("in hand", "both hands", "above head")
        and (own := grip_of(thing.name, "held"))
    ):
        return own
    if kind.hand == "in front":
        return grip_of("clap" if thing is None else "lap" if posture == "sit" else "both")
    if kind.hand == "on ground" and posture == "stand":
        return grip_of("both")
    return grip_of("hand") if kind.hand == "none" and kind.shows else grip_of(kind.hand, "hands")


def _paint_held(
    canvas: Canvas, place: Placement, deed: Deed, hold: Grip, pose: Pose, step: int, spot: Spot
) -> None:
    kind, (thing, svg) = deed.kind, held(deed)
    longest = max(hold.size, 0.75 * ADULT * thing.size) if thing else hold.size
    longest = max(longest, min(LARGER * longest, LONG))
    flip = thing is None or thing.name not in LOOKING_RIGHT
    x, y = hold.at[step % len(hold.at)]
    if kind.motion in MOTIONS and MOTIONS[kind.motion][0] in ("air", "ground"):
        centred(
            place,
            canvas,
            svg,
            flying(spot, MOTIONS[kind.motion][0], longest * 0.8),
            longest * 0.8,
            0,
            flip,
        )
        return
    if kind.hand in ("ahead", "behind") and thing and kind.verb in ("push", "pull"):
        _scale, width, height = size_of(thing)
        longest = max(width, height)
        x, y = (18 + width / 2) * (1 if kind.hand == "ahead" else -1), height / 2
    elif hold.stands:
        y = longest / 2
    else:
        x, y = x * OUTWARD + pose.pelvis[0], y + pose.pelvis[1] - 24
    centred(place, canvas, svg, (x, y), longest, hold.angle, flip)
    if kind.shows and isinstance(deed.object, str):
        centred(place, canvas, drawing(things()[kind.shows].picture), (x + 2, y + 12), 20, 0, flip)


def _paint_worn(canvas: Canvas, place: Placement, deed: Deed, pose: Pose, child: bool) -> None:
    thing = things()[str(deed.object)]
    svg = picture(thing, deed.colour)
    (x, y), size = dolls.head_of(pose), head_size(child)
    sites = {
        "on head": (31.0, 30.0),
        "on ears": (16.0, 36.0),
        "on face": (15.0, 23.0),
        "on neck": (-10.0, 24.0),
    }
    height, longest = sites.get(thing.held, (-12.0, 20.0))
    if thing.held == "on head":
        left, top, right, bottom = ink(svg)
        longest *= max(1.0, (bottom - top) / (right - left))
        height = 24 + 0.5 * (bottom - top) / max(right - left, bottom - top) * longest
    centred(place, canvas, svg, (x, y + height * size), longest * size, 0, False)


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
    main = [deed for deed in figure.deeds if deed.kind.layer == "main"]
    moves = [deed.kind for deed in main if isinstance(deed.object, str) or deed.kind.shows]
    far = any(kind.verb == "push" or kind.motion in ("roll away", "kick") for kind in moves)
    return 50 if far else 34 if moves else 0


def extent(figure: Figure) -> tuple[float, float, float]:
    """Return how far an individual reaches behind and before its middle, and its height, in units."""
    thing = figure.kind
    if thing.role != "person":
        _, width, height = size_of(thing, SIZES[figure.size])
        return width / 2, width / 2 + ahead_of(figure), height
    behind, front = 16.0, 16.0 + ahead_of(figure)
    height = ADULT + dolls.HEAD * (head_size("child" in thing.kinds) - 1)
    for deed in figure.deeds:
        if deed.kind.hand == "under" and isinstance(deed.object, str):
            sits = seat(deed.object)
            _, width, tall = size_of(things()[deed.object], sits.size)
            behind, front = max(behind, width / 2), max(front, width / 2)
            height = max(height, sits.y * tall + 60)
        elif deed.kind.hand == "behind":
            behind = 50.0
        elif (
            deed.kind.posture in ("lie", "swim", "cartwheel", "surf", "ski")
            or deed.kind.motion == "fall"
        ):
            behind, front = max(behind, 40.0), max(front, 40.0)
    return behind * thing.size, front * thing.size, height * thing.size


def _spot(deed: Deed | None, step: int) -> tuple[str, Spot, int]:
    """Return the track of a deed, the position on it and the heading at a step."""
    if deed is None or deed.kind.motion not in MOTIONS:
        return "", Spot(), 1
    at, count, motion = (
        step - round(deed.start * STEPS),
        round((deed.end - deed.start) * STEPS),
        deed.kind.motion,
    )
    return MOTIONS[motion][0], spots(motion, count)[at], headings(motion, count)[at]


def placed(
    who: Individual, stand: Stand, step: int, led: Deed | None = None
) -> tuple[Placement, Deed | None, Spot]:
    """Return where an individual is at a step, what it does, and where on its track the thing is that it moves.

    It goes along with somebody who chases or leads it; `led` is the deed of that one.
    """
    deed, place = active(who.figure, step).get("main"), stand.place
    track, spot, heading = _spot(deed, step)
    if led and not track:
        track, spot, heading = _spot(led, step)
        deed = deed or Deed("walk", None, led.start, led.end)
    if not track or deed is None or (isinstance(deed.object, str) and track in ("air", "ground")):
        return place, deed, spot
    facing, size = place.facing, who.figure.kind.size
    x, y, facing = {  # units from its stand, and where it faces
        "lane": (facing * stand.reach * spot.x, 0.0, facing * heading),
        "drive": (facing * stand.ahead * spot.x, 0.0, facing * heading),
        "entry": (
            stand.side * stand.out * spot.x,
            0.0,
            facing if who.look else stand.side * heading,
        ),
        "ground": (facing * stand.reach * (2 * spot.x - 1), 0.0, facing),
        "float": (8 * spot.x, 8 * spot.y, facing),
        "hop": (0.0, 14 * spot.y, facing),
        "air": (0.0, 40 * spot.y, facing),
        "rise": (0.0, 55 * spot.y, facing),
        "topple": (facing * 38 * spot.x * size, spot.turn / 90 * 12, facing)
        if who.look
        else (0.0, 0.0, facing),
    }.get(track, (0.0, 0.0, facing))
    turn, pivot = spot.turn, 36 if who.look else size * ADULT / 2
    if track == "wheel" and deed.kind.posture == "stand":
        facing, turn = facing * (-1) ** step, 0
    if track == "sway" or (track == "topple" and who.look):
        pivot = 0
    x, y = place.x + x * place.scale, place.y - y * place.scale
    return replace(place, x=x, y=y, facing=facing, turn=turn, pivot=pivot), deed, spot


def paint(
    canvas: Canvas,
    who: Individual,
    stand: Stand,
    step: int,
    led: Deed | None = None,
    leashed: Point | None = None,
) -> tuple[Point, float] | None:
    """Paint an individual at a step, and return middle and radius of a person's face; `leashed` ends a leash."""
    place, deed, spot = placed(who, stand, step, led)
    behind, front, _ = extent(who.figure)
    if place.x + 60 * place.scale < 0 or place.x - 60 * place.scale > canvas.size:
        return None
    in_air = who.figure.kind.role == "sky" or (
        deed and (deed.kind.motion == "float" or deed.verb == "fly past")
    )
    if not in_air:
        canvas.shadow(place.x, stand.place.y, 2 * min(behind, front) * place.scale)
    face = paint_person(canvas, who, place, step, deed, spot, leashed) if who.look else None
    if not who.look:
        _paint_thing(canvas, who, place, step, deed, spot)
    if deed:
        _paint_sign(canvas, who, place, step, deed.kind)
    return face


def _paint_sign(
    canvas: Canvas, who: Individual, place: Placement, step: int, kind: DeedKind
) -> None:
    """Paint what tells a deed, if anything does, over the head or behind."""
    if not kind.sign or kind.hand == "at face":
        return
    behind, front, height = extent(who.figure)
    bob, nearer = step % 2 * 3, min(behind, front)
    at, size = (nearer + 9, height + 2 + bob), 0.4
    if kind.sign == DASH:
        at, size = (-behind - 6, 12), 0.3
    elif not who.look:
        at = nearer, height * 0.9 + bob
    elif kind.posture == "lie":
        at, size = (-34, 40 + bob), 0.42
    place.paint(canvas, drawing(kind.sign), at, size, flip=kind.sign == DASH)


def _paint_thing(
    canvas: Canvas, who: Individual, place: Placement, step: int, deed: Deed | None, spot: Spot
) -> None:
    thing = who.figure.kind
    svg, angle, hop, jitter = _gait(picture(thing, who.figure.colour), thing, deed, step, who.phase)
    scale, width, height = size_of(thing, SIZES[who.figure.size])
    left, _, right, bottom = ink(picture(thing, who.figure.colour))
    turns = thing.role in ("animal", "vehicle")  # others are never mirrored: signs have letters
    flip = thing.name not in LOOKING_RIGHT if turns else place.facing < 0
    x = (-1 if flip else 1) * (36 - (left + right) / 2) * scale + jitter
    place.paint(canvas, svg, (x, hop + (bottom - 36) * scale), scale, angle, flip)
    prop, svg = held(deed) if deed and thing.role == "animal" else (None, "")
    if not (deed and svg):
        return
    longest = 24.0  # of what it has in its mouth, or before it
    track = MOTIONS.get(deed.kind.motion, ("", ""))[0]
    if track in ("air", "ground"):
        x, y = flying(spot, track, longest)
        at = width / 2 - 16 + x, y * 0.7
    else:
        at = width / 2 + 9, 0.45 * height if deed.kind.hand == "at mouth" else longest / 2.4
    centred(place, canvas, svg, at, longest, 0, prop is None or prop.name not in LOOKING_RIGHT)


def _gait(
    svg: str, thing: Thing, deed: Deed | None, step: int, phase: int
) -> tuple[str, float, float, float]:
    """Return the drawing as a deed has it at a step, its angle, and how many units it is off upwards and sideways."""
    posture, motion = (deed.kind.posture, deed.kind.motion) if deed else ("", "")
    is_moving = posture in ("walk", "run") and thing.role == "animal"
    angle = -15.0 if posture in ("sit", "jump") else 0.0
    if posture == "lie" and motion == "none":
        svg = f'<g transform="translate(0 {ink(svg)[3] * (1 - 0.7)}) scale(1 0.7)">{svg}</g>'
    elif posture == "run" and is_moving:
        angle = (-15, 0, 15, 0)[(step + phase) % 4]
    return (
        svg,
        angle,
        2.5 * (step % 2) if is_moving else 0,
        1.5 * (-1) ** step if motion == "shake" else 0,
    )
