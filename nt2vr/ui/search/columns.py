"""A column of clips per system, as data for the template."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nt2vr.media.gallery import Video
from nt2vr.search.answers import Answer, Hit, Ranking
from nt2vr.search.searcher import DEFAULT_K
from nt2vr.search.strategies import STRATEGIES, System
from nt2vr.ui.search.formats import decimal, short_name, times_text
from nt2vr.ui.search.headline import VideoOf, outcome, stays_view
from nt2vr.ui.search.notes import notes
from nt2vr.ui.search.tally import badge_view, stage_line
from nt2vr.ui.search.twins import Twin, find_twins
from nt2vr.ui.search.verdict_texts import verdict_text
from nt2vr.world.evidence import evidence

BY_CAPTIONS = (
    "Verdicts are by captions, from what these say of the wanted and of the unwanted part. What no caption mentions "
    "may still be in the picture."
)
ABOUT = {  # what the built-in models were taught
    "CLIP": "captions only",
    "CLIP-bnl": "the paper's loss",
    "CLIP-con": "CoN-CLIP's loss",
    "CLIP-neg": "taught negation",
    "CLIP4Clip": "order of frames",
    "CLIP-vfc": "taught verbs",
}
WHY_BNL = "docs/paper-nt2vr.md#what-clip-bnls-loss-teaches"
Urls = Callable[[Video], Mapping[str, str]]  # a clip's `src` and `poster`


@dataclass(frozen=True)
class Marked:
    """Relevant clips of a judged query, and the legend that explains their marks."""

    video_ids: frozenset[str] = frozenset()
    legend: str = ""


def columns_view(
    answer: Answer,
    video_of: VideoOf,
    urls: Urls,
    marked: Marked = Marked(),
    other: Answer | None = None,
) -> dict[str, Any]:
    """Show each system's hits in a column, with their movement compared with the first system.

    Each says how much of the negation it noticed, if `other` is the answer with it taken away, or
    put back.
    """
    if not answer.rankings:
        return {"columns": []}
    verdicts = {hit.verdict for ranking in answer.rankings for hit in ranking.hits}
    judged, complete = bool(verdicts - {None}), None not in verdicts
    badges = [
        badge_view(ranking, answer, complete) if judged else {} for ranking in answer.rankings
    ]
    lines = [
        outcome(each, answer, video_of, other if answer.denied else None)
        for each in answer.rankings
    ]

    twins = find_twins(_rankings_with_negation(answer, other))

    def clip(hit: Hit, ranking: Ranking) -> dict[str, Any]:
        video, verdict = video_of(hit.video_id), hit.verdict or ""
        text = verdict_text(answer, video, hit.verdict)
        ranked = [each for each in answer.rankings if hit.video_id in each.ranks]
        return {
            "id": hit.video_id,
            **urls(video),
            "where": times_text(hit.moments[0].start, hit.moments[-1].end) if hit.moments else "",
            "caption": next(iter(video.captions), hit.video_id),
            "rank": hit.rank,
            "score": decimal(hit.score),
            "verdict": verdict,
            "mark": text.mark,
            "mark_meaning": text.meaning,
            "lacks": text.lacks,
            "boxes": boxes_text(answer, video, verdict),
            "ranks": json.dumps(
                {short_name(each.system.name): each.ranks[hit.video_id] for each in ranked}
            ),
            "judged": hit.video_id in marked.video_ids,
            **_movement(hit, answer.rankings[0], ranking),
            "spoken": ", ".join(filter(None, (f"Rank {hit.rank}", text.spoken))),
        }

    def tiles(ranking: Ranking) -> Iterator[dict[str, Any]]:
        """Yield each hit, and after it what is folded into it: clips of other files that share its rank."""
        for hit in ranking.hits:
            shared = [video_of(name) for name, rank in ranking.ranks.items() if rank == hit.rank]
            others = {each.film or each.video_id: each for each in reversed(shared)}
            others.pop(hit.source, None)
            yield clip(hit, ranking) | {"alike": f"{len(others)} more like this" if others else ""}
            for video in reversed(others.values()):
                where = times_text(video.start, video.end) if video.film else ""
                like = clip(replace(hit, video_id=video.video_id, moments=()), ranking)
                yield like | {"fold": hit.video_id, "where": where, "score": ""}

    return {
        "legend": marked.legend,
        "by_captions": BY_CAPTIONS if judged and answer.judged_by else "",
        "columns": [
            {
                "name": short_name(ranking.system.model),
                "system": short_name(ranking.system.name),
                "meaning": f"Searches for {STRATEGIES[ranking.system.strategy].meaning}",
                "how": (how := how_text(ranking.system, ranking.epoch)),
                "about": "" if how else ABOUT.get(ranking.system.model, ""),
                "twin": _twin_text(twin, ranking, answer),
                "twin_why": WHY_BNL if ranking.system.model == "CLIP-bnl" else "",
                "badge": badge,
                "line": stage_line(ranking, answer, complete) if judged else {},
                "told": told,
                **stays_view(ranking, other),
                "note": " ".join(notes(ranking, answer, judged)),
                "hits": list(tiles(ranking)),
            }
            for ranking, badge, twin, told in zip(
                answer.rankings, badges, twins, lines, strict=True
            )
        ],
        "said": " ".join(map(_spoken, answer.rankings, badges)),
    }


def boxes_text(answer: Answer, video: Video, verdict: str) -> str:
    """Write for the browser where a clip shows what a query excludes, if it violates that; otherwise nothing."""
    found = evidence(answer.query, video) if verdict == "violation" and not answer.judged_by else ()
    return json.dumps(found, separators=(",", ":")) if found else ""


def _rankings_with_negation(answer: Answer, other: Answer | None) -> Sequence[Ranking]:
    """Return the rankings that say which columns fold, so that these stay when the negation is taken away."""
    if other is None or answer.denied is None:
        return answer.rankings
    is_same = [each.system for each in other.rankings] == [each.system for each in answer.rankings]
    return other.rankings if is_same else answer.rankings


def _twin_text(twin: Twin | None, ranking: Ranking, answer: Answer) -> str:
    """Say which earlier column a folded column repeats; empty for a column that stays."""
    if twin is None:
        return ""
    earlier = short_name(answer.rankings[twin.place].system.name)
    if not twin.is_exact:
        return f"shares {twin.num_shared} of {DEFAULT_K} clips with {earlier}"
    text = f"shows the same clips as {earlier}"
    if STRATEGIES[ranking.system.strategy].needs_picture:
        return f"{text}, as there is no picture"
    if not answer.query.unwanted:
        return f"{text}, as nothing is excluded"
    return text


def _spoken(ranking: Ranking, badge: Mapping[str, Any]) -> str:
    """Announce a column to screen readers."""
    counts = [badge[name] for name in ("text", "more") if badge.get(name)] or [
        f"{len(ranking.hits)} results"
    ]
    return f"{short_name(ranking.system.name)}: {', '.join(counts)}."


def how_text(system: System, epoch: int | None) -> str:
    """Name a system's strategy, unless it is the sentence as typed, and for a run the epoch that answered."""
    strategy = system.name.removeprefix(system.model).strip()
    return " · ".join(filter(None, (f"epoch {epoch}" if epoch else "", strategy)))


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
    return {
        "move": f"{sign}{abs(better)}",
        "moved": f"{abs(better)} ranks {word} than in the first column",
    }


def legends_view(view: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is said of the columns as a whole: what their marks mean, and which are folded."""
    twins = [column for column in view["columns"] if column.get("twin")]
    fields = ("system", "twin", "twin_why")
    return {
        "by_captions": view.get("by_captions", ""),
        "legend": view.get("legend", ""),
        "twins": [{field: column[field] for field in fields} for column in twins],
    }
