"""A report's tables: columns in groups, lines, and their forms in Markdown, CSV and LaTeX."""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from defusedcsv import csv

from nt2vr.errors import counted
from nt2vr.evaluation.built_in import AS_FILMED, SHUFFLED
from nt2vr.evaluation.covr import ALL, CIRR_MEAN, FIRST, KS
from nt2vr.evaluation.covr_data import SEEN, UNSEEN
from nt2vr.evaluation.intervals import Interval
from nt2vr.evaluation.report import Report
from nt2vr.world.edits import EDIT_KINDS

EMPTY = "–"


@dataclass(frozen=True)
class Column:
    """One metric: its key in a report's metrics, column header and number of decimals."""

    key: str
    head: str
    decimals: int = 1

    @property
    def lower_is_better(self) -> bool:
        """Whether it counts faults or places."""
        return "violations" in self.key or self.key.endswith(("/MedR", "/MeanR"))

    def text(self, value: float | None) -> str:
        """Format a value; None means not measured."""
        return EMPTY if value is None else f"{value:.{self.decimals}f}"


@dataclass(frozen=True)
class Group:
    """Columns under a common header."""

    head: str
    columns: tuple[Column, ...]


def _retrieval(kind: str, prefix: str = "", sign: str = "") -> tuple[Column, ...]:
    recalls = (Column(f"{kind}/{prefix}R@{k}", f"{sign}R@{k}") for k in (1, 5, 10))
    return (*recalls, Column(f"{kind}/{prefix}MIR", f"{sign}MIR", 3))


def _honest(kind: str) -> tuple[Column, ...]:
    return (Column(f"{kind}/hard_pairs", "hard pairs"), Column(f"{kind}/violations@10", "violations@10"))


def _ranked(head: str, kind: str) -> Group:
    names = (*(f"R@{k}" for k in (1, 5, 10)), "MedR", "MeanR")
    return Group(head, tuple(Column(f"{kind}/{name}", name) for name in names))


PAPER = (  # Table 2 of the nT2VR paper
    Group("Original", _retrieval("original")),
    Group("Negated", _retrieval("negated", "delta_", "Δ")),
    Group("Composed", _retrieval("composed")),
)
BOTH_WAYS = (_ranked("Text to video", "original"), _ranked("Video to text", "video"))
HONEST = (
    Group("A and not B", _honest("composed")),
    Group("A without N", (*_retrieval("without")[::3], *_honest("without"))),
    Group("not B", (Column("not/auc", "AUC", 3), Column("not/violations@10", "violations@10"))),
)
OTHERS = (
    Group("NegBench retrieval", _retrieval("retrieval")),
    Group("Multiple choice", (Column("choice/accuracy", "all"),)),
    Group("Caption and foil", (Column("pair/accuracy", "accuracy"),)),
    Group("Picture and foil", (Column("picture/accuracy", "accuracy"), Column("picture/AP", "AP"))),
    Group(
        "Classes",
        (
            *(Column("class/accuracy", "top-1"), Column("class/top-5", "top-5")),
            *(Column("class/negated", "negated top-1"), Column("class/delta", "Δ")),
        ),
    ),
)
GROUPS = PAPER + HONEST + OTHERS
WITH_SUBSETS = ("choice/accuracy", "pair/accuracy", "picture/accuracy", "class/accuracy")
REMOVALS = "removals"  # mean over the kinds of change that remove something
MAP = "mAP@10"
MEASURES = tuple(f"R@{k}" for k in KS)  # of pictures plus texts
VIOLATIONS = f"violations@{FIRST}"
FURTHER = ("subset R@1", CIRR_MEAN, MAP)
OF_CAPTIONS = ("original/", "video/")
Table = Sequence[tuple[str, Mapping[str, float]]]  # name of a system, its metrics


def table_of(report: Report) -> Table:
    """Return the table's lines: references, then systems.

    As in the paper, values for captions are shown only for plain systems: other strategies do not change captions.
    """
    lines = [(name, dict(metrics)) for name, metrics in report.references.items()]
    for result in report.results:
        is_plain = result.spec["strategy"] == "plain"
        metrics = report.metrics[result.system]
        shown = {key: value for key, value in metrics.items() if is_plain or not key.startswith(OF_CAPTIONS)}
        lines.append((result.system, shown | _removals(metrics)))
    return lines


def _removals(metrics: Mapping[str, float]) -> dict[str, float]:
    """Average violations over the kinds of change that have them, and R@1 of the same kinds."""
    kinds = [key.rpartition("/")[0] for key in metrics if key.endswith(f"/{VIOLATIONS}")]
    kinds = [kind for kind in kinds if kind in EDIT_KINDS]
    names = ("R@1", VIOLATIONS) if kinds else ()
    return {f"{REMOVALS}/{name}": fmean(metrics[f"{kind}/{name}"] for kind in kinds) for name in names}


def tables_of(report: Report, measure: str = MEASURES[0]) -> list[tuple[Group, ...]]:
    """Return the groups of columns of each table; `measure` is that of pictures plus texts by kind of change."""
    known = dict.fromkeys(key for _, metrics in table_of(report) for key in metrics)
    if not report.is_covr:
        others = tuple(_with_subsets(known, group) for group in OTHERS)
        if any(query.kind == "pair" for query in report.queries):  # pairs do not tell whether a model can search
            others = (Group("A and not B", _honest("composed")[:1]), *others)
        return [PAPER, HONEST, *([BOTH_WAYS] if "video/R@1" in known else []), others]
    kinds = by_definition(dict.fromkeys(query.kind for query in report.queries))
    rows = dict.fromkeys(key.rpartition("/")[0] for key in known)
    labels = [row for row in rows if row not in (*kinds, ALL, SEEN, UNSEEN, REMOVALS)]
    columns = {
        measure: {f"{ALL}/{measure}": ALL, f"{SEEN}/{measure}": "seen", f"{UNSEEN}/{measure}": "unseen"},
        REMOVALS: {f"{REMOVALS}/{name}": name for name in ("R@1", VIOLATIONS)},
        f"{measure} by kind of change": {f"{kind}/{measure}": kind for kind in kinds},
        ALL: {f"{ALL}/{name}": name for name in FURTHER},
        f"{MAP} by aspect": {f"{label}/{MAP}": label for label in labels},
    }
    return [
        tuple(
            Group(head, tuple(Column(key, text) for key, text in heads.items() if key in known))
            for head, heads in columns.items()
        )
    ]


def _with_subsets(known: Iterable[str], group: Group) -> Group:
    """Add a column per subset of pairs, and per data set of classes, of which there is a mean, too."""
    key = group.columns[0].key
    if key not in WITH_SUBSETS:
        return group
    names = sorted(name.removeprefix(f"{key} ") for name in known if name.startswith(f"{key} "))
    if AS_FILMED in names:  # together with its control it means nothing
        return Group("Order", tuple(Column(f"{key} {name}", name) for name in (AS_FILMED, SHUFFLED)))
    are_classes = key == "class/accuracy"
    parts = [
        Column(f"{column.key} {name}", f"{column.head} {name}" if number or are_classes else name)
        for number, column in enumerate(group.columns)
        for name in names
    ]
    means = [(column, column.key.replace("/", "/mean ")) for column in group.columns if are_classes]
    mean = [Column(key, f"mean {column.head}") for column, key in means if key in known]
    return Group(group.head, (*group.columns, *mean, *parts))


def by_definition(kinds: Iterable[str]) -> list[str]:
    """Order kinds of change as the built-in world defines them; those of datasets stay as they come."""
    return sorted(kinds, key=lambda kind: EDIT_KINDS.index(kind) if kind in EDIT_KINDS else -1)


def measured(table: Table, groups: Sequence[Group]) -> list[Group]:
    """Return the groups with any value in a table."""
    return [group for group in groups if any(has_any(metrics, [group]) for _, metrics in table)]


def has_any(metrics: Mapping[str, float], groups: Sequence[Group]) -> bool:
    return any(column.key in metrics for group in groups for column in group.columns)


def interval_of(report: Report, name: str, key: str) -> Interval | None:
    """Return the interval of a metric; None for a reference, and where no resample differs."""
    return report.intervals.get(name, {}).get(key)


def laid_out(table: Table, groups: Sequence[Group]) -> list[list[str]]:
    """Return the heads of the columns with any value, then a row for each system with any."""
    groups = measured(table, groups)
    columns = [column for group in groups for column in group.columns]
    heads = [f"{group.head} {column.head}".strip() for group in groups for column in group.columns]
    rows = [
        [name, *(column.text(metrics.get(column.key)) for column in columns)]
        for name, metrics in table
        if has_any(metrics, groups)
    ]
    return [["", *heads], *rows]


def size_of(report: Report) -> str:
    """Say how many queries and videos the figures rest on."""
    return f"{counted(len(report.queries), 'query', 'queries')}, {counted(len(report.video_ids), 'video')}."


def markdown(report: Report) -> str:
    """Return each table that has any values; of pictures plus texts one, with a line per kind of change and system."""
    if not report.is_covr:
        table = table_of(report)
        tables = [_markdown(*laid_out(table, groups)) for groups in tables_of(report) if measured(table, groups)]
        return "\n".join([*tables, f"{size_of(report)}\n"])
    of_system = {result.spec["strategy"]: report.metrics[result.system] for result in report.results}
    keys = [key.rpartition("/") for metrics in of_system.values() for key in metrics]
    found = {name for _, _, name in keys}
    names = [name for name in (*MEASURES, VIOLATIONS, *FURTHER) if name in found]
    lines = []
    for row in dict.fromkeys(row for row, _, _ in keys):
        for system, metrics in of_system.items():
            values = [metrics.get(f"{row}/{name}") for name in names]
            if values != [None] * len(values):
                lines.append([row, system, *("" if value is None else f"{value:.1f}" for value in values)])
    return f"{_markdown(['kind', 'system', *names], *lines, num_left=2)}\n{size_of(report)}\n"


def _markdown(heads: Sequence[str], *rows: Sequence[str], num_left: int = 1) -> str:
    rule = [":--"] * num_left + ["--:"] * (len(heads) - num_left)
    return "".join(f"| {' | '.join(line)} |\n" for line in (heads, rule, *rows))


def csv_table(report: Report) -> str:
    """Return all metrics of all systems, unrounded, with their keys as headers; then the ends of their intervals."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    keys = dict.fromkeys(column.key for groups in tables_of(report) for group in groups for column in group.columns)
    if report.is_covr:
        keys = dict.fromkeys(key for _, metrics in table_of(report) for key in metrics)
    writer.writerow(["system", *keys, *(f"{key} {end}" for key in keys for end in ("low", "high"))])
    for name, metrics in table_of(report):
        intervals = [interval_of(report, name, key) if key in metrics else None for key in keys]
        ends = [end for each in intervals for end in (("", "") if each is None else (each.low, each.high))]
        writer.writerow([name, *(metrics.get(key, "") for key in keys), *ends])
    return file.getvalue()


def latex(report: Report) -> str:
    """Return a booktabs table like the paper's Table 2, extended by the further metrics, each once.

    A small number after ± is half of a figure's 95 % interval.
    """
    table, seen, groups = table_of(report), set[str](), list[Group]()
    for group in (group for groups in tables_of(report) for group in measured(table, groups)):
        columns = tuple(column for column in group.columns if column.key not in seen)
        seen |= {column.key for column in columns}
        groups += [Group(group.head, columns)] if columns else []
    columns = tuple(column for group in groups for column in group.columns)
    rules, first = [], 2
    for group in groups:
        rules.append(rf"\cmidrule(lr){{{first}-{first + len(group.columns) - 1}}}")
        first += len(group.columns)
    heads = [rf"\multicolumn{{{len(group.columns)}}}{{c}}{{{escaped(group.head)}}}" for group in groups]

    def cell(name: str, column: Column, metrics: Mapping[str, float]) -> str:
        interval = interval_of(report, name, column.key) if column.key in metrics else None
        margin = "" if interval is None else rf"$_{{\pm{column.text(interval.half)}}}$"
        return escaped(column.text(metrics.get(column.key))) + margin

    rows = [[escaped(name), *(cell(name, column, metrics) for column in columns)] for name, metrics in table]
    named = ["Model", *(escaped(column.head) for column in columns)]
    lines = [
        *(rf"\begin{{tabular}}{{l{'r' * len(columns)}}}", r"\toprule", " & ".join(["", *heads]) + r" \\"),
        *(" ".join(rules), " & ".join(named) + r" \\", r"\midrule"),
        *(" & ".join(row) + r" \\" for row in rows),
        *(r"\bottomrule", r"\end{tabular}"),
    ]
    return "\n".join(lines) + "\n"


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
