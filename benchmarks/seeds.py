"""How much the seed matters: `python -m benchmarks.seeds REPORT_FOLDER NAME=SYSTEM,SYSTEM,… …`.

The folder is one that `python -m nt2vr.evaluate` wrote. Systems under one NAME are trainings that differ by their seed
alone; each measure is shown as their mean ± the standard deviation between them (of a sample, n - 1).
"""

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from nt2vr.evaluation.report import load_report
from nt2vr.evaluation.tables import HONEST, PAPER, Column, Group


def main(folder: Path, groups: Sequence[str]) -> None:
    """Write a table each of the paper's measures and the honest ones, a row a name."""
    metrics = load_report(folder).metrics
    for columns in (PAPER, HONEST):
        heads = [f"{group.head} {column.head}" for group in columns for column in group.columns]
        sys.stdout.write(f"| | {' | '.join(heads)} |\n|:--|{'--:|' * len(heads)}\n")
        for line in groups:
            name, _, systems = line.partition("=")
            runs = [metrics[system] for system in systems.split(",")]
            sys.stdout.write(f"| {name} ({len(runs)}) | {' | '.join(_cells(runs, columns))} |\n")


def _cells(runs: Sequence[dict[str, float]], columns: Sequence[Group]) -> list[str]:
    return [_spread([run[column.key] for run in runs], column) for group in columns for column in group.columns]


def _spread(values: Sequence[float], column: Column) -> str:
    mean = column.text(statistics.mean(values))
    return f"{mean} ± {column.text(statistics.stdev(values))}" if len(values) > 1 else mean


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
