"""Figures of a report's tables: how they are written, and which one of a column is clearly the best."""

from collections.abc import Iterable
from typing import NamedTuple

from nt2vr.evaluation.columns import Column
from nt2vr.evaluation.intervals import Interval
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.tables import Line, interval_of
from nt2vr.ui.search.formats import MINUS


def written(column: Column, value: float | None) -> str:
    """Write a figure with a minus sign; one that rounds to zero has none."""
    return with_minus(column.text(value))


def with_minus(figure: str) -> str:
    """Write minus signs in a text such as "-0.7 to 2.7", and none before a zero."""
    words = []
    for word in figure.split(" "):
        is_zero = word.startswith("-") and not word.strip("-0.")
        words.append(word.removeprefix("-") if is_zero else word.replace("-", MINUS))
    return " ".join(words)


class MeasuredValue(NamedTuple):
    """A figure of a system, and the ends of its interval."""

    system: str
    value: float
    low: float
    high: float


def clearly_best(figures: Iterable[MeasuredValue], lower_is_better: bool) -> str:
    """Return the system whose figure is clearly the best: its interval overlaps with no other; "" if there is none."""
    by_value = sorted(figures, key=lambda figure: figure.value, reverse=not lower_is_better)
    if len(by_value) < 2:
        return ""

    best, *rest = by_value
    if lower_is_better:
        is_clear = all(best.high < runner_up.low for runner_up in rest)
    else:
        is_clear = all(best.low > runner_up.high for runner_up in rest)
    return best.system if is_clear else ""


def best_system(report: Report, lines: Iterable[Line], column: Column) -> str:
    """Return which of the competing systems is clearly the best in a column; "" if none is."""
    competing = [line for line in lines if report.presentation.competes(line.role)]
    return clearly_best(figures_of(report, competing, column), column.lower_is_better)


def figures_of(report: Report, lines: Iterable[Line], column: Column) -> list[MeasuredValue]:
    """Return the figures of a column, except those of which nothing says how sure they are.

    A figure that all queries agree on is its own interval. A median has none, nor has a figure that
    comes without values per query.
    """
    figures = []
    for line in lines:
        value = line.metrics.get(column.key)
        values = report.values[line.name].get(column.key)
        if value is None or values is None or values.statistic is not None:
            continue
        interval = interval_of(report, line, column.key) or Interval(value, value)
        figures.append(
            MeasuredValue(
                system=line.name,
                value=value,
                low=interval.low,
                high=interval.high,
            )
        )
    return figures
