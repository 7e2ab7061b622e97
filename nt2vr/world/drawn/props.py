"""Things in the hands and at the feet of figures: their drawings, sizes, and places on a doll."""

from functools import cache

from nt2vr.world.drawn.canvas import Canvas, Point
from nt2vr.world.drawn.dolls import Placement, body_of
from nt2vr.world.drawn.looks import with_body
from nt2vr.world.drawn.motions import STEPS, Spot
from nt2vr.world.drawn.sprites import drawing, ink, recoloured
from nt2vr.world.scenes import Deed, Figure
from nt2vr.world.things import Thing, things

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
LOOKING_RIGHT = frozenset(
    "bison,hippo,raccoon,polar bear,bird,snake,dragon,dinosaur,snail,bee,plane,helicopter,rocket,kick scooter".split(
        ","
    )
)


@cache
def picture(thing: Thing, colour: str = "") -> str:
    """Return the drawing of a thing in a colour."""
    svg = drawing(thing.picture)
    if body := body_of(thing.name):
        svg = with_body(svg, *body)
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
    if isinstance(deed.object, str):
        thing = things()[deed.object]
        return thing, picture(thing, deed.colour)
    if deed.kind.shows:
        thing = things()[deed.kind.shows]
        return thing, drawing(thing.picture)
    return None, drawing(deed.kind.sign) if deed.kind.hand == "at face" else ""


def centred(
    place: Placement, canvas: Canvas, svg: str, middle: Point, longest: float, angle: float, flip: bool
) -> None:
    """Paint a drawing so that what it fills is `longest` units long around a point."""
    left, top, right, bottom = ink(svg)
    size = longest / max(right - left, bottom - top)
    x = middle[0] - (-1 if flip else 1) * ((left + right) / 2 - 36) * size
    place.paint(canvas, svg, (x, middle[1] + ((top + bottom) / 2 - 36) * size), size, angle, flip)


def flying(spot: Spot, track: str, longest: float) -> Point:
    """Return where a thing is that somebody throws, rolls or kicks, in units."""
    if track == "air":
        return 26 + 40 * spot.x, longest / 2 + 74 * spot.y
    return 24 + 40 * spot.x, longest / 2
