"""Which of several captions fits an enlarged clip."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from nt2vr.media.gallery import Video
from nt2vr.negation.generate.changes import CHANGES, changed
from nt2vr.negation.parse.query import Query
from nt2vr.registry import pick
from nt2vr.search.answers import Match, Scored
from nt2vr.search.searcher import Searcher
from nt2vr.ui.search.formats import decimal, short_name
from nt2vr.world.words import words_in

SPAN = 0.2  # of scores that a bar shows: it is empty where a line is this far behind the best
TYPE = "Type 2 to 8 captions, one per line, or press a button."
BARS = f"A bar is full for the best caption, and empty {SPAN} below it."
OTHERS = 5_000  # clips whose captions changes are taken from


def lines_of(text: str) -> list[str]:
    """Read lines as typed; empty ones do not count."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def own_pair(query: Query) -> list[str]:
    """Return a query with and without its negation, as two captions; empty if it has none.

    A mere quality, as in "a car that is not red", makes no caption with "and".
    """
    kinds = [{word.meaning.kind for word in words_in(part)} for part in query.unwanted]
    if not kinds or {"adjective"} in kinds:
        return []
    wanted, unwanted = " ".join(query.wanted), query.unwanted
    has_deed = any(word.meaning.kind == "verb" for word in words_in(wanted))
    is_doing = unwanted[0].split()[0].endswith("ing")
    if len(unwanted) == 1 and is_doing and wanted and not has_deed:
        return [f"{wanted} {unwanted[0]}", query.text]
    return [query.affirmed.text, query.text]


def with_change(searcher: Searcher, video: Video, lines: Sequence[str], change: str) -> list[str]:
    """Add a line: the first one, or the clip's shortest caption, changed by rules; without lines, that caption first.

    `change` is a name in `CHANGES`; "" adds nothing.
    """
    lines = list(lines) or sorted(video.captions, key=len)[:1]
    if not change or not lines:
        return lines
    pick("change", change, CHANGES)
    searcher.checked(lines[0])
    captions = (
        other.captions[0] for other in searcher.gallery.videos if other.captions and other != video
    )
    line = changed(lines[0], change, list(islice(captions, OTHERS)), f"{len(lines)}")
    return lines if not line or line in lines else [*lines, line]


def match_view(lines: Sequence[str], found: Match | None) -> dict[str, Any]:
    """Show the lines in a box, and each system's scores as bars; `found` is None for fewer than two lines."""
    view = {"text": "\n".join(lines), "changes": [{"name": name} for name in CHANGES]}
    if found is None:
        return {**view, "note": TYPE, "systems": []}
    note = BARS + " True lines are marked by captions." * bool(found.judged_by)
    return {**view, "note": note, "systems": [_system(found, each) for each in found.systems]}


def _system(found: Match, scored: Scored) -> dict[str, Any]:
    best = max((score for score in scored.scores if score is not None), default=0.0)
    rows = []
    for number, (query, verdict, score) in enumerate(
        zip(found.queries, found.verdicts, scored.scores, strict=True)
    ):
        kind = {None: "best", "right": "up"}.get(verdict, "down")  # of the system's choice
        width = 0 if score is None else max(0.0, 100 * (1 - (best - score) / SPAN))
        row = {
            "text": query.text,
            "truth": "true" if verdict == "right" else "",
            "width": f"{width:.0f}",
        }
        told = "–" if score is None else decimal(score)
        rows.append({**row, "score": told, "kind": kind if number == scored.best else "other"})
    return {"name": short_name(scored.system.name), "rows": rows}
