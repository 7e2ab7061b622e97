"""`nt2vr match CLIP TEXT TEXT …`: which of several captions fits a clip or a picture, per system."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nt2vr.commands.parser import add_search_flags
from nt2vr.settings import add_flags

if TYPE_CHECKING:
    from nt2vr.search.match import Match

NONE = "–"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shown", metavar="CLIP", help="id of a clip of the gallery, or a picture file")
    parser.add_argument("lines", metavar="TEXT", nargs="+", help="2 to 8 captions")
    add_search_flags(parser, library="the clip is of this library")
    add_flags(parser)


def run(options: Namespace) -> None:
    from nt2vr.api import open_searcher

    with open_searcher(options.data_dir, options.device, options.library) as searcher:
        found = searcher.match(options.shown, options.lines, options.systems.split(","), options.alpha)
    lines = [json.dumps(found.as_dict(), ensure_ascii=False, indent=2)] if options.json else match_lines(found)
    sys.stdout.writelines(f"{line}\n" for line in lines)


def match_lines(found: "Match") -> Iterator[str]:
    """Yield a table per system, with its choice marked, and the truth of each line where it is known."""
    for place, each in enumerate(found.systems):
        yield from [""] if place else []
        yield each.system.name
        for row, (query, verdict) in enumerate(zip(found.queries, found.verdicts, strict=True)):
            score, mark = each.scores[row], "→" if row == each.best else " "
            truth = {"right": "true", None: NONE}.get(verdict, "false")
            yield f"{mark} {NONE if score is None else f'{score:.4f}':>7}  {truth:5}  {query.text}"
