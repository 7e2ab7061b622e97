"""Hits of a library that look alike: near-duplicates from other files share the rank of the best one."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from nt2vr.search.answers import Ranking
from nt2vr.search.exclusion import Vectors
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
    hits = ranking.hits
    vectors = gallery.clips(None, [gallery.row_of[hit.video_id] for hit in hits])  # (H, D)
    best_of = _best_of_alike(hits, vectors, k)

    # The hits that stay, in their order, are ranked from 1.
    kept_numbers = [number for number, best in best_of.items() if number == best]
    rank_of_hit = {number: rank for rank, number in enumerate(kept_numbers, 1)}
    new_ranks = {hits[number].rank: rank_of_hit[best] for number, best in best_of.items()}

    # All other clips follow, in their order.
    other_ranks = set(ranking.ranks.values()) - new_ranks.keys()
    for rank, old_rank in enumerate(sorted(other_ranks), len(rank_of_hit) + 1):
        new_ranks[old_rank] = rank
    return replace(
        ranking,
        hits=tuple(replace(hits[number], rank=rank) for number, rank in rank_of_hit.items()),
        ranks={video_id: new_ranks[rank] for video_id, rank in ranking.ranks.items()},
    )


def _best_of_alike(hits: Sequence[Hit], vectors: Vectors, k: int) -> dict[int, int]:
    """Return by number of a hit the best one that looks like it, itself if it stays.

    A hit that is neither like another one nor among the best k is left out.
    """
    best_of: dict[int, int] = {}
    kept_numbers: list[int] = []
    for number in range(len(hits)):
        best = _best_alike(number, kept_numbers, hits, vectors)
        if best is None and len(kept_numbers) < k:
            best = number
            kept_numbers.append(number)
        if best is not None:
            best_of[number] = best
    return best_of


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
