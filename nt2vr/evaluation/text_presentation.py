"""How reports on texts are stored, compared and shown: retrieval, questions and classes."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from nt2vr.errors import counted
from nt2vr.evaluation.columns import (
    BOTH_WAYS,
    HONEST,
    OTHERS,
    PAPER,
    Column,
    ColumnGroup,
)
from nt2vr.evaluation.differences import Pair
from nt2vr.evaluation.metric_names import ACCURACY, CLASS_ACCURACY, ORIGINAL, mean_over_sets, recall
from nt2vr.evaluation.queries import KIND_NAMES
from nt2vr.evaluation.report import Presentation, Report, Row
from nt2vr.evaluation.roles import REFERENCE, pairs_to_compare, role_of, telling_pair
from nt2vr.evaluation.tables import (
    difference_markdown,
    markdown_table,
    named_columns,
    size_of,
    tables_of,
)

OF_ONE_VIDEO = frozenset(
    {"original", "negated", "retrieval", "choice", "pair", "picture", "class", "negated class"}
)
# Relevant ids per line of queries.jsonl: all of them took 68 MB for the built-in world, these 5.
MAX_LISTED = 1000
OF_CAPTIONS = (ORIGINAL, "video/")


class TextPresentation(Presentation):
    """Measures are means over queries, so that systems are compared query by query."""

    margins = (
        "± is half of a figure's 95 % interval over queries. To see whether two systems differ, use the breakdown "
        "below, which compares them query by query: intervals of single figures may overlap although one is clearly "
        "better."
    )
    has_review = True
    has_breakdown = True
    wraps_heads = False

    def fits(self, lines: Sequence[Mapping[str, Any]]) -> bool:
        return True

    def caption_fields(self, row: Row) -> dict[str, Any]:
        return {"video_id": row.relevant[0] if row.query.kind in OF_ONE_VIDEO else None}

    def clip_fields(self, row: Row) -> dict[str, Any]:
        is_short = len(row.relevant) <= MAX_LISTED
        return {"relevant": list(row.relevant) if is_short else None}

    def metrics_as_stored(self, metrics: Mapping[str, float]) -> Mapping[str, float] | None:
        return None

    def row(self, report: Report, position: int) -> Row:
        query = report.queries[position]
        relevant = tuple(report.video_ids[video] for video in query.relevant)
        captions = {}
        for video_id in relevant:
            if video_id in report.captions:
                captions[video_id] = report.captions[video_id]
        heading = counted(len(relevant), "relevant video")
        if query.kind == "negated":
            heading = "The video of the original caption, which no longer matches"
        return Row(
            query=query,
            ranks=report.ranks(position),
            heading=heading,
            relevant=relevant,
            captions=captions,
        )

    def kinds(self, report: Report) -> list[str]:
        kinds = {query.kind for query in report.queries}
        return [kind for kind in KIND_NAMES if kind in kinds]

    def role_of(self, spec: Mapping[str, Any]) -> tuple[str, str]:
        return role_of(spec)

    def competes(self, role: str) -> bool:
        return role != REFERENCE

    def telling_pair(self, report: Report) -> Pair:
        return telling_pair(report.specs, report.named, report.metrics)

    def pairs(self, report: Report) -> list[Pair]:
        return pairs_to_compare(report.specs, report.named, report.metrics)

    def check_comparable(self) -> None:
        """Do nothing: all measures are comparable."""

    def line_metrics(
        self, spec: Mapping[str, Any], metrics: Mapping[str, float]
    ) -> dict[str, float]:
        """Return values for captions only of plain systems, as in the paper."""
        if spec["strategy"] == "plain":
            return dict(metrics)
        return {key: value for key, value in metrics.items() if not key.startswith(OF_CAPTIONS)}

    def groups(self, report: Report, measured: Collection[str]) -> list[tuple[ColumnGroup, ...]]:
        further = tuple(_with_subsets(measured, group) for group in OTHERS)
        # Pairs do not tell whether a model can search.
        if any(query.kind == "pair" for query in report.queries):
            hard_pairs = ColumnGroup(HONEST[0].head, HONEST[0].columns[:1])
            further = (hard_pairs, *further)
        both_ways = [BOTH_WAYS] if f"video/{recall(1)}" in measured else []
        return [PAPER, HONEST, *both_ways, further]

    def csv_keys(self, report: Report, measured: Collection[str]) -> list[str]:
        return [key for key in named_columns(report) if key in measured]

    def meanings(self, columns: Iterable[Column], measured: Collection[str]) -> list[str]:
        measured_columns = [column for column in columns if column.key in measured]
        return [column.meaning for column in measured_columns if column.meaning]

    def markdown(self, report: Report) -> str:
        """Return each table, then those of differences."""
        parts = [markdown_table(table.texts(report), 1) for table in tables_of(report)]
        for first, second in report.differences:
            parts.append(difference_markdown(report, first, second))
        return "\n".join([*parts, f"{size_of(report)}\n"])

    def headings(self, report: Report) -> list[str]:
        return [report.name, size_of(report)]


def _with_subsets(measured: Collection[str], group: ColumnGroup) -> ColumnGroup:
    """Add a column per subset of pairs, and per data set of classes, of which there is a mean, too."""
    first = group.columns[0]
    if not first.key.endswith(f"/{ACCURACY}"):
        return group
    columns = [*group.columns]
    for column in group.columns:
        kind, _, name = column.key.partition("/")
        mean = Column(f"{kind}/{mean_over_sets(name)}", f"mean {column.head}")
        if mean.key in measured:
            columns.append(mean)

    prefix = f"{first.key} "
    subsets = sorted(key.removeprefix(prefix) for key in measured if key.startswith(prefix))
    # The accuracy of pairs is the only column, so that its subsets need not name it.
    is_of_classes = first.key == CLASS_ACCURACY
    for column, subset in product(group.columns, subsets):
        head = f"{column.head} {subset}"
        if column is first and not is_of_classes:
            head = subset
        columns.append(Column(f"{column.key} {subset}", head))
    return ColumnGroup(group.head, tuple(columns))


TEXTS = TextPresentation()
