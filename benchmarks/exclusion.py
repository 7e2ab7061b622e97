"""Plot composed MIR against hard pairs for every way to exclude: `python -m benchmarks.exclusion`.

It evaluates on the 2,000 test scenes of the built-in world, and draws docs/lab/exclusion.svg. The
strengths on CLIP's card were chosen on validation scenes by `python -m trainer.calibrate`.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

import nt2vr
from benchmarks.harness import arguments
from nt2vr.evaluation.metric_names import COMPOSED_HARD_PAIRS, COMPOSED_MIR
from nt2vr.evaluation.roles import MetricsBySystem
from nt2vr.models.card import read_card
from nt2vr.progress import progress_bar
from nt2vr.search.strategies import STRENGTHS

MODELS = ("CLIP", "CLIP-bnl", "CLIP-con", "CLIP-neg")
FRONTS: dict[str, Sequence[float]] = {
    "boolean": (0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.65, 0.8, 1, 1.25, 1.5),
    "rectified": (0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3),
    "anchored": (0, 0.3, 0.6, 0.9, 1.2, 1.5, 1.7, 1.9, 2.1, 2.4, 2.7, 3),
    "spherical": (0.8, 0.85, 0.9, 0.925, 0.95, 0.965, 0.975, 0.985, 0.99, 0.995, 1),
}
# Strengths with a label, besides the card's.
MARKED = {
    "boolean": (0.1, 0.5, 1),
    "rectified": (0.5, 1),
    "anchored": (1, 1.9),
    "spherical": (0.95,),
}
CARD = Path("assets/models/clip")
CHART = Path("docs/lab/exclusion.svg")

# Pixels of the chart, and from its edges to the axes.
WIDTH = 680
HEIGHT = 440
LEFT = 46
RIGHT = 72
BOTTOM = 40
MARGIN = 16
# All are readable on white and on black.
COLOURS = {
    "boolean": "#3b82f6",
    "rectified": "#ec4899",
    "anchored": "#d97706",
    "spherical": "#a855f7",
}
# Of labels that would lie on a curve or on each other, in pixels; others are right of their points.
OFFSETS = {
    "CLIP-bnl": (-8, 4, "end"),
    "CLIP-neg": (6, 15, "start"),
    "boolean": (-4, -7, "end"),
    "rectified": (8, -2, "start"),
    "anchored": (8, 2, "start"),
    "spherical": (-8, 12, "end"),
}
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#6e7681}.axis{stroke:#6e7681;stroke-opacity:.35}"
    "polyline{fill:none;stroke-width:2}.model{fill:#10a37f}.drop{fill:#6e7681}.small{font-size:10px}"
)

# Pixels from the left and from the top.
Position = tuple[float, float]


def ticks(low: float, high: float, most: int = 4) -> list[float]:
    """Return round values (1, 2 or 5 times a power of ten) that span `low` to `high`."""
    span = (high - low) or abs(high) or 1.0
    rough = span / most
    power = 10.0 ** math.floor(math.log10(rough))
    steps = (power, 2 * power, 5 * power, 10 * power)
    # A rounding error must not lead to a coarser step, or to a tick more.
    step = next(step for step in steps if step >= rough * (1 - 1e-9))
    first = math.floor(low / step + 1e-9)
    last = max(math.ceil(high / step - 1e-9), first + 1)
    return [round(step * number, 12) for number in range(first, last + 1)]


def short(number: str) -> str:
    """Omit the 0 before the decimal point."""
    return re.sub(r"^(-?)0\.", r"\1.", number)


def main() -> None:
    """Evaluate, and draw the chart."""
    arguments("exclusion", __doc__).parse_args()
    fronts = fronts_of_clip()
    systems = [*map(nt2vr.System, MODELS), nt2vr.System("CLIP", "drop")]
    for front in fronts:
        systems += front.systems
    with progress_bar() as progress:
        metrics = nt2vr.evaluate("world", systems, progress=progress).metrics
    CHART.write_text("\n".join(chart(fronts, metrics)) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Front:
    """CLIP with one strategy at several strengths.

    Attributes:
        marked: strengths with a label.
    """

    strategy: str
    systems: Sequence[nt2vr.System]
    marked: set[float]


def fronts_of_clip() -> list[Front]:
    """Return a front per strategy, with the strength on CLIP's card among those that are marked."""
    card = read_card(CARD)
    fronts = []
    for strategy, strengths in FRONTS.items():
        chosen = nt2vr.System("CLIP", strategy).strength_for(card)
        marked = {*MARKED[strategy], chosen}
        systems = []
        for strength in sorted({*strengths, *marked}):
            systems.append(nt2vr.System("CLIP", strategy, strength))
        fronts.append(Front(strategy, systems, marked))
    return fronts


@dataclass(frozen=True)
class Plane:
    """Where values lie on the chart.

    Attributes:
        xs: ticks of composed MIR.
        ys: ticks of hard pairs.
    """

    xs: Sequence[float]
    ys: Sequence[float]

    @classmethod
    def of(cls, metrics: MetricsBySystem) -> "Plane":
        """Span all values."""
        mirs = [values[COMPOSED_MIR] for values in metrics.values()]
        pairs = [values[COMPOSED_HARD_PAIRS] for values in metrics.values()]
        return cls(ticks(min(mirs), max(mirs), 6), ticks(min(pairs), max(pairs), 6))

    def position(self, values: Mapping[str, float]) -> Position:
        """Return where a system lies."""
        across = (values[COMPOSED_MIR] - self.xs[0]) / (self.xs[-1] - self.xs[0])
        up = (values[COMPOSED_HARD_PAIRS] - self.ys[0]) / (self.ys[-1] - self.ys[0])
        x = LEFT + across * (WIDTH - LEFT - RIGHT)
        y = HEIGHT - BOTTOM - up * (HEIGHT - BOTTOM - 2 * MARGIN)
        return x, y


def chart(fronts: Sequence[Front], metrics: MetricsBySystem) -> Iterator[str]:
    """Yield the lines of an SVG: one curve per front, one point per model."""
    plane = Plane.of(metrics)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
    yield "<title>Composed MIR against hard pairs on 2,000 test scenes</title>"
    yield f"<style>{STYLE}</style>"
    yield from axes(plane.xs, plane.ys)
    for front in fronts:
        positions = [plane.position(metrics[system.name]) for system in front.systems]
        yield from curve(front, positions)
    for name in (*MODELS, "CLIP drop"):
        x, y = plane.position(metrics[name])
        dx, dy, anchor = OFFSETS.get(name, (8, 4, "start"))
        kind = "drop" if name == "CLIP drop" else "model"
        yield f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
        yield text(x + dx, y + dy, name, anchor)
    yield from legend()
    yield "</svg>"


def curve(front: Front, positions: Sequence[Position]) -> Iterator[str]:
    """Yield the curve of a front, its points, and labels of those that are marked."""
    colour = COLOURS[front.strategy]
    dx, dy, anchor = OFFSETS[front.strategy]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in positions)
    yield f'<polyline points="{path}" stroke="{colour}"/>'
    for system, (x, y) in zip(front.systems, positions, strict=True):
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"><title>{system.name}</title></circle>'
        if system.strength in front.marked:
            label = f"{STRENGTHS[front.strategy].symbol} {system.strength:g}"
            yield text(x + dx, y + dy, label, anchor, f'class="small" style="fill:{colour}"')


def axes(xs: Sequence[float], ys: Sequence[float]) -> Iterator[str]:
    """Yield grid lines, ticks and names of the axes."""
    right = WIDTH - RIGHT
    bottom = HEIGHT - BOTTOM
    top = 2 * MARGIN
    for number, y in enumerate(ys):
        height = bottom - number / (len(ys) - 1) * (bottom - top)
        yield f'<path class="axis" d="M{LEFT} {height:.1f}H{right}"/>'
        yield text(LEFT - 6, height + 4, f"{y:g}", "end")
    for number, x in enumerate(xs):
        across = LEFT + number / (len(xs) - 1) * (right - LEFT)
        yield text(across, bottom + 16, short(f"{x:.2g}"), "middle")
    yield text(4, MARGIN, "hard pairs, %")
    yield text(right, HEIGHT - 6, "composed MIR", "end")


def legend() -> Iterator[str]:
    """Yield the names of the fronts."""
    for number, (strategy, colour) in enumerate(COLOURS.items()):
        x = LEFT + 16
        y = HEIGHT // 2 + 18 * number
        yield f'<path d="M{x} {y - 4}h18" stroke="{colour}" stroke-width="2"/>'
        yield text(x + 24, y, f"CLIP {strategy}, by {STRENGTHS[strategy].symbol}")


def text(x: float, y: float, words: str, anchor: str = "start", style: str = "") -> str:
    """Return an SVG element."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {style}>{escape(words)}</text>'


if __name__ == "__main__":
    main()
