"""Rendering of scenes into frames.

Scenery has soft outlines and lies in haze, so that it is not taken for figures.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from random import Random
from typing import Any

import numpy as np

from nt2vr.world.drawn.actors import Role, paint, placed_at
from nt2vr.world.drawn.canvas import (
    UNITS,
    Canvas,
    Image,
    Point,
    Tint,
    draw_svg,
    drawing,
    ink,
    recoloured,
    rgb,
)
from nt2vr.world.drawn.layout import lay_out
from nt2vr.world.drawn.motions import MOTIONS, STEPS
from nt2vr.world.drawn.sizes import extent, main_action
from nt2vr.world.drawn.stands import SIZE, Placed
from nt2vr.world.scenes import Action, Scene
from nt2vr.world.things import read_toml

# Y of the ground's far edge.
HORIZON = 134
# Mirrored or not, shifted to the left or to the right.
VARIANTS = 4
NIGHT_SKY = ("#0E1B46", "#41598F")
NIGHT_GLASS = "#22346B"
SOFT_INK = "#6B5B4E"
# What the night leaves of red, green and blue outdoors, and in a room by lamplight.
_OUTDOORS = (0.42, 0.5, 0.78)
_INDOORS = (0.7, 0.66, 0.66)
# The share of the sky's colour in what stands far away outdoors.
HAZE = 0.18
# Pixels by which scenery is shifted.
SHIFTS = (-6, 6)
NUM_STARS = 34
# From which to which pixel stars are, across and down, and their radii.
STARS_ACROSS = (4, 220)
STARS_DOWN = (4, 100)
STAR_RADII = (1, 1.3, 1.8)


@cache
def _flat(code: str) -> str:
    """Return an OpenMoji picture with soft outlines."""
    svg = drawing(code)
    for black in ("#000000", "#000"):
        svg = recoloured(svg, black, SOFT_INK)
    return f'<g fill="{SOFT_INK}">{svg}</g>'


def _piece(code: str, middle: float, foot: float, width: float) -> str:
    """Return a picture on a point of the ground, `width` wide."""
    svg = _flat(code)
    box = ink(svg)
    scale = width / UNITS
    x = middle - box.middle_x * scale
    y = foot - box.bottom * scale
    return f'<g transform="translate({x:.1f} {y:.1f}) scale({scale:.3f})">{svg}</g>'


def _filter(name: str, factors: Tint, haze: Sequence[float] = (0, 0, 0)) -> str:
    """Return a filter that multiplies red, green and blue, and adds haze."""
    red, green, blue = factors
    red_haze, green_haze, blue_haze = haze
    matrix = f"{red} 0 0 0 {red_haze} 0 {green} 0 0 {green_haze} 0 0 {blue} 0 {blue_haze} 0 0 0 1 0"
    return (
        f'<filter id="{name}" color-interpolation-filters="sRGB" x="0" y="0" width="1" height="1" '
        f'filterUnits="objectBoundingBox"><feColorMatrix values="{matrix}"/></filter>'
    )


def _gradient(name: str, colours: Sequence[str]) -> str:
    above, below = colours
    return (
        f'<linearGradient id="{name}" x2="0" y2="1"><stop stop-color="{above}"/>'
        f'<stop offset="1" stop-color="{below}"/></linearGradient>'
    )


def _stars() -> str:
    rng = Random(7)
    stars = ""
    for _ in range(NUM_STARS):
        x = rng.uniform(*STARS_ACROSS)
        y = rng.uniform(*STARS_DOWN)
        radius = rng.choice(STAR_RADII)
        stars += f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{radius}"/>'
    return f'<g fill="#FFF8DC">{stars}</g>'


def _haze(share: float, sky: Sequence[str]) -> str:
    """Return a filter that blends pieces of scenery with the lower sky."""
    _, lower_sky = sky
    added = [share * level / 255 for level in rgb(lower_sky, night=False)]
    remaining = 1 - share
    return _filter("haze", (remaining, remaining, remaining), added)


def backdrop_svg(place: str, night: bool, variant: int) -> str:
    """Return the SVG of a place; `variant` mirrors and shifts its scenery."""
    table = read_toml("backdrops")[place]
    is_dark = table.get("dark", False)
    is_roofed = table.get("indoor", False) or table.get("covered", False)
    has_open_sky = not (is_roofed or is_dark)
    is_starry = night and has_open_sky
    sky = NIGHT_SKY if is_starry else table["sky"]
    stars = _stars() if is_starry else ""

    dim = 'filter="url(#night)"' if night and not is_dark else ""
    # The colours of an open sky are already those of the night.
    dim_sky = "" if has_open_sky else dim
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}">'
        f"<defs>{_definitions(table, sky, night)}</defs>"
        f'<rect width="{SIZE}" height="{SIZE}" fill="url(#sky)" {dim_sky}/>'
        f"{stars}"
        f'<g {dim}><rect y="{HORIZON}" width="{SIZE}" height="{SIZE - HORIZON}" '
        f'fill="url(#ground)"/>{_scenery(table, night, variant)}</g></svg>'
    )


def _definitions(table: Mapping[str, Any], sky: Sequence[str], night: bool) -> str:
    """Return the gradients, filters and shapes that the drawing of a place refers to."""
    gradients = _gradient("sky", sky) + _gradient("ground", table["ground"])
    light = _OUTDOORS
    haze = HAZE
    if table.get("indoor", False):
        light = _INDOORS
        haze = 0.0
    shapes: str = read_toml("backdrops")["shapes"]
    if night:
        shapes = _with_night_glass(shapes)
    return gradients + _filter("night", light) + _haze(haze, sky) + shapes


def _scenery(table: Mapping[str, Any], night: bool, variant: int) -> str:
    """Return what stands at a place, mirrored and shifted as a variant says."""
    far = table["far"]
    if night:
        far = _with_night_glass(far)
        far = far.replace('fill="#BFE0F5"', f'fill="{NIGHT_GLASS}"')
    pieces = "".join(_piece(*piece) for piece in table["pieces"])
    shift = SHIFTS[variant // 2]
    mirrored = ""
    if variant % 2:
        mirrored = f'transform="translate({SIZE} 0) scale(-1 1)"'
    return (
        f'<g {mirrored}><g transform="translate({shift} 0)">'
        f'{far}<g filter="url(#haze)">{pieces}</g></g>{table.get("near", "")}</g>'
    )


def _with_night_glass(svg: str) -> str:
    return svg.replace("#BFE6FF", NIGHT_GLASS)


@lru_cache(maxsize=320)
def backdrop(place: str, night: bool, variant: int, size: int) -> Image:
    """Return a place as (size, size, 3) uint8 RGB."""
    return draw_svg(backdrop_svg(place, night, variant), size)[..., :3].copy()


# Frames are painted larger, then reduced, which smooths lines.
FINER = 2
# Where the collar of a pet is, in shares of its front and of its height.
COLLAR = (0.55, 0.6)
# Motions of which those to whom it is done go along.
ALONG = {motion for motion, (track, _) in MOTIONS.items() if track == "lane"}


def render(scene: Scene, size: int = 224, frames: int = STEPS) -> Image:
    """Return (F, size, size, 3) uint8 RGB frames, evenly spaced over the clip.

    To draw at an encoder's size at once is twice as fast as to draw and `fit` frames.
    """
    import cv2  # noqa: PLC0415  16 MB that only drawing needs

    canvas_size = size * FINER
    variant = scene.seed % VARIANTS
    ground = backdrop(scene.place, scene.night, variant, canvas_size)
    enlargement = canvas_size / SIZE
    everybody = [_scaled(placed, enlargement) for placed in lay_out(scene)]
    drawn = np.empty((frames, size, size, 3), np.uint8)
    for index in range(frames):
        canvas = Canvas(ground, scene.night)
        step = int((index + 0.5) * STEPS / frames)
        for role in roles(everybody, step):
            paint(canvas, role, step)
        drawn[index] = cv2.resize(canvas.pixels, (size, size), interpolation=cv2.INTER_AREA)
    return drawn


def _scaled(placed: Placed, factor: float) -> Placed:
    """Return somebody in pixels of a larger or smaller frame."""
    place = placed.place
    place = replace(
        place,
        x=factor * place.x,
        y=factor * place.y,
        scale=factor * place.scale,
    )
    return replace(placed, place=place)


def roles(everybody: Sequence[Placed], step: int) -> Iterator[Role]:
    """Yield everybody in the order of painting."""
    actions = [main_action(placed.individual.figure, step) for placed in everybody]
    actions_of_leaders = {}
    for action in actions:
        if action.target is not None and action.kind.motion in ALONG:
            actions_of_leaders[action.target] = action

    for placed, action in zip(everybody, actions, strict=True):
        leash = None
        if action.kind.hand == "leash":
            leash = _collar(everybody, action, step)
        yield Role(placed, actions_of_leaders.get(placed.individual.number), leash)


def _collar(everybody: Sequence[Placed], action: Action, step: int) -> Point:
    """Return where the leash of a pet ends that is led by an action."""
    pet = next(placed for placed in everybody if placed.individual.number == action.target)
    _, front, height = extent(pet.individual.figure)
    x, y = COLLAR
    place = placed_at(Role(pet, led=action), step).place
    return place.at((x * front, y * height))
