"""A report's tables as Markdown, CSV and LaTeX.

CSV and LaTeX have the 95 % interval of each figure, see `intervals`. Pictures plus texts have one by kind.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from defusedcsv import csv

from nt2vr.evaluation.reports.report import Report
from nt2vr.evaluation.reports.tables import (
    EMPTY,
    FURTHER,
    MEASURES,
    VIOLATIONS,
    Column,
    Group,
    Table,
    has_any,
    interval_of,
    measured,
    table_of,
    tables_of,
)


def markdown(report: Report) -> str:
    """Return a table per list of `tables_of` that has any values."""
    if report.is_covr:
        return _covr_markdown(report)
    table = table_of(report)
    return "\n".join(_markdown(table, groups) for groups in tables_of(report) if measured(table, groups))


def _covr_markdown(report: Report) -> str:
    """Return one line per kind of change and system."""
    known: dict[str, Mapping[str, float]] = {
        each.spec["strategy"]: report.metrics[each.system] for each in report.results
    }
    keys = [key.rpartition("/") for metrics in known.values() for key in metrics]
    rows, found = dict.fromkeys(row for row, _, _ in keys), {name for _, _, name in keys}
    names = [name for name in (*MEASURES, VIOLATIONS, *FURTHER) if name in found]
    lines = [f"| kind | system | {' | '.join(names)} |", f"|:--|:--|{'--:|' * len(names)}"]
    for row in rows:
        for system, metrics in known.items():
            values = [metrics.get(f"{row}/{name}") for name in names]
            cells = ("" if value is None else f"{value:.1f}" for value in values)
            if values != [None] * len(values):
                lines.append(f"| {row} | {system} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _markdown(table: Table, groups: Sequence[Group]) -> str:
    heads, *rows = laid_out(table, groups)
    lines = [heads, [":--", *["--:"] * (len(heads) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def laid_out(table: Table, groups: Sequence[Group]) -> list[list[str]]:
    """Return the heads of the columns with any value, then a row for each system with any."""
    groups = measured(table, groups)
    heads = [f"{group.head} {column.head}".strip() for group in groups for column in group.columns]
    rows = [[name, *_cells(metrics, groups)] for name, metrics in table if has_any(metrics, groups)]
    return [["", *heads], *rows]


def csv_table(report: Report) -> str:
    """Return all metrics of all systems, unrounded, with their keys as headers; then the ends of their intervals."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    groups = [group for groups in tables_of(report) for group in groups]
    keys = list(dict.fromkeys(column.key for group in groups for column in group.columns))
    if report.is_covr:
        keys = list(dict.fromkeys(key for _, metrics in table_of(report) for key in metrics))
    writer.writerow(["system", *keys, *(f"{key} {end}" for key in keys for end in ("low", "high"))])
    for name, metrics in table_of(report):
        intervals = [interval_of(report, name, key) if key in metrics else None for key in keys]
        ends = [("", "") if each is None else (each.low, each.high) for each in intervals]
        writer.writerow([name, *(metrics.get(key, "") for key in keys), *(end for pair in ends for end in pair)])
    return file.getvalue()


def latex(report: Report) -> str:
    """Return a booktabs table like the paper's Table 2, extended by the further metrics, each once."""
    table = table_of(report)
    groups = measured(table, _distinct([group for groups in tables_of(report) for group in groups]))
    columns = [column for group in groups for column in group.columns]
    heads = [rf"\multicolumn{{{len(group.columns)}}}{{c}}{{{escaped(group.head)}}}" for group in groups]
    rules, first = [], 2
    for group in groups:
        rules.append(rf"\cmidrule(lr){{{first}-{first + len(group.columns) - 1}}}")
        first += len(group.columns)
    lines = [
        rf"\begin{{tabular}}{{l{'r' * len(columns)}}}",
        r"\toprule",
        " & ".join(["", *heads]) + r" \\",
        " ".join(rules),
        " & ".join(["Model", *(escaped(column.head) for column in columns)]) + r" \\",
        r"\midrule",
        *(
            " & ".join([escaped(name), *_latex_cells(report, name, metrics, columns)]) + r" \\"
            for name, metrics in table
        ),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _distinct(groups: Sequence[Group]) -> list[Group]:
    """Leave out columns that an earlier group has."""
    seen, found = set[str](), []
    for group in groups:
        columns = tuple(column for column in group.columns if column.key not in seen)
        seen |= {column.key for column in columns}
        found += [Group(group.head, columns)] if columns else []
    return found


FORMS: dict[str, Callable[[Report], str]] = {"table.md": markdown, "table.csv": csv_table, "table.tex": latex}


def write_tables(report: Report, folder: Path) -> None:
    """Write the table in every format to an existing folder; an OSError says if that fails."""
    for file, form in FORMS.items():
        (folder / file).write_text(form(report), encoding="utf-8")


def _cells(metrics: Mapping[str, float], groups: Sequence[Group]) -> list[str]:
    return [column.text(metrics.get(column.key)) for group in groups for column in group.columns]


def _latex_cells(report: Report, name: str, metrics: Mapping[str, float], columns: Sequence[Column]) -> list[str]:
    cells = []
    for column in columns:
        interval = interval_of(report, name, column.key) if column.key in metrics else None
        margin = "" if interval is None else rf"$_{{\pm{column.text(interval.half)}}}$"
        cells.append(escaped(column.text(metrics.get(column.key))) + margin)
    return cells


ESCAPES = str.maketrans(
    {character: f"\\{character}" for character in "&%_#${}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"Δ": r"$\Delta$", "α": r"$\alpha$", EMPTY: "--", "*": r"$^*$"}
)


def escaped(text: str) -> str:
    """Escape a cell for LaTeX."""
    return text.translate(ESCAPES)
