"""A column of clips per system, as data for the template."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from nt2vr.media.gallery import Video
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.hits import Hit
from nt2vr.search.plan import DEFAULT_K
from nt2vr.search.strategies import STRATEGIES, System
from nt2vr.ui.search.formats import decimal, short_name, times_text
from nt2vr.ui.search.headline import VideoOf, outcome_view, stays_view
from nt2vr.ui.search.notes import notes
from nt2vr.ui.search.tally import badge_view, stage_summary
from nt2vr.ui.search.twins import Twin, find_twins
from nt2vr.ui.search.verdict_texts import verdict_text
from nt2vr.ui.view import View
from nt2vr.world.evidence import evidence

BY_CAPTIONS = (
    "Verdicts come from captions: from what they say about the wanted and the unwanted part. What no caption mentions "
    "may still be in the picture."
)

# Returns a clip's `src` and `poster`.
Urls = Callable[[Video], View]


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
    flipped: Answer | None = None,
) -> View:
    """Show each system's hits in a column, with their movement compared with the first system.

    Args:
        flipped: the answer with the negation taken away, or put back. Each column then says how
            many clips stayed, which is how much of the negation its system noticed.
    """
    if not answer.rankings:
        return {"columns": []}
    view = _AnswerColumns(answer, video_of, urls, marked, flipped)
    twins = find_twins(_rankings_with_negation(answer, flipped))
    rankings = zip(answer.rankings, twins, strict=True)
    columns = [view.column(ranking, twin) for ranking, twin in rankings]
    return {
        "legend": marked.legend,
        "verdict_notice": BY_CAPTIONS if answer.judged_by and answer.has_verdicts else "",
        "columns": columns,
        "announcement": " ".join(_announcement(column) for column in columns),
    }


@dataclass(frozen=True)
class _AnswerColumns:
    """The columns of one answer, as `columns_view` takes it."""

    answer: Answer
    video_of: VideoOf
    urls: Urls
    marked: Marked
    flipped: Answer | None

    def column(self, ranking: Ranking, twin: Twin | None) -> View:
        """Show one system's hits, with what is said of them all."""
        answer = self.answer
        system = ranking.system
        strategy = strategy_text(system, ranking.epoch)
        answer_before = self.flipped if answer.denied else None
        has_verdicts = answer.has_verdicts
        return {
            "name": short_name(system.model),
            "system": short_name(system.name),
            "meaning": f"Searches for {STRATEGIES[system.strategy].meaning}",
            "strategy": strategy,
            "about": "" if strategy else ranking.summary,
            "twin": _twin_text(twin, ranking, answer),
            "twin_link": ranking.explained_in,
            "badge": badge_view(ranking, answer) if has_verdicts else {},
            "stage_summary": stage_summary(ranking, answer) if has_verdicts else {},
            "outcome": outcome_view(ranking, answer, self.video_of, answer_before),
            **stays_view(ranking, self.flipped),
            "note": " ".join(notes(ranking, answer, has_verdicts)),
            "hits": list(self._tiles(ranking)),
        }

    def _tiles(self, ranking: Ranking) -> Iterator[View]:
        """Yield the tile of each hit, and after it those of clips from other files that share its rank."""
        clips_by_rank: dict[int, list[str]] = {hit.rank: [] for hit in ranking.hits}
        for video_id, rank in ranking.ranks.items():
            if rank in clips_by_rank:
                clips_by_rank[rank].append(video_id)

        for hit in ranking.hits:
            similar = self._similar_clips(hit, clips_by_rank[hit.rank])
            tile = self._tile(hit, ranking)
            tile["similar"] = f"{len(similar)} more like this" if similar else ""
            yield tile
            for video in similar:
                tile = self._tile(replace(hit, video_id=video.video_id, moments=()), ranking)
                tile["folded_into"] = hit.video_id
                tile["times"] = times_text(video.start, video.end) if video.long_video else ""
                tile["score"] = ""
                yield tile

    def _similar_clips(self, hit: Hit, video_ids: Sequence[str]) -> list[Video]:
        """Return the best clip of each other file among those that share a hit's rank, best first."""
        clip_of_file: dict[str, Video] = {}
        for video_id in video_ids:
            video = self.video_of(video_id)
            clip_of_file.setdefault(video.long_video or video.video_id, video)
        clip_of_file.pop(hit.source, None)
        return list(clip_of_file.values())

    def _tile(self, hit: Hit, ranking: Ranking) -> View:
        """Show one clip: its verdict, its rank in every column, and its movement."""
        video_id = hit.video_id
        answer = self.answer
        video = self.video_of(video_id)
        verdict = hit.verdict or ""
        text = verdict_text(answer, video, hit.verdict)
        times = ""
        if hit.moments:
            times = times_text(hit.moments[0].start, hit.moments[-1].end)
        return {
            "id": video_id,
            **self.urls(video),
            "times": times,
            "caption": next(iter(video.captions), video_id),
            "rank": hit.rank,
            "score": decimal(hit.score),
            "verdict": verdict,
            "mark": text.mark,
            "mark_meaning": text.meaning,
            "lacks": text.lacks,
            "boxes": boxes_text(answer, video, verdict),
            "ranks": json.dumps(self._ranks(video_id)),
            "is_relevant": video_id in self.marked.video_ids,
            **_movement(hit, answer.rankings[0], ranking),
            "spoken": f"Rank {hit.rank}, {text.spoken}" if text.spoken else f"Rank {hit.rank}",
        }

    def _ranks(self, video_id: str) -> dict[str, int]:
        ranks = {}
        for ranking in self.answer.rankings:
            if video_id in ranking.ranks:
                name = short_name(ranking.system.name)
                ranks[name] = ranking.ranks[video_id]
        return ranks


def boxes_text(answer: Answer, video: Video, verdict: str) -> str:
    """Return where a violating clip shows what the query excludes, as JSON for the browser; otherwise ""."""
    if verdict != "violation" or answer.judged_by:
        return ""
    boxes = evidence(answer.query, video)
    return json.dumps(boxes, separators=(",", ":")) if boxes else ""


def _rankings_with_negation(answer: Answer, flipped: Answer | None) -> Sequence[Ranking]:
    """Return the rankings with the negation, by which columns fold: taking it away folds no others."""
    if flipped is None or answer.denied is None:
        return answer.rankings
    systems = [ranking.system for ranking in answer.rankings]
    flipped_systems = [ranking.system for ranking in flipped.rankings]
    if flipped_systems != systems:
        return answer.rankings
    return flipped.rankings


def _twin_text(twin: Twin | None, ranking: Ranking, answer: Answer) -> str:
    """Say which earlier column a folded column repeats; empty for a column that stays."""
    if twin is None:
        return ""
    earlier = short_name(twin.system.name)
    if not twin.is_exact:
        return f"shares {twin.num_shared} of {DEFAULT_K} clips with {earlier}"
    text = f"shows the same clips as {earlier}"
    if STRATEGIES[ranking.system.strategy].needs_picture:
        return f"{text}, as there is no picture"
    if not answer.query.unwanted:
        return f"{text}, as nothing is excluded"
    return text


def _announcement(column: View) -> str:
    """Announce a column to screen readers."""
    badge = column["badge"]
    counts = list(filter(None, (badge.get("text"), badge.get("violations"))))
    if not counts:
        num_hits = sum("folded_into" not in tile for tile in column["hits"])
        counts = [f"{num_hits} results"]
    return f"{column['system']}: {', '.join(counts)}."


def strategy_text(system: System, epoch: int | None) -> str:
    """Name a system's strategy, unless it is the sentence as typed, and for a run the epoch that answered."""
    strategy = system.name.removeprefix(system.model).strip()
    epoch_text = f"epoch {epoch}" if epoch else ""
    return " · ".join(filter(None, (epoch_text, strategy)))


def _movement(hit: Hit, first: Ranking, ranking: Ranking) -> View:
    """Say how many ranks better (▲) or worse (▼) a hit is than in the first column; "new" if it is not there."""
    if ranking is first:
        return {"movement": ""}
    rank_in_first = first.ranks.get(hit.video_id)
    if rank_in_first is None or rank_in_first > len(ranking.hits):
        return {"movement": "new", "movement_text": "Not among the first column's results"}
    gained = rank_in_first - hit.rank
    if not gained:
        return {"movement": "=", "movement_text": "Same rank as in the first column"}
    sign, change = ("▲", "better") if gained > 0 else ("▼", "worse")
    return {
        "movement": f"{sign}{abs(gained)}",
        "movement_text": f"{abs(gained)} ranks {change} than in the first column",
    }


def legends_view(view: View) -> View:
    """Return what the page says of all columns: what their marks mean, and which of them are folded.

    Args:
        view: as from `columns_view`.
    """
    twins = []
    for column in view["columns"]:
        if column.get("twin"):
            twins.append({field: column[field] for field in ("system", "twin", "twin_link")})
    return {
        "verdict_notice": view.get("verdict_notice", ""),
        "legend": view.get("legend", ""),
        "twins": twins,
    }
