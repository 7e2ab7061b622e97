"""Bodies for animals whose pictures are heads."""

from functools import cache
from typing import NamedTuple

from nt2vr.world.drawn.canvas import ink, positioned
from nt2vr.world.things import read_toml


class Body(NamedTuple):
    """How the body of an animal looks."""

    colour: str
    leg_colour: str
    is_biped: bool


class _Shape(NamedTuple):
    """What bodies have in common, in units of the picture."""

    width: int
    leg_width: int
    leg_xs: tuple[int, ...]
    tail: str  # with a slot for its colour


_BIPED = _Shape(36, 3, (38, 48), '<path d="M58 44L68 34L66 46Z" fill="{colour}"/>')
_QUADRUPED = _Shape(40, 7, (30, 38, 50, 58), '<path d="M61 40Q69 38 67 28" fill="none"/>')
# The longest side of a head on a body, and its middle.
_HEAD_SIZE = 38
_HEAD_X = 23
_HEAD_Y = 31


@cache
def body_of(animal: str) -> Body | None:
    """Return the body for an animal; None for one whose picture has its own."""
    body = read_toml("poses")["bodies"].get(animal)
    return Body(*body) if body else None


def with_body(head: str, body: Body) -> str:
    """Return an animal, facing left, from a picture of its head."""
    shape = _BIPED if body.is_biped else _QUADRUPED
    tail = shape.tail.format(colour=body.colour)
    legs = ""
    for x in shape.leg_xs:
        legs += (
            f'<rect x="{x}" y="50" width="{shape.leg_width}" height="15" rx="2" '
            f'fill="{body.leg_colour}"/>'
        )
    trunk = f'<rect x="26" y="35" width="{shape.width}" height="21" rx="10" fill="{body.colour}"/>'
    return f'<g stroke="#000" stroke-width="2">{tail}{legs}{trunk}</g>{_head_on_body(head)}'


def _head_on_body(head: str) -> str:
    """Return a picture of a head, moved and reduced to sit on a body."""
    box = ink(head)
    size = _HEAD_SIZE / box.longest
    return positioned(head, size, (box.middle_x, box.middle_y), to=(_HEAD_X, _HEAD_Y))
