"""Ranks of right videos, and the measures made of them."""

import numpy as np
from numpy.typing import NDArray

KS = (1, 5, 10)


def target_ranks(scores: NDArray[np.float32], targets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rank of each query's own video, 1 is best; ties count against it, so a constant model gets no credit.

    Args:
        scores: (Q, V), higher is better.
        targets: (Q,), column of the right video.
    """
    own = np.take_along_axis(scores, targets[:, None], axis=1)
    ranks: NDArray[np.int64] = (~(scores < own)).sum(axis=1)  # a score that is no number counts against it too
    return ranks


def retrieval_metrics(scores: NDArray[np.float32], targets: NDArray[np.int64]) -> dict[str, float]:
    """R@1, R@5, R@10 (percent) and MIR (0 to 1, mean of 1 / rank); arguments as for `target_ranks`."""
    ranks = target_ranks(scores, targets)
    recalls = {f"R@{k}": 100 * float((ranks <= k).mean()) for k in KS}
    return {**recalls, "MIR": float((1 / ranks).mean())}
