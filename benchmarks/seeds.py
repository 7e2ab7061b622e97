"""Variation between seeds: `python -m benchmarks.seeds REPORT_FOLDER NAME=SYSTEM,SYSTEM,… …`.

REPORT_FOLDER is written by `nt2vr evaluate`. Systems under one NAME are two or more trainings that differ only in
their seed; each metric is shown as mean ± sample standard deviation (n - 1).
"""

import statistics
from pathlib import Path

from benchmarks.harness import arguments, write_head, write_row
from nt2vr.evaluation.reports.report import load_report
from nt2vr.evaluation.reports.tables import HONEST, PAPER

SHOWN = (
    *("original/MIR", "negated/delta_MIR", "composed/MIR"),
    *("composed/hard_pairs", "composed/violations@10", "without/hard_pairs", "not/auc"),
)


def main() -> None:
    """Print a table of the metrics that vary most, one row per name."""
    parser = arguments("seeds", __doc__)
    parser.add_argument("folder", type=Path, help="of the report")
    parser.add_argument("names", nargs="+", metavar="NAME=SYSTEM,SYSTEM,…")
    options = parser.parse_args()
    metrics = load_report(options.folder).metrics
    columns = [(group.head, column) for group in PAPER + HONEST for column in group.columns if column.key in SHOWN]
    write_head("", *(f"{group}: {column.head}" for group, column in columns))
    for line in options.names:
        name, _, systems = line.partition("=")
        values = [[metrics[system][column.key] for system in systems.split(",")] for _, column in columns]
        cells = [
            f"{column.text(statistics.mean(some))} ± {column.text(statistics.stdev(some))}"
            for (_, column), some in zip(columns, values, strict=True)
        ]
        write_row(name, *cells)


if __name__ == "__main__":
    main()
