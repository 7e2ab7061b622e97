"""The grid of a plot: where epochs and values lie in the drawing, and which of them are labelled."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nt2vr.ui.search.formats import MINUS
from nt2vr.ui.view import Views

# In units of the drawing, whose origin is at the top left.
LEFT = 44.0
RIGHT = 312.0
TOP = 10.0
BOTTOM = 150.0
MAX_EPOCH_LABELS = 10
# Epochs up to which each is marked.
MAX_MARKS = 60
# About as many horizontal lines.
NUM_LEVELS = 4
# Between two lines of the grid, times a power of ten.
STEPS = (1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True)
class Scale:
    """Where epochs, from 0 to the last, and values lie in the drawing."""

    last_epoch: int
    low: float
    high: float

    def x(self, epoch: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * epoch / self.last_epoch, 1)

    def y(self, value: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * (value - self.low) / (self.high - self.low), 1)


def grid_levels(values: Sequence[float]) -> list[float]:
    """Return round numbers at equal distances, below and above all values."""
    low = min(values)
    high = max(values)
    if low == high:
        low -= abs(low) / 10 or 0.5
        high += abs(high) / 10 or 0.5

    # Rounding must not make it the next larger step.
    step = _rounded_up((high - low) / NUM_LEVELS * (1 - 1e-9))
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, last + 1)]


def _rounded_up(least: float) -> float:
    """Return the smallest round number of at least `least`: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * factor for factor in STEPS if power * factor >= least)


def level_labels(levels: Sequence[float], scale: Scale) -> Views:
    """Label the levels with as many decimals as tell them apart."""
    distance = levels[1] - levels[0]
    digits = max(0, -math.floor(math.log10(distance) + 1e-9))
    labels = []
    for level in levels:
        text = f"{level:.{digits}f}".replace("-", MINUS)
        labels.append({"y": scale.y(level), "label": text})
    return labels


def epoch_labels(scale: Scale) -> Views:
    """Mark each epoch, or, of very many, some; labels that would touch are empty."""
    last_epoch = scale.last_epoch
    between = int(_rounded_up(max(1, last_epoch / MAX_EPOCH_LABELS)))
    marked = 1 if last_epoch <= MAX_MARKS else between
    labels = []
    for epoch in range(0, last_epoch + 1, marked):
        label = "" if epoch % between else str(epoch)
        labels.append({"x": scale.x(epoch), "label": label})
    return labels
