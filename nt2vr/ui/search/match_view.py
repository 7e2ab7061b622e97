"""Which caption fits the enlarged clip, as template data. Independent of Gradio."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from nt2vr.media.gallery import Video
from nt2vr.negation.generate.changes import CHANGES, changed
from nt2vr.registry import pick
from nt2vr.search.match import MIN_LINES, Match
from nt2vr.search.searcher import Searcher
from nt2vr.ui.search.column_view import short_name

SPAN = 0.2  # of scores that a bar shows: it is empty where a line is this far behind the best
TYPE = "Type 2 to 8 captions, one per line, or press a button."
BARS = f"A bar is full for the best caption, and empty {SPAN} below it."
OTHERS = 5_000  # clips whose captions changes are taken from


def lines_of(text: str) -> list[str]:
    """Read lines as typed; empty ones do not count."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def with_change(searcher: Searcher, video: Video, lines: Sequence[str], change: str) -> list[str]:
    """Add a line: the first one, or the clip's shortest caption, changed by rules; without lines, that caption first.

    Args:
        change: a name in `CHANGES`; "" adds nothing.
    """
    lines = list(lines) or sorted(video.captions, key=len)[:1]
    if not change or not lines:
        return lines
    pick("change", change, CHANGES)
    searcher.checked(lines[0])
    captions = (other.captions[0] for other in searcher.gallery.videos if other.captions and other != video)
    line = changed(lines[0], change, list(islice(captions, OTHERS)), f"{len(lines)}")
    return lines if not line or line in lines else [*lines, line]


def match_view(lines: Sequence[str], found: Match | None) -> dict[str, Any]:
    """Show the lines in a box, and each system's scores as bars; `found` is None for fewer than two lines."""
    return {
        "text": "\n".join(lines),
        "changes": [{"name": name} for name in CHANGES],
        "note": (BARS if found else TYPE)
        + (" True lines are marked by captions." if found and found.judged_by else ""),
        "systems": [] if found is None else [_system(found, place) for place in range(len(found.systems))],
    }


def _system(found: Match, place: int) -> dict[str, Any]:
    each = found.systems[place]
    best = max((score for score in each.scores if score is not None), default=0.0)
    rows = zip(found.queries, found.verdicts, each.scores, strict=True)
    return {
        "name": short_name(each.system.name),
        "rows": [
            {
                "text": query.text,
                "truth": "true" if verdict == "right" else "",
                "score": "–" if score is None else f"{score:.3f}",
                "width": f"{0 if score is None else max(0.0, 100 * (1 - (best - score) / SPAN)):.0f}",
                "kind": _kind(number == each.best, verdict),
            }
            for number, (query, verdict, score) in enumerate(rows)
        ],
    }


def _kind(is_best: bool, verdict: str | None) -> str:
    """Colour the system's choice by whether it is right."""
    if not is_best:
        return "other"
    return {None: "best", "right": "up"}.get(verdict, "down")


def asks(lines: Sequence[str]) -> bool:
    """Whether there is anything to choose among."""
    return len(lines) >= MIN_LINES
