"""What is to be known of a report's data: videos left out, kinds of queries without any, and with few."""

from nt2vr.evaluation.queries import KIND_NAMES
from nt2vr.evaluation.report import Report

# Queries of a kind, below which one of them moves a figure by more than ten points.
FEW = 10


def remarks_of(report: Report) -> list[str]:
    """Return one sentence or two per remark."""
    remarks = [*map(str, report.source.get("remarks", ())), *report.gaps]
    few = _few_remark(report)
    if few:
        remarks.append(few)
    return remarks


def kind_counts(report: Report) -> dict[str, int]:
    """Count the queries of each kind, by its name for readers, in the report's order."""
    counts = report.num_queries_by_kind
    return {KIND_NAMES.get(kind, kind): count for kind, count in counts.items()}


def _few_remark(report: Report) -> str:
    """Say which kinds have so few queries that a single one decides their figures; "" if none has."""
    few = {name: count for name, count in kind_counts(report).items() if count < FEW}
    if not few:
        return ""
    points = 100 / min(few.values())
    counts = ", ".join(f"{name}: {count}" for name, count in few.items())
    return f"Few queries ({counts}). A single one moves a percentage by up to {points:.0f} points."
