"""Table of a sweep: mean ± standard deviation over seeds at each point's best epochs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

from nt2vr.evaluation.tables import EMPTY, HONEST, PAPER, Column, escaped
from trainer.runs.metrics import MetricsReader
from trainer.runs.run_folder import RunFolder

OF_TEXT = (Column("text/order", "order", 1), Column("text/target", "target", 3), Column("text/kept", "kept", 3))
OF_FUSION = (Column("fusion/R@1", "R@1", 1), Column("fusion/R@5", "R@5", 1), Column("fusion/R@10", "R@10", 1))
COLUMNS = [
    *((group.head, column) for group in (*PAPER, *HONEST) for column in group.columns),
    *(("Text", column) for column in OF_TEXT),
    *(("Fusion", column) for column in OF_FUSION),
]
Row = Mapping[str, float]


@dataclass(frozen=True)
class PointResult:
    """A point of the grid, its number of runs, and the metrics of each finished run's best epoch."""

    point: tuple[str, ...]
    runs: int
    best: tuple[Row, ...]


def tabulated(runs: Sequence[tuple[tuple[str, ...], RunFolder, str]]) -> list[PointResult]:
    """Collect the results of each point, given the point, the folder and the watched metric of each run."""
    results = []
    for point in dict.fromkeys(point for point, _, _ in runs):
        of_point = [(folder, monitor) for other, folder, monitor in runs if other == point]
        best = (best_epoch(folder, monitor) for folder, monitor in of_point)
        results.append(PointResult(point, len(of_point), tuple(row for row in best if row)))
    return results


def best_epoch(run: RunFolder, monitor: str) -> Row | None:
    """Return the metrics of a finished run's best epoch: the newest where the watched metric is not measured."""
    status = run.status()
    if status is None or status.state != "finished":
        return None
    epochs = [row for row in MetricsReader(run.metrics).rows() if row["epoch"] > 0 and "learning_rate" not in row]
    return max(epochs, key=lambda row: row.get(monitor, row["epoch"]), default=None)


def markdown(keys: Sequence[str], results: Sequence[PointResult]) -> str:
    columns = _columns(results)
    lines = [_heads(keys, columns), [":--"] * len(keys) + ["--:"] * (2 + len(columns))]
    lines += [_cells(result, columns) for result in results]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def latex(keys: Sequence[str], results: Sequence[PointResult]) -> str:
    """Return the table for LaTeX's booktabs."""
    columns = _columns(results)
    rows = [_heads(keys, columns), *(_cells(result, columns) for result in results)]
    head, *body = [" & ".join(map(escaped, row)).replace("±", r"$\pm$") + r" \\" for row in rows]
    lines = [
        rf"\begin{{tabular}}{{{'l' * len(keys)}{'r' * (2 + len(columns))}}}",
        *(r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"),
    ]
    return "\n".join(lines) + "\n"


def _columns(results: Sequence[PointResult]) -> list[tuple[str, Column]]:
    """Return the columns with a value in any run."""
    measured = {key for result in results for row in result.best for key in row}
    return [(head, column) for head, column in COLUMNS if column.key in measured]


def _heads(keys: Sequence[str], columns: Sequence[tuple[str, Column]]) -> list[str]:
    return [*keys, "runs", "best epoch", *(f"{head} {column.head}" for head, column in columns)]


def _cells(result: PointResult, columns: Sequence[tuple[str, Column]]) -> list[str]:
    runs = str(result.runs) if len(result.best) == result.runs else f"{len(result.best)} of {result.runs}"
    epochs = ", ".join(f"{row['epoch']:.0f}" for row in result.best) or EMPTY
    return [*result.point, runs, epochs, *(_cell(result, column) for _, column in columns)]


def _cell(result: PointResult, column: Column) -> str:
    values = [row[column.key] for row in result.best if column.key in row]
    if not values:
        return EMPTY
    spread = f" ± {column.text(stdev(values))}" if len(values) > 1 else ""
    return column.text(mean(values)) + spread
