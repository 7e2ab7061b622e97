"""Boxes around what the gallery's clips show, step by step, measured without painting, for `nt2vr.world.evidence`.

Run `python -m nt2vr.world.drawn.boxes` if the gallery or drawing changes: a search would take 100
ms a clip for them.
"""

import json
from collections.abc import Iterator, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from nt2vr.files import atomic_write
from nt2vr.settings import ASSETS
from nt2vr.world.drawn.actors import paint, picture
from nt2vr.world.drawn.canvas import UNITS, Canvas, Point, drawing, ink
from nt2vr.world.drawn.layout import SIZE, lay_out
from nt2vr.world.drawn.motions import STEPS
from nt2vr.world.drawn.render import roles
from nt2vr.world.evidence import SHIPPED
from nt2vr.world.scenes import Figure, Scene
from nt2vr.world.things import things

LEAST = 8  # pixels of SIZE that must be in sight, both ways
HIDDEN = (-1, -1, -1, -1)


class _Traced(Canvas):
    """Records what would be painted: the drawing, "" for a line or shape, and its corners."""

    def __init__(self) -> None:
        self.size, self.night = SIZE, False
        self.found: list[tuple[str, Sequence[Point]]] = []

    def picture(
        self, svg: str, middle: Point, scale: float, angle: float = 0, flip: bool = False
    ) -> None:
        left, top, right, bottom = ink(svg)
        corners = np.array([(x, y) for x in (left, right) for y in (top, bottom)]) - UNITS / 2
        turn = cv2.getRotationMatrix2D((0, 0), -angle, scale)[:, :2]
        self.found.append((svg, ((corners * (-1 if flip else 1, 1)) @ turn.T + middle).tolist()))

    def shadow(self, x: float, y: float, width: float) -> None:
        pass

    def line(self, points: Sequence[Point], *_: object, **__: object) -> None:
        self.found.append(("", points))

    shape = line

    def box(self, drawings: Sequence[str]) -> tuple[int, ...]:
        """Return left, top, width and height of all, or of some drawings, in percent of the frame."""
        points = [
            p
            for svg, corners in self.found
            for p in corners
            if not drawings or any(d in svg for d in drawings)
        ]
        if not points:
            return HIDDEN
        low, high = (np.clip(f(points, axis=0), 0, SIZE) for f in (np.min, np.max))
        left, top, width, height = (
            round(100 * float(value) / SIZE) for value in (*low, *(high - low))
        )
        return (left, top, width, height) if min(high - low) >= LEAST else HIDDEN


def boxes(scene: Scene) -> Iterator[tuple[int, str, NDArray[np.int8]]]:
    """Yield a figure's number, a thing that it has ("" for itself), and its boxes, for each individual."""
    everybody, found = lay_out(scene), dict[tuple[int, int, str], NDArray[np.int8]]()
    for step in range(STEPS):
        for place, (each, led, leash) in enumerate(roles(everybody, step)):
            canvas, number = _Traced(), each.who.number
            paint(canvas, each.who, each.stand, step, led, leash)
            for name, drawings in _drawings(scene.figures[number]):
                table = found.setdefault((number, place, name), np.full((STEPS, 4), -1, np.int8))
                table[step] = canvas.box(drawings)
    yield from (
        (number, name, table) for (number, _, name), table in found.items() if (table >= 0).any()
    )


def _drawings(figure: Figure) -> Iterator[tuple[str, list[str]]]:
    """Yield what a figure and the things that it has are drawn with; people are drawn in parts."""
    yield "", [] if figure.kind.role == "person" else [picture(figure.kind, figure.colour)]
    for deed in figure.deeds:
        for name in (deed.object, deed.kind.shows):
            if isinstance(name, str) and name:
                yield name, [picture(things()[name], deed.colour), drawing(things()[name].picture)]


def main() -> None:
    lines = (ASSETS / "gallery" / "gallery.jsonl").read_text(encoding="utf-8").splitlines()
    clips = [(data["video_id"], Scene.from_dict(data["scene"])) for data in map(json.loads, lines)]
    found = [
        (f"{clip} {number} {name}", table)
        for clip, scene in clips
        for number, name, table in boxes(scene)
    ]
    with atomic_write(SHIPPED) as partial, partial.open("wb") as file:
        keys, tables = zip(*found, strict=True)
        np.savez_compressed(file, keys=np.array(keys), boxes=np.stack(tables))


if __name__ == "__main__":
    main()
