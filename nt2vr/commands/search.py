"""`nt2vr search "a dog and not a cat" [--library X]`: print each system's ranking."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from nt2vr.commands.parser import add_search_flags
from nt2vr.errors import counted
from nt2vr.settings import add_flags, add_index_flag

if TYPE_CHECKING:
    from nt2vr.python.searcher import GallerySearcher
    from nt2vr.search.answers import Answer, Ranking

NONE = "–"
ROW = "  {:>4}  {:>7}  {:9}  {:10}  {}"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("query", help="a sentence such as 'a dog and not a cat'")
    add_search_flags(parser, library="search this library, not the built-in gallery")
    parser.add_argument("-k", "--k", type=int, default=8, help="results per system (default: %(default)s)")
    parser.add_argument("--image", type=Path, metavar="FILE", help="reference picture")
    parser.add_argument(
        "--literal", default="", metavar="WORDS", help="words to ask for as typed, comma-separated (see 'read as')"
    )
    add_flags(parser)
    add_index_flag(parser)


def run(options: Namespace) -> None:
    from nt2vr.api import open_searcher

    systems = options.systems.split(",")
    with open_searcher(options.data_dir, options.device, options.library, options.index or "") as searcher:
        literal = [word.strip() for word in options.literal.split(",")]
        answer = searcher.search(options.query, systems, options.k, options.image, options.alpha, literal)
        if options.json:
            lines = [json.dumps(answer.as_dict(), ensure_ascii=False, indent=2)]
        else:
            lines = [*query_lines(answer)]
            for ranking in answer.rankings:
                lines += ["", *ranking_lines(ranking, answer, searcher)]
    sys.stdout.writelines(f"{line}\n" for line in lines)


def query_lines(answer: "Answer") -> Iterator[str]:
    """Yield how the query was understood."""
    query = answer.query
    yield f"wanted:    {'; '.join(query.wanted) or NONE}"
    yield f"unwanted:  {'; '.join(query.unwanted) or NONE}"
    if query.notice:
        yield query.notice
    if answer.read_as:
        yield f"read as:   {'; '.join(f'{word} → {other}' for word, other in answer.read_as.items())}"


def ranking_lines(ranking: "Ranking", answer: "Answer", searcher: "GallerySearcher") -> Iterator[str]:
    """Yield one system's table."""
    from nt2vr.ui.search.clip_view import times_text
    from nt2vr.ui.search.column_view import notes

    counts = ", ".join(f"{count} {verdict}" for verdict, count in ranking.counts.items() if count)
    by = f" by {answer.judged_by}" if counts and answer.judged_by else ""
    yield ranking.system.name + (f": {counts}{by}" if counts else "")
    if ranking.missing:
        yield f"  not indexed by this model, and not searched: {counted(ranking.missing, 'clip')}"
    yield from (f"  {each}" for each in notes(ranking, answer, judged=bool(counts)))
    if not ranking.hits:
        return
    yield ROW.format("rank", "score", "verdict", "video", "caption")
    for hit in ranking.hits:
        caption = max(searcher.video(hit.video_id).captions, key=len, default=NONE)  # the longest says the most
        place = f"{hit.film} {times_text(hit.moments[0].start, hit.moments[-1].end)}" if hit.moments else hit.video_id
        yield ROW.format(hit.rank, f"{hit.score:.4f}", hit.verdict or NONE, place, caption)
