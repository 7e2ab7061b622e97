"""A report's tables, and their forms in Markdown, CSV and LaTeX."""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

from nt2vr.errors import counted
from nt2vr.evaluation.columns import (
    BOTH_WAYS,
    EMPTY,
    GROUPS,
    Column,
    ColumnGroup,
    TableGroups,
)
from nt2vr.evaluation.differences import Difference, verdict_text
from nt2vr.evaluation.intervals import Interval
from nt2vr.evaluation.queries import KIND_NAMES, row_numbers
from nt2vr.evaluation.remarks import kind_counts
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.roles import REFERENCE
from nt2vr.files import SafeCsv

# Before half of a figure's interval.
MARGIN = " ±"
# By key: a name such as "Composed R@1", and the column.
NamedColumns = dict[str, tuple[str, Column]]


class Line(NamedTuple):
    """A system or reference: its metrics, its role in the comparison, and the label that says so."""

    name: str
    metrics: Mapping[str, float]
    role: str = REFERENCE
    label: str = "reads the scenes"

    @property
    def labelled(self) -> str:
        if self.label:
            return f"{self.name} ({self.label})"
        return self.name


class Table(NamedTuple):
    """The groups of columns with any value, and the lines with any."""

    groups: TableGroups
    lines: tuple[Line, ...]

    @property
    def columns(self) -> list[Column]:
        return list(chain.from_iterable(group.columns for group in self.groups))

    def texts(self, report: Report) -> list[list[str]]:
        """Return the heads of the columns, then a row per system.

        After ± is half of a figure's 95 % interval.
        """
        heads = [""]
        for group in self.groups:
            heads += group.names
        rows = [heads]
        for line in self.lines:
            cells = [_cell(report, line, column) for column in self.columns]
            rows.append([line.labelled, *cells])
        return rows


def tables_of(report: Report) -> list[Table]:
    """Return the tables that have any value."""
    lines = lines_of(report)
    measured = keys_of(lines)
    tables = []
    for groups in groups_of(report):
        measured_groups = [group for group in groups if not group.keys.isdisjoint(measured)]
        keys = frozenset[str]().union(*(group.keys for group in measured_groups))
        measured_lines = [line for line in lines if not keys.isdisjoint(line.metrics)]
        if measured_lines:
            tables.append(Table(tuple(measured_groups), tuple(measured_lines)))
    return tables


def lines_of(report: Report) -> list[Line]:
    """Return a line per reference, then per system."""
    lines = [Line(name, values) for name, values in report.references.items()]
    for result in report.results:
        metrics = report.metrics[result.system]
        role, label = report.presentation.role_of(result.spec)
        lines.append(
            Line(
                name=result.system,
                metrics=report.presentation.line_metrics(result.spec, metrics),
                role=role,
                label=label,
            )
        )
    return lines


def groups_of(report: Report) -> list[TableGroups]:
    """Return the groups of columns of each table, measured or not."""
    return report.presentation.groups(report, keys_of(lines_of(report)))


def keys_of(lines: Iterable[Line]) -> dict[str, None]:
    return dict.fromkeys(chain.from_iterable(line.metrics for line in lines))


def interval_of(report: Report, line: Line, key: str) -> Interval | None:
    """Return the interval of a figure; None for a reference, and where no resample differs."""
    if key in line.metrics:
        return report.intervals.get(line.name, {}).get(key)
    return None


def _cell(report: Report, line: Line, column: Column) -> str:
    """Return a figure, and half of its interval after ± where it has one: "79.1 ±2.0"."""
    figure = column.text(line.metrics.get(column.key))
    interval = interval_of(report, line, column.key)
    if interval is None:
        return figure
    return f"{figure}{MARGIN}{column.text(interval.half)}"


def named_columns(report: Report) -> NamedColumns:
    """Return each measure of the tables."""
    return _named(chain(*groups_of(report)))


def _named(groups: Iterable[ColumnGroup]) -> NamedColumns:
    columns: NamedColumns = {}
    for group in groups:
        for name, column in zip(group.names, group.columns, strict=True):
            columns.setdefault(column.key, (name, column))
    return columns


DIFFERENCE_HEADS = ("difference", "95 % interval", "")


def difference_rows(report: Report, differences: Sequence[Difference]) -> list[list[str]]:
    """Return a row per measure: key, name, both systems, difference, interval, whether it is noise."""
    columns = named_columns(report)
    position_of = row_numbers(columns)
    # A measure that no table of this report shows has the name and the direction of other reports' tables.
    of_any_report = _named((*GROUPS, *BOTH_WAYS)) | columns
    # Measures of no table come last.
    in_order = sorted(
        differences, key=lambda difference: position_of.get(difference.measure, len(columns))
    )
    rows = []
    for difference in in_order:
        measure = difference.measure
        unknown = (_name_of(measure), Column(measure, measure))
        name, column = of_any_report.get(measure, unknown)
        rows.append(_difference_row(difference, name, column))
    return rows


def _name_of(measure: str) -> str:
    """Name a measure that no table has: "without/R@5" is "A without N R@5"."""
    kind, _, name = measure.partition("/")
    return f"{KIND_NAMES.get(kind, kind)} {name}".strip()


def _difference_row(difference: Difference, name: str, column: Column) -> list[str]:
    interval = EMPTY
    if difference.interval is not None:
        low, high = difference.interval
        interval = f"{column.text(low)} to {column.text(high)}"
    return [
        difference.measure,
        name,
        column.text(difference.first),
        column.text(difference.second),
        _signed(column.text(difference.difference)),
        interval,
        verdict_text(
            difference.difference, difference.interval, difference.p, column.lower_is_better
        ),
    ]


def _signed(text: str) -> str:
    """Write a difference with its sign; none for one that rounds to zero."""
    if not text.strip("-0."):
        return text.removeprefix("-")
    if text.startswith("-"):
        return text
    return f"+{text}"


def difference_markdown(report: Report, first: str, second: str) -> str:
    """Return a table of the differences of two systems, query by query."""
    rows = [row for _, *row in difference_rows(report, report.compare(first, second))]
    return markdown_table([["", first, second, *DIFFERENCE_HEADS], *rows], 1)


def size_of(report: Report) -> str:
    """Count queries and videos, and the queries of each kind if there are several."""
    queries = counted(len(report.queries), "query", "queries")
    kinds = [f"{count:,} {name}" for name, count in kind_counts(report).items()]
    if len(kinds) > 1:
        queries = f"{queries} ({', '.join(kinds)})"
    return f"{queries}, {counted(len(report.video_ids), 'video')}."


def markdown(report: Report) -> str:
    """Return the tables, and those of differences, in Markdown."""
    return report.presentation.markdown(report)


def markdown_table(rows: Sequence[Sequence[str]], num_left: int) -> str:
    """Return a table whose first row has the heads, and whose first columns are aligned to the left."""
    heads, *body = rows
    rule = [":--"] * num_left + ["--:"] * (len(heads) - num_left)
    lines = map(_markdown_row, (heads, rule, *body))
    return "\n".join([*lines, ""])


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def aligned(text: str) -> str:
    """Pad the cells of Markdown tables, so that their columns line up in a terminal."""
    lines = []
    for is_table, group in groupby(text.split("\n"), lambda line: line.startswith("| ")):
        if is_table:
            lines += _padded(list(map(_cells_of, group)))
        else:
            lines += group
    return "\n".join(lines)


def _cells_of(row: str) -> list[str]:
    return row.removeprefix("| ").removesuffix(" |").split(" | ")


def _padded(table: Sequence[Sequence[str]]) -> list[str]:
    """Return a table's lines, given its cells.

    The second row says on which side each column is aligned.
    """
    # Lengths differ if a name has the separator itself.
    lengths = set(map(len, table))
    if len(table) < 2 or len(lengths) > 1:
        return list(map(_markdown_row, table))
    columns = []
    for column in zip(*table, strict=True):
        rule = column[1]
        width = max(3, *map(len, column))
        pad = str.ljust if rule.startswith(":") else str.rjust
        padded = [pad(text, width) for text in column]
        padded[1] = pad(rule, width, "-")
        columns.append(padded)
    return list(map(_markdown_row, zip(*columns, strict=True)))


def csv_table(report: Report) -> str:
    """Return all measures of all systems, unrounded, then the ends of their intervals.

    Keys are the headers; what no system has is left out.
    """
    lines = lines_of(report)
    keys = report.presentation.csv_keys(report, keys_of(lines))
    file = io.StringIO()
    writer = SafeCsv(file, lineterminator="\n")

    heads = ["system", "role", *keys]
    with_interval = []
    for key in keys:
        if any(interval_of(report, line, key) for line in lines):
            with_interval.append(key)
            heads += [f"{key} low", f"{key} high"]
    writer.writerow(heads)

    for line in lines:
        row: list[float | str] = [line.name, line.label]
        row += [line.metrics.get(key, "") for key in keys]
        for key in with_interval:
            row += interval_of(report, line, key) or ("", "")
        writer.writerow(row)
    return file.getvalue()


def latex(report: Report) -> str:
    """Return a booktabs table like the paper's Table 2, extended by the further metrics, each once.

    A small number after ± is half of a figure's 95 % interval.
    """
    table = _single_table(report)
    columns = table.columns
    heads = ["Model", *(escaped(column.head) for column in columns)]
    rows = []
    for line in table.lines:
        cells = [_latex_cell(report, line, column) for column in columns]
        rows.append(_latex_row([escaped(line.labelled), *cells]))
    lines = [
        rf"\begin{{tabular}}{{l{'r' * len(columns)}}}",
        r"\toprule",
        *_latex_group_heads(table.groups),
        _latex_row(heads),
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _single_table(report: Report) -> Table:
    """Return one table with the columns of all tables, each in its first group alone."""
    seen: set[str] = set()
    groups = []
    for group in chain.from_iterable(table.groups for table in tables_of(report)):
        columns = [column for column in group.columns if column.key not in seen]
        seen |= group.keys
        if columns:
            groups.append(ColumnGroup(group.head, tuple(columns)))
    return Table(tuple(groups), tuple(lines_of(report)))


def _latex_group_heads(groups: Sequence[ColumnGroup]) -> tuple[str, str]:
    """Return the row with the heads of groups, and the rules below it."""
    heads = [""]
    rules = []
    # The first column has the systems.
    first = 2
    for group in groups:
        width = len(group.columns)
        heads.append(rf"\multicolumn{{{width}}}{{c}}{{{escaped(group.head)}}}")
        rules.append(rf"\cmidrule(lr){{{first}-{first + width - 1}}}")
        first += width
    return _latex_row(heads), " ".join(rules)


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex_cell(report: Report, line: Line, column: Column) -> str:
    figure, _, margin = _cell(report, line, column).partition(MARGIN)
    if not margin:
        return escaped(figure)
    return rf"{escaped(figure)}$_{{\pm{margin}}}$"


ESCAPES = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%_#${}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "Δ": r"$\Delta$",
        "α": r"$\alpha$",
        EMPTY: "--",
        "*": r"$^*$",
    }
)


def escaped(text: str) -> str:
    return text.translate(ESCAPES)


FORMS: dict[str, Callable[[Report], str]] = {
    "table.md": markdown,
    "table.csv": csv_table,
    "table.tex": latex,
}


def write_tables(report: Report, folder: Path) -> None:
    """Write the table in every format to an existing folder; an OSError says if that fails."""
    for file, form in FORMS.items():
        (folder / file).write_text(form(report), encoding="utf-8")
