"""Stands: how far somebody may go from where it stands, and what it hides of others there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nt2vr.world.drawn.canvas import Box
from nt2vr.world.drawn.dolls import HEAD, Placement, head_size
from nt2vr.world.drawn.sizes import Individual, ahead_of, extent
from nt2vr.world.scenes import Figure
from nt2vr.world.things import Thing

# Layouts are in pixels of a frame this large.
SIZE = 224
MARGIN = 5.0
# The width that figures share.
ROOM = SIZE - 2 * MARGIN
SWEEPING = frozenset({"drive past", "start", "stop", "turn"})

# Units beyond the edge of the frame at which nothing of somebody is in sight.
BEYOND_EDGE = 20
# What drives across the frame ends beyond its edge, by this share of its width.
SWEEP_BEYOND_EDGE = 0.3
# Others stay so many units from the edge, go at most as far as their share of the row but at
# least so far.
FROM_EDGE = 12
LEAST_SHARED_REACH = 8.0
LEAST_REACH = 14.0
# Figures do not fill their boxes: what they hide, as a share of the box's width.
FILLED = 0.85
# From which to which height what somebody holds, rides or moves hides others, in units.
HELD_TOP = 50
HELD_BOTTOM = 15
# A face, in units of a head of size 1.
FACE_HEIGHT = 26
FACE_HALF_WIDTH = 12


@dataclass(frozen=True)
class Placed:
    """An individual, where it stands when it does not move, and how far it may.

    Attributes:
        individual: what stands there.
        place: where it stands.
        box: what must be seen of it: a person's face, or else all.
        covers: what it hides of others behind it.
        reach: units to each side.
        side: the nearer edge: 1 right, -1 left.
        out: units from here until it is out of sight on that side.
        ahead: units until it is out of sight where it faces.
    """

    individual: Individual
    place: Placement
    box: Box
    covers: tuple[Box, ...]
    reach: float
    side: int
    out: float
    ahead: float


def flies(figure: Figure) -> bool:
    return any(
        action.kind.posture == "fly" or action.verb == "fly past" for action in figure.actions
    )


def sweeps(figure: Figure) -> bool:
    """Return whether a figure drives across the frame."""
    return any(action.kind.motion in SWEEPING for action in figure.actions)


def placed_among(individual: Individual, place: Placement, share: float) -> Placed:
    """Place somebody who may go a share of pixels to each side among others."""
    figure = individual.figure
    room = extent(figure)
    top = place.y - room.height * place.scale
    if individual.look:
        box = _face_box(figure.kind, place, top)
    else:
        half_width = _half_width(figure) * place.scale
        box = _box_around(place, half_width, top=top, bottom=place.y)

    to_edge = min(place.x, SIZE - place.x) / place.scale
    out_of_sight = max(room.behind, room.front) + BEYOND_EDGE
    pixels_ahead = SIZE - place.x if place.facing > 0 else place.x
    return Placed(
        individual,
        place,
        box,
        covers=_covers(figure, place, top),
        reach=_reach(figure, to_edge, share / place.scale),
        side=1 if place.x > SIZE / 2 else -1,
        out=to_edge + out_of_sight,
        ahead=pixels_ahead / place.scale + out_of_sight,
    )


def in_step(row: Sequence[Placed]) -> list[Placed]:
    """Give each of a row as far to go as the others of its figure, so that none overtakes another."""
    everybody = []
    for placed in row:
        number = placed.individual.number
        companions = [other for other in row if other.individual.number == number]
        reach = min(companion.reach for companion in companions)
        ahead = max(companion.ahead for companion in companions)
        everybody.append(replace(placed, reach=reach, ahead=ahead))
    return everybody


def _reach(figure: Figure, to_edge: float, share: float) -> float:
    """Return how far somebody may go to each side, by its share of the row; all in units."""
    if sweeps(figure):
        return to_edge + SWEEP_BEYOND_EDGE * extent(figure).width
    reach = min(share, max(LEAST_SHARED_REACH, to_edge - FROM_EDGE))
    return max(reach, min(LEAST_REACH, to_edge - FROM_EDGE))


def _half_width(figure: Figure) -> float:
    """Return half the width of somebody without what is before it, in units."""
    room = extent(figure)
    return (room.behind + room.front - ahead_of(figure)) / 2


def _covers(figure: Figure, place: Placement, top: float) -> tuple[Box, ...]:
    """Return what somebody hides of others."""
    half_width = FILLED * _half_width(figure) * place.scale
    itself = _box_around(place, half_width, top=top, bottom=place.y)
    ahead = ahead_of(figure)
    if not ahead:
        return (itself,)
    return itself, _box_ahead(place, (extent(figure).front + ahead) / 2)


def _box_around(place: Placement, half_width: float, top: float, bottom: float) -> Box:
    return Box(left=place.x - half_width, top=top, right=place.x + half_width, bottom=bottom)


def _box_ahead(place: Placement, middle: float) -> Box:
    """Return the box of what somebody holds, rides or moves."""
    tip = place.x + place.facing * middle * place.scale
    return Box(
        left=min(place.x, tip),
        top=place.y - HELD_TOP * place.scale,
        right=max(place.x, tip),
        bottom=place.y - HELD_BOTTOM * place.scale,
    )


def _face_box(person: Thing, place: Placement, top: float) -> Box:
    head = head_size(person)
    size = place.scale * person.size
    chin = top + HEAD * head * size
    face_top = chin - FACE_HEIGHT * head * size
    return _box_around(place, FACE_HALF_WIDTH * head * size, top=face_top, bottom=chin)
