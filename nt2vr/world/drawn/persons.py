"""Persons: a doll in the pose of what it does, with all that it holds, rides and wears."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from nt2vr.world.deeds import ENTER, LEAVE
from nt2vr.world.drawn.canvas import Canvas, Point
from nt2vr.world.drawn.dolls import (
    Grip,
    Placement,
    Pose,
    grip_of,
    head_of,
    head_size,
    paint_doll,
    poses,
    reaching,
    seat,
)
from nt2vr.world.drawn.looks import Look, with_mood
from nt2vr.world.drawn.motions import MOTIONS, STEPS, Spot
from nt2vr.world.drawn.props import ADULT, LOOKING_RIGHT, active, centred, flying, held, picture, size_of
from nt2vr.world.drawn.sprites import drawing, ink
from nt2vr.world.scenes import Deed, Figure
from nt2vr.world.things import Thing, things

BALL = "1F534"
LARGER, OUTWARD, LONG = 1.45, 1.2, 50  # things in hands, unless long, than in their grips: to be recognised


@dataclass(frozen=True)
class Individual:
    """One of the (up to three) things that a figure stands for."""

    figure: Figure
    number: int  # of the figure in the scene
    look: Look | None  # of a person
    phase: int  # steps by which it is ahead of others that do the same, who would else be in step


def paint_person(
    canvas: Canvas, who: Individual, place: Placement, step: int, deed: Deed | None, spot: Spot, leash: Point | None
) -> tuple[Point, float]:
    """Paint a person, and return middle and radius of the face in pixels.

    Args:
        spot: where on its track the thing is that the person moves, or the person.
        leash: the pixel where a leash ends.
    """
    assert who.look, "of a person"
    thing, look, beat = who.figure.kind, who.look, step + who.phase
    place, child = replace(place, scale=place.scale * thing.size), "child" in thing.kinds
    prop, svg = held(deed) if deed else (None, "")
    ridden = prop if deed and (deed.kind.hand == "under" or deed.kind.posture == "bathe") else None
    pose, posture = _pose(deed, ridden, beat, spot)
    if pose.turn:
        x, y = (place.facing * place.scale * 38, place.scale * pose.lift) if pose.lift else (0, 0)
        place = replace(
            place, x=place.x + x, y=place.y - y, turn=place.turn + pose.turn, pivot=0 if pose.lift else place.pivot
        )
    behind_trunk = in_hand = in_front = None
    if ridden:
        size, hides = size_of(ridden, seat(ridden.name).size)[0], seat(ridden.name).hides
        foot = (0, (ink(svg)[3] - 36) * size)
        ride = partial(place.paint, canvas, svg, foot, size, 0, ridden.name not in LOOKING_RIGHT)
        behind_trunk, in_front = (None, ride) if hides else (ride, None)
    elif deed and (hold := _grip_for(deed, prop, posture)):
        pose = reaching(pose, hold, beat)
        if svg:
            in_hand = partial(_paint_held, canvas, place, deed, hold, pose, beat, spot)
    layers = active(who.figure, step)
    if mood := layers.get("mood"):
        look = replace(look, head=with_mood(look.head, look.skin, mood.kind.sign))
    if leash and deed and deed.kind.hand == "leash":
        canvas.line([place.at(pose.hands[1]), leash], 1, "#7A4E2B", place.scale)
    face = paint_doll(canvas, place, look, pose, child, behind_trunk, in_hand, in_front)
    if posture == "juggle":
        for ball in range(3):
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
        posture, beat = "march", round(spot.x * STEPS)  # the same at the same spot, coming and going
    table = poses(posture)
    pose = table[beat % len(table)]
    if ridden:
        sits = seat(ridden.name)
        _, width, height = size_of(ridden, sits.size)
        base = 0 if posture in ("balance", "scoot") else table[0].pelvis[1] - 4
        pose = _shifted(pose, (sits.x * width, sits.y * height - base))
    return pose, posture


def _shifted(pose: Pose, by: Point) -> Pose:
    def moved(points: Sequence[Point]) -> tuple[Point, Point]:
        (a, b), (c, d) = points
        return (a + by[0], b + by[1]), (c + by[0], d + by[1])

    pelvis = pose.pelvis[0] + by[0], pose.pelvis[1] + by[1]
    return replace(pose, pelvis=pelvis, feet=moved(pose.feet), hands=moved(pose.hands))


def _grip_for(deed: Deed, thing: Thing | None, posture: str) -> Grip | None:
    """Return how a deed takes its hands."""
    kind = deed.kind
    if kind.motion == "wave":
        return grip_of("wave")
    if kind.verb == "push":
        return grip_of("push")
    if thing and kind.hand in ("in hand", "both hands", "above head") and (own := grip_of(thing.name, "held")):
        return own
    if kind.hand == "in front":
        if thing is None:
            return grip_of("clap")
        return grip_of("lap" if posture == "sit" else "both")
    if kind.hand == "on ground" and posture == "stand":
        return grip_of("both")
    if kind.hand == "none" and kind.shows:
        return grip_of("hand")
    return grip_of(kind.hand, "hands")


def _paint_held(canvas: Canvas, place: Placement, deed: Deed, hold: Grip, pose: Pose, step: int, spot: Spot) -> None:
    kind, (thing, svg) = deed.kind, held(deed)
    longest = max(hold.size, 0.75 * ADULT * thing.size) if thing else hold.size
    longest = max(longest, min(LARGER * longest, LONG))
    flip = thing is None or thing.name not in LOOKING_RIGHT
    x, y = hold.at[step % len(hold.at)]
    if kind.motion in MOTIONS and MOTIONS[kind.motion][0] in ("air", "ground"):
        centred(place, canvas, svg, flying(spot, MOTIONS[kind.motion][0], longest * 0.8), longest * 0.8, 0, flip)
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
    """Paint a garment where it is worn."""
    thing = things()[str(deed.object)]
    svg = picture(thing, deed.colour)
    x, y = head_of(pose)
    size = head_size(child)
    sites = {"on head": (31.0, 30.0), "on ears": (16.0, 36.0), "on face": (15.0, 23.0), "on neck": (-10.0, 24.0)}
    height, longest = sites.get(thing.held, (-12.0, 20.0))
    if thing.held == "on head":
        left, top, right, bottom = ink(svg)
        longest *= max(1.0, (bottom - top) / (right - left))
        height = 24 + 0.5 * (bottom - top) / max(right - left, bottom - top) * longest
    centred(place, canvas, svg, (x, y + height * size), longest * size, 0, False)
