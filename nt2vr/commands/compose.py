"""`nt2vr compose --model CLIP`: evaluate composed retrieval, a picture plus a text, and print the table."""

import sys
from argparse import ArgumentParser, Namespace

from nt2vr.api import compose
from nt2vr.progress import progress_bar
from nt2vr.settings import add_flags


def add_arguments(parser: ArgumentParser) -> None:
    """Add the flags."""
    default = "(default: %(default)s)"
    parser.add_argument("--model", default="CLIP", help=f"name or folder of a model {default}")
    parser.add_argument("--split", choices=("test", "validation"), default="test", help=f"scenes {default}")
    parser.add_argument("--queries", type=int, default=0, metavar="N", help="queries per kind of change")
    add_flags(parser)


def run(options: Namespace) -> int:
    """Evaluate and print the table."""
    with progress_bar() as progress:
        lines = compose(options.model, options.split, options.queries, options.data_dir, options.device, progress)
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0
