"""Hits of a library that look alike: near-duplicates from other files share the rank of the best one."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count

from nt2vr.models.encoder import Vectors
from nt2vr.search.answers import Ranking
from nt2vr.search.hits import Hit

# Cosine of two clips from which they look the same: of 22 videos re-encoded the smallest was .984,
# trimmed by .4 s .988 but for two; of different videos the largest was .87. What a fixed camera sees
# a minute later reaches .996.
ALIKE = 0.98


def fold_near_duplicates(ranking: Ranking, k: int) -> Ranking:
    """Keep the best k hits that look different; near-duplicates from other files share the rank of the best.

    Only hits of one verdict share a rank, so that no violation is folded away.
    """
    gallery = ranking.gallery
    if gallery is None:
        return ranking
    rows = [gallery.row_of[hit.video_id] for hit in ranking.hits]
    vectors = gallery.clips(None, rows)  # (H, D)

    # Hits that look different, by their numbers, and new ranks by old ones.
    different: dict[int, Hit] = {}
    new_ranks = {}
    for number, hit in enumerate(ranking.hits):
        best = _best_alike(number, different, ranking.hits, vectors)
        if best is None and len(different) < k:
            best = number
            different[number] = replace(hit, rank=len(different) + 1)
        if best is not None:
            new_ranks[hit.rank] = different[best].rank

    # All other clips follow, in their order.
    other_ranks = set(ranking.ranks.values()) - new_ranks.keys()
    new_ranks |= zip(sorted(other_ranks), count(len(different) + 1), strict=False)
    ranks = {video_id: new_ranks[rank] for video_id, rank in ranking.ranks.items()}
    return replace(ranking, hits=tuple(different.values()), ranks=ranks)


def _best_alike(
    number: int, candidates: Iterable[int], hits: Sequence[Hit], vectors: Vectors
) -> int | None:
    """Return the first candidate that looks like a hit and is of another file; both are numbers of hits."""
    hit = hits[number]
    for candidate in candidates:
        better = hits[candidate]
        is_comparable = better.source != hit.source and better.verdict == hit.verdict
        if is_comparable and vectors[candidate] @ vectors[number] >= ALIKE:
            return candidate
    return None
