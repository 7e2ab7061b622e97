"""Intervals and breakdowns of large reports, and maps of large galleries, made up: `python -m benchmarks.inspection`.

Reports have eight systems with random results, and no two queries share their relevant video, which is the worst case:
every query is a unit of its own.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import arguments, timed
from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, row_array
from nt2vr.evaluation.measures import Measured
from nt2vr.evaluation.reports.breakdown import break_down
from nt2vr.evaluation.reports.facets import facets_of
from nt2vr.evaluation.reports.report import Report, Result
from nt2vr.search.embedding_map import plane_of

SIZES = (2_000, 20_000)
KINDS: tuple[tuple[Any, ...], ...] = (("original", "composed", "without", "not"), ("composed",))
CUES = ("not", "n't", "without", "no", "never")
THINGS = "dog cat man car tree bike boy cow pig hat cup pen egg ball".split()
NUM_SYSTEMS = 8
CLIPS, DIMS = 100_000, (512, 1024)
KEY = "composed/hard_pairs"


def made_up_report(count: int, kinds: tuple[Any, ...]) -> Report:
    """Make a report with this many queries."""
    rng = np.random.default_rng(0)
    queries = [
        JudgedQuery(
            kinds[n % len(kinds)], f"query {n}", row_array([n]), cue=CUES[n % 5], unwanted=(f"a {THINGS[n % 14]}",)
        )
        for n in range(count)
    ]
    results = [
        Result(f"system {n}", {"model": f"{n}", "strategy": "plain"}, _random(rng, count)) for n in range(NUM_SYSTEMS)
    ]
    videos = tuple(map(str, range(count)))
    return Report.of(Benchmark("made up", videos, tuple(queries), lambda *_: np.ones((1, 1), np.float32), {}), results)


def _random(rng: np.random.Generator, count: int) -> Measured:
    ordered, tied, violations = (rng.random(count, np.float32) for _ in range(3))
    return Measured(rng.integers(1, 50, count).astype(np.int32), ordered, tied, violations)


def seconds(work: Callable[[], object]) -> str:
    """Time one call."""
    return f"{timed(work)[0]:.2f} s"


def main() -> None:
    """Print all times."""
    arguments("inspection", __doc__).parse_args()
    out = sys.stdout.write
    for count in SIZES:
        for kinds in KINDS:
            report = made_up_report(count, kinds)
            out(f"{count:,} queries of {len(kinds)} kinds: ")
            out(f"intervals of {NUM_SYSTEMS} systems {seconds(partial(getattr, report, 'intervals'))}, ")
            facets_of(report)
            out(f"breakdown {seconds(partial(break_down, report, 'system 0', 'system 1', KEY))}\n")
    for dim in DIMS:
        clips = np.random.default_rng(0).standard_normal((CLIPS, dim), np.float32)
        out(f"map of {CLIPS:,} clips of {dim} dimensions: {seconds(partial(plane_of, clips))}\n")


if __name__ == "__main__":
    main()
