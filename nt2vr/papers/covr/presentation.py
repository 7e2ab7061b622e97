"""How reports on pictures plus texts (covr) are stored, compared and shown; their measures by name."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from statistics import fmean

import numpy as np
from numpy.typing import ArrayLike

from nt2vr.errors import ConfigError
from nt2vr.evaluation.columns import Column, ColumnGroup, TableGroups
from nt2vr.evaluation.differences import Pair
from nt2vr.evaluation.measures import Measured
from nt2vr.evaluation.metric_names import Metrics, recall, violations
from nt2vr.evaluation.report import Presentation, Report, Result, Row
from nt2vr.evaluation.roles import BASE, REFERENCE, Spec
from nt2vr.evaluation.tables import markdown_table, size_of
from nt2vr.files import JsonObject
from nt2vr.papers.covr.compositions import TRAINING_FREE
from nt2vr.papers.covr.edits import EDIT_KINDS


def mean_average_precision(k: int) -> str:
    return f"mAP@{k}"


def within_subset(name: str) -> str:
    """Return the name of a measure of which only a subset of the clips is ranked, as in CIRR."""
    return f"subset {name}"


# After the name of the data.
PICTURE_PLUS_TEXT = "picture plus text"
KS = (1, 5, 10, 50)
R_1 = recall(1)
SUBSET_R_1 = within_subset(R_1)
CIRR_MEAN = f"mean of {recall(5)} and {SUBSET_R_1}"
# Clips checked for violations.
FIRST = 5
# Mean over kinds, so that frequent ones do not count more.
ALL = "all kinds"
SEEN = "seen wordings"
UNSEEN = "unseen wordings"
# Mean over the kinds of change that remove something.
REMOVALS = "removals"
MAP = mean_average_precision(10)
VIOLATIONS = violations(FIRST)
FURTHER = (SUBSET_R_1, CIRR_MEAN, MAP)
# Of all measures, as the table has them.
IN_ORDER = (*map(recall, KS), VIOLATIONS, *FURTHER)
# The system that searches for the target's caption, without picture.
FULL_CAPTION = "caption"
# What a strategy stands for in the table, and the note beside its name.
ROLES = {
    "picture": (BASE, "control: no text"),
    "text": (BASE, "control: no picture"),
    "fusion": ("", "trained"),
    FULL_CAPTION: (REFERENCE, "for comparison: the full caption"),
}
MEANINGS = (
    "R@k: percentage of queries with a relevant clip among the first k; all kinds count alike. Half of the built-in "
    "texts have wordings that no training has seen.",
    "Removals: mean over the kinds of change that remove something. Violations@5: percentage of the first five clips "
    "that show what was to be removed; lower is better. A system that ignores the picture has the lowest, so read it "
    "with R@1.",
)


class CovrPresentation(Presentation):
    """Measures are means over kinds of change, and clips are but numbers."""

    opens = "Click a query to open it in Search, with its reference. The gallery there is not that of the report."
    has_review = False
    has_breakdown = False
    wraps_heads = True
    has_stored_metrics = True

    def fits(self, lines: Sequence[JsonObject]) -> bool:
        return any("picture" in line for line in lines)

    def caption_fields(self, row: Row) -> JsonObject:
        return {}

    def clip_fields(self, row: Row) -> JsonObject:
        return {"picture": row.query.picture}

    def row(self, report: Report, position: int) -> Row:
        model = report.results[0].spec["model"]
        return Row(
            query=report.queries[position],
            ranks=report.ranks(position),
            heading="Ranks of all systems",
            search_systems=(model, f"{model} fusion", f"{model} parts"),
        )

    def kinds(self, report: Report) -> list[str]:
        """Order kinds of change as the built-in world defines them; those of datasets stay as they come."""
        kinds = dict.fromkeys(query.kind for query in report.queries)
        return sorted(kinds, key=lambda kind: EDIT_KINDS.index(kind) if kind in EDIT_KINDS else -1)

    def role_of(self, spec: Spec) -> tuple[str, str]:
        return ROLES.get(spec.get("strategy", ""), ("", ""))

    def competes(self, role: str) -> bool:
        """Leave out controls, too: they win violations by ignoring the picture or the text."""
        return not role

    def telling_pair(self, report: Report) -> Pair:
        """Return the best way without training, and the fusion or the full caption."""
        names = list(report.specs)
        name_of = {spec["strategy"]: name for name, spec in report.specs.items()}
        free = list(filter(None, map(name_of.get, TRAINING_FREE)))

        def mean_recall(name: str) -> float:
            return report.metrics[name].get(f"{ALL}/{R_1}", 0)

        best = max(free or names[:1], key=mean_recall)
        return best, name_of.get("fusion", names[-1])

    def pairs(self, report: Report) -> list[Pair]:
        return []

    def check_comparable(self) -> None:
        raise ConfigError(
            "The measures of pictures plus texts are means over kinds of change, which are not compared query by "
            "query. Read the ranks in queries.jsonl."
        )

    def line_metrics(self, spec: Spec, metrics: Metrics) -> Metrics:
        """Add the means over the kinds of change that remove something."""
        with_means = dict(metrics)
        kinds = [kind for kind in EDIT_KINDS if f"{kind}/{VIOLATIONS}" in metrics]
        if kinds:
            for name in (R_1, VIOLATIONS):
                values = [metrics[f"{kind}/{name}"] for kind in kinds]
                with_means[f"{REMOVALS}/{name}"] = fmean(values)
        return with_means

    def groups(self, report: Report, measured: Collection[str]) -> list[TableGroups]:
        kinds = self.kinds(report)
        means = (*kinds, ALL, SEEN, UNSEEN, REMOVALS)
        rows = dict.fromkeys(key.rpartition("/")[0] for key in measured)
        labels = [row for row in rows if row not in means]
        group = partial(_group, measured=measured)
        groups = (
            group(R_1, rows=(ALL, SEEN, UNSEEN), names=(R_1,)),
            group(REMOVALS, rows=(REMOVALS,), names=(R_1, VIOLATIONS)),
            group(f"{R_1} by kind of change", rows=kinds, names=(R_1,)),
            group(ALL, rows=(ALL,), names=FURTHER),
            group(f"{MAP} by aspect", rows=labels, names=(MAP,)),
        )
        return [groups]

    def csv_keys(self, report: Report, measured: Collection[str]) -> list[str]:
        return list(measured)

    def meanings(self, columns: Iterable[Column], measured: Collection[str]) -> list[str]:
        return list(MEANINGS if f"{REMOVALS}/{R_1}" in measured else MEANINGS[:1])

    def markdown(self, report: Report) -> str:
        """Return one table, by kind of change and system."""
        kinds: dict[str, None] = {}
        measured = set()
        for result in report.results:
            for key in report.metrics[result.system]:
                kind, _, name = key.rpartition("/")
                kinds[kind] = None
                measured.add(name)
        names = [name for name in IN_ORDER if name in measured]

        lines = [["kind", "system", *names]]
        for kind, result in product(kinds, report.results):
            cells = _cells(report.metrics[result.system], kind, names)
            if any(cells):
                lines.append([kind, result.spec["strategy"], *cells])
        return f"{markdown_table(lines, 2)}\n{size_of(report)}\n"

    def headings(self, report: Report) -> list[str]:
        return [report.name]


def _group(
    head: str, rows: Iterable[str], names: Sequence[str], measured: Collection[str]
) -> ColumnGroup:
    """Return a column for each measure of each row, where it is measured."""
    columns = []
    for row, name in product(rows, names):
        key = f"{row}/{name}"
        text = name if row == head else row.removesuffix(" wordings")
        if key in measured:
            columns.append(Column(key, text, lower_is_better=name == VIOLATIONS))
    return ColumnGroup(head, tuple(columns))


def _cells(metrics: Metrics, kind: str, names: Iterable[str]) -> list[str]:
    """Return a cell per measure, empty for what is not measured."""
    cells = []
    for name in names:
        value = metrics.get(f"{kind}/{name}")
        cells.append("" if value is None else f"{value:.1f}")
    return cells


COVR = CovrPresentation()


def covr_result(
    model: str,
    system: str,
    ranks: ArrayLike,
    table: Mapping[str, Metrics],
    spec: Spec,
) -> Result:
    """Describe a way to combine pictures and texts, with its rank per query and its metrics by kind of change."""
    rank_array = np.asarray(ranks, np.int32)
    not_measured = np.full(len(rank_array), np.nan, np.float32)
    measured = Measured(
        ranks=rank_array,
        ordered=not_measured,
        tied=not_measured,
        violations=not_measured,
    )
    metrics = {}
    for kind, of_kind in table.items():
        for name, value in of_kind.items():
            metrics[f"{kind}/{name}"] = value
    full_spec = {"model": model, **spec, "strategy": system}
    return Result(
        system=f"{model} {system}",
        spec=full_spec,
        measured=measured,
        metrics=metrics,
    )
