"""Rendering of scenes: layout, motion and frames.

Each actor and prop on the ground has a lane of its own, so nothing is hidden. Flying things are in the sky.
"""

import math
import random
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nt2vr.world.drawn.backdrops import HORIZON, backdrop_svg
from nt2vr.world.drawn.sprites import SKINS, Sprite, actor_svg, draw_svg, sprite, thing_svg
from nt2vr.world.scenes import Actor, Scene
from nt2vr.world.vocabulary import ACTIVITIES, FLYING, PROPS, SUBJECTS, Motion

SIZE = 224  # coordinates below are pixels of a 224 x 224 clip
MAX_UNIT = 1.45  # pixels per unit for a single actor: a picture of 72 units is 104 pixels wide
LARGEST_UNIT = 1.85  # a single elephant
PERSON_WIDTH, ANIMAL_WIDTH, PROP_WIDTH = 56, 92, 56  # units, with props and arms


@dataclass(frozen=True)
class Mover:
    """One moving sprite."""

    svg: str
    motion: Motion
    unit: float  # pixels per unit, for a clip of SIZE
    x: float  # centre of its lane
    y: float  # the line it stands on
    reach: float  # largest distance from `x`
    phase: float  # where in its motion it starts, 0 to 1
    flip: bool  # mirrored, to face right instead of left; walkers face where they go

    def at(self, time: float) -> tuple[float, float, int, bool]:
        """Return x, y, clockwise angle and whether mirrored at `time` in [0, 1]; the motion loops.

        Angles are few, which keeps the sprite cache small.
        """
        cycle = (time + self.phase) % 1
        swing = math.sin(2 * math.pi * cycle)
        to_the_right = (cycle < 0.5) != self.flip  # there and back; OpenMoji's movers look left
        there = self.x + self.reach * (1 - abs(4 * cycle - 2)) * (-1 if self.flip else 1)
        match self.motion:
            case "walk":
                return there, self.y - 4 * abs(math.sin(6 * math.pi * cycle)), 0, to_the_right
            case "roll":
                return there, self.y, 0, to_the_right
            case "turn":
                return there, self.y, 45 * int(8 * cycle), self.flip
            case "bounce":
                return self.x, self.y - 12 * abs(swing), 0, self.flip
            case "sway":
                return self.x + 3 * swing, self.y, 4 * round(2 * swing), self.flip
            case "stay":
                return self.x, self.y, 0, self.flip


def _lanes(widths: list[float]) -> list[tuple[float, float]]:
    """Divide the width of the picture into lanes of relative widths; return (centre, width) of each."""
    edges = np.cumsum([0, *widths]) / (sum(widths) or 1) * (SIZE - 16) + 8
    return [(float(a + b) / 2, float(b - a)) for a, b in pairwise(edges)]


def _width(what: Actor | str) -> float:
    """Units of ground that an actor or a prop occupies."""
    if isinstance(what, str):
        return PROP_WIDTH * PROPS[what].scale
    subject = SUBJECTS[what.subject]
    return PERSON_WIDTH * max(subject.scale, 0.85) if subject.kind == "person" else ANIMAL_WIDTH * subject.scale


def lay_out(scene: Scene) -> list[Mover]:
    """Place all actors and props of a scene, farthest first."""
    rng = random.Random(scene.look)
    movers: list[Mover] = []
    sky = [8 + 0.5 * (SIZE - 16)] if len(scene.props) < 2 else [SIZE * 0.25, SIZE * 0.75]
    rng.shuffle(sky)
    for name in scene.props:
        if PROPS[name].sky:
            x = sky.pop() + rng.uniform(-30, 30)
            y = 62 + rng.uniform(-6, 6)
            movers.append(Mover(thing_svg(name), "stay", PROPS[name].scale * 0.8, x, y, 0, 0, False))
    ground: list[Actor | str] = [name for name in scene.props if not PROPS[name].sky]
    for actor in scene.actors:
        if SUBJECTS[actor.subject].kind == "vehicle":
            movers.append(_vehicle(actor, rng))
        else:
            ground.append(actor)
    rng.shuffle(ground)
    widths = [_width(what) for what in ground]
    unit = min(MAX_UNIT, (SIZE - 16) / (sum(widths) or 1))
    for what, width, (middle, room) in zip(ground, widths, _lanes(widths), strict=True):
        phase, flip, y = rng.random(), rng.random() < 0.5, SIZE * rng.uniform(0.86, 0.95)
        if isinstance(what, str):
            movers.append(Mover(thing_svg(what), "stay", unit * PROPS[what].scale, middle, y, 0, phase, flip))
        else:
            motion = ACTIVITIES[what.activity].motion
            reach = min(60.0, 6 + (room - width * unit) / 2)
            svg = actor_svg(what, rng.choice(SKINS))
            movers.append(Mover(svg, motion, unit * SUBJECTS[what.subject].scale, middle, y, reach, phase, flip))
    return movers


def _vehicle(actor: Actor, rng: random.Random) -> Mover:
    """Place a vehicle behind everybody: on the ground near the horizon, or in the sky."""
    flies = actor.subject in FLYING
    y = SIZE * (rng.uniform(0.45, 0.48) if flies else HORIZON + rng.uniform(0.04, 0.07))
    unit = 0.72 * SUBJECTS[actor.subject].scale
    return Mover(actor_svg(actor, ""), "roll", unit, SIZE / 2, y, 62, rng.random(), rng.random() < 0.5)


@lru_cache(maxsize=256)
def _backdrop(place: str, variant: int, size: int) -> NDArray[np.uint16]:
    return draw_svg(backdrop_svg(place, variant), size)[..., :3].astype(np.uint16)


def _paste(canvas: NDArray[np.uint16], sprite: Sprite, x: int, y: int) -> None:
    top, left = y + sprite.dy, x + sprite.dx
    height, width = sprite.rgb.shape[:2]
    y0, x0 = max(0, -top), max(0, -left)
    y1, x1 = min(height, canvas.shape[0] - top), min(width, canvas.shape[1] - left)
    if y0 < y1 and x0 < x1:
        patch = canvas[top + y0 : top + y1, left + x0 : left + x1]
        patch *= sprite.transparency[y0:y1, x0:x1]
        patch //= 255
        patch += sprite.rgb[y0:y1, x0:x1]


class Renderer:
    """Draws scenes at one size, with cached sprites."""

    def __init__(self, size: int = SIZE) -> None:
        """Draw frames of `size` x `size` pixels."""
        self.size = size

    def frames(self, scene: Scene, num_frames: int) -> NDArray[np.uint8]:
        """Return (F, size, size, 3) uint8 RGB frames, evenly spaced over the clip."""
        factor = self.size / SIZE
        backdrop = _backdrop(scene.place, scene.look % 4, self.size)
        frames = np.empty((num_frames, self.size, self.size, 3), np.uint8)
        movers = lay_out(scene)
        for index in range(num_frames):
            canvas = backdrop.copy()
            for mover in movers:
                x, y, angle, flip = mover.at((index + 0.5) / num_frames)
                unit = round(mover.unit * factor * 16) / 16
                look = sprite(mover.svg, unit, LARGEST_UNIT * factor, angle, flip)
                _paste(canvas, look, round(x * factor), round(y * factor))
            frames[index] = canvas
        return frames
