"""Answers as plain data for the Search tab's templates; independent of Gradio."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from nt2vr.language.query import Query
from nt2vr.media.gallery import Video
from nt2vr.search.answers import Answer, Hit, Ranking, Verdict
from nt2vr.search.strategies import STRENGTHS
from nt2vr.ui.clip_view import MARKS, times_text

NOTHING_LEFT = "Without its negated part, this query is empty."
BY_CAPTIONS = (
    "✓ and “violates” are by captions, from what they say of the wanted and of the unwanted part. What no caption "
    "mentions may still be in the picture."
)
NO_GOOD_MATCH = "No good match: the best score is below what matching clips usually get."


@dataclass(frozen=True)
class Marked:
    """Relevant clips of a judged query, and the legend that explains their marks."""

    video_ids: frozenset[str] = frozenset()
    legend: str = ""


def no_marks(judged: str, text: str, gallery: str) -> Marked:
    """Mark nothing."""
    return Marked()


def part_texts(query: Query) -> tuple[str, str]:
    """Write a query's wanted and unwanted part as the boxes for correcting them do."""
    return " ".join(query.wanted), ", ".join(query.unwanted)


def understood_view(
    answer: Answer, asked_parts: tuple[str, str] = ("", ""), link: Mapping[str, Any] = MappingProxyType({}),
    strengths: Mapping[str, float] = MappingProxyType({}), picture: str = "",
) -> dict[str, Any]:  # fmt: skip
    """Show how a query was understood, with the answer as downloads.

    Args:
        answer: what is shown.
        asked_parts: what the boxes for correcting the parts held when the search was asked for.
        link: the address of this search.
        strengths: strategy to strength, as far as sliders were moved.
        picture: remark about the reference picture.
    """
    query = answer.query
    return {
        "pieces": _pieces(query),
        "wanted": list(query.wanted),
        "unwanted": list(query.unwanted),
        "text": query.text,
        "notice": " ".join(filter(None, (query.notice, picture))),
        "read_as": [{"word": word, "other": other} for word, other in answer.read_as.items()],
        "json": _data_url("application/json", json.dumps(answer.as_dict(), indent=1, ensure_ascii=False)),
        "csv": _data_url("text/csv", _as_csv(answer)),
        "asked_parts": list(asked_parts),
        "parts": list(part_texts(query)),
        "link": dict(link),
        "sliders": [_slider(answer, strategy, strengths.get(strategy)) for strategy in STRENGTHS],
    }


def picture_remark(query: Query, verdict: Verdict | None) -> str:
    """Tell that a reference picture is searched for as a whole, unless it shows nothing that the text excludes.

    Args:
        query: the text.
        verdict: on the picture's clip; None if it has none.
    """
    if not query.unwanted or verdict in ("right", "miss"):
        return ""
    if verdict is None:
        return f"The picture is searched for as a whole, with {_listed(query.unwanted)} if it shows that."
    return f"The picture shows {_listed(query.unwanted)}, which the text excludes: it is searched for as a whole."


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


Urls = Callable[[Video], Mapping[str, str]]  # a clip's `src` and `poster`


def columns_view(
    answer: Answer, video_of: Callable[[str], Video], urls: Urls, marked: Marked = Marked()
) -> dict[str, Any]:
    """Show each system's hits in a column, with their movement compared with the first system."""
    if not answer.rankings:
        return {"columns": []}
    first = answer.rankings[0]
    verdicts = {hit.verdict for ranking in answer.rankings for hit in ranking.hits}
    judged = bool(verdicts - {None})
    return {
        "legend": marked.legend,
        "by_captions": BY_CAPTIONS if judged and answer.judged_by else "",
        "columns": [
            {
                "name": ranking.system.model,
                "system": ranking.system.name,
                "how": _how(ranking),
                "badge": _badge(ranking, answer, None not in verdicts) if judged else {},
                "note": _note(ranking, answer, judged),
                "hits": [
                    {
                        "id": hit.video_id,
                        **urls(video_of(hit.video_id)),
                        "where": times_text(hit.moments[0].start, hit.moments[-1].end) if hit.moments else "",
                        "caption": next(iter(video_of(hit.video_id).captions), hit.video_id),
                        "rank": hit.rank,
                        "score": f"{hit.score:.3f}",
                        "verdict": hit.verdict or "",
                        "mark": MARKS.get(hit.verdict or "", ""),
                        "judged": hit.video_id in marked.video_ids,
                        "move": _movement(hit, first, len(ranking.hits)) if ranking is not first else "",
                    }
                    for hit in ranking.hits
                ],
            }
            for ranking in answer.rankings
        ],
    }


def _how(ranking: Ranking) -> str:
    """Name the strategy and, for a run, the epoch that answered."""
    strategy = ranking.system.name.removeprefix(ranking.system.model).strip() or "whole sentence"
    return strategy if ranking.epoch is None else f"epoch {ranking.epoch} · {strategy}"


def _badge(ranking: Ranking, answer: Answer, complete: bool) -> dict[str, Any]:
    """Count the clips that are right, which decides the colour; then the violations.

    Only violations are known where a word of the query is unknown: verdicts are not `complete`.
    """
    total, right, violations = len(ranking.hits), ranking.counts["right"], ranking.counts["violation"]
    negated = bool(answer.query.unwanted)
    if not total:
        return {}
    if answer.judged_by:
        return {
            "kind": "bad" if violations else "neutral",
            "text": f"{right} of {total} right by {answer.judged_by}",
            "brief": f"{right}/{total}",
            "more": f"{violations} violate" if negated else "",
            "worse": negated and violations > 0,
        }
    if not complete:
        kind = "bad" if violations else "neutral"
        return {"kind": kind, "text": f"{violations} of {total} violate", "brief": f"{violations} violate", "more": ""}
    return {
        "kind": "good" if right * 2 >= total else "bad",
        "text": f"{right} of {total} right",
        "brief": f"{right}/{total}",
        "more": f"{violations} violate" if negated else "",
        "worse": negated and violations > 0,
    }


def _note(ranking: Ranking, answer: Answer, judged: bool) -> str:
    notes = [ranking.notice] if ranking.notice else []
    if not ranking.hits:
        return " ".join([*notes, NOTHING_LEFT])
    if ranking.recall < 1:
        notes.append(f"Approximate search: it finds {100 * ranking.recall:.1f} % of the ten best clips.")
    if ranking.low and not judged:  # verdicts know better
        notes.append(NO_GOOD_MATCH)
    if as_typed := answer.as_typed(ranking):
        notes.append(f"{ranking.system.model} knows, and was asked as typed: {', '.join(as_typed)}.")
    if ranking.unseen:
        notes.append(f"{ranking.system.model} has never seen: {', '.join(ranking.unseen)}.")
    return " ".join(notes)


def _movement(hit: Hit, first: Ranking, num_shown: int) -> str:
    """Write how many places better (▲) or worse (▼) than in the first column; "new" if it is not shown there."""
    before = first.ranks.get(hit.video_id)
    if before is None or before > num_shown:
        return "new"
    better = before - hit.rank
    return f"▲{better}" if better > 0 else f"▼{-better}" if better < 0 else "="
