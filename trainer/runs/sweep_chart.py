"""Chart of a sweep over one number, as the paper's Figure 4: mean and standard deviation over seeds, as SVG."""

from collections.abc import Sequence
from html import escape
from statistics import mean, stdev

from nt2vr.ui.chart import scale, short, spread, ticks
from trainer.runs.sweep_table import PointResult

CURVES = (  # metric, label, colour
    ("original/MIR", "Original MIR", "#2b6cb0"),
    ("negated/delta_MIR", "Negated ΔMIR", "#8a5a00"),
    ("composed/MIR", "Composed MIR", "#2f7d4f"),
    ("fusion/R@1", "Fusion R@1", "#7a3e9d"),
)
WIDTH, HEIGHT = 560, 340
LEFT, RIGHT, TOP, BOTTOM = 52, 118, 16, 46
Bar = tuple[float, float, float]  # x, mean, standard deviation


def chart(keys: Sequence[str], results: Sequence[PointResult]) -> str:
    """Return the chart as an SVG file; empty unless the grid has one key, of numbers, and two are measured."""
    curves = [(label, colour, bars) for key, label, colour in CURVES if len(bars := _bars(key, results)) > 1]
    if len(keys) != 1 or not curves:
        return ""
    every = [bar for _, _, bars in curves for bar in bars]
    xs = ticks(min(x for x, _, _ in every), max(x for x, _, _ in every))
    ys = ticks(min(y - s for _, y, s in every), max(y + s for _, y, s in every))
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    at, up = scale(xs[0], xs[-1], LEFT, right), scale(ys[0], ys[-1], bottom, TOP)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="12" fill="#333">',
        f"<title>{escape(keys[0])}: mean and standard deviation over seeds</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for y in ys:
        lines.append(f'<path d="M{LEFT} {up(y):.1f}H{right}" stroke="#ddd"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{up(y) + 4:.1f}" text-anchor="end">{short(f"{y:g}")}</text>')
    lines += [f'<text x="{at(x):.1f}" y="{bottom + 18}" text-anchor="middle">{short(f"{x:g}")}</text>' for x in xs]
    lines.append(f'<text x="{right}" y="{HEIGHT - 8}" text-anchor="end">{escape(keys[0])}</text>')
    labels = spread([up(bars[-1][1]) + 4 for _, _, bars in curves], bottom)
    for (label, colour, bars), label_y in zip(curves, labels, strict=True):
        upper = [f"{at(x):.1f} {up(y + s):.1f}" for x, y, s in bars]
        lower = [f"{at(x):.1f} {up(y - s):.1f}" for x, y, s in reversed(bars)]
        lines.append(f'<path d="M{"L".join(upper + lower)}Z" fill="{colour}" fill-opacity=".15"/>')
        path = "L".join(f"{at(x):.1f} {up(y):.1f}" for x, y, _ in bars)
        lines.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for x, y, s in bars:
            said = short(f"{y:.3f}") + (f" ± {short(f'{s:.3f}')}" if s else "")
            dot = f'<circle cx="{at(x):.1f}" cy="{up(y):.1f}" r="3.5" fill="{colour}">'
            lines.append(f"{dot}<title>{escape(label)} {said}</title></circle>")
        lines.append(f'<text x="{at(bars[-1][0]) + 8:.1f}" y="{label_y:.1f}" fill="{colour}">{escape(label)}</text>')
    return "\n".join([*lines, "</svg>\n"])


def _bars(key: str, results: Sequence[PointResult]) -> list[Bar]:
    """Return where a metric lies at each point, from left to right; none unless all points are numbers."""
    bars = []
    for result in results:
        try:
            x = float(result.point[0])
        except (ValueError, IndexError):
            return []
        if values := [row[key] for row in result.best if key in row]:
            bars.append((x, mean(values), stdev(values) if len(values) > 1 else 0.0))
    return sorted(bars)
