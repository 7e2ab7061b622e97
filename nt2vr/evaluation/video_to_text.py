"""Video to text: each video ranks the captions of all videos."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nt2vr.evaluation.benchmark import JudgedQuery, Vectors
from nt2vr.evaluation.ranks import first_ranks, inner_products
from nt2vr.search.exclusion import focused

BLOCK = 256  # videos at a time: 60 MB of scores for the 59,800 captions of MSR-VTT3k


def caption_ranks(videos: Vectors, captions: Vectors, queries: Sequence[JudgedQuery]) -> NDArray[np.int32]:
    """Rank of each video's best caption among the captions of all, 1 is best: (V,); 0 for a video without any.

    Other captions of the same video do not count against the best one; ties do.

    Args:
        captions: (Q, D), embeddings of `queries`, whose relevant videos are those that they describe.
    """
    of_pair = np.repeat(np.arange(len(queries)), [len(query.relevant) for query in queries])
    described = np.concatenate([query.relevant for query in queries])
    ranks = np.zeros(len(videos), np.int32)
    for start in range(0, len(videos), BLOCK):
        some = videos[start : start + BLOCK]
        inside = (described >= start) & (described < start + len(some))
        right = np.zeros((len(some), len(queries)), bool)
        right[described[inside] - start, of_pair[inside]] = True
        found = first_ranks(_products(some, captions), right)
        ranks[start : start + len(some)] = np.where(right.any(axis=1), found, 0)
    return ranks


def _products(videos: Vectors, captions: Vectors) -> NDArray[np.float32]:
    """Score videos (V, D), or their frames (V, F, D), which each caption weighs, for captions: (V, Q)."""
    if videos.ndim == 2:
        return inner_products(videos, captions)
    return np.stack([focused(videos, caption) @ caption for caption in captions], axis=1)
