"""The parts of a query as a person corrects them, and the sliders of the strategies."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from nt2vr.negation.parse.query import Query, Span
from nt2vr.search.answers import Answer
from nt2vr.search.strategies import STRENGTHS
from nt2vr.ui.search.state import SearchState, write_parts

WORD = re.compile(r"\w+")
ARTICLES = frozenset({"a", "an", "the"})
MAX_MOVES_CHARS = (
    300_000  # of all moves, which repeat the parts per word: enough for the longest sentence
)


def corrected(text: str, wanted: str, unwanted: str) -> Query:
    """Return a query whose parts a person has corrected."""
    parts = tuple(part.strip() for part in unwanted.split(",") if part.strip())
    return Query(text, (wanted.strip(),) if wanted.strip() else (), parts)


def part_texts(query: Query) -> tuple[str, str]:
    """Write a query's wanted and unwanted part as the boxes for correcting them do."""
    return " ".join(query.wanted), ", ".join(query.unwanted)


def with_corrections(
    state: SearchState, understand: Callable[[str, bool], Query]
) -> tuple[SearchState, Query, Query]:
    """Return the state, the query with the parts that a person corrected, and the query as it was understood.

    The state's parts are dropped if they are those that are understood. `understand` takes a
    sentence, and whether it edits references.
    """
    parsed = query = understand(state.q, bool(state.references))
    wanted, _, unwanted = state.parts.partition("|")
    if state.parts and state.parts != write_parts(*part_texts(parsed)):
        query = corrected(state.q, wanted, unwanted)
    else:
        state = replace(state, parts="")
    return state if query.unwanted else replace(state, flip=""), query, parsed


def sliders_view(answer: Answer, state: SearchState) -> list[dict[str, Any]]:
    """Show each strategy's strength, of the first system that its slider could change, otherwise its own."""
    found = []
    for name, strength in STRENGTHS.items():
        own = [
            r.strength
            for r in answer.rankings
            if r.system.strategy == name and r.system.strength is None
        ]
        value = own[0] if own else state.strengths.get(name, strength.default)
        found.append({"visible": True if own else "hidden", "value": value})
    return found


def parts_view(answer: Answer, parsed: Query) -> dict[str, Any]:
    """Show the parts of a query for correction: each word moves to the other part, and all go back to `parsed`.

    If that were very long, no word moves; the boxes for correcting the parts remain.
    """
    query = answer.denied or answer.query
    wanted, unwanted = part_texts(query)
    words, parts = wanted.split(), query.unwanted

    def move(text: str, wanted: str, unwanted: Sequence[str]) -> dict[str, str]:
        return {"text": text, "wanted": wanted, "unwanted": ", ".join(unwanted)}

    moves: dict[str, list[dict[str, str]]] = {"wanted": [], "unwanted": []}
    if (len(words) + len(parts)) * (len(wanted) + len(unwanted)) <= MAX_MOVES_CHARS:
        for place, word in enumerate(words):
            others = " ".join(words[:place] + words[place + 1 :])
            moves["wanted"].append(move(word, others, (*parts, word)))
        for place, part in enumerate(parts):
            joined = " and ".join(filter(None, (wanted, part)))
            moves["unwanted"].append(move(part, joined, parts[:place] + parts[place + 1 :]))
    as_parsed = dict(zip(moves, part_texts(parsed), strict=True))
    undo = [as_parsed] if part_texts(query) != part_texts(parsed) else []
    return {"moves": moves, "undo": undo, "flipped": answer.denied is not None}


def marked_again(query: Query, parsed: Query) -> Query:
    """Return a corrected query with its unwanted words marked in the sentence, and the cues of the parsed one."""
    scopes = tuple(span for part in query.unwanted for span in _spans_of(part, query.text))
    return replace(query, cues=parsed.cues if query.unwanted else (), scopes=scopes)


def _spans_of(part: str, text: str) -> list[Span]:
    """Return where a text has a part, as the last such phrase, otherwise all its words but articles."""
    found = list(WORD.finditer(text))
    words, sought = (
        [match[0].lower() for match in found],
        [match[0].lower() for match in WORD.finditer(part)],
    )
    for at in range(len(words) - len(sought), -1, -1):
        if sought and words[at : at + len(sought)] == sought:
            return [Span(found[at].start(), found[at + len(sought) - 1].end())]
    wanted = {*sought} - ARTICLES
    return [Span(*match.span()) for match, word in zip(found, words, strict=True) if word in wanted]
