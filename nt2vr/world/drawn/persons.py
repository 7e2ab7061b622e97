"""Persons: a doll in the pose of what it does, with what it holds, wears and rides."""

from dataclasses import replace
from functools import partial
from typing import NamedTuple

from nt2vr.world.drawn import dolls
from nt2vr.world.drawn.busts import Look, with_mood
from nt2vr.world.drawn.canvas import MIDDLE, Canvas, Point, drawing, ink
from nt2vr.world.drawn.dolls import (
    NEAR,
    PELVIS,
    Doll,
    Grip,
    Placement,
    Pose,
    grip_of,
    head_size,
    seat,
    shifted,
)
from nt2vr.world.drawn.motions import STEPS, THROWN, Spot, track_of
from nt2vr.world.drawn.sizes import (
    ADULT,
    Individual,
    active,
    picture,
    prop_of,
    size_of,
)
from nt2vr.world.scenes import Action
from nt2vr.world.things import ENTER, LEAVE, Thing, things

LEASH = "#7A4E2B"
LEASH_WIDTH = 1  # units
# Things in hands, unless long, are larger than in their grips, and farther out, to be recognised.
LARGER = 1.45
OUTWARD = 1.2
LONG = 50
# A thing in hands is at least so large, as a share of its own size; one that is thrown is smaller.
LEAST_HELD = 0.75
SMALLER = 0.8
_HAND_GRIPS = ("in hand", "both hands", "above head")
# How far ahead of its middle a person throws from and rolls from, and how far and high, in units.
THROW_FROM = 26
ROLL_FROM = 24
THROW_FAR = 40
THROW_HIGH = 74
# What is pushed or pulled begins so many units from the middle of the person.
BESIDE = 18
# What is always seen with an action is beside the thing in hands: units to it, and longest side.
SHOWN_AT = (2, 12)
SHOWN_SIZE = 20
# Height and longest side of what is worn, in units of the head, by how it is held.
_WORN_SITES = {
    "on head": (31.0, 30.0),
    "on ears": (16.0, 36.0),
    "on face": (15.0, 23.0),
    "on neck": (-10.0, 24.0),
}
_WORN_ON_TRUNK = (-12.0, 20.0)
# Height of the edge of a hat.
HAT_EDGE = 24
# Who is lifted is so far behind its feet, in units.
LIFTED_BEHIND = 38
# Riders sink so far into their seat, in units.
SINKS = 4

BALL = "1F534"
BALL_SIZE = 12
NUM_BALLS = 3
# Balls that are juggled have so many positions, from the first one on so far apart, and rise
# from the hands in a parabola.
BALL_POSITIONS = 9
FIRST_BALL: Point = (-24, 50)
BALL_STEP = 6
BALL_RISE = 2.4


def paint_centred(
    place: Placement,
    canvas: Canvas,
    svg: str,
    at: Point,
    longest: float,
    angle: float = 0,
    flip: bool = False,
) -> None:
    """Paint a drawing so that what it fills is `longest` units long around a point."""
    box = ink(svg)
    size = longest / box.longest
    x, y = at
    dx = (box.middle_x - MIDDLE) * size
    x += dx if flip else -dx
    y += (box.middle_y - MIDDLE) * size
    place.paint(canvas, svg=svg, point=(x, y), size=size, angle=angle, flip=flip)


def flying(spot: Spot, track: str, longest: float) -> Point:
    """Return where a thing is that somebody throws, rolls or kicks, in units."""
    if track == "air":
        return THROW_FROM + THROW_FAR * spot.x, longest / 2 + THROW_HIGH * spot.y
    return ROLL_FROM + THROW_FAR * spot.x, longest / 2


class AtStep(NamedTuple):
    """Where an individual is at a step, what it does, and where the thing is that it moves."""

    step: int
    place: Placement
    action: Action
    spot: Spot  # on the track of the action


class PersonPainter:
    """Paints one person at one step."""

    def __init__(self, canvas: Canvas, individual: Individual, at_step: AtStep) -> None:
        self.canvas = canvas
        self.step, place, self.action, self.spot = at_step
        self.beat = self.step + individual.phase
        thing = individual.figure.kind
        self.head_size = head_size(thing)
        self.layers = active(individual.figure, self.step)
        self.prop = prop_of(self.action)
        self.ridden = self._ridden()
        self.pose = self._posed()
        self.place = _placed_in_pose(replace(place, scale=place.scale * thing.size), self.pose)
        self.grip = self._grip()
        if self.grip:
            self.pose = dolls.reaching(self.pose, self.grip, self.beat)

    def paint(self, look: Look, leash: Point | None) -> None:
        """Paint the person, and a leash that ends at a point."""
        mood = self.layers.get("mood")
        if mood:
            head = with_mood(look.head, look.skin, mood.kind.sign)
            look = replace(look, head=head)
        if leash:
            points = [self.place.at(self.pose.hands[NEAR]), leash]
            self.canvas.line(points, width=LEASH_WIDTH, colour=LEASH, scale=self.place.scale)

        doll = Doll(self.canvas, self.place, look, pose=self.pose, head_size=self.head_size)
        doll.paint_far_side()
        if self.ridden and not seat(self.ridden.name).hides:
            self._paint_ridden(self.ridden)
        doll.paint_body()
        if self.grip and self.prop.svg:
            self._paint_held(self.grip)
        doll.paint_arm(NEAR)
        if self.ridden and seat(self.ridden.name).hides:
            self._paint_ridden(self.ridden)

        if self.pose.posture == "juggle":
            self._paint_juggled_balls()
        worn = self.layers.get("worn")
        if worn:
            self._paint_worn(worn)

    def _ridden(self) -> Thing | None:
        """Return the thing on or in which the person is."""
        kind = self.action.kind
        is_ridden = kind.hand == "under" or kind.posture == "bathe"
        return self.prop.thing if is_ridden else None

    def _posed(self) -> Pose:
        """Return the pose of the action."""
        beat = self.beat
        posture = self.action.kind.posture
        if self.ridden:
            posture = seat(self.ridden.name).posture
        elif self.action.verb in (ENTER, LEAVE):
            posture = "march"
            # The pose depends on the spot alone, so it is the same coming and going.
            beat = round(self.spot.x * STEPS)
        steps = dolls.poses(posture)
        pose = steps[beat % len(steps)]
        if self.ridden:
            return _moved_to_seat(pose, self.ridden)
        return pose

    def _grip(self) -> Grip | None:
        """Return how the person holds what it holds."""
        if self.ridden:
            return None
        kind = self.action.kind
        if kind.motion == "wave":
            return grip_of("wave")
        if kind.verb == "push":
            return grip_of("push")

        thing = self.prop.thing
        if thing and kind.hand in _HAND_GRIPS:
            usual_grip = grip_of(thing.name, "held")
            if usual_grip:
                return usual_grip
        if kind.hand == "in front":
            if thing is None:
                return grip_of("clap")
            return grip_of("lap" if self.pose.posture == "sit" else "both")
        if kind.hand == "on ground" and self.pose.posture == "stand":
            return grip_of("both")
        if kind.hand == "none" and kind.shows:
            return grip_of("hand")
        return grip_of(kind.hand, "hands")

    def _paint_ridden(self, ridden: Thing) -> None:
        svg = self.prop.svg
        size = size_of(ridden, seat(ridden.name).size).scale
        y = (ink(svg).bottom - MIDDLE) * size
        self.place.paint(self.canvas, svg=svg, point=(0, y), size=size, flip=self.prop.looks_left)

    def _paint_held(self, grip: Grip) -> None:
        thing = self.prop.thing
        kind = self.action.kind
        longest = self._size_in_hands(grip)
        track = track_of(kind.motion)
        if track in THROWN:
            # It has left the hands.
            longest *= SMALLER
            at = flying(self.spot, track, longest)
            self._paint_thing(self.prop.svg, at, longest)
            return

        is_moved = kind.verb in ("push", "pull") and kind.hand in ("ahead", "behind")
        if thing and is_moved:
            # It is on the ground beside the person.
            size = size_of(thing)
            longest = max(size.width, size.height)
            x = BESIDE + size.width / 2
            at = (-x if kind.hand == "behind" else x, size.height / 2)
        else:
            at = self._in_hands(grip, longest)
        self._paint_thing(self.prop.svg, at=at, longest=longest, angle=grip.angle)
        if kind.shows and self.action.thing:
            # What is always seen with the action is beside what is held.
            shown = drawing(things()[kind.shows].picture)
            self._paint_thing(shown, shifted(at, *SHOWN_AT), SHOWN_SIZE)

    def _paint_thing(self, svg: str, at: Point, longest: float, angle: float = 0) -> None:
        """Paint a thing that the person has, or one that is seen with it, looking the same way."""
        paint_centred(
            self.place,
            canvas=self.canvas,
            svg=svg,
            at=at,
            longest=longest,
            angle=angle,
            flip=self.prop.looks_left,
        )

    def _size_in_hands(self, grip: Grip) -> float:
        """Return the longest side of a thing that is held, in units."""
        longest = grip.size
        if self.prop.thing:
            longest = max(longest, LEAST_HELD * ADULT * self.prop.thing.size)
        return max(longest, min(LARGER * longest, LONG))

    def _in_hands(self, grip: Grip, longest: float) -> Point:
        """Return the middle of a thing that is held."""
        x, y = grip.at[self.beat % len(grip.at)]
        if grip.stands:
            return x, longest / 2
        pelvis_x, pelvis_y = self.pose.pelvis
        return x * OUTWARD + pelvis_x, y + pelvis_y - PELVIS

    def _paint_juggled_balls(self) -> None:
        for ball in range(NUM_BALLS):
            position = (2 * self.step + NUM_BALLS * ball) % BALL_POSITIONS
            rise = BALL_RISE * position * (BALL_POSITIONS - position)
            at = shifted(FIRST_BALL, BALL_STEP * position, rise)
            paint_centred(self.place, self.canvas, svg=drawing(BALL), at=at, longest=BALL_SIZE)

    def _paint_worn(self, action: Action) -> None:
        thing = things()[action.thing]
        svg = picture(thing, action.colour)
        height, longest = _WORN_SITES.get(thing.held, _WORN_ON_TRUNK)
        if thing.held == "on head":
            box = ink(svg)
            longest *= max(1.0, box.height / box.width)
            height = HAT_EDGE + 0.5 * box.height / box.longest * longest
        size = self.head_size
        at = shifted(dolls.head_of(self.pose), 0, height * size)
        paint_centred(self.place, canvas=self.canvas, svg=svg, at=at, longest=longest * size)


def _placed_in_pose(place: Placement, pose: Pose) -> Placement:
    """Turn and lift a placement as a pose requires."""
    place = replace(place, turn=place.turn + pose.turn)
    if not pose.lift:
        return place
    # Who is lifted turns about the feet, not about the middle.
    x = place.x + place.facing * place.scale * LIFTED_BEHIND
    y = place.y - place.scale * pose.lift
    return replace(place, x=x, y=y, pivot=0)


def _moved_to_seat(pose: Pose, ridden: Thing) -> Pose:
    ridden_seat = seat(ridden.name)
    size = size_of(ridden, ridden_seat.size)
    base = 0.0
    if pose.posture not in ("balance", "scoot"):
        _, pelvis_y = dolls.poses(pose.posture)[0].pelvis
        base = pelvis_y - SINKS
    dx = ridden_seat.x * size.width
    dy = ridden_seat.y * size.height - base
    to_seat = partial(shifted, dx=dx, dy=dy)
    return replace(
        pose,
        pelvis=to_seat(pose.pelvis),
        feet=tuple(map(to_seat, pose.feet)),
        hands=tuple(map(to_seat, pose.hands)),
    )
