"""Result columns, one per system, as template data. Independent of Gradio."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nt2vr.media.gallery import Video
from nt2vr.notebook import SPOKEN
from nt2vr.search.answers import Answer, Hit, Ranking
from nt2vr.search.strategies import STRATEGIES
from nt2vr.search.systems import System
from nt2vr.ui.search.clip_view import MARKS, times_text

NOTHING_LEFT = "Without its negated part, this query is empty."
BY_CAPTIONS = (
    "✓ and “violates” are by captions, from what they say of the wanted and of the unwanted part. What no caption "
    "mentions may still be in the picture."
)
NO_GOOD_MATCH = "No good match: the best score is below what matching clips usually get."
MARK_MEANINGS = {
    "right": "Right: shows the wanted part and nothing unwanted",
    "violation": "Violates: shows the unwanted part",
    "miss": "Misses: lacks the wanted part",
}
RUN_DATE = re.compile(r"-(\d{4})(\d{2})(\d{2})-(\d{2})(\d{2})\d{2}(?=$|[ -])")


@dataclass(frozen=True)
class Marked:
    """Relevant clips of a judged query, and the legend that explains their marks."""

    video_ids: frozenset[str] = frozenset()
    legend: str = ""


def short_name(name: str) -> str:
    """Shorten the date in names of runs and their systems: "bnl-20261122-212355" to "bnl 22/11 21:23"."""
    return RUN_DATE.sub(r" \3/\2 \4:\5", name, count=1)


Urls = Callable[[Video], Mapping[str, str]]  # a clip's `src` and `poster`


def columns_view(
    answer: Answer,
    video_of: Callable[[str], Video],
    urls: Urls,
    marked: Marked = Marked(),
    other: Answer | None = None,
) -> dict[str, Any]:
    """Show each system's hits in a column, with their movement compared with the first system.

    Each says how much of the negation it noticed, if `other` is the answer with it taken away, or put back.
    """
    if not answer.rankings:
        return {"columns": []}
    verdicts = {hit.verdict for ranking in answer.rankings for hit in ranking.hits}
    judged, complete = bool(verdicts - {None}), None not in verdicts
    badges = [_badge(ranking, answer, complete) if judged else {} for ranking in answer.rankings]

    def clip(hit: Hit, ranking: Ranking) -> dict[str, Any]:
        video, verdict = video_of(hit.video_id), hit.verdict or ""
        return {
            "id": hit.video_id,
            **urls(video),
            "where": times_text(hit.moments[0].start, hit.moments[-1].end) if hit.moments else "",
            "caption": next(iter(video.captions), hit.video_id),
            "rank": hit.rank,
            "score": f"{hit.score:.3f}",
            "verdict": verdict,
            "mark": MARKS.get(verdict, ""),
            "mark_meaning": MARK_MEANINGS.get(verdict, ""),
            "judged": hit.video_id in marked.video_ids,
            **_movement(hit, answer.rankings[0], ranking),
            "spoken": f"Rank {hit.rank}{', ' + SPOKEN[verdict] if verdict else ''}",
        }

    return {
        "legend": marked.legend,
        "by_captions": BY_CAPTIONS if judged and answer.judged_by else "",
        "columns": [
            {
                "name": short_name(ranking.system.model),
                "system": short_name(ranking.system.name),
                "meaning": f"Searches for {STRATEGIES[ranking.system.strategy].meaning}",
                "how": how_text(ranking.system, ranking.epoch),
                "badge": badge,
                "line": _line(ranking, answer, complete) if judged else {},
                "stayed": _stayed(ranking, other) if other else "",
                "note": " ".join(notes(ranking, answer, judged)),
                "hits": [clip(hit, ranking) for hit in ranking.hits],
            }
            for ranking, badge in zip(answer.rankings, badges, strict=True)
        ],
        "said": " ".join(map(_said, answer.rankings, badges)),
    }


def _said(ranking: Ranking, badge: Mapping[str, Any]) -> str:
    """Announce a column to screen readers."""
    counts = [badge[name] for name in ("text", "more") if badge.get(name)] or [f"{len(ranking.hits)} results"]
    return f"{short_name(ranking.system.name)}: {', '.join(counts)}."


def how_text(system: System, epoch: int | None) -> str:
    """Name a system's strategy, unless it is the sentence as typed, and for a run the epoch that answered."""
    strategy = system.name.removeprefix(system.model).strip()
    return " · ".join(filter(None, (f"epoch {epoch}" if epoch else "", strategy)))


def _badge(ranking: Ranking, answer: Answer, complete: bool) -> dict[str, Any]:
    """Count the clips that are right, which decides the colour; then the violations.

    Only violations are known where a word of the query is unknown: verdicts are not `complete`.
    """
    total, right, violations = len(ranking.hits), ranking.counts["right"], ranking.counts["violation"]
    if not total:
        return {}
    kind = "bad" if violations else "neutral"
    if not complete and not answer.judged_by:
        return {"kind": kind, "text": f"{violations} of {total} violate", "brief": f"{violations} violate", "more": ""}
    if not answer.judged_by:
        kind = "good" if right * 2 >= total else "bad"
    negated = bool(answer.query.unwanted or answer.query.others)
    return {
        "kind": kind,
        "text": f"{right} of {total} right{f' by {answer.judged_by}' if answer.judged_by else ''}",
        "brief": f"{right}/{total}",
        "more": f"{violations} violate" if negated else "",
        "worse": negated and violations > 0,
    }


def _line(ranking: Ranking, answer: Answer, complete: bool) -> dict[str, str]:
    """Sum a column up for the stage, with the same numbers for every system; green only above half."""
    right, violations, total = ranking.counts["right"], ranking.counts["violation"], len(ranking.hits)
    if not total:
        return {"kind": "bad", "text": "nothing left to search for"}
    show = f"{violations} show it" if complete else f"{violations} of {total} show it"
    texts = [f"{right} of {total} right"] * complete + [show] * bool(answer.query.unwanted)
    is_good = right * 2 > total if complete else not violations
    return {"kind": "good" if is_good else "bad", "text": ", ".join(texts)}


def notes(ranking: Ranking, answer: Answer, judged: bool) -> Iterator[str]:
    """Yield remarks on a ranking, one sentence each; where it is `judged`, none is on a low score."""
    if ranking.notice:
        yield ranking.notice
    if not ranking.hits:
        yield NOTHING_LEFT
        return
    if ranking.recall < 1:
        yield f"Approximate search: it finds {100 * ranking.recall:.1f} % of the ten best clips."
    if ranking.low and not judged:  # verdicts know better
        yield NO_GOOD_MATCH
    if as_typed := answer.as_typed(ranking):
        yield f"{ranking.system.model} knows, and was asked as typed: {', '.join(as_typed)}."
    if ranking.reads:
        yield f"reads: {ranking.reads}. The other words: only its GRU."
    if ranking.unseen:
        yield f"{ranking.system.model} has never seen: {', '.join(ranking.unseen)}."


def _stayed(ranking: Ranking, other: Answer) -> str:
    """Count a column's clips that it also shows with the negation taken away, or put back."""
    total = len(ranking.hits)
    before = {hit.source for each in other.rankings if each.system == ranking.system for hit in each.hits}
    return f"{sum(hit.source in before for hit in ranking.hits)} of {total} clips stayed" if total else ""


def _movement(hit: Hit, first: Ranking, ranking: Ranking) -> dict[str, str]:
    """Say how many places better (▲) or worse (▼) than in the first column; "new" if it is not shown there."""
    if ranking is first:
        return {"move": ""}
    before = first.ranks.get(hit.video_id)
    if before is None or before > len(ranking.hits):
        return {"move": "new", "moved": "Not among the first column's results"}
    better = before - hit.rank
    if not better:
        return {"move": "=", "moved": "Same rank as in the first column"}
    sign, word = ("▲", "better") if better > 0 else ("▼", "worse")
    return {"move": f"{sign}{abs(better)}", "moved": f"{abs(better)} ranks {word} than in the first column"}
