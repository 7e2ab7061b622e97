"""Curves of a run as small charts: lines, axes and labels, ready to be drawn as SVG.

Text is left unescaped for the template; SVG paths and positions are made from numbers only.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from nt2vr.ui.chart import scale, short, spread, ticks

WIDTH, HEIGHT = 264, 168  # of a chart, in SVG units
LEFT, TOP, BOTTOM = 30, 8, 22  # margins; value labels are on the left, epochs or steps below
RIGHT, RIGHT_LABELLED = 36, 67  # the latter leaves room for the labels of dashed lines
LEAST_SPAN = 0.1  # smallest range of a validation chart's y axis, so that small changes look small
MAX_POINTS = 300  # per line; more would not be visible

Points = list[tuple[float, float]]
Rows = Sequence[Mapping[str, float]]
NO_OTHERS: Mapping[str, Any] = MappingProxyType({})

VALIDATION = (  # metric, title, explanation
    ("original/MIR", "Original MIR", "how well captions find their clips"),
    ("composed/MIR", "Composed MIR", "“A and not B” finds clips with A and without B"),
    ("negated/delta_MIR", "Negated ΔMIR", "how much MIR falls when a caption is negated"),
    ("text/order", "Text order", "“A and not B” is closer to “A and C” than to “A and B”"),
    ("text/target", "Text target", "cosine between negated sentences and their targets"),
    ("text/kept", "Text kept", "cosine between captions embedded by the model and by the base"),
    ("fusion/R@1", "Fusion R@1", "a picture and a text find their clip first"),
)
PERCENT = ("text/order", "fusion/R@1")  # metrics from 0 to 100
CONTROLS = {"base": "base", "drop": "drop", "parts": "parts"}  # metric prefix -> label of the baseline


def validation_charts(rows: Rows, epochs: int, others: Mapping[str, Rows] = NO_OTHERS) -> list[dict[str, Any]]:
    """Build a chart over epochs of each metric, dashed lines for base and control, and a line each of other runs."""
    charts = []
    for metric, title, note in VALIDATION:
        points = series(rows, metric, "epoch")
        levels = {
            label: known[-1][1]
            for prefix, label in CONTROLS.items()
            if (known := series(rows, f"{prefix}/{metric}", "epoch"))
        }
        beside = {name: series(of, metric, "epoch") for name, of in others.items()}
        if points or levels or any(beside.values()):
            charts.append(
                chart(
                    *(title, note, points, levels, (0, max(1, epochs)), "epoch"),
                    (lambda value: f"{value:.1f}") if metric in PERCENT else lambda value: short(f"{value:.3f}"),
                    least_span=100 * LEAST_SPAN if metric in PERCENT else LEAST_SPAN,
                    others=beside,
                    has_dots=True,
                )
            )
    return charts


def loss_charts(
    rows: Rows, names: Iterable[str], steps: int, others: Mapping[str, Rows] = NO_OTHERS
) -> list[dict[str, Any]]:
    """Build a chart over steps for each loss, unweighted; `others` as in `validation_charts`."""
    x_range = (0, max(1, steps))
    charts = []
    for name in names:
        if points := thin(series(rows, name, "step")):
            beside = {other: thin(series(of, name, "step")) for other, of in others.items()}
            charts.append(chart(name, "loss", points, {}, x_range, "step", value_text, from_zero=True, others=beside))
    return charts


def series(rows: Rows, key: str, along: str) -> Points:
    """Return a metric's values in order; where a resumed run measured a point again, the last value counts."""
    return sorted({row[along]: row[key] for row in rows if key in row and along in row}.items())


def thin(points: Points, most: int = MAX_POINTS) -> Points:
    """Average neighbouring points so that at most `most` remain; the last point is unchanged."""
    size = math.ceil(len(points) / most)
    if size <= 1:
        return points
    groups = [points[start : start + size] for start in range(0, len(points) - 1, size)]
    means = [tuple(sum(values) / len(group) for values in zip(*group, strict=True)) for group in groups]
    return [*[(x, y) for x, y in means][: most - 1], points[-1]]


def chart(
    title: str,
    note: str,
    points: Points,
    levels: Mapping[str, float],
    x_range: tuple[float, float],
    x_label: str,
    text: Callable[[float], str],
    from_zero: bool = False,
    least_span: float = 0.0,
    others: Mapping[str, Points] = NO_OTHERS,
    has_dots: bool = False,
) -> dict[str, Any]:
    """Lay out one chart.

    Args:
        levels: label to the height of a dashed line.
        x_range: full extent of the x axis, so that a line shows how far the run has come.
        least_span: smallest range of the y axis.
        others: name to the points of further lines; those without points are left out.
    """
    drawn = [points, *others.values()]
    values = [y for line in drawn for _, y in line] + list(levels.values()) + ([0.0] if from_zero else [])
    spare = max(0.0, least_span - (max(values) - min(values))) / 2
    marks = ticks(min(values) - spare, max(values) + spare)
    end = WIDTH - (RIGHT_LABELLED if levels else RIGHT)
    left, right = x_range[0], max(x_range[1], *(line[-1][0] for line in drawn if line), 0)
    at, up = scale(left, right, LEFT, end), scale(marks[0], marks[-1], HEIGHT - BOTTOM, TOP)

    def path(line: Points) -> str:
        return "M" + "L".join(f"{at(x):.1f} {up(y):.1f}" for x, y in line) if line else ""

    label_ys = spread([up(value) for value in levels.values()], HEIGHT - BOTTOM)
    return {
        "title": title,
        "note": note,
        "now": text(points[-1][1]) if points else "",
        "width": WIDTH,
        "height": HEIGHT,
        "path": path(points),
        "others": [
            {"number": number, "name": name, "path": path(line), "now": text(line[-1][1])}
            for number, (name, line) in enumerate(others.items(), 1)
            if line
        ],
        "dots": [{"x": f"{at(x):.1f}", "y": f"{up(y):.1f}", "text": text(y), "at": f"{x:g}"} for x, y in points]
        if has_dots
        else [],
        "end": {"x": f"{at(points[-1][0]):.1f}", "y": f"{up(points[-1][1]):.1f}"} if points else None,
        "y_axis": [{"y": f"{up(mark):.1f}", "text": short(f"{mark:g}")} for mark in marks],
        "x_axis": [
            {"x": f"{at(mark):.1f}", "text": count_text(mark)}
            for mark in ticks(left, right)
            if mark <= right and mark.is_integer()
        ],
        "x_label": x_label,
        "x1": LEFT,
        "x2": end,
        "x_text": HEIGHT - 6,
        "levels": [
            {"kind": label, "y": f"{up(value):.1f}", "label_y": f"{label_y:.1f}", "text": f"{label} {text(value)}"}
            for (label, value), label_y in zip(levels.items(), label_ys, strict=True)
        ],
    }


def value_text(value: float) -> str:
    """Format a loss to three significant digits."""
    return short(f"{value:.3g}")


def count_text(value: float) -> str:
    """Format a number of steps or epochs: 2,000 is 2k."""
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"
