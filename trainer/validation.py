"""How well captions find their own clips."""

import numpy as np
from numpy.typing import NDArray

from nt2vr.encoder import Encoder, pool
from trainer.clips import ClipSet

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


def embed_clips(encoder: Encoder, clips: ClipSet) -> NDArray[np.float32]:
    """Encode all clips, frames mean-pooled: (N, D), L2-normalised."""
    count, num_frames = clips.frames.shape[:2]
    frame_embeddings = encoder.encode_frames(clips.frames.reshape(-1, *clips.frames.shape[2:]))
    return pool(frame_embeddings.reshape(count, num_frames, -1))


def validate(encoder: Encoder, clips: ClipSet) -> dict[str, float]:
    """Search the clips for one caption of each; `retrieval_metrics` under "original/"."""
    scores = encoder.encode_text(clips.captions("validation")) @ embed_clips(encoder, clips).T
    return {f"original/{name}": value for name, value in retrieval_metrics(scores, np.arange(len(clips))).items()}
