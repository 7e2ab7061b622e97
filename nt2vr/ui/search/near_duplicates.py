"""Hits of a library that look alike: near-duplicates from other files share the rank of the best one."""

from dataclasses import replace

from nt2vr.search.answers import Ranking

# cosine of two clips from which they look the same: of 22 films re-encoded the smallest was .984,
# trimmed by .4 s .988 but for two; of different films the largest was .87. What a fixed camera sees
# a minute later reaches .996.
ALIKE = 0.98


def folded(ranking: Ranking, k: int) -> Ranking:
    """Keep the best k hits that look different; a near-duplicate from another file shares the rank of the best one.

    Of one verdict only, so that no violation is folded away.
    """
    gallery, hits = ranking.gallery, ranking.hits
    if gallery is None:
        return ranking
    vectors = gallery.clips(None, [gallery.row_of[hit.video_id] for hit in hits])
    best: dict[int, int] = {}  # places of hits with their new ranks
    ranks: dict[int, int] = {}  # new ranks by old ones
    for place, hit in enumerate(hits):
        near = (
            each
            for each in best
            if hits[each].source != hit.source and hits[each].verdict == hit.verdict
        )
        like = next((each for each in near if vectors[each] @ vectors[place] >= ALIKE), place)
        if like in best or len(best) < k:
            ranks[hit.rank] = best.setdefault(like, len(best) + 1)
    others = sorted({*ranking.ranks.values()} - ranks.keys())
    ranks |= {rank: number for number, rank in enumerate(others, len(best) + 1)}
    kept = tuple(replace(hits[place], rank=rank) for place, rank in best.items())
    return replace(
        ranking, hits=kept, ranks={clip: ranks[rank] for clip, rank in ranking.ranks.items()}
    )
