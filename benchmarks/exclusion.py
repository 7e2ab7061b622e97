"""Composed MIR against hard pairs of every way to exclude: `python -m benchmarks.exclusion`.

Evaluates on the 2,000 test scenes of the built-in world, and draws docs/lab/exclusion.svg. The
strengths on CLIP's card were chosen on validation scenes by `python -m trainer.calibrate`.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import nt2vr
from benchmarks.harness import arguments
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
MARKED = {
    "boolean": (0.1, 0.5, 1),
    "rectified": (0.5, 1),
    "anchored": (1, 1.9),
    "spherical": (0.95,),
}  # and the card's
CARD, CHART = Path("assets/models/clip"), Path("docs/lab/exclusion.svg")

WIDTH, HEIGHT, LEFT, RIGHT, BOTTOM, MARGIN = 680, 440, 46, 72, 40, 16
COLOURS = {
    "boolean": "#3b82f6",
    "rectified": "#ec4899",
    "anchored": "#d97706",
    "spherical": "#a855f7",
}  # all readable on white and on black
OFFSETS = {  # of labels that would lie on a curve or on each other, in pixels; others are right of their points
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

Metrics = Mapping[str, Mapping[str, float]]


def ticks(low: float, high: float, most: int = 4) -> list[float]:
    """Return round values (1, 2 or 5 times a power of ten) that span `low` to `high`."""
    span = (high - low) or abs(high) or 1.0
    rough = span / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(step * number, 12) for number in range(first, max(last, first + 1) + 1)]


def short(number: str) -> str:
    """Omit the 0 before the decimal point."""
    return re.sub(r"^(-?)0\.", r"\1.", number)


def main() -> None:
    """Evaluate, and draw the chart."""
    arguments("exclusion", __doc__).parse_args()
    card = read_card(CARD)
    marked = {
        name: {*values, nt2vr.System("CLIP", name).strength_for(card)}
        for name, values in MARKED.items()
    }
    fronts = {
        strategy: [
            nt2vr.System("CLIP", strategy, value) for value in sorted({*values, *marked[strategy]})
        ]
        for strategy, values in FRONTS.items()
    }
    systems = [
        *map(nt2vr.System, MODELS),
        nt2vr.System("CLIP", "drop"),
        *(s for front in fronts.values() for s in front),
    ]
    with progress_bar() as progress:
        metrics = nt2vr.evaluate("world", systems, progress=progress).metrics
    CHART.write_text("\n".join(chart(fronts, marked, metrics)) + "\n", encoding="utf-8")


def chart(
    fronts: Mapping[str, Sequence[nt2vr.System]], marked: Mapping[str, set[float]], metrics: Metrics
) -> Iterator[str]:
    """Yield the lines of an SVG: one curve per front, one point per model."""
    spots = {
        name: (values["composed/MIR"], values["composed/hard_pairs"])
        for name, values in metrics.items()
    }
    xs, ys = (ticks(min(values), max(values), 6) for values in zip(*spots.values(), strict=True))

    def at(name: str) -> tuple[float, float]:
        x, y = spots[name]
        across, up = (x - xs[0]) / (xs[-1] - xs[0]), (y - ys[0]) / (ys[-1] - ys[0])
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (
            HEIGHT - BOTTOM - 2 * MARGIN
        )

    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
    yield "<title>Composed MIR against hard pairs on 2,000 test scenes</title>"
    yield f"<style>{STYLE}</style>"
    yield from axes(xs, ys)
    for strategy, front in fronts.items():
        colour, places = COLOURS[strategy], [at(system.name) for system in front]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        yield f'<polyline points="{path}" stroke="{colour}"/>'
        for system, (x, y) in zip(front, places, strict=True):
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"><title>{system.name}</title></circle>'
            if system.strength in marked[strategy]:
                dx, dy, anchor = OFFSETS[strategy]
                label = f"{STRENGTHS[strategy].symbol} {system.strength:g}"
                yield text(x + dx, y + dy, label, anchor, f'class="small" style="fill:{colour}"')
    for name in (*MODELS, "CLIP drop"):
        x, y = at(name)
        dx, dy, anchor = OFFSETS.get(name, (8, 4, "start"))
        kind = "drop" if name == "CLIP drop" else "model"
        yield f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
        yield text(x + dx, y + dy, name, anchor)
    yield from legend()
    yield "</svg>"


def axes(xs: Sequence[float], ys: Sequence[float]) -> Iterator[str]:
    """Yield grid lines, ticks and names of the axes."""
    right, bottom, top = WIDTH - RIGHT, HEIGHT - BOTTOM, 2 * MARGIN
    for place, y in enumerate(ys):
        height = bottom - place / (len(ys) - 1) * (bottom - top)
        yield f'<path class="axis" d="M{LEFT} {height:.1f}H{right}"/>'
        yield text(LEFT - 6, height + 4, f"{y:g}", "end")
    for place, x in enumerate(xs):
        across = LEFT + place / (len(xs) - 1) * (right - LEFT)
        yield text(across, bottom + 16, short(f"{x:.2g}"), "middle")
    yield text(4, MARGIN, "hard pairs, %")
    yield text(right, HEIGHT - 6, "composed MIR", "end")


def legend() -> Iterator[str]:
    """Yield the names of the fronts."""
    for place, (strategy, colour) in enumerate(COLOURS.items()):
        x, y = LEFT + 16, HEIGHT // 2 + 18 * place
        yield f'<path d="M{x} {y - 4}h18" stroke="{colour}" stroke-width="2"/>'
        yield text(x + 24, y, f"CLIP {strategy}, by {STRENGTHS[strategy].symbol}")


def text(x: float, y: float, words: str, anchor: str = "start", style: str = "") -> str:
    """Return an SVG element."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {style}>{escape(words)}</text>'


if __name__ == "__main__":
    main()
