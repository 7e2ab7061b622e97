"""Hits of a search, of which one may have several adjacent windows of a long video."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from nt2vr.files import JsonObject
from nt2vr.media.gallery import Video
from nt2vr.search.judge import ClipJudge, Verdict

# Windows of a video that are no further apart are adjacent.
GAP_S = 0.1
ScoredClip = tuple[Video, float]
# One clip, or adjacent windows of one video.
ClipsOfHit = list[ScoredClip]


@dataclass(frozen=True)
class Moment:
    """A window of a long video that was found, in seconds; an end of None is that of the video."""

    video_id: str
    start: float
    end: float | None
    score: float


@dataclass(frozen=True)
class Hit:
    """One retrieved clip, or adjacent windows of one video with the best one's id and score.

    Attributes:
        rank: from 1.
        score: in cosine units.
        long_video: id of the video of the windows; empty for a complete video or a picture.
        moments: the windows, in temporal order; likewise.
    """

    video_id: str
    rank: int
    score: float
    verdict: Verdict | None
    long_video: str = ""
    moments: tuple[Moment, ...] = ()

    @property
    def clips(self) -> list[str]:
        """The ids of its windows, in temporal order, or of the clip itself."""
        if not self.moments:
            return [self.video_id]
        return [moment.video_id for moment in self.moments]

    @property
    def source(self) -> str:
        """The long video, of which another query finds other windows, or the clip itself."""
        return self.long_video or self.video_id

    @property
    def film(self) -> str:
        """The name of `long_video` in version 0.2.0."""
        return self.long_video

    def as_dict(self) -> JsonObject:
        """Return plain JSON data, with further fields for windows."""
        hit = {
            "video_id": self.video_id,
            "rank": self.rank,
            "score": self.score,
            "verdict": self.verdict,
        }
        if not self.moments:
            return hit
        best = next(moment for moment in self.moments if moment.video_id == self.video_id)
        hit["long_video"] = self.long_video
        hit["film"] = self.film
        hit["start"] = best.start
        hit["end"] = best.end
        hit["moments"] = [
            {"start": moment.start, "end": moment.end, "score": moment.score}
            for moment in self.moments
        ]
        return hit


def merge_windows(clips: Sequence[ScoredClip], k: int) -> list[ClipsOfHit]:
    """Return the clips of the best k hits, best first; adjacent windows of one video form one hit.

    Args:
        clips: best first.
    """
    hits: list[ClipsOfHit] = []
    hits_of_long_video: dict[str, list[ClipsOfHit]] = defaultdict(list)
    for video, score in clips:
        hits_of_video = hits_of_long_video[video.long_video]
        adjacent = [hit for hit in hits_of_video if _is_next_to(video, hit)]
        if adjacent:
            # The window may close the gap between several hits.
            best, *joined = adjacent
            best.append((video, score))
            for hit in joined:
                best.extend(hit)
                hits = _without(hits, hit)
                hits_of_video = _without(hits_of_video, hit)
            hits_of_long_video[video.long_video] = hits_of_video
        elif len(hits) == k:
            break
        else:
            new_hit = [(video, score)]
            hits.append(new_hit)
            hits_of_video.append(new_hit)
    return hits


def _without(hits: Sequence[ClipsOfHit], removed: Sequence[ScoredClip]) -> list[ClipsOfHit]:
    return [hit for hit in hits if hit is not removed]


def _is_next_to(video: Video, hit: Sequence[ScoredClip]) -> bool:
    return any(_is_adjacent(video, window) for window, _ in hit)


def _is_adjacent(first: Video, second: Video) -> bool:
    if not first.long_video or first.long_video != second.long_video:
        return False
    return first.start <= _latest_start_after(second) and second.start <= _latest_start_after(first)


def _latest_start_after(window: Video) -> float:
    """Return the latest start of a window that is adjacent to this one."""
    if window.end is None:
        return float("inf")
    return window.end + GAP_S


def ranks_of(hits: Sequence[Sequence[ScoredClip]], clips: Sequence[ScoredClip]) -> dict[str, int]:
    """Rank clips: all of a hit alike, then the other clips one by one.

    Args:
        clips: best first.
    """
    ranks = {}
    for rank, hit in enumerate(hits, 1):
        for video, _ in hit:
            ranks[video.video_id] = rank
    next_rank = len(hits) + 1
    for video, _ in clips:
        if video.video_id not in ranks:
            ranks[video.video_id] = next_rank
            next_rank += 1
    return ranks


def hits_of(groups: Sequence[Sequence[ScoredClip]], judge: ClipJudge) -> tuple[Hit, ...]:
    """Return the hits of merged clips, best first, with their verdicts and windows."""
    hits = []
    for rank, group in enumerate(groups, 1):
        moments = [
            Moment(
                video_id=window.video_id,
                start=window.start,
                end=window.end,
                score=round(score, 4),
            )
            for window, score in group
            if window.long_video
        ]
        moments.sort(key=lambda moment: moment.start)

        best, best_score = group[0]
        hits.append(
            Hit(
                video_id=best.video_id,
                rank=rank,
                score=round(best_score, 4),
                verdict=judge(best),
                long_video=best.long_video,
                moments=tuple(moments),
            )
        )
    return tuple(hits)
