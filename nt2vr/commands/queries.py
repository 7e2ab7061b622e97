"""`nt2vr queries build | split`: query sets from captions; wanted and unwanted parts of sentences."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path

from nt2vr.files import check_writable
from nt2vr.progress import progress_bar
from nt2vr.querygen.build import build, split


def add_arguments(parser: ArgumentParser) -> None:
    """Add the two commands and their flags."""
    commands = parser.add_subparsers(metavar="build|split", required=True)
    building = commands.add_parser("build", help="make original, negated and composed queries from captions")
    building.add_argument(
        "--captions", type=Path, required=True, help="JSON lines, or lines of ID#N<TAB>caption or VIDEO#enc#N caption"
    )
    building.add_argument(
        "--out", type=Path, required=True, help="folder for original.txt, negated.txt and composed.jsonl"
    )
    building.add_argument("--seed", type=int, default=0, help="draws negations and templates (default: %(default)s)")
    building.set_defaults(action=_build)
    splitting = commands.add_parser("split", help="print the wanted and unwanted parts of sentences as JSON lines")
    splitting.add_argument("sentence", nargs="?", help="default: each line of stdin")
    splitting.set_defaults(action=_split)


def run(options: Namespace) -> int:
    """Build query sets and print their sizes, or split sentences; all output is JSON lines."""
    options.action(options)
    return 0


def _build(options: Namespace) -> None:
    check_writable(options.out)
    with progress_bar() as progress:
        sizes = build(options.captions, options.out, options.seed, progress)
    _write(sizes)


def _split(options: Namespace) -> None:
    for parts in split([options.sentence] if options.sentence is not None else sys.stdin or ()):
        _write(parts)


def _write(fields: Mapping[str, object]) -> None:
    sys.stdout.write(f"{json.dumps(fields, ensure_ascii=False)}\n")
