"""A parsed query, corrections and downloads as template data. Independent of Gradio."""

import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any
from urllib.parse import quote

from defusedcsv import csv

from nt2vr.errors import listed
from nt2vr.media.gallery import Video
from nt2vr.negation.parse.cues import denied_by_nobody
from nt2vr.negation.parse.query import Query, Span
from nt2vr.search.answers import Answer, Verdict
from nt2vr.search.strategies import STRENGTHS
from nt2vr.search.substitutes import with_words
from nt2vr.ui.search.column_view import short_name
from nt2vr.ui.search.state import SearchState, read_parts, write_parts
from nt2vr.world.offers import FEW, Offers
from nt2vr.world.scenes import Scene

WORD = re.compile(r"\w+")
LETTERS = re.compile(r"[^\W\d_]*$")
ARTICLES = frozenset({"a", "an", "the"})
SETTLED = ("literal", "parts", "flip", "replay")  # hidden values that hold as long as the sentence does
FLIPS = ("Search without the negation (0)", "Put the negation back (0)")
MAX_MOVES_CHARS = 300_000  # of all moves, which repeat the parts per word: enough for the longest sentence


def corrected(text: str, wanted: str, unwanted: str) -> Query:
    """Return a query whose parts a person has corrected."""
    parts = tuple(part.strip() for part in unwanted.split(",") if part.strip())
    return Query(text, (wanted.strip(),) if wanted.strip() else (), parts)


def part_texts(query: Query) -> tuple[str, str]:
    """Write a query's wanted and unwanted part as the boxes for correcting them do."""
    return " ".join(query.wanted), ", ".join(query.unwanted)


def with_corrections(
    asked: SearchState, previous: Answer | None, boxes: tuple[str, str], understand: Callable[..., Query]
) -> tuple[SearchState, Query, Query]:
    """Understand a sentence with the parts and words that a person corrected, which hold until the sentence changes.

    Args:
        previous: the answer on display; without one, the corrections are those of a link.
        boxes: the wanted and unwanted part that the boxes for correcting them hold.
        understand: returns the query that a sentence is, given whether it edits references.

    Returns:
        The state with the corrections that still hold, the query, and the query without them.
    """
    parsed, state = understand(asked.q, bool(asked.references)), asked
    if previous is not None and previous.sentence == asked.q:
        state = replace(asked, parts=write_parts(*boxes))
    elif previous is not None:
        state = replace(asked, parts="", literal="", flip="", replay="")
    if not state.parts or any(  # the boxes may hold the parts from before references came or went
        state.parts == write_parts(*part_texts(query)) for query in (parsed, understand(asked.q, not asked.references))
    ):
        return replace(state, parts=""), parsed, parsed
    return state, corrected(state.q, *read_parts(state.parts)), parsed


def understood_view(
    answer: Answer, state: SearchState, asked: Mapping[str, str], parsed: Query, picture: str = ""
) -> dict[str, Any]:
    """Show how a query was understood, and in words what came of it.

    Args:
        answer: what is shown.
        state: of the search, for the address.
        asked: what the inputs held when the search was asked for, by name: the browser fills in only those unchanged.
        parsed: the query before the person corrected it.
        picture: remark about the reference picture.
    """
    query = answer.denied or answer.query
    wanted, unwanted = part_texts(query)
    is_corrected = (wanted, unwanted) != part_texts(parsed)
    said = _said(query, parsed, bool(state.flip))
    notices = (query.notice, picture, _only_verdicts(answer) if is_corrected else "")
    return {
        "pieces": _pieces(marked_again(query, parsed) if is_corrected else query, bool(state.flip)),
        "affirmed": query.affirmed.text if query.unwanted else "",
        "notice": " ".join(filter(None, notices)),
        "flipped": bool(state.flip),
        "said": said,
        "cued": any("cue" in each for each in said),
        "told": told(answer),
        "read_as": [{"word": word, "other": other} for word, other in answer.read_as.items()],
        "link": state.link,
        "asked": dict(asked),
        "settled": {"wanted": wanted, "unwanted": unwanted, **{name: getattr(state, name) for name in SETTLED}},
        "sliders": [_slider(answer, strategy, state.moved.get(strategy)) for strategy in STRENGTHS],
    }


def parts_view(answer: Answer, parsed: Query) -> dict[str, Any]:
    """Show the parts of a query for correction: each word moves to the other part, and all go back to `parsed`."""
    query = answer.denied or answer.query
    wanted, unwanted = part_texts(parsed)
    undo = [{"wanted": wanted, "unwanted": unwanted}] if part_texts(query) != (wanted, unwanted) else []
    return {"moves": _moves(query), "undo": undo, "flipped": answer.denied is not None}


def told(answer: Answer) -> list[dict[str, str]]:
    """Say by the verdicts what the first and the last system made of a query, each with a `kind`: "good" or "bad"."""
    if not answer.has_verdicts:
        return []
    unwanted, by = answer.query.unwanted, f" by {answer.judged_by}" if answer.judged_by else ""
    shows = "shows it" if len(unwanted) == 1 else "shows some of it"
    found = []
    for ranking in (*answer.rankings[:1], *answer.rankings[1:][-1:]):
        name, total = short_name(ranking.system.name), len(ranking.hits)
        right, violations, misses = (ranking.counts[verdict] for verdict in ("right", "violation", "miss"))
        if not total or (not unwanted and not by and right + misses + violations < total):
            continue
        if not unwanted:
            text = f"{name} is right in {right} of {total}{by}."
        elif violations:
            text = f"{name} {shows} anyway, in {violations} of {total}{by}."
        else:
            text = f"{name} leaves it out{by}{f'; {misses} of {total} miss the rest' * bool(misses)}."
        is_good = not violations if unwanted else 2 * right >= total
        found.append({"kind": "good" if is_good else "bad", "text": text})
    return found


def _said(query: Query, parsed: Query, is_flipped: bool) -> list[dict[str, Any]]:
    """Repeat what was excluded: unwanted parts and their cues, which flip the negation, in the sentence's order."""
    if not query.unwanted:
        return []
    text, starts = query.text, [start for start, _ in query.scopes]
    cues = [(start, {"cue": text[_word_start(text, start) : end], **_flip(is_flipped)}) for start, end in parsed.cues]
    if len(starts) != len(query.unwanted):  # corrected
        starts, cues = [len(text)] * len(query.unwanted), cues[:1]
    parts = [(start, {"text": part}) for start, part in zip(starts, query.unwanted, strict=True)]
    pieces: list[dict[str, Any]] = []
    for start, piece in sorted([*cues, *parts], key=itemgetter(0)):
        implied = denied_by_nobody().get(pieces[-1].get("cue", "").lower(), "") if pieces and "text" in piece else ""
        if implied and piece["text"].startswith(implied):
            piece = {"text": piece["text"].removeprefix(implied).strip()}  # nobody | people playing
        elif implied and any(cue == start for cue, _ in cues):
            verb, _, rest = piece["text"].partition(implied)  # eats | no one
            pieces.insert(-1, {"text": verb.strip()})
            piece = {"text": rest.strip()}
        pieces.append(piece)
    return pieces


def _word_start(text: str, place: int) -> int:
    """Return where the word that goes on at a place begins: the cue of "isn't" is "n't"."""
    before = LETTERS.search(text, 0, place) if text[place].isalpha() else None
    return before.start() if before else place


def downloads(answer: Answer) -> dict[str, str]:
    """Return an answer as downloads."""
    return {
        "json": _data_url("application/json", json.dumps(answer.as_dict(), indent=1, ensure_ascii=False)),
        "csv": _data_url("text/csv", _as_csv(answer)),
    }


def offers_view(answer: Answer, videos: tuple[Video, ...]) -> dict[str, Any]:
    """Say so where hardly any of the videos, scenes of the built-in world, fits a query, and offer others."""
    if answer.denied or any(ranking.counts["right"] > FEW for ranking in answer.rankings):
        return {}
    query, offers = with_words(answer.query, answer.read_as), _offers_of(videos)
    if offers is None or ((found := offers.fitting(query)) or 0) > FEW:
        return {}
    if not (near := offers.near(query)) and found is None:
        return {}
    few = "no clip fits for sure" if found is None else "one clip fits" if found else "no clip fits"
    return {"offers": near, "few": f"{few}; try" if near else few}


@lru_cache(maxsize=4)
def _offers_of(videos: tuple[Video, ...]) -> Offers | None:
    scenes = [Scene.from_dict(video.scene).dressed for video in videos if video.scene]
    return Offers(scenes) if scenes else None


def marked_again(query: Query, parsed: Query) -> Query:
    """Return a corrected query with its unwanted words marked in the sentence, and the cues of the parsed one."""
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
    """Name the systems that search for the sentence as typed, whatever its parts."""
    whole = [ranking.system.name for ranking in answer.rankings if ranking.system.strategy == "plain"]
    if not whole:
        return ""
    verb, their = ("searches", "its") if len(whole) == 1 else ("search", "their")
    return f"{listed(*whole)} {verb} for the whole sentence: the correction changes only {their} verdicts."


def _moves(query: Query) -> dict[str, list[dict[str, str]]]:
    """List what can be moved by a click, with the parts that it leaves: wanted words, and unwanted parts.

    Nothing if that were very long; the boxes for correcting the parts remain.
    """
    wanted, unwanted = part_texts(query)
    words, parts = wanted.split(), query.unwanted
    if (len(words) + len(parts)) * (len(wanted) + len(unwanted)) > MAX_MOVES_CHARS:
        return {"wanted": [], "unwanted": []}

    def move(text: str, wanted: str, unwanted: Sequence[str]) -> dict[str, str]:
        return {"text": text, "wanted": wanted, "unwanted": ", ".join(unwanted)}

    return {
        "wanted": [
            move(word, " ".join(words[:place] + words[place + 1 :]), (*parts, word))
            for place, word in enumerate(words)
        ],
        "unwanted": [
            move(part, " and ".join(filter(None, (wanted, part))), parts[:place] + parts[place + 1 :])
            for place, part in enumerate(parts)
        ],
    }


def picture_remark(query: Query, verdict: Verdict | None, systems: Sequence[str] = ()) -> str:
    """Warn that a picture is searched for with all that it shows, unless its verdict says nothing of it is unwanted.

    `systems` names those that do so, and is empty for all.
    """
    if not query.unwanted or verdict in ("right", "miss"):
        return ""
    whole = f"searched for as a whole{' by ' * bool(systems)}{listed(*systems)}"
    if verdict is None:
        return f"The picture is {whole}, with {_listed(query.unwanted)} if it shows that."
    return f"The picture shows {_listed(query.unwanted)}, which the text excludes: it is {whole}."


def _listed(parts: Sequence[str]) -> str:
    return " or ".join(f"“{part}”" for part in parts)


def _slider(answer: Answer, strategy: str, moved: float | None) -> dict[str, Any]:
    """Return what a strategy's slider shows: the strength of the first system it could change, else its own."""
    own = [r.strength for r in answer.rankings if r.system.strategy == strategy and r.system.strength is None]
    return {"word": STRENGTHS[strategy].word, "value": own[0] if own else moved, "used": bool(own)}


def _pieces(query: Query, is_flipped: bool) -> list[dict[str, Any]]:
    """Split the sentence at the boundaries of its cues, each of which flips the negation, and scopes."""
    kinds = ["plain"] * len(query.text)
    for spans, kind in ((query.scopes, "scope"), (query.cues, "cue")):
        for start, end in spans:
            kinds[start:end] = [kind] * (end - start)
    runs = groupby(zip(kinds, query.text, strict=True), key=itemgetter(0))
    return [
        {
            "kind": kind,
            "text": "".join(character for _, character in run),
            "flips": _flip(is_flipped) if kind == "cue" else None,
        }
        for kind, run in runs
    ]


def _flip(is_flipped: bool) -> dict[str, str]:
    return {"pressed": "true" if is_flipped else "false", "title": FLIPS[is_flipped]}


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
