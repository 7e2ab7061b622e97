"""The canvas of one frame: pictures, limbs and shadows painted over a backdrop, each where it lies in the scene."""

from collections.abc import Sequence
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from nt2vr.world.drawn.sprites import NIGHT, Image, Sprite, sprite

Point = tuple[float, float]
FRACTION = 4  # bits of a pixel in OpenCV's coordinates
INK = "#000000"
OUTLINE = 2.0  # units, as in OpenMoji


@lru_cache(maxsize=1_000)
def rgb(colour: str, night: bool) -> tuple[float, ...]:
    """Return #RRGGBB as three numbers, tinted at night."""
    values = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return tuple(value * tint for value, tint in zip(values, NIGHT if night else (1, 1, 1), strict=True))


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

    def picture(self, svg: str, middle: Point, scale: float, angle: float = 0, flip: bool = False) -> None:
        """Paint a drawing around its middle, at `scale` pixels per unit, turned clockwise by degrees."""
        self._paste(sprite(svg, scale, self.size, angle, flip, self.night), round(middle[0]), round(middle[1]))

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
        self._paste(
            Sprite(np.zeros_like(light), light, -light.shape[1] // 2, -light.shape[0] // 2), round(x), round(y)
        )

    def line(self, points: Sequence[Point], width: float, colour: str, scale: float) -> None:
        """Paint a line with round ends, outlined unless thin; `width` is in units of `scale` pixels."""
        joints = [(np.array(points) * 2**FRACTION).astype(np.int32)]
        outline = [(INK, width + 2 * OUTLINE)] if width > OUTLINE else []
        for ink, thickness in (*outline, (colour, width)):
            pixels = max(1, round(thickness * scale))
            cv2.polylines(self.pixels, joints, False, rgb(ink, self.night), pixels, cv2.LINE_AA, FRACTION)

    def shape(self, points: Sequence[Point], colour: str, scale: float) -> None:
        """Paint a filled shape with an outline."""
        corners = [(np.array(points) * 2**FRACTION).astype(np.int32)]
        cv2.fillPoly(self.pixels, corners, rgb(colour, self.night), cv2.LINE_AA, FRACTION)
        pixels = max(1, round(OUTLINE * scale))
        cv2.polylines(self.pixels, corners, True, rgb(INK, self.night), pixels, cv2.LINE_AA, FRACTION)
