"""How a query was understood, as data for the template."""

from itertools import groupby

from nt2vr.errors import listed
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer
from nt2vr.ui.search.corrections import part_texts, with_spans
from nt2vr.ui.search.excluded_words import FLIPS, excluded_view, flip_view
from nt2vr.ui.search.state import SearchState
from nt2vr.ui.view import View, Views


def understood_view(answer: Answer, state: SearchState, parsed: Query, picture: str) -> View:
    """Show how a query was understood.

    Args:
        state: as the address has it.
        parsed: the query before a person corrected it.
        picture: a remark about the reference picture.
    """
    query = answer.denied or answer.query
    is_flipped = bool(state.flip)
    notices = [query.notice, picture]
    if any(reference.path for reference in state.references):
        notices.append("The link keeps clips of this gallery, but nothing that was uploaded.")
    marked_query = query
    if part_texts(query) != part_texts(parsed):
        notices.append(_correction_notice(answer))
        marked_query = with_spans(query, parsed)

    excluded = excluded_view(query, parsed, is_flipped)
    return {
        "pieces": _pieces(marked_query, is_flipped),
        "notice": " ".join(filter(None, notices)),
        "flipped": is_flipped,
        "negation_on": "false" if is_flipped else "true",
        "flip_title": FLIPS[is_flipped],
        "excluded": excluded,
        "has_cue": any("cue" in piece for piece in excluded),
        "substitutes": [
            {"word": word, "substitute": substitute} for word, substitute in answer.read_as.items()
        ],
        "link": state.link,
    }


def _correction_notice(answer: Answer) -> str:
    """Name the systems that search for the sentence as typed, whatever its parts are."""
    systems = [ranking.system for ranking in answer.rankings]
    names = [system.name for system in systems if system.strategy == "plain"]
    if not names:
        return ""
    verb, whose = ("searches", "its") if len(names) == 1 else ("search", "their")
    return f"{listed(*names)} {verb} for the whole sentence: the correction changes only {whose} verdicts."


def _pieces(query: Query, is_flipped: bool) -> Views:
    """Split the sentence at the boundaries of its cues, each of which flips the negation, and scopes."""
    kinds = ["plain"] * len(query.text)
    # Cues come last, as they may lie within scopes.
    for kind, spans in (("scope", query.scopes), ("cue", query.cues)):
        for start, end in spans:
            kinds[start:end] = [kind] * (end - start)

    pieces = []
    start = 0
    for kind, run in groupby(kinds):
        end = start + len(list(run))
        flip = flip_view(is_flipped) if kind == "cue" else None
        pieces.append({"kind": kind, "text": query.text[start:end], "flip": flip})
        start = end
    return pieces
