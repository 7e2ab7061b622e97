"""Layout of charts for SVG templates: round axis ticks, labels that do not overlap, and labelled points."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

LABEL_GAP = 14  # between stacked labels
WIDTH, HEIGHT = 520, 300  # of a chart of points, in its own units
LEFT, RIGHT, TOP, BOTTOM = 48, 16, 14, 40  # margins; the axes are named at the top left and the bottom right
INNER = 14  # between the frame and the outermost points
ASIDE = 9  # from a point to its label
LETTER, LINE = 6.5, 12  # approximate width per letter, and height


@dataclass(frozen=True)
class Point:
    """A labelled point; `kind` is its CSS class."""

    name: str
    x: float
    y: float
    kind: str = ""


def ticks(low: float, high: float, most: int = 4) -> list[float]:
    """Return round values (1, 2 or 5 times a power of ten) that span `low` to `high`."""
    span = (high - low) or abs(high) or 1.0
    rough = span / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(step * number, 12) for number in range(first, max(last, first + 1) + 1)]


def spread(heights: Sequence[float], lowest: float, gap: float = LABEL_GAP) -> list[float]:
    """Move labels at least `gap` apart, in the same order, none below `lowest`."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    moved = list(heights)
    for above, below in pairwise(order):
        moved[below] = max(moved[below], moved[above] + gap)
    for i in reversed(order):
        moved[i] = min(moved[i], lowest)
        lowest = moved[i] - gap
    return moved


def scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """Return where values lie on an axis: `low` at `start`, `high` at `end`."""
    return lambda value: start + (value - low) / (high - low) * (end - start)


def short(number: str) -> str:
    """Omit the 0 before the decimal point."""
    return re.sub(r"^(-?)0\.", r"\1.", number)


def points_chart(points: Sequence[Point], x_name: str, y_name: str) -> dict[str, Any]:
    """Lay out labelled points over two axes, each label on the side of its point that has room."""
    xs, ys = ticks(*_range(point.x for point in points)), ticks(*_range(point.y for point in points))
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    at, up = scale(xs[0], xs[-1], LEFT + INNER, right - INNER), scale(ys[0], ys[-1], bottom, TOP)
    spots = [(at(point.x), up(point.y)) for point in points]
    beside = [_beside(point.name, spot, spots) for point, spot in zip(points, spots, strict=True)]
    is_left, name_ys = zip(*beside, strict=True)
    label_ys = [0.0] * len(points)
    for side in (False, True):
        places = [place for place, left in enumerate(is_left) if left == side]
        moved = spread([name_ys[place] for place in places], bottom)
        for place, y in zip(places, moved, strict=True):
            label_ys[place] = y
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "x1": LEFT,
        "x2": right,
        "x_text": bottom + 15,
        "name_y": HEIGHT - 6,
        "x_name": x_name,
        "y_name": y_name,
        "x_axis": [{"x": f"{at(mark):.1f}", "text": short(f"{mark:g}")} for mark in xs],
        "y_axis": [{"y": f"{up(mark):.1f}", "text": short(f"{mark:g}")} for mark in ys],
        "points": [
            {
                "name": point.name,
                "kind": point.kind,
                "x": f"{at(point.x):.1f}",
                "y": f"{up(point.y):.1f}",
                "label_x": f"{at(point.x) + (-ASIDE if left else ASIDE):.1f}",
                "label_y": f"{label_y:.1f}",
                "anchor": "end" if left else "start",
                "title": f"{x_name} {short(f'{point.x:.3g}')}, {y_name} {short(f'{point.y:.3g}')}",
            }
            for point, left, label_y in zip(points, is_left, label_ys, strict=True)
        ],
    }


def _beside(name: str, spot: tuple[float, float], spots: Sequence[tuple[float, float]]) -> tuple[bool, float]:
    """Return whether a label goes left of its point, and its height.

    It does in the right half of the chart, unless only the other side is free. If neither is, the label passes above
    or below the nearest point.
    """
    x, y = spot
    width = ASIDE + LETTER * len(name)

    def in_the_way(left: bool) -> list[float]:
        start, end = (x - width, x) if left else (x, x + width)
        return [other_y for other_x, other_y in spots if start < other_x < end and abs(y - other_y) < LINE]

    def is_free(left: bool) -> bool:
        return (x - width > LEFT if left else x + width < WIDTH - RIGHT) and not in_the_way(left)

    left = x > (LEFT + WIDTH - RIGHT) / 2
    if not is_free(left) and is_free(not left):
        left = not left
    nearest = min(in_the_way(left), key=lambda other: abs(y - other), default=None)
    return left, y if nearest is None else nearest + math.copysign(LINE, y - nearest)


def _range(values: Any) -> tuple[float, float]:
    values = list(values)
    return min(values), max(values)
