"""Tables of a report: their columns, in groups, and their lines, independent of any format."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from nt2vr.evaluation.covr.protocol import ALL, CIRR_MEAN, FIRST, KS
from nt2vr.evaluation.covr.sources import SEEN, UNSEEN
from nt2vr.evaluation.intervals import Interval
from nt2vr.evaluation.reports.report import Report
from nt2vr.evaluation.timing import AS_FILMED, SHUFFLED
from nt2vr.world.edits import EDIT_KINDS

EMPTY = "–"


@dataclass(frozen=True)
class Column:
    """One metric: its key in a report's metrics, column header and number of decimals."""

    key: str
    head: str
    decimals: int

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
    recalls = (Column(f"{kind}/{prefix}R@{k}", f"{sign}R@{k}", 1) for k in (1, 5, 10))
    return (*recalls, Column(f"{kind}/{prefix}MIR", f"{sign}MIR", 3))


def _honest(kind: str) -> tuple[Column, ...]:
    return (Column(f"{kind}/hard_pairs", "hard pairs", 1), Column(f"{kind}/violations@10", "violations@10", 1))


PAPER = (  # Table 2
    Group("Original", _retrieval("original")),
    Group("Negated", _retrieval("negated", "delta_", "Δ")),
    Group("Composed", _retrieval("composed")),
)


def _ranked(head: str, kind: str) -> Group:
    names = (*(f"R@{k}" for k in (1, 5, 10)), "MedR", "MeanR")
    return Group(head, tuple(Column(f"{kind}/{name}", name, 1) for name in names))


BOTH_WAYS = (_ranked("Text to video", "original"), _ranked("Video to text", "video"))
HONEST = (
    Group("A and not B", _honest("composed")),
    Group("A without N", (*_retrieval("without")[::3], *_honest("without"))),
    Group("not B", (Column("not/auc", "AUC", 3), Column("not/violations@10", "violations@10", 1))),
)
OTHERS = (
    Group("NegBench retrieval", _retrieval("retrieval")),
    Group("Multiple choice", (Column("choice/accuracy", "all", 1),)),
    Group("Caption and foil", (Column("pair/accuracy", "accuracy", 1),)),
    Group("Picture and foil", (Column("picture/accuracy", "accuracy", 1), Column("picture/AP", "AP", 1))),
    Group(
        "Classes",
        (
            *(Column("class/accuracy", "top-1", 1), Column("class/top-5", "top-5", 1)),
            *(Column("class/negated", "negated top-1", 1), Column("class/delta", "Δ", 1)),
        ),
    ),
)
GROUPS = PAPER + HONEST + OTHERS
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
    if not report.is_covr:
        ranks = any("video/R@1" in metrics for metrics in report.metrics.values())
        others = tuple(_with_subsets(report, group) for group in OTHERS)
        if any(query.kind == "pair" for query in report.queries):  # pairs do not tell whether a model can search
            others = (Group("A and not B", _honest("composed")[:1]), *others)
        return [PAPER, HONEST, *([BOTH_WAYS] if ranks else []), others]
    kinds = by_definition(dict.fromkeys(query.kind for query in report.queries))
    known = dict.fromkeys(key for _, metrics in table_of(report) for key in metrics)
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
            Group(head, tuple(Column(key, text, 1) for key, text in heads.items() if key in known))
            for head, heads in columns.items()
        )
    ]


def _with_subsets(report: Report, group: Group) -> Group:
    """Add a column per subset of pairs, and per data set of classes, of which there is a mean, too."""
    key = group.columns[0].key
    if key not in ("choice/accuracy", "pair/accuracy", "picture/accuracy", "class/accuracy"):
        return group
    known = dict.fromkeys(key for some in report.metrics.values() for key in some)
    names = sorted(name.removeprefix(f"{key} ") for name in known if name.startswith(f"{key} "))
    if AS_FILMED in names:  # together with its control it means nothing
        return Group("Order", tuple(Column(f"{key} {name}", name, 1) for name in (AS_FILMED, SHUFFLED)))
    are_classes = key == "class/accuracy"
    parts = [
        Column(f"{column.key} {name}", f"{column.head} {name}" if number or are_classes else name, 1)
        for number, column in enumerate(group.columns)
        for name in names
    ]
    means = [(column, column.key.replace("/", "/mean ")) for column in group.columns if are_classes]
    mean = [Column(key, f"mean {column.head}", 1) for column, key in means if key in known]
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
