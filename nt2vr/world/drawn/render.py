"""Rendering of scenes into frames; scenery has soft outlines and lies in haze, so that it is not taken for figures."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from random import Random

import cv2
import numpy as np

from nt2vr.world.drawn.actors import active, extent, paint, placed
from nt2vr.world.drawn.canvas import UNITS, Canvas, Image, Point, draw_svg, drawing, ink, recoloured
from nt2vr.world.drawn.layout import SIZE, Placed, lay_out
from nt2vr.world.drawn.motions import MOTIONS, STEPS
from nt2vr.world.scenes import Deed, Scene
from nt2vr.world.things import read_toml

HORIZON = 134  # y of the ground's far edge
VARIANTS = 4  # mirrored or not, shifted to the left or to the right
NIGHT_SKY = ("#0E1B46", "#41598F")
NIGHT_GLASS = "#22346B"
SOFT_INK = "#6B5B4E"
# what the night leaves of red, green and blue outdoors, and in a room by lamplight
_OUTDOORS, _INDOORS = (0.42, 0.5, 0.78), (0.7, 0.66, 0.66)


@cache
def _flat(code: str) -> str:
    """Return an OpenMoji picture with soft outlines."""
    return f'<g fill="{SOFT_INK}">{recoloured(drawing(code), {"#000000": SOFT_INK, "#000": SOFT_INK})}</g>'


def _piece(code: str, middle: float, foot: float, width: float) -> str:
    (left, _, right, bottom), scale = ink(_flat(code)), width / UNITS
    x, y = middle - (left + right) / 2 * scale, foot - bottom * scale
    return f'<g transform="translate({x:.1f} {y:.1f}) scale({scale:.3f})">{_flat(code)}</g>'


def _filter(
    name: str, factors: tuple[float, float, float], haze: Sequence[float] = (0, 0, 0)
) -> str:
    rows = (
        " ".join(f"{factor if row == column else 0}" for column in range(4)) + f" {haze[row]}"
        for row, factor in enumerate(factors)
    )
    return (
        f'<filter id="{name}" color-interpolation-filters="sRGB" x="0" y="0" width="1" height="1" '
        f'filterUnits="objectBoundingBox"><feColorMatrix values="{" ".join(rows)} 0 0 0 1 0"/></filter>'
    )


def _gradient(name: str, colours: tuple[str, str]) -> str:
    return (
        f'<linearGradient id="{name}" x2="0" y2="1"><stop stop-color="{colours[0]}"/>'
        f'<stop offset="1" stop-color="{colours[1]}"/></linearGradient>'
    )


def _stars() -> str:
    rng = Random(7)
    dots = (
        (rng.uniform(4, 220), rng.uniform(4, 100), rng.choice((1, 1.3, 1.8))) for _ in range(34)
    )
    stars = "".join(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{r}"/>' for x, y, r in dots)
    return f'<g fill="#FFF8DC">{stars}</g>'


def backdrop_svg(place: str, night: bool, variant: int) -> str:
    """Return the SVG of a place; `variant` mirrors and shifts its scenery."""
    given = read_toml("backdrops")[place]
    indoor, dark = given.get("indoor", False), given.get("dark", False)
    open_sky = not (indoor or dark or given.get("covered", False))
    mirrored = f'transform="translate({SIZE} 0) scale(-1 1)"' if variant % 2 else ""
    shift = (-6, 6)[variant // 2]
    pieces = "".join(_piece(*piece) for piece in given["pieces"])
    sky = NIGHT_SKY if night and open_sky else tuple(given["sky"])
    factors = _INDOORS if indoor else _OUTDOORS
    haze = 0.0 if indoor else 0.18
    of_sky = [haze * int(sky[1][i : i + 2], 16) / 255 for i in (1, 3, 5)]
    hazed = _filter("haze", (1 - haze, 1 - haze, 1 - haze), of_sky)
    dim = 'filter="url(#night)"' if night and not dark else ""
    far, near, shapes = given["far"], given.get("near", ""), read_toml("backdrops")["shapes"]
    if night:
        far, shapes = (some.replace("#BFE6FF", NIGHT_GLASS) for some in (far, shapes))
        far = far.replace('fill="#BFE0F5"', f'fill="{NIGHT_GLASS}"')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}"><defs>{_gradient("sky", sky)}'
        f"{_gradient('ground', tuple(given['ground']))}{_filter('night', factors)}{hazed}{shapes}</defs>"
        f'<rect width="{SIZE}" height="{SIZE}" fill="url(#sky)" {"" if open_sky else dim}/>'
        f"{_stars() if night and open_sky else ''}"
        f'<g {dim}><rect y="{HORIZON}" width="{SIZE}" height="{SIZE - HORIZON}" fill="url(#ground)"/>'
        f'<g {mirrored}><g transform="translate({shift} 0)">{far}<g filter="url(#haze)">{pieces}</g></g>{near}</g>'
        "</g></svg>"
    )


@lru_cache(maxsize=320)
def backdrop(place: str, night: bool, variant: int, size: int) -> Image:
    """Return a place as (size, size, 3) uint8 RGB."""
    return draw_svg(backdrop_svg(place, night, variant), size, size)[..., :3].copy()


FINER = 2  # frames are painted larger, then reduced, which smooths lines
ALONG = {
    motion for motion, (track, _) in MOTIONS.items() if track == "lane"
}  # those to whom it is done go along


def render(scene: Scene, size: int = 224, frames: int = STEPS) -> Image:
    """Return (F, size, size, 3) uint8 RGB frames, evenly spaced over the clip.

    To draw at an encoder's size at once is twice as fast as to draw and `fit` frames.
    """
    at = size * FINER
    ground = backdrop(scene.place, scene.night, scene.seed % VARIANTS, at)
    factor, everybody = at / SIZE, list[Placed]()
    for each in lay_out(scene):
        x, y, scale = (
            factor * value
            for value in (each.stand.place.x, each.stand.place.y, each.stand.place.scale)
        )
        stand = replace(each.stand, place=replace(each.stand.place, x=x, y=y, scale=scale))
        everybody.append(replace(each, stand=stand))
    drawn = np.empty((frames, size, size, 3), np.uint8)
    for index in range(frames):
        canvas = Canvas(ground, scene.night)
        step = int((index + 0.5) * STEPS / frames)
        for each, led, leash in roles(everybody, step):
            paint(canvas, each.who, each.stand, step, led, leash)
        drawn[index] = cv2.resize(canvas.pixels, (size, size), interpolation=cv2.INTER_AREA)
    return drawn


def roles(everybody: list[Placed], step: int) -> Iterator[tuple[Placed, Deed | None, Point | None]]:
    """Yield everybody with the deed of somebody whom they go along with, and where a leash ends that they hold."""
    doing = {each.who.number: active(each.who.figure, step).get("main") for each in everybody}
    done = filter(None, doing.values())
    led = {
        deed.object: deed
        for deed in done
        if isinstance(deed.object, int) and deed.kind.motion in ALONG
    }
    for each in everybody:
        deed, leash = doing[each.who.number], None
        if deed and deed.kind.hand == "leash":
            pet = next(other for other in everybody if other.who.number == deed.object)
            _, front, height = extent(pet.who.figure)
            leash = placed(pet.who, pet.stand, step, deed)[0].at((0.55 * front, 0.6 * height))
        yield each, led.get(each.who.number), leash
