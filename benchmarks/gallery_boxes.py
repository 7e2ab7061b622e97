"""Boxes around what the gallery's clips show, step by step, for `nt2vr.world.evidence`.

They are measured without painting. Run `python -m benchmarks.gallery_boxes` if the gallery or the
drawing changes. They are stored, since measuring them in a search would take 100 ms per clip.
"""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import arguments
from nt2vr.files import atomic_write
from nt2vr.settings import ASSETS
from nt2vr.world.drawn.actors import paint
from nt2vr.world.drawn.canvas import UNITS, Canvas, Point, drawing, ink
from nt2vr.world.drawn.layout import lay_out
from nt2vr.world.drawn.motions import STEPS
from nt2vr.world.drawn.render import roles
from nt2vr.world.drawn.sizes import picture
from nt2vr.world.drawn.stands import SIZE, Placed
from nt2vr.world.evidence import SHIPPED
from nt2vr.world.scenes import Figure, Scene
from nt2vr.world.things import things

# Pixels of SIZE that must be in sight, both ways.
LEAST = 8
HIDDEN = (-1, -1, -1, -1)


class _Traced(Canvas):
    """Records what would be painted."""

    def __init__(self) -> None:
        self.size = SIZE
        self.night = False
        # Each drawing, "" for a line or shape, and its corners.
        self.traces: list[tuple[str, Sequence[Point]]] = []

    def picture(
        self, svg: str, middle: Point, scale: float, angle: float = 0, flip: bool = False
    ) -> None:

        box = ink(svg)
        corners = np.array(
            [
                (box.left, box.top),
                (box.left, box.bottom),
                (box.right, box.top),
                (box.right, box.bottom),
            ]
        )
        corners = corners - UNITS / 2
        if flip:
            corners = corners * (-1, 1)
        turn = cv2.getRotationMatrix2D((0, 0), -angle, scale)[:, :2]
        self.traces.append((svg, (corners @ turn.T + middle).tolist()))

    def shadow(self, x: float, y: float, width: float) -> None:
        pass

    def line(self, points: Sequence[Point], *_: object, **__: object) -> None:
        self.traces.append(("", points))

    shape = line

    def box(self, drawings: Sequence[str]) -> tuple[int, ...]:
        """Return left, top, width and height of all, or of some drawings, in percent."""
        points: list[Point] = []
        for svg, corners in self.traces:
            if not drawings or any(part in svg for part in drawings):
                points += corners
        if not points:
            return HIDDEN
        low = np.clip(np.min(points, axis=0), 0, SIZE)
        high = np.clip(np.max(points, axis=0), 0, SIZE)
        if min(high - low) < LEAST:
            return HIDDEN
        return tuple(round(100 * float(value) / SIZE) for value in (*low, *(high - low)))


class IndividualBoxes(NamedTuple):
    """The boxes of an individual, or of a thing that it has, at each step.

    Attributes:
        figure: its number.
        thing: empty for the individual itself.
    """

    figure: int
    thing: str
    table: NDArray[np.int8]  # (STEPS, 4)


# Number of the figure, place in the order of painting, and name of a thing or "".
_BoxKey = tuple[int, int, str]


def boxes(scene: Scene) -> Iterator[IndividualBoxes]:
    """Yield the boxes of each individual, and of each thing that it has, if they are in sight."""
    everybody = lay_out(scene)
    tables: dict[_BoxKey, NDArray[np.int8]] = {}
    for step in range(STEPS):
        for key, box in _boxes_at(step, everybody, scene):
            table = tables.setdefault(key, np.full((STEPS, 4), -1, np.int8))
            table[step] = box
    for (number, _, thing), table in tables.items():
        if (table >= 0).any():
            yield IndividualBoxes(number, thing, table)


def _boxes_at(
    step: int, everybody: Sequence[Placed], scene: Scene
) -> Iterator[tuple[_BoxKey, tuple[int, ...]]]:
    for position, role in enumerate(roles(everybody, step)):
        canvas = _Traced()
        paint(canvas, role, step)
        number = role.placed.individual.number
        for thing, drawings in _drawings(scene.figures[number]):
            yield (number, position, thing), canvas.box(drawings)


def _drawings(figure: Figure) -> Iterator[tuple[str, list[str]]]:
    """Yield what a figure and the things that it has are drawn with."""
    drawings_of_figure: list[str] = []
    # People are drawn in parts, all of which count.
    if not figure.is_person:
        drawings_of_figure = [picture(figure.kind, figure.colour)]
    yield "", drawings_of_figure
    for action in figure.actions:
        for name in (action.object, action.kind.shows):
            if isinstance(name, str) and name:
                yield (
                    name,
                    [picture(things()[name], action.colour), drawing(things()[name].picture)],
                )


def main() -> None:
    """Write the file."""
    arguments("gallery_boxes", __doc__).parse_args()
    keys = []
    tables = []
    with (ASSETS / "gallery" / "gallery.jsonl").open(encoding="utf-8") as lines:
        for clip in map(json.loads, lines):
            for figure, thing, table in boxes(Scene.from_dict(clip["scene"])):
                keys.append(f"{clip['video_id']} {figure} {thing}")
                tables.append(table)
    with atomic_write(SHIPPED) as partial, partial.open("wb") as file:
        np.savez_compressed(file, keys=np.array(keys), boxes=np.stack(tables))


if __name__ == "__main__":
    main()
