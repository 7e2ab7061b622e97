"""How much the seed matters: `python -m benchmarks.seeds REPORT_FOLDER NAME=SYSTEM,SYSTEM,… …`.

The folder is one that `nt2vr evaluate` wrote. Systems under one NAME are two or more trainings that differ
by their seed alone; each measure is shown as their mean ± the standard deviation between them (of a sample, n - 1).
"""

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from nt2vr.evaluation.report import load_report
from nt2vr.evaluation.tables import HONEST, PAPER

SHOWN = (
    *("original/MIR", "negated/delta_MIR", "composed/MIR"),
    *("composed/hard_pairs", "composed/violations@10", "without/hard_pairs", "not/auc"),
)


def main(folder: Path, names: Sequence[str]) -> None:
    """Write a table of the measures that differ most, a row a name."""
    metrics = load_report(folder).metrics
    columns = [(group.head, column) for group in PAPER + HONEST for column in group.columns if column.key in SHOWN]
    heads = [f"{group}: {column.head}" for group, column in columns]
    sys.stdout.write(f"| | {' | '.join(heads)} |\n|:--|{'--:|' * len(heads)}\n")
    for line in names:
        name, _, systems = line.partition("=")
        values = [[metrics[system][column.key] for system in systems.split(",")] for _, column in columns]
        cells = [
            f"{column.text(statistics.mean(some))} ± {column.text(statistics.stdev(some))}"
            for (_, column), some in zip(columns, values, strict=True)
        ]
        sys.stdout.write(f"| {name} | {' | '.join(cells)} |\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
