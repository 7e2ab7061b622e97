"""Reasons for verdicts, in a few words: "shows a dog", "no girl", "one dog, not two"."""

from functools import lru_cache

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.world.miss_reasons import miss_reasons
from nt2vr.world.query_claims import read_query
from nt2vr.world.verdicts import scene_of
from nt2vr.world.violation_reasons import violation_reason

MAX_REASONS = 2048


def lacking(query: Query, video: Video) -> list[str]:
    """Say what a clip of the world lacks of what is wanted; nothing for other clips."""
    if video.scene is None:
        return []
    return list(_lacking(query, video))


# Each tile and the sentence above its column ask for the same reasons.
@lru_cache(MAX_REASONS)
def _lacking(query: Query, video: Video) -> tuple[str, ...]:
    scene = scene_of(video)
    if scene is None:
        return ()
    reasons: list[str] = []
    claims = read_query(query).wanted
    for part, wanted in zip(query.wanted, claims, strict=True):
        reasons += miss_reasons(part, wanted, scene)
    return tuple(dict.fromkeys(reasons))


def shown(query: Query, video: Video) -> list[str]:
    """Say what a clip of the world shows of what is unwanted; nothing for other clips."""
    scene = scene_of(video)
    if scene is None:
        return []
    reasons = []
    parts = [*query.unwanted, *query.others]
    for number, unwanted in enumerate(read_query(query).unwanted):
        if unwanted.shown_in(scene):
            # The last of the others may have two claims.
            part = parts[min(number, len(parts) - 1)]
            reasons.append(violation_reason(part, unwanted, scene))
    return list(dict.fromkeys(reasons))
