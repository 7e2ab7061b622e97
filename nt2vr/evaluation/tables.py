"""A report's tables, and their forms in Markdown, CSV and LaTeX."""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean

from defusedcsv import csv

from nt2vr.errors import counted
from nt2vr.evaluation.covr import ALL, CIRR_MEAN, FIRST, KS
from nt2vr.evaluation.covr_data import SEEN, UNSEEN
from nt2vr.evaluation.intervals import Interval
from nt2vr.evaluation.measures import BOTH_WAYS, EMPTY, HONEST, OTHERS, PAPER, Column, Group
from nt2vr.evaluation.report import Report
from nt2vr.world.edits import EDIT_KINDS

REMOVALS = "removals"  # mean over the kinds of change that remove something
MAP = "mAP@10"
MEASURES = tuple(f"R@{k}" for k in KS)  # of pictures plus texts
VIOLATIONS = f"violations@{FIRST}"
FURTHER = ("subset R@1", CIRR_MEAN, MAP)
OF_CAPTIONS = ("original/", "video/")
Line = tuple[str, Mapping[str, float]]  # name of a system or reference, its metrics


@dataclass(frozen=True)
class Table:
    """The groups of columns with any value, and the lines with any."""

    groups: tuple[Group, ...]
    lines: tuple[Line, ...]

    @classmethod
    def of(cls, lines: Iterable[Line], groups: Iterable[Group]) -> "Table":
        lines = tuple(lines)
        known = {key for _, metrics in lines for key in metrics}
        there = tuple(group for group in groups if any(column.key in known for column in group.columns))
        keys = {column.key for group in there for column in group.columns}
        return cls(there, tuple(line for line in lines if not keys.isdisjoint(line[1])))

    @property
    def columns(self) -> list[Column]:
        return [column for group in self.groups for column in group.columns]

    def texts(self) -> list[list[str]]:
        """Return the heads of the columns, then a row per system."""
        heads = [f"{group.head} {column.head}".strip() for group in self.groups for column in group.columns]
        columns = self.columns
        rows = ([name, *(column.text(metrics.get(column.key)) for column in columns)] for name, metrics in self.lines)
        return [["", *heads], *rows]


def tables_of(report: Report) -> list[Table]:
    """Return the tables that have any line."""
    lines = lines_of(report)
    tables = (Table.of(lines, groups) for groups in groups_of(report))
    return [table for table in tables if table.lines]


def lines_of(report: Report) -> list[Line]:
    """Return a line per reference, then per system.

    As in the paper, values for captions are shown only for plain systems: other strategies do not change captions.
    """
    lines: list[Line] = [(name, dict(metrics)) for name, metrics in report.references.items()]
    for result in report.results:
        is_plain = result.spec["strategy"] == "plain"
        metrics = report.metrics[result.system]
        shown = {key: value for key, value in metrics.items() if is_plain or not key.startswith(OF_CAPTIONS)}
        lines.append((result.system, shown | _removals(metrics)))
    return lines


def _removals(metrics: Mapping[str, float]) -> dict[str, float]:
    """Average violations over the kinds of change that have them, and R@1 of the same kinds."""
    kinds = [kind for kind in EDIT_KINDS if f"{kind}/{VIOLATIONS}" in metrics]
    names = ("R@1", VIOLATIONS) if kinds else ()
    return {f"{REMOVALS}/{name}": fmean(metrics[f"{kind}/{name}"] for kind in kinds) for name in names}


def groups_of(report: Report) -> list[tuple[Group, ...]]:
    """Return the groups of columns of each table, measured or not."""
    known = dict.fromkeys(key for _, metrics in lines_of(report) for key in metrics)
    if report.is_covr:
        return [tuple(_covr_groups(report, known))]
    others = tuple(_with_subsets(known, group) for group in OTHERS)
    if any(query.kind == "pair" for query in report.queries):  # pairs do not tell whether a model can search
        others = (Group(HONEST[0].head, HONEST[0].columns[:1]), *others)
    return [PAPER, HONEST, *([BOTH_WAYS] if "video/R@1" in known else []), others]


def _covr_groups(report: Report, known: Iterable[str]) -> Iterator[Group]:
    kinds = by_definition(dict.fromkeys(query.kind for query in report.queries))
    rows = dict.fromkeys(key.rpartition("/")[0] for key in known)
    labels = [row for row in rows if row not in (*kinds, ALL, SEEN, UNSEEN, REMOVALS)]
    groups = {
        "R@1": [(ALL, "R@1", ALL), (SEEN, "R@1", "seen"), (UNSEEN, "R@1", "unseen")],
        REMOVALS: [(REMOVALS, name, name) for name in ("R@1", VIOLATIONS)],
        "R@1 by kind of change": [(kind, "R@1", kind) for kind in kinds],
        ALL: [(ALL, name, name) for name in FURTHER],
        f"{MAP} by aspect": [(label, MAP, label) for label in labels],
    }
    for head, cells in groups.items():
        columns = (Column(f"{row}/{name}", text, lower_is_better=name == VIOLATIONS) for row, name, text in cells)
        yield Group(head, tuple(column for column in columns if column.key in known))


def _with_subsets(known: Iterable[str], group: Group) -> Group:
    """Add a column per subset of pairs, and per data set of classes, of which there is a mean, too."""
    first, *further = group.columns
    if not first.key.endswith("/accuracy"):
        return group
    names = sorted(name.removeprefix(f"{first.key} ") for name in known if name.startswith(f"{first.key} "))
    if first.key != "class/accuracy":
        parts = [Column(f"{first.key} {name}", name) for name in names]
    else:
        parts = [
            Column(key, f"mean {column.head}")
            for column in group.columns
            if (key := column.key.replace("/", "/mean ")) in known
        ]
        further = [*group.columns]
    parts += [Column(f"{column.key} {name}", f"{column.head} {name}") for column in further for name in names]
    return Group(group.head, (*group.columns, *parts))


def by_definition(kinds: Iterable[str]) -> list[str]:
    """Order kinds of change as the built-in world defines them; those of datasets stay as they come."""
    return sorted(kinds, key=lambda kind: EDIT_KINDS.index(kind) if kind in EDIT_KINDS else -1)


def interval_of(report: Report, name: str, key: str) -> Interval | None:
    """Return the interval of a metric; None for a reference, and where no resample differs."""
    return report.intervals.get(name, {}).get(key)


def size_of(report: Report) -> str:
    """Say how many queries and videos the figures rest on."""
    return f"{counted(len(report.queries), 'query', 'queries')}, {counted(len(report.video_ids), 'video')}."


def markdown(report: Report) -> str:
    """Return each table; of pictures plus texts one, with a line per kind of change and system."""
    if not report.is_covr:
        return "\n".join([*(_markdown(*table.texts()) for table in tables_of(report)), f"{size_of(report)}\n"])
    heads, *lines = _covr_lines(report)
    return f"{_markdown(heads, *lines, num_left=2)}\n{size_of(report)}\n"


def _covr_lines(report: Report) -> Iterator[list[str]]:
    """Yield heads, then a line per kind of change and system."""
    of_system = {result.spec["strategy"]: report.metrics[result.system] for result in report.results}
    keys = [key.rpartition("/") for metrics in of_system.values() for key in metrics]
    found = {name for _, _, name in keys}
    names = [name for name in (*MEASURES, VIOLATIONS, *FURTHER) if name in found]
    yield ["kind", "system", *names]
    for row, (system, metrics) in product(dict.fromkeys(row for row, _, _ in keys), of_system.items()):
        values = [metrics.get(f"{row}/{name}") for name in names]
        if any(value is not None for value in values):
            yield [row, system, *("" if value is None else f"{value:.1f}" for value in values)]


def _markdown(heads: Sequence[str], *rows: Sequence[str], num_left: int = 1) -> str:
    rule = [":--"] * num_left + ["--:"] * (len(heads) - num_left)
    return "".join(f"| {' | '.join(line)} |\n" for line in (heads, rule, *rows))


def csv_table(report: Report) -> str:
    """Return all metrics of all systems, unrounded, with their keys as headers; then the ends of their intervals."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    keys = _keys(report)
    writer.writerow(["system", *keys, *(f"{key} {end}" for key in keys for end in ("low", "high"))])
    for name, metrics in lines_of(report):
        writer.writerow([name, *(metrics.get(key, "") for key in keys), *_ends(report, name, metrics, keys)])
    return file.getvalue()


def _keys(report: Report) -> list[str]:
    if report.is_covr:
        return list(dict.fromkeys(key for _, metrics in lines_of(report) for key in metrics))
    groups = (group for groups in groups_of(report) for group in groups)
    return list(dict.fromkeys(column.key for group in groups for column in group.columns))


def _ends(report: Report, name: str, metrics: Mapping[str, float], keys: Iterable[str]) -> Iterator[float | str]:
    for key in keys:
        interval = interval_of(report, name, key) if key in metrics else None
        yield from (interval.low, interval.high) if interval else ("", "")


def latex(report: Report) -> str:
    """Return a booktabs table like the paper's Table 2, extended by the further metrics, each once.

    A small number after ± is half of a figure's 95 % interval.
    """
    groups, rules, first = list(_each_once(tables_of(report))), list[str](), 2
    for group in groups:
        rules.append(rf"\cmidrule(lr){{{first}-{first + len(group.columns) - 1}}}")
        first += len(group.columns)
    columns = [column for group in groups for column in group.columns]
    heads = (rf"\multicolumn{{{len(group.columns)}}}{{c}}{{{escaped(group.head)}}}" for group in groups)
    rows = (
        [escaped(name), *(_latex_cell(report, name, column, metrics) for column in columns)]
        for name, metrics in lines_of(report)
    )
    lines = [
        *(rf"\begin{{tabular}}{{l{'r' * len(columns)}}}", r"\toprule", " & ".join(["", *heads]) + r" \\"),
        *(" ".join(rules), " & ".join(["Model", *(escaped(column.head) for column in columns)]) + r" \\", r"\midrule"),
        *(" & ".join(row) + r" \\" for row in rows),
        *(r"\bottomrule", r"\end{tabular}"),
    ]
    return "\n".join(lines) + "\n"


def _each_once(tables: Iterable[Table]) -> Iterator[Group]:
    """Yield the groups of columns of several tables, without the columns that were there."""
    seen = set[str]()
    for group in (group for table in tables for group in table.groups):
        if columns := tuple(column for column in group.columns if column.key not in seen):
            yield Group(group.head, columns)
        seen |= {column.key for column in columns}


def _latex_cell(report: Report, name: str, column: Column, metrics: Mapping[str, float]) -> str:
    interval = interval_of(report, name, column.key) if column.key in metrics else None
    margin = "" if interval is None else rf"$_{{\pm{column.text(interval.half)}}}$"
    return escaped(column.text(metrics.get(column.key))) + margin


ESCAPES = str.maketrans(
    {character: f"\\{character}" for character in "&%_#${}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"Δ": r"$\Delta$", "α": r"$\alpha$", EMPTY: "--", "*": r"$^*$"}
)


def escaped(text: str) -> str:
    """Escape a cell for LaTeX."""
    return text.translate(ESCAPES)


FORMS: dict[str, Callable[[Report], str]] = {"table.md": markdown, "table.csv": csv_table, "table.tex": latex}


def write_tables(report: Report, folder: Path) -> None:
    """Write the table in every format to an existing folder; an OSError says if that fails."""
    for file, form in FORMS.items():
        (folder / file).write_text(form(report), encoding="utf-8")
