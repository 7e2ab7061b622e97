"""Rendering: scenes as frames, deterministic in the scene and its seed."""

from dataclasses import replace

import cv2
import numpy as np

from nt2vr.world.deeds import DeedKind
from nt2vr.world.drawn.actors import Stand, extent, paint, placed
from nt2vr.world.drawn.backdrops import VARIANTS, backdrop
from nt2vr.world.drawn.canvas import Canvas, Point
from nt2vr.world.drawn.layout import SIZE, Placed, lay_out
from nt2vr.world.drawn.motions import MOTIONS, STEPS
from nt2vr.world.drawn.props import active
from nt2vr.world.drawn.sprites import Image
from nt2vr.world.scenes import Deed, Scene

FINER = 2  # frames are painted larger, then reduced, which smooths lines


def render(scene: Scene, size: int = 224, frames: int = STEPS) -> Image:
    """Return (F, size, size, 3) uint8 RGB frames, evenly spaced over the clip.

    To draw at an encoder's size at once is twice as fast as to draw and `fit` frames.
    """
    at = size * FINER
    ground = backdrop(scene.place, scene.night, scene.seed % VARIANTS, at)
    everybody = [replace(each, stand=_enlarged(each.stand, at / SIZE)) for each in lay_out(scene)]
    drawn = np.empty((frames, size, size, 3), np.uint8)
    for index in range(frames):
        canvas = Canvas(ground, scene.night)
        _paint_step(canvas, everybody, int((index + 0.5) * STEPS / frames))
        drawn[index] = cv2.resize(canvas.pixels, (size, size), interpolation=cv2.INTER_AREA)
    return drawn


def _enlarged(stand: Stand, factor: float) -> Stand:
    place = stand.place
    return replace(stand, place=replace(place, x=place.x * factor, y=place.y * factor, scale=place.scale * factor))


def _leads(kind: DeedKind) -> bool:
    """Return whether the other figure goes along."""
    return kind.targets and MOTIONS.get(kind.motion, ("", None))[0] == "lane"


def _paint_step(canvas: Canvas, everybody: list[Placed], step: int) -> None:
    doing = {each.who.number: active(each.who.figure, step).get("main") for each in everybody}
    led: dict[int, Deed] = {d.object: d for d in doing.values() if d and isinstance(d.object, int) and _leads(d.kind)}
    for each in everybody:
        deed, leash = doing[each.who.number], None
        if deed and deed.kind.hand == "leash" and isinstance(deed.object, int):
            leash = _neck(everybody, deed.object, step, deed)
        paint(canvas, each.who, each.stand, step, led.get(each.who.number), leash)


def _neck(everybody: list[Placed], number: int, step: int, led: Deed) -> Point:
    """Return the pixel where a leash is tied."""
    pet = next(each for each in everybody if each.who.number == number)
    _, front, height = extent(pet.who.figure)
    return placed(pet.who, pet.stand, step, led)[0].at((0.55 * front, 0.6 * height))
