"""Bodies for animals whose pictures are heads."""

from functools import cache
from typing import NamedTuple

from nt2vr.world.drawn.canvas import ink
from nt2vr.world.things import read_toml


class _Body(NamedTuple):
    """How an animal is drawn whose picture is a head, in units of the picture."""

    body_width: int
    leg_width: int
    leg_xs: tuple[int, ...]
    tail: str  # with a slot for its colour


_BIPED = _Body(36, 3, (38, 48), '<path d="M58 44L68 34L66 46Z" fill="{colour}"/>')
_QUADRUPED = _Body(40, 7, (30, 38, 50, 58), '<path d="M61 40Q69 38 67 28" fill="none"/>')
# The longest side of a head on a body, and its middle.
_HEAD_ON_BODY = 38
_HEAD_MIDDLE = (23, 31)


@cache
def with_body(head: str, colour: str, legs: str, biped: bool) -> str:
    """Return an animal, facing left, from a picture of its head."""
    body = _BIPED if biped else _QUADRUPED
    tail = body.tail.format(colour=colour)
    drawn_legs = ""
    for x in body.leg_xs:
        drawn_legs += (
            f'<rect x="{x}" y="50" width="{body.leg_width}" height="15" rx="2" fill="{legs}"/>'
        )
    trunk = f'<rect x="26" y="35" width="{body.body_width}" height="21" rx="10" fill="{colour}"/>'
    return f'<g stroke="#000" stroke-width="2">{tail}{drawn_legs}{trunk}</g>{_head_on_body(head)}'


def _head_on_body(head: str) -> str:
    """Return a picture of a head, moved and reduced to sit on a body."""
    box = ink(head)
    size = _HEAD_ON_BODY / box.longest
    middle_x, middle_y = box.middle
    head_x, head_y = _HEAD_MIDDLE
    dx = head_x - middle_x * size
    dy = head_y - middle_y * size
    return f'<g transform="translate({dx} {dy}) scale({size})">{head}</g>'


@cache
def body_of(animal: str) -> tuple[str, str, bool] | None:
    """Return the colours of body and legs for an animal whose picture is a head.

    The third value is whether it has two legs.
    """
    body = read_toml("poses")["bodies"].get(animal)
    return tuple(body) if body else None
