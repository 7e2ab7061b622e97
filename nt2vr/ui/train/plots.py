"""Plots of runs as template data: all of one size, with a mark at each epoch, and runs laid over each other."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from nt2vr.ui.train.view import CONTROLS, VALIDATION, Points, Rows, run_names, series
from nt2vr.ui.view import View
from trainer.runs.manager import Run
from trainer.trainings import loss_names

MINUS = "\N{MINUS SIGN}"
MAX_PLOTS = 12
# In units of the drawing, whose origin is at the top left.
LEFT = 44.0
RIGHT = 312.0
TOP = 10.0
BOTTOM = 150.0
MAX_EPOCH_LABELS = 10
# About as many horizontal lines.
NUM_LEVELS = 4
# Number of the first colour after those of runs.
LEVEL_COLOUR = 5
# Of a line; more would hide it.
MAX_DOTS = 60
# Between two lines of the grid, times a power of ten.
STEPS = (1.0, 2.0, 5.0, 10.0)
MEANINGS = {
    "base": "the model before this training",
    "drop": "the base, with the unwanted part left out of queries",
    "parts": "the base, with the embeddings of the parts combined",
}


@dataclass(frozen=True)
class RunMetrics:
    """A run whose config can be read, and what it has measured."""

    run: Run
    rows: Rows

    @property
    def epochs(self) -> int:
        if self.run.config:
            return self.run.config.batches.epochs
        return 1

    def by_epoch(self, metric: str) -> Points:
        """Return a metric of validation by the number of the epoch."""
        return _finite(series(self.rows, metric, "epoch"))

    def by_step(self, loss: str) -> Points:
        """Return a loss by the part of epochs that is done, so that runs of different data can be compared."""
        steps_per_epoch = max(1, self.run.num_steps) / self.epochs
        points = _finite(series(self.rows, loss, "step"))
        return [(step / steps_per_epoch, value) for step, value in points]


def _finite(points: Points) -> Points:
    """Leave out what cannot be drawn: a loss may become infinite."""
    return [(at, value) for at, value in points if math.isfinite(value)]


@dataclass(frozen=True)
class PlotLine:
    """A line of a plot: its name, its points (epoch, value), and the number of its colour."""

    name: str
    points: Points
    colour: int
    is_level: bool = False
    has_dots: bool = False


@dataclass(frozen=True)
class Plot:
    title: str
    note: str
    lines: Sequence[PlotLine]


def plots_view(run: RunMetrics, compared: Sequence[RunMetrics] = ()) -> View:
    """Show the curves of a run, with those of others, and a legend that all plots share."""
    if run.run.config is None:
        return {}

    runs = [run, *compared]
    names = run_names([curves.run for curves in runs])
    last_epoch = max(curves.epochs for curves in runs)
    plots = plots_of(runs, names, last_epoch)
    views = []
    for number, plot in enumerate(plots):
        views.append({"number": number, **_plot_view(plot, last_epoch)})
    return {"legend": _legend(plots), "plots": views}


def _legend(plots: Sequence[Plot]) -> list[View]:
    """List the lines of all plots once, in the order of their colours."""
    line_of_colour = {}
    for plot in plots:
        for drawn in plot.lines:
            line_of_colour[drawn.colour] = drawn
    legend = []
    for _, line in sorted(line_of_colour.items()):
        about = MEANINGS.get(line.name, "") if line.is_level else ""
        legend.append(
            {
                "name": line.name,
                "colour": line.colour,
                "level": line.is_level,
                "about": about,
            }
        )
    return legend


def plots_of(runs: Sequence[RunMetrics], names: Sequence[str], last_epoch: int) -> list[Plot]:
    """Return the plots that have a line: of validation, then of the losses of the first run."""
    first = runs[0]
    plots = []
    for metric, title, note in VALIDATION:
        curves = [run.by_epoch(metric) for run in runs]
        lines = _run_lines(names, curves, has_dots=True)
        plots.append(Plot(title, note, [*lines, *_levels(first, metric, last_epoch)]))

    losses = loss_names(first.run.config) if first.run.config else ()
    for loss in losses:
        curves = [run.by_step(loss) for run in runs]
        plots.append(Plot(loss, "loss, unweighted", _run_lines(names, curves, has_dots=False)))
    return [plot for plot in plots if plot.lines][:MAX_PLOTS]


def _run_lines(names: Sequence[str], curves: Sequence[Points], has_dots: bool) -> list[PlotLine]:
    """Return the line of each run that has points, in the colour of its place."""
    lines = []
    for colour, (name, points) in enumerate(zip(names, curves, strict=True)):
        if points:
            lines.append(PlotLine(name, points, colour, has_dots=has_dots))
    return lines


def _levels(run: RunMetrics, metric: str, last_epoch: int) -> list[PlotLine]:
    """Return what a run is compared with, as level lines: its base, and the control."""
    levels = []
    for colour, prefix in enumerate(CONTROLS, LEVEL_COLOUR):
        points = run.by_epoch(f"{prefix}/{metric}")
        if points:
            value = points[-1][1]
            level = [(0.0, value), (float(last_epoch), value)]
            levels.append(
                PlotLine(
                    name=prefix,
                    points=level,
                    colour=colour,
                    is_level=True,
                )
            )
    return levels


def _plot_view(plot: Plot, last_epoch: int) -> View:
    """Draw a plot: the grid, the lines, and their last values in words."""
    points = chain.from_iterable(line.points for line in plot.lines)
    levels = grid_levels(value for _, value in points)
    scale = Scale(last_epoch, low=levels[0], high=levels[-1])
    digits = _digits(levels)
    lines = []
    latest = []
    for line in plot.lines:
        lines.append(_line_view(line, scale))
        latest.append(f"{line.name} {_short(line.points[-1][1])}")
    epoch_labels = []
    for epoch, label in epoch_marks(last_epoch):
        epoch_labels.append({"x": scale.x(epoch), "label": label})
    level_labels = []
    for level in levels:
        label = f"{level:.{digits}f}".replace("-", MINUS)
        level_labels.append({"y": scale.y(level), "label": label})
    return {
        "title": plot.title,
        "note": plot.note,
        "latest": ", ".join(latest),
        "lines": lines,
        "epochs": epoch_labels,
        "levels": level_labels,
        "last_epoch": last_epoch,
    }


def _line_view(line: PlotLine, scale: "Scale") -> View:
    places = []
    values = []
    dots = []
    for epoch, value in line.points:
        x = scale.x(epoch)
        y = scale.y(value)
        places.append(f"{x},{y}")
        values.append([epoch, _short(value)])
        dots.append({"x": x, "y": y})
    # A line of one point would not be seen.
    needs_dots = len(dots) == 1 or (line.has_dots and len(dots) <= MAX_DOTS)
    return {
        "name": line.name,
        "colour": line.colour,
        "level": line.is_level,
        "path": " ".join(places),
        "dots": dots if needs_dots else [],
        # For the values under the pointer.
        "points": values,
    }


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


def grid_levels(values: Iterable[float]) -> list[float]:
    """Return round numbers at equal distances, below and above all values."""
    drawn = list(values)
    low = min(drawn)
    high = max(drawn)
    if low == high:
        low -= abs(low) / 10 or 0.5
        high += abs(high) / 10 or 0.5

    # Rounding must not make it the next larger step.
    least = (high - low) / NUM_LEVELS * (1 - 1e-9)
    power = 10.0 ** math.floor(math.log10(least))
    steps = [power * factor for factor in STEPS]
    step = min(step for step in steps if step >= least)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, last + 1)]


def _digits(levels: Sequence[float]) -> int:
    """Return how many decimals tell the levels apart."""
    return max(0, -math.floor(math.log10(levels[1] - levels[0]) + 1e-9))


def _epochs_between_labels(last_epoch: int) -> int:
    power = 1
    while True:
        for step in (power, 2 * power, 5 * power):
            if last_epoch / step <= MAX_EPOCH_LABELS:
                return step
        power *= 10


def epoch_marks(last_epoch: int) -> list[tuple[int, str]]:
    """Return each epoch with its label, or, of very many, some; labels that would touch are empty."""
    between = _epochs_between_labels(last_epoch)
    marked = 1 if last_epoch <= MAX_DOTS else between
    marks = []
    for epoch in range(0, last_epoch + 1, marked):
        label = ""
        if epoch % between == 0:
            label = str(epoch)
        marks.append((epoch, label))
    return marks


def _short(value: float) -> str:
    return f"{value:.3g}".replace("-", MINUS)
