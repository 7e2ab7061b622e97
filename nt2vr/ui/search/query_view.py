"""How a query was understood, as data for the template."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from nt2vr.errors import listed
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer
from nt2vr.ui.search.corrections import marked_again, part_texts
from nt2vr.ui.search.excluded_words import FLIPS, excluded_view, flip_view
from nt2vr.ui.search.state import SearchState

UPLOADS = "The link keeps clips of this gallery, but nothing that was uploaded."


def understood_view(
    answer: Answer,
    state: SearchState,  # for the address
    parsed: Query,  # before the person corrected it
    picture: str = "",  # remark about the reference picture
    lines: Sequence[Mapping[str, str]] = (),  # what came of it, see `headline`
) -> dict[str, Any]:
    """Show how a query was understood, and in words what came of it."""
    query = answer.denied or answer.query
    is_corrected = part_texts(query) != part_texts(parsed)
    said = excluded_view(query, parsed, bool(state.flip))
    uploads = UPLOADS if any(reference.path for reference in state.references) else ""
    notices = (query.notice, picture, uploads, _only_verdicts(answer) if is_corrected else "")
    return {
        "pieces": _pieces(marked_again(query, parsed) if is_corrected else query, bool(state.flip)),
        "affirmed": query.affirmed.text if query.unwanted else "",
        "notice": " ".join(filter(None, notices)),
        "flipped": bool(state.flip),
        "negates": "false" if state.flip else "true",
        "flips": FLIPS[bool(state.flip)],
        "said": said,
        "cued": any("cue" in each for each in said),
        "told": list(lines),
        "read_as": [{"word": word, "other": other} for word, other in answer.read_as.items()],
        "link": state.link,
    }


def _pieces(query: Query, is_flipped: bool) -> list[dict[str, Any]]:
    """Split the sentence at the boundaries of its cues, each of which flips the negation, and scopes."""
    kinds = ["plain"] * len(query.text)
    for spans, kind in ((query.scopes, "scope"), (query.cues, "cue")):
        for start, end in spans:
            kinds[start:end] = [kind] * (end - start)
    pieces = []
    for kind, run in groupby(zip(kinds, query.text, strict=True), key=itemgetter(0)):
        flips = flip_view(is_flipped) if kind == "cue" else None
        pieces.append(
            {"kind": kind, "text": "".join(character for _, character in run), "flips": flips}
        )
    return pieces


def _only_verdicts(answer: Answer) -> str:
    """Name the systems that search for the sentence as typed, whatever its parts."""
    whole = [
        ranking.system.name for ranking in answer.rankings if ranking.system.strategy == "plain"
    ]
    if not whole:
        return ""
    verb, their = ("searches", "its") if len(whole) == 1 else ("search", "their")
    return f"{listed(*whole)} {verb} for the whole sentence: the correction changes only {their} verdicts."
