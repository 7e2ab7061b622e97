"""The parts of a query as a person corrects them, and the sliders of the strategies."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

from nt2vr.negation.parse.query import Query, Span
from nt2vr.search.answers import Answer
from nt2vr.search.strategies import STRENGTHS
from nt2vr.ui.search.state import SearchState, write_parts
from nt2vr.ui.view import View, Views

WORD = re.compile(r"\w+")
ARTICLES = frozenset({"a", "an", "the"})
# Characters of all moves together; each repeats the parts. It is enough for the longest sentence.
MAX_MOVES_CHARS = 300_000


def corrected(text: str, wanted: str, unwanted: str) -> Query:
    """Return a query whose parts a person has corrected."""
    unwanted_parts = map(str.strip, unwanted.split(","))
    return Query(
        text,
        wanted=tuple(filter(None, [wanted.strip()])),
        unwanted=tuple(filter(None, unwanted_parts)),
    )


def part_texts(query: Query) -> dict[str, str]:
    """Write a query's wanted and unwanted part as the boxes for correcting them do."""
    return {"wanted": " ".join(query.wanted), "unwanted": ", ".join(query.unwanted)}


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
    if state.parts == write_parts(**part_texts(parsed)):
        state = replace(state, parts="")
    if state.parts:
        wanted, _, unwanted = state.parts.partition("|")
        query = corrected(state.q, wanted, unwanted)
    if not query.unwanted:
        state = replace(state, flip="")
    return state, query, parsed


def sliders_view(answer: Answer, state: SearchState) -> Views:
    """Show a slider per strategy; it is visible if a system on display takes its strength from it."""
    used = {}
    # Of several systems, the first counts.
    for ranking in reversed(answer.rankings):
        if ranking.system.strength is None:
            used[ranking.system.strategy] = ranking.strength

    sliders: Views = []
    for strategy, strength in STRENGTHS.items():
        unused_value = state.strengths.get(strategy, strength.default)
        sliders.append(
            {
                "visible": True if strategy in used else "hidden",
                "value": used.get(strategy, unused_value),
            }
        )
    return sliders


def parts_view(answer: Answer, parsed: Query) -> View:
    """Show the parts of a query for correction: each word moves to the other part, and all go back to `parsed`."""
    query = answer.denied or answer.query
    parsed_texts = part_texts(parsed)
    undo = [] if part_texts(query) == parsed_texts else [parsed_texts]
    return {"moves": _moves(query), "undo": undo, "flipped": answer.denied is not None}


def _moves(query: Query) -> View:
    """Return both parts as they are after each word of one has moved to the other.

    If that were very long, no word moves; the boxes for correcting the parts remain.
    """
    texts = part_texts(query)
    wanted = texts["wanted"]
    words = wanted.split()
    parts = query.unwanted

    num_moves = len(words) + len(parts)
    chars_per_move = len(wanted) + len(texts["unwanted"])
    if num_moves * chars_per_move > MAX_MOVES_CHARS:
        return {"wanted": [], "unwanted": []}
    return {"wanted": _moves_of_words(words, parts), "unwanted": _moves_of_parts(wanted, parts)}


def _moves_of_words(words: list[str], parts: tuple[str, ...]) -> Views:
    """Let each wanted word become an unwanted part."""
    moves = []
    for number, word in enumerate(words):
        rest = words[:number] + words[number + 1 :]
        moves.append(_move(word, " ".join(rest), (*parts, word)))
    return moves


def _moves_of_parts(wanted: str, parts: tuple[str, ...]) -> Views:
    """Let each unwanted part be wanted, too."""
    moves = []
    for number, part in enumerate(parts):
        rest = parts[:number] + parts[number + 1 :]
        joined = " and ".join(filter(None, (wanted, part)))
        moves.append(_move(part, joined, rest))
    return moves


def _move(text: str, wanted: str, unwanted: Sequence[str]) -> View:
    return {"text": text, "wanted": wanted, "unwanted": ", ".join(unwanted)}


def with_spans(query: Query, parsed: Query) -> Query:
    """Return a corrected query with the cues of the parsed one, and its unwanted words as scopes."""
    cues = parsed.cues if query.unwanted else ()
    scopes = chain.from_iterable(_spans_of(part, query.text) for part in query.unwanted)
    return replace(query, cues=cues, scopes=tuple(scopes))


def _spans_of(part: str, text: str) -> list[Span]:
    """Return where a text has a part: the last such phrase, otherwise all of its words but articles."""
    words = WORD.findall(part.lower())
    if not words:
        return []
    between = r"\W+"
    # The start is as long as it can be.
    phrase = re.match(rf".*\b({between.join(words)})\b", text, re.IGNORECASE | re.DOTALL)
    if phrase:
        return [Span(*phrase.span(1))]
    content_words = {*words} - ARTICLES
    matches = WORD.finditer(text)
    return [Span(*match.span()) for match in matches if match[0].lower() in content_words]
