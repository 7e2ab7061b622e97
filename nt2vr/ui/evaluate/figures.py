"""Figures of a report's tables: how they are written, and which one of a column is clearly the best."""

from collections.abc import Iterable, Mapping

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


def clearly_best(intervals: Mapping[str, Interval], lower_is_better: bool) -> str:
    """Return the system whose interval is better than all others, and overlaps with none; "" if there is none."""
    if len(intervals) < 2:
        return ""

    by_place = sorted(intervals, key=lambda system: intervals[system].low)
    if lower_is_better:
        best, *rivals = by_place
        is_clear = all(intervals[best].high < intervals[rival].low for rival in rivals)
    else:
        *rivals, best = by_place
        is_clear = all(intervals[best].low > intervals[rival].high for rival in rivals)
    return best if is_clear else ""


def best_system(report: Report, lines: Iterable[Line], column: Column) -> str:
    """Return which of the competing systems is clearly the best in a column; "" if none is."""
    intervals = {}
    for line in lines:
        if not report.presentation.competes(line.role):
            continue
        interval = _certainty(report, line, column.key)
        if interval is not None:
            intervals[line.name] = interval
    return clearly_best(intervals, column.lower_is_better)


def _certainty(report: Report, line: Line, key: str) -> Interval | None:
    """Return the interval of a figure; None if nothing says how sure it is.

    A figure that all queries agree on is its own interval. A median has none, nor has a figure that
    comes without values per query.
    """
    value = line.metrics.get(key)
    values = report.values[line.name].get(key)
    if value is None or values is None or values.statistic is not None:
        return None
    return interval_of(report, line, key) or Interval(value, value)
