"""How reports on texts are stored, compared and shown: retrieval, questions and classes."""

from collections.abc import Collection, Iterable, Sequence

from nt2vr.errors import counted
from nt2vr.evaluation.columns import (
    BOTH_WAYS,
    HONEST,
    OTHERS,
    PAPER,
    Column,
    ColumnGroup,
    TableGroups,
)
from nt2vr.evaluation.differences import Pair
from nt2vr.evaluation.metric_names import (
    ACCURACY,
    CLASS_ACCURACY,
    ORIGINAL,
    Metrics,
    mean_over_sets,
    recall,
)
from nt2vr.evaluation.queries import KIND_NAMES
from nt2vr.evaluation.report import Presentation, Report, Row
from nt2vr.evaluation.roles import REFERENCE, Spec, pairs_to_compare, role_of, telling_pair
from nt2vr.evaluation.tables import (
    difference_markdown,
    markdown_table,
    named_columns,
    size_of,
    tables_of,
)
from nt2vr.files import JsonObject

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
    has_stored_metrics = False

    def fits(self, lines: Sequence[JsonObject]) -> bool:
        return True

    def caption_fields(self, row: Row) -> JsonObject:
        return {"video_id": row.relevant[0] if row.query.kind in OF_ONE_VIDEO else None}

    def clip_fields(self, row: Row) -> JsonObject:
        is_short = len(row.relevant) <= MAX_LISTED
        return {"relevant": list(row.relevant) if is_short else None}

    def row(self, report: Report, position: int) -> Row:
        query = report.queries[position]
        relevant = tuple(report.video_ids[video] for video in query.relevant)
        captions = {
            video_id: report.captions[video_id]
            for video_id in relevant
            if video_id in report.captions
        }
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
        return [kind for kind in KIND_NAMES if kind in report.num_queries_by_kind]

    def role_of(self, spec: Spec) -> tuple[str, str]:
        return role_of(spec)

    def competes(self, role: str) -> bool:
        return role != REFERENCE

    def telling_pair(self, report: Report) -> Pair:
        return telling_pair(report.specs, report.named, report.metrics)

    def pairs(self, report: Report) -> list[Pair]:
        return pairs_to_compare(report.specs, report.named, report.metrics)

    def check_comparable(self) -> None:
        """Do nothing: all measures are comparable."""

    def line_metrics(self, spec: Spec, metrics: Metrics) -> Metrics:
        """Return values for captions only of plain systems, as in the paper."""
        if spec["strategy"] == "plain":
            return dict(metrics)
        return {key: value for key, value in metrics.items() if not key.startswith(OF_CAPTIONS)}

    def groups(self, report: Report, measured: Collection[str]) -> list[TableGroups]:
        further = [_with_subsets(measured, group) for group in OTHERS]
        # Pairs do not tell whether a model can search.
        if "pair" in report.num_queries_by_kind:
            head, columns = HONEST[0]
            hard_pairs = ColumnGroup(head, columns[:1])
            further.insert(0, hard_pairs)

        groups: list[TableGroups] = [PAPER, HONEST]
        if f"video/{recall(1)}" in measured:
            groups.append(BOTH_WAYS)
        groups.append(tuple(further))
        return groups

    def csv_keys(self, report: Report, measured: Collection[str]) -> list[str]:
        return [key for key in named_columns(report) if key in measured]

    def meanings(self, columns: Iterable[Column], measured: Collection[str]) -> list[str]:
        shown = (column for column in columns if column.key in measured)
        return [column.meaning for column in shown if column.meaning]

    def markdown(self, report: Report) -> str:
        """Return each table, then those of differences."""
        parts = [markdown_table(table.texts(report), num_left=1) for table in tables_of(report)]
        parts += [difference_markdown(report, *pair) for pair in report.differences]
        parts.append(f"{size_of(report)}\n")
        return "\n".join(parts)

    def headings(self, report: Report) -> list[str]:
        return [report.name, size_of(report)]


def _with_subsets(measured: Collection[str], group: ColumnGroup) -> ColumnGroup:
    """Add a column per subset of pairs, and per data set of classes, of which there is a mean, too."""
    accuracy = group.columns[0]
    if not accuracy.key.endswith(f"/{ACCURACY}"):
        return group

    columns = [*group.columns]
    for column in group.columns:
        kind, _, name = column.key.partition("/")
        mean_key = f"{kind}/{mean_over_sets(name)}"
        if mean_key in measured:
            columns.append(Column(mean_key, f"mean {column.head}"))

    subsets = _subsets_of(accuracy.key, measured)
    for column in group.columns:
        for subset in subsets:
            head = f"{column.head} {subset}"
            # The accuracy of pairs is the only column, so that its subsets need not name it.
            if column is accuracy and column.key != CLASS_ACCURACY:
                head = subset
            columns.append(Column(f"{column.key} {subset}", head))
    return ColumnGroup(group.head, tuple(columns))


def _subsets_of(key: str, measured: Collection[str]) -> list[str]:
    """Return the subsets for which a measure is reported separately."""
    prefix = f"{key} "
    return sorted(
        measured_key.removeprefix(prefix)
        for measured_key in measured
        if measured_key.startswith(prefix)
    )


TEXTS = TextPresentation()
