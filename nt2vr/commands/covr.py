"""`nt2vr covr --model CLIP`: evaluate retrieval by a picture plus a text."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from nt2vr.progress import progress_bar
from nt2vr.settings import add_flags


def add_arguments(parser: ArgumentParser) -> None:
    default = "(default: %(default)s)"
    parser.add_argument("--model", default="CLIP", help=f"name or folder of a model {default}")
    parser.add_argument(
        "--data",
        default="world",
        metavar="DATA",
        help="world, or the folder of WebVid-CoVR, CIRR, FashionIQ or CIRCO " + default,
    )
    parser.add_argument("--split", default="test", help=f"test or validation scenes, or the dataset's split {default}")
    parser.add_argument(
        "--queries",
        type=int,
        default=0,
        metavar="N",
        help="queries per kind of change in the built-in world, at most 100 (default: 100, of validation scenes 50)",
    )
    parser.add_argument(
        "--keep-reference",
        action="store_true",
        help="rank a query's own reference too, as CLIP4Cir's code does for FashionIQ (default: it is left out, as in "
        "CoVR's)",
    )
    parser.add_argument(
        "--submit",
        type=Path,
        metavar="FILE",
        help="measure nothing, and write the two JSON files that the test server of CIRR takes",
    )
    parser.add_argument("--system", default="sum", help=f"what --submit writes: a row of the table {default}")
    add_flags(parser)


def run(options: Namespace) -> None:
    from nt2vr.api import evaluate_covr, submit_covr
    from nt2vr.evaluation.covr.sources import CovrData

    data = CovrData(options.data, options.split, options.queries, options.keep_reference)
    with progress_bar() as progress:
        if options.submit:
            files = submit_covr(
                options.model, data, options.submit, options.system, options.data_dir, options.device, progress
            )
            sys.stdout.writelines(f"{file}\n" for file in files)
            return
        evaluation = evaluate_covr(options.model, data, options.data_dir, options.device, progress)
    sys.stderr.writelines(f"{line}\n" for line in evaluation.remarks)
    sys.stdout.write(evaluation.table)
