"""What a clip's tile says of its verdict: "✓", "shows a dog", "no girl"."""

from collections.abc import Sequence
from dataclasses import dataclass

from nt2vr.errors import listed
from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.notebook import SPOKEN
from nt2vr.search.answers import Answer
from nt2vr.search.judge import Verdict
from nt2vr.world.reasons import lacking, shown

RIGHT = "✓"
MARKS = {**SPOKEN, "right": RIGHT}
MAX_PART_CHARS = 24
MEANINGS = {
    "right": "Right: shows the wanted part and nothing unwanted",
    "violation": "Shows the unwanted part",
    "miss": "Lacks the wanted part",
}


@dataclass(frozen=True)
class VerdictText:
    """A verdict in words; all are empty where the verdict is unknown.

    Attributes:
        mark: on the tile.
        lacks: on the tile of a violation, which lacks something wanted as well.
        meaning: at length.
        spoken: for screen readers.
    """

    mark: str = ""
    lacks: str = ""
    meaning: str = ""
    spoken: str = ""


def verdict_text(answer: Answer, video: Video, verdict: Verdict | None) -> VerdictText:
    if verdict is None:
        return VerdictText()
    if verdict == "right":
        return VerdictText(mark=RIGHT, meaning=MEANINGS["right"], spoken="right")

    query = answer.query
    # Captions do not say what a clip lacks.
    is_known = not answer.judged_by
    lacks = lacking(query, video) if is_known else []
    if verdict == "miss":
        marks = lacks or ["lacks it"]
        return VerdictText(marks[0], meaning=_meaning(verdict, lacks), spoken=listed(*marks))

    reasons = shown(query, video) if is_known else []
    marks = reasons or [_shows_part(query)]
    return VerdictText(
        mark=marks[0],
        lacks=lacks[0] if lacks else "",
        meaning=_meaning(verdict, [*reasons, *lacks]),
        spoken=listed(*marks, *lacks),
    )


def _shows_part(query: Query) -> str:
    """Say that a clip shows what is unwanted, by its name if there is one short part."""
    if len(query.unwanted) == 1:
        [part] = query.unwanted
        if len(part) <= MAX_PART_CHARS:
            return f"shows {part}"
    return "shows it"


def _meaning(verdict: Verdict, reasons: Sequence[str]) -> str:
    meaning = MEANINGS[verdict]
    return f"{meaning}: {listed(*reasons)}" if reasons else meaning
