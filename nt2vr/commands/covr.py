"""`nt2vr covr --model CLIP`: evaluate retrieval by a picture plus a text."""

import sys
from argparse import ArgumentParser, Namespace

from nt2vr.api import evaluate_covr
from nt2vr.evaluation.covr.sources import WORLD, CovrData
from nt2vr.progress import progress_bar
from nt2vr.settings import add_flags


def add_arguments(parser: ArgumentParser) -> None:
    """Add the flags."""
    default = "(default: %(default)s)"
    parser.add_argument("--model", default="CLIP", help=f"name or folder of a model {default}")
    parser.add_argument(
        "--data", default=WORLD, metavar="FOLDER", help="folder of WebVid-CoVR, CIRR, FashionIQ or CIRCO " + default
    )
    parser.add_argument("--split", default="test", help=f"test or validation scenes, or the dataset's split {default}")
    parser.add_argument(
        "--queries",
        type=int,
        default=0,
        metavar="N",
        help="queries per kind of change in the built-in world, at most 100 (default: 100, of validation scenes 50)",
    )
    add_flags(parser)


def run(options: Namespace) -> int:
    """Evaluate and print the table."""
    data = CovrData(options.data, options.split, options.queries)
    with progress_bar() as progress:
        evaluation = evaluate_covr(options.model, data, options.data_dir, options.device, progress)
    sys.stdout.write(evaluation.table)
    return 0
