"""The parts of a query as a person corrects them, and the sliders of the strategies."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from nt2vr.negation.parse.query import Query, Span
from nt2vr.search.answers import Answer
from nt2vr.search.strategies import STRENGTHS
from nt2vr.ui.search.state import SearchState, write_parts
from nt2vr.ui.view import View

WORD = re.compile(r"\w+")
ARTICLES = frozenset({"a", "an", "the"})
# Characters of all moves together; each repeats the parts. It is enough for the longest sentence.
MAX_MOVES_CHARS = 300_000


def corrected(text: str, wanted: str, unwanted: str) -> Query:
    """Return a query whose parts a person has corrected."""
    wanted = wanted.strip()
    unwanted_parts = [part.strip() for part in unwanted.split(",")]
    return Query(
        text,
        wanted=(wanted,) if wanted else (),
        unwanted=tuple(filter(None, unwanted_parts)),
    )


def part_texts(query: Query) -> tuple[str, str]:
    """Write a query's wanted and unwanted part as the boxes for correcting them do."""
    return " ".join(query.wanted), ", ".join(query.unwanted)


def with_corrections(
    state: SearchState, understand: Callable[[str, bool], Query]
) -> tuple[SearchState, Query, Query]:
    """Return the state, the query with the parts that a person corrected, and the query as it was understood.

    The state keeps the parts only if they differ from those understood, and flips a negation only if
    there is one.

    Args:
        understand: takes a sentence, and whether it edits references.
    """
    parsed = understand(state.q, bool(state.references))
    query = parsed
    if state.parts and state.parts != write_parts(*part_texts(parsed)):
        wanted, _, unwanted = state.parts.partition("|")
        query = corrected(state.q, wanted, unwanted)
    else:
        state = replace(state, parts="")
    if not query.unwanted:
        state = replace(state, flip="")
    return state, query, parsed


def sliders_view(answer: Answer, state: SearchState) -> list[View]:
    """Show a slider per strategy; it is visible if a system on display takes its strength from it."""
    sliders: list[View] = []
    for strategy, strength in STRENGTHS.items():
        used = []
        for ranking in answer.rankings:
            if ranking.system.strategy == strategy and ranking.system.strength is None:
                used.append(ranking.strength)
        if used:
            sliders.append({"visible": True, "value": used[0]})
        else:
            value = state.strengths.get(strategy, strength.default)
            sliders.append({"visible": "hidden", "value": value})
    return sliders


def parts_view(answer: Answer, parsed: Query) -> View:
    """Show the parts of a query for correction: each word moves to the other part, and all go back to `parsed`."""
    query = answer.denied or answer.query
    undo = []
    if part_texts(query) != part_texts(parsed):
        wanted, unwanted = part_texts(parsed)
        undo.append({"wanted": wanted, "unwanted": unwanted})
    return {"moves": _moves(query), "undo": undo, "flipped": answer.denied is not None}


def _moves(query: Query) -> dict[str, list[dict[str, str]]]:
    """Return both parts as they are after each word of one has moved to the other.

    If that were very long, no word moves; the boxes for correcting the parts remain.
    """
    wanted, unwanted = part_texts(query)
    words = wanted.split()
    parts = query.unwanted
    if (len(words) + len(parts)) * (len(wanted) + len(unwanted)) > MAX_MOVES_CHARS:
        return {"wanted": [], "unwanted": []}
    return {
        "wanted": [_move_to_unwanted(words, number, parts) for number in range(len(words))],
        "unwanted": [_move_to_wanted(parts, number, wanted) for number in range(len(parts))],
    }


def _move_to_unwanted(words: list[str], number: int, parts: Sequence[str]) -> dict[str, str]:
    remaining = " ".join(words[:number] + words[number + 1 :])
    return _move(words[number], remaining, (*parts, words[number]))


def _move_to_wanted(parts: Sequence[str], number: int, wanted: str) -> dict[str, str]:
    joined = " and ".join(filter(None, (wanted, parts[number])))
    return _move(parts[number], joined, (*parts[:number], *parts[number + 1 :]))


def _move(text: str, wanted: str, unwanted: Sequence[str]) -> dict[str, str]:
    return {"text": text, "wanted": wanted, "unwanted": ", ".join(unwanted)}


def with_spans(query: Query, parsed: Query) -> Query:
    """Return a corrected query with the cues of the parsed one, and its unwanted words as scopes."""
    scopes: list[Span] = []
    for part in query.unwanted:
        scopes += _spans_of(part, query.text)
    return replace(query, cues=parsed.cues if query.unwanted else (), scopes=tuple(scopes))


def _spans_of(part: str, text: str) -> list[Span]:
    """Return where a text has a part: the last such phrase, otherwise all of its words but articles."""
    matches = list(WORD.finditer(text))
    words = [match[0].lower() for match in matches]
    part_words = [word.lower() for word in WORD.findall(part)]
    count = len(part_words)
    if not count:
        return []
    for first in range(len(words) - count, -1, -1):
        if words[first : first + count] == part_words:
            return [Span(matches[first].start(), matches[first + count - 1].end())]
    content_words = {*part_words} - ARTICLES
    return [Span(*match.span()) for match in matches if match[0].lower() in content_words]
