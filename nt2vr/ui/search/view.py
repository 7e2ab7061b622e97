"""A parsed query, corrections and downloads as template data. Independent of Gradio."""

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from nt2vr.language.query import Query, Span
from nt2vr.search.answers import Answer, Verdict
from nt2vr.search.strategies import STRENGTHS

WORD = re.compile(r"\w+")
ARTICLES = frozenset({"a", "an", "the"})
MAX_MOVES_CHARS = 300_000  # of all moves, which repeat the parts per word: enough for the longest sentence


def corrected(text: str, wanted: str, unwanted: str) -> Query:
    """Return a query whose parts a person has corrected."""
    parts = tuple(part.strip() for part in unwanted.split(",") if part.strip())
    return Query(text, (wanted.strip(),) if wanted.strip() else (), parts)


def part_texts(query: Query) -> tuple[str, str]:
    """Write a query's wanted and unwanted part as the boxes for correcting them do."""
    return " ".join(query.wanted), ", ".join(query.unwanted)


def understood_view(
    answer: Answer,
    asked_parts: tuple[str, str] = ("", ""),
    link: Mapping[str, Any] = MappingProxyType({}),
    strengths: Mapping[str, float] = MappingProxyType({}),
    picture: str = "",
    parsed: Query | None = None,
) -> dict[str, Any]:
    """Show how a query was understood, with the answer as downloads.

    Args:
        answer: what is shown.
        asked_parts: what the boxes for correcting the parts held when the search was asked for.
        link: the address of this search.
        strengths: strategy to strength, as far as sliders were moved.
        picture: remark about the reference picture.
        parsed: the query before the person corrected it.
    """
    query = answer.query
    is_corrected = parsed is not None and part_texts(parsed) != part_texts(query)
    undo = [dict(zip(("wanted", "unwanted"), part_texts(parsed), strict=True))] if parsed and is_corrected else []
    notices = (query.notice, picture, _only_verdicts(answer) if is_corrected else "")
    return {
        "pieces": _pieces(marked_again(query, parsed) if parsed and is_corrected else query),
        "wanted": list(query.wanted),
        "unwanted": list(query.unwanted),
        "text": query.text,
        "notice": " ".join(filter(None, notices)),
        "moves": _moves(query),
        "undo": undo,
        "read_as": [{"word": word, "other": other} for word, other in answer.read_as.items()],
        "json": _data_url("application/json", json.dumps(answer.as_dict(), indent=1, ensure_ascii=False)),
        "csv": _data_url("text/csv", _as_csv(answer)),
        "asked_parts": list(asked_parts),
        "parts": list(part_texts(query)),
        "link": dict(link),
        "sliders": [_slider(answer, strategy, strengths.get(strategy)) for strategy in STRENGTHS],
    }


def marked_again(query: Query, parsed: Query) -> Query:
    """Return a corrected query with the words of its unwanted parts marked in the sentence, wherever they are.

    Args:
        query: the query.
        parsed: the sentence as it was understood, whose cues stay marked.
    """
    words = [(match.start(), match.end(), match[0].lower()) for match in WORD.finditer(query.text)]
    found = []
    for part in query.unwanted:
        sought = [match[0].lower() for match in WORD.finditer(part)]
        starts = range(len(words) - len(sought) + 1) if sought else ()
        places = [at for at in starts if [word for *_, word in words[at : at + len(sought)]] == sought]
        if places:
            found.append(Span(words[places[-1]][0], words[places[-1] + len(sought) - 1][1]))
        else:  # not as one phrase
            found += [Span(start, end) for start, end, word in words if word in sought and word not in ARTICLES]
    return replace(query, cues=parsed.cues if query.unwanted else (), scopes=tuple(found))


def _only_verdicts(answer: Answer) -> str:
    """Name the systems that search for the whole sentence, whatever its parts."""
    whole = [ranking.system.name for ranking in answer.rankings if ranking.system.strategy == "plain"]
    if not whole:
        return ""
    verb, their = ("searches", "its") if len(whole) == 1 else ("search", "their")
    return f"{_and(whole)} {verb} for the whole sentence: the correction changes only {their} verdicts."


def _moves(query: Query) -> dict[str, list[dict[str, str]]]:
    """List what can be moved by a click, with the parts that it leaves: wanted words, and unwanted parts.

    Nothing if that were very long; the boxes for correcting the parts remain.
    """
    wanted, unwanted = part_texts(query)
    words = wanted.split()
    if (len(words) + len(query.unwanted)) * (len(wanted) + len(unwanted)) > MAX_MOVES_CHARS:
        return {"wanted": [], "unwanted": []}
    return {
        "wanted": [
            {
                "text": word,
                "wanted": " ".join(words[:place] + words[place + 1 :]),
                "unwanted": ", ".join(filter(None, (unwanted, word))),
            }
            for place, word in enumerate(words)
        ],
        "unwanted": [
            {
                "text": part,
                "wanted": " and ".join(filter(None, (wanted, part))),
                "unwanted": ", ".join(query.unwanted[:place] + query.unwanted[place + 1 :]),
            }
            for place, part in enumerate(query.unwanted)
        ],
    }


def picture_remark(query: Query, verdict: Verdict | None, systems: Sequence[str] = ()) -> str:
    """Tell that a reference picture is searched for as a whole, unless it shows nothing that the text excludes.

    Args:
        query: the text.
        verdict: on the picture's clip; None if it has none.
        systems: names of those that do so; none of them names all.
    """
    if not query.unwanted or verdict in ("right", "miss"):
        return ""
    whole = f"searched for as a whole{' by ' * bool(systems)}{_and(systems)}"
    if verdict is None:
        return f"The picture is {whole}, with {_listed(query.unwanted)} if it shows that."
    return f"The picture shows {_listed(query.unwanted)}, which the text excludes: it is {whole}."


def _and(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + " and " * (len(names) > 1) + "".join(names[-1:])


def _listed(parts: Sequence[str]) -> str:
    return " or ".join(f"“{part}”" for part in parts)


def _slider(answer: Answer, strategy: str, moved: float | None) -> dict[str, Any]:
    """Return what a strategy's slider was moved to, and shows: that, or the first system's that it could change."""
    own = [r.strength for r in answer.rankings if r.system.strategy == strategy and r.system.strength is None]
    return {"moved": moved, "value": own[0] if own else moved, "used": bool(own)}


def _pieces(query: Query) -> list[dict[str, str]]:
    """Split the sentence at the boundaries of its cues and scopes."""
    kinds = ["plain"] * len(query.text)
    for spans, kind in ((query.scopes, "scope"), (query.cues, "cue")):
        for start, end in spans:
            kinds[start:end] = [kind] * (end - start)
    pieces: list[dict[str, str]] = []
    for character, kind in zip(query.text, kinds, strict=True):
        if pieces and pieces[-1]["kind"] == kind:
            pieces[-1]["text"] += character
        else:
            pieces.append({"kind": kind, "text": character})
    return pieces


def _as_csv(answer: Answer) -> str:
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(("system", "rank", "video_id", "score", "verdict"))
    for ranking in answer.rankings:
        for hit in ranking.hits:
            for name in [moment.video_id for moment in hit.moments] or [hit.video_id]:
                writer.writerow((ranking.system.name, hit.rank, name, hit.score, hit.verdict or ""))
    return table.getvalue()


def _data_url(kind: str, text: str) -> str:
    return f"data:{kind};charset=utf-8,{quote(text)}"
