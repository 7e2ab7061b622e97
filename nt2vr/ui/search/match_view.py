"""Which of several captions fits an enlarged clip."""

from collections.abc import Sequence
from itertools import islice

from nt2vr.media.gallery import Video
from nt2vr.negation.generate.changes import CHANGES, changed
from nt2vr.negation.parse.query import Query
from nt2vr.registry import pick
from nt2vr.search.answers import LineScores, Match
from nt2vr.search.searcher import Searcher
from nt2vr.ui.search.formats import decimal, short_name
from nt2vr.ui.view import View
from nt2vr.world.words import words_in

# Of scores that a bar shows: it is empty where a line is so far behind the best.
SPAN = 0.2
BARS = f"A bar is full for the best caption, and empty {SPAN} below it."
# Clips whose captions changes are taken from.
OTHERS = 5_000


def lines_of(text: str) -> list[str]:
    """Read lines as typed; empty ones do not count."""
    return list(filter(None, map(str.strip, text.splitlines())))


def with_and_without_negation(query: Query) -> list[str]:
    """Return a query with and without its negation, as two captions; empty if it has none.

    A mere quality, as in "a car that is not red", makes no caption with "and".
    """
    if not query.unwanted:
        return []
    for part in query.unwanted:
        if {word.kind for word in words_in(part)} == {"adjective"}:
            return []
    return [query.affirmed.text, query.text]


def with_change(searcher: Searcher, video: Video, lines: Sequence[str], change: str) -> list[str]:
    """Add a line: the first one, or the clip's shortest caption, changed by rules; without lines, that caption first.

    Args:
        change: a name in `CHANGES`; "" adds nothing.
    """
    lines = list(lines) or sorted(video.captions, key=len)[:1]
    if not change or not lines:
        return lines
    pick("change", change, CHANGES)
    first = lines[0]
    # It may be too long to be parsed.
    searcher.checked(first)
    clips = (clip for clip in searcher.gallery.videos if clip.captions and clip != video)
    captions = [clip.captions[0] for clip in islice(clips, OTHERS)]
    line = changed(first, change, captions, seed=f"{len(lines)}")
    if line and line not in lines:
        lines.append(line)
    return lines


def match_view(lines: Sequence[str], match: Match | None) -> View:
    """Show the lines in a box, and each system's scores as bars.

    Args:
        match: None for fewer than two lines.
    """
    note = "Type 2 to 8 captions, one per line, or press a button."
    systems = []
    if match is not None:
        note = BARS
        if match.judged_by:
            note += " True lines are marked by captions."
        numbers = range(len(match.queries))
        for scored in match.systems:
            rows = [_row(match, scored, number) for number in numbers]
            systems.append({"name": short_name(scored.system.name), "rows": rows})
    return {
        "text": "\n".join(lines),
        "changes": [{"name": name} for name in CHANGES],
        "note": note,
        "systems": systems,
    }


def _row(match: Match, scored: LineScores, number: int) -> View:
    verdict = match.verdicts[number]
    score = scored.scores[number]
    kind = "other"
    if number == scored.best:
        kind = {None: "best", "right": "up"}.get(verdict, "down")
    score_text = "–"
    width = 0.0
    if score is not None:
        score_text = decimal(score)
        best = max(score for score in scored.scores if score is not None)
        width = max(0.0, 100 * (1 - (best - score) / SPAN))
    return {
        "text": match.queries[number].text,
        "is_true": "true" if verdict == "right" else "",
        "width": f"{width:.0f}",
        "score": score_text,
        "kind": kind,
    }
