"""Plots of runs as template data: all of one size, with a mark at each epoch, and runs laid over each other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from nt2vr.ui.search.formats import MINUS
from nt2vr.ui.train.plot_grid import Scale, epoch_labels, grid_levels, level_labels
from nt2vr.ui.train.view import BASE_PREFIX, VALIDATION, Points, Rows, run_names, series
from nt2vr.ui.view import View, Views
from trainer.runs.manager import Run
from trainer.trainings import loss_names

MAX_PLOTS = 12
# Number of the first colour after those of runs.
CONTROL_COLOUR = 5
# Of a line; more would hide it.
MAX_DOTS = 60
# What a model is compared with, by the prefix of its metrics.
CONTROLS = {
    BASE_PREFIX: "the model before this training",
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
        config = self.run.config
        return config.batches.epochs if config else 1

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
    is_control: bool = False
    has_dots: bool = False


@dataclass(frozen=True)
class Plot:
    title: str
    note: str
    lines: Sequence[PlotLine]


def plots_view(run: RunMetrics, compared: Sequence[RunMetrics] = ()) -> View:
    """Show the curves of a run, with those of others, and a legend that all plots share."""
    config = run.run.config
    if config is None:
        return {}

    runs = [run, *compared]
    last_epoch = max(curves.epochs for curves in runs)
    plots = plots_of(runs, loss_names(config), last_epoch)
    views = [_plot_view(number, plot, last_epoch) for number, plot in enumerate(plots)]
    return {"legend": _legend(plots), "plots": views}


def _legend(plots: Sequence[Plot]) -> Views:
    """List the lines of all plots once, in the order of their colours."""
    line_of_colour = {}
    for plot in plots:
        for drawn in plot.lines:
            line_of_colour[drawn.colour] = drawn
    legend = []
    for _, line in sorted(line_of_colour.items()):
        about = CONTROLS[line.name] if line.is_control else ""
        legend.append(
            {
                "name": line.name,
                "colour": line.colour,
                "is_control": line.is_control,
                "about": about,
            }
        )
    return legend


def plots_of(runs: Sequence[RunMetrics], losses: Sequence[str], last_epoch: int) -> list[Plot]:
    """Return the plots that have a line: of validation, then of losses."""
    names = run_names([curves.run for curves in runs])
    plots = []
    for metric, title, note in VALIDATION:
        lines = _run_lines(names, [run.by_epoch(metric) for run in runs], has_dots=True)
        lines += _control_lines(runs[0], metric, last_epoch)
        plots.append(Plot(title, note, lines))
    for loss in losses:
        lines = _run_lines(names, [run.by_step(loss) for run in runs], has_dots=False)
        plots.append(Plot(loss, "loss, unweighted", lines))
    return [plot for plot in plots if plot.lines][:MAX_PLOTS]


def _run_lines(names: Sequence[str], curves: Sequence[Points], has_dots: bool) -> list[PlotLine]:
    """Return the line of each run that has points, in the colour of its place."""
    lines = []
    for colour, (name, points) in enumerate(zip(names, curves, strict=True)):
        if points:
            lines.append(PlotLine(name, points, colour, has_dots=has_dots))
    return lines


def _control_lines(run: RunMetrics, metric: str, last_epoch: int) -> list[PlotLine]:
    """Return level lines of what a run is compared with: its base, and the controls."""
    lines = []
    for colour, prefix in enumerate(CONTROLS, CONTROL_COLOUR):
        measured = run.by_epoch(f"{prefix}/{metric}")
        if measured:
            value = measured[-1][1]
            points = [(0.0, value), (float(last_epoch), value)]
            lines.append(PlotLine(prefix, points, colour, is_control=True))
    return lines


def _plot_view(number: int, plot: Plot, last_epoch: int) -> View:
    """Draw a plot: the grid, the lines, and their last values in words."""
    points = chain.from_iterable(line.points for line in plot.lines)
    levels = grid_levels([value for _, value in points])
    scale = Scale(last_epoch, low=levels[0], high=levels[-1])
    latest = [f"{line.name} {_short(line.points[-1][1])}" for line in plot.lines]
    return {
        "number": number,
        "title": plot.title,
        "note": plot.note,
        "latest": ", ".join(latest),
        "lines": [_line_view(line, scale) for line in plot.lines],
        "epochs": epoch_labels(scale),
        "levels": level_labels(levels, scale),
        "last_epoch": last_epoch,
    }


def _line_view(line: PlotLine, scale: Scale) -> View:
    dots = [{"x": scale.x(epoch), "y": scale.y(value)} for epoch, value in line.points]
    # A line of one point would not be seen.
    needs_dots = len(dots) == 1 or (line.has_dots and len(dots) <= MAX_DOTS)
    return {
        "name": line.name,
        "colour": line.colour,
        "is_control": line.is_control,
        "path": " ".join(f"{dot['x']},{dot['y']}" for dot in dots),
        "dots": dots if needs_dots else [],
        # For the values under the pointer.
        "points": [[epoch, _short(value)] for epoch, value in line.points],
    }


def _short(value: float) -> str:
    return f"{value:.3g}".replace("-", MINUS)
