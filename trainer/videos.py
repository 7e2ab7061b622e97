"""Video embeddings of a frozen visual tower: made once, kept beside the frames they were made of."""

import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from nt2vr.encoder import Encoder, pool
from trainer.clips import ClipSet

CHUNK = 64  # clips between two looks at `should_stop`


def embed_clips(
    encoder: Encoder, clips: ClipSet, should_stop: Callable[[], bool] = lambda: False
) -> NDArray[np.float32]:
    """Encode all clips, frames mean-pooled: (N, D), L2-normalised.

    Raises:
        InterruptedError: if `should_stop` said so.
    """
    count, num_frames = clips.frames.shape[:2]
    videos = np.empty((count, encoder.embed_dim), np.float32)
    for start in tqdm(range(0, count, CHUNK), "embedding", unit="chunk", disable=None):
        if should_stop():
            raise InterruptedError
        frames = clips.frames[start : start + CHUNK]
        frame_embeddings = encoder.encode_frames(frames.reshape(-1, *frames.shape[2:]))
        videos[start : start + CHUNK] = pool(frame_embeddings.reshape(len(frames), num_frames, -1))
    return videos


def embed_once(
    encoder: Encoder, clips: ClipSet, should_stop: Callable[[], bool] = lambda: False
) -> NDArray[np.float32]:
    """Do the same, or read what was kept of the last time; a visual tower is known by its fingerprint."""
    if clips.path is None:
        return embed_clips(encoder, clips, should_stop)
    path = clips.path.with_name(f"{clips.path.stem}-{encoder.visual_fingerprint}.npy")
    if path.is_file():
        return np.asarray(np.load(path), np.float32)
    videos = embed_clips(encoder, clips, should_stop)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial.npy")
    np.save(partial, videos)
    partial.rename(path)
    return videos
