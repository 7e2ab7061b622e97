"""`nt2vr evaluate --data world --systems "clip, clip-bnl"`: print the paper's table."""

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import get_args

from nt2vr.datasets.base import Split
from nt2vr.errors import ConfigError
from nt2vr.files import check_writable
from nt2vr.progress import progress_bar
from nt2vr.settings import add_flags


def add_arguments(parser: ArgumentParser) -> None:
    default = "(default: %(default)s)"
    parser.add_argument(
        "--data",
        default="world",
        help="world or gallery, the built-in ones; a dataset's folder; library:NAME; a CSV file of NegBench, CC-Neg "
        "or classes; classes:FOLDER with a folder per class, or classes:world; order:world; moment:world; or "
        f"words:FILE for captions alone, words1:FILE with one per video {default}",
    )
    parser.add_argument(
        "--systems",
        default="CLIP, CLIP-neg",
        help=f"names of systems, comma-separated: 'clip, clip boolean' {default}",
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where to write the report and its tables")
    parser.add_argument("--json", action="store_true", help="print the measures by system as JSON, not the table")
    parser.add_argument("--clips", type=int, help="number of clips of the built-in world (default: 2000)")
    parser.add_argument("--seed", type=int, help="draws clips and queries (default: 7)")
    parser.add_argument("--split", choices=get_args(Split), help="part of a dataset (default: test)")
    parser.add_argument(
        "--queries",
        type=Path,
        metavar="FOLDER",
        help="query sets of a dataset, as `nt2vr queries build` or nT2VR wrote them (default: made from its captions)",
    )
    parser.add_argument(
        "--prompts",
        metavar="FILE",
        help="prompts of classes, one per line with {} for the name, or one such as '{}' (default: prompts.txt "
        "next to the classes, or CoN-CLIP's)",
    )
    add_flags(parser)


def run(options: Namespace) -> None:
    if options.out:
        check_writable(options.out)
    if options.clips is not None and options.clips < 1:
        raise ConfigError(f"Cannot evaluate on {options.clips} clips. Choose at least 1.")
    from nt2vr.api import evaluate
    from nt2vr.evaluation.sources import Data

    given = {name: getattr(options, name) for name in ("clips", "seed", "split", "queries", "prompts")}
    data = Data(options.data, **{name: value for name, value in given.items() if value is not None})
    with progress_bar() as progress:
        evaluation = evaluate(data, options.systems.split(","), options.data_dir, options.device, progress)
    if options.out:
        evaluation.save(options.out)
    sys.stderr.writelines(f"{line}\n" for line in (*evaluation.remarks, *evaluation.report.notes))
    sys.stdout.write(f"{json.dumps(evaluation.metrics, indent=2)}\n" if options.json else evaluation.table)
