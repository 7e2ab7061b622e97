"""Frames of many clips in one .npy file, and next to it their pooled embeddings, one file per visual tower."""

import logging
from collections.abc import Callable, Iterable
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import reason_of
from nt2vr.files import atomic_write
from nt2vr.media.frame_store import StoredClips
from nt2vr.media.stored import LIMITS, Limit, evict, mark_used, read_cached
from nt2vr.models.card import Card
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress

logger = logging.getLogger(__name__)

CHUNK = 64  # clips embedded between two calls of `progress`


def read_frames(path: Path) -> NDArray[np.uint8] | None:
    """Memory-map a file of frames; None if there is none."""
    mark_used(path)
    return read_cached(path, lambda path: np.load(path, mmap_mode="r", allow_pickle=False))


def write_frames(path: Path, shape: tuple[int, ...], clips: Iterable[NDArray[np.uint8]]) -> None:
    """Write clips to one file as they arrive, atomically: an exception of the iterator leaves no file.

    Args:
        shape: (N, F, S, S, 3).
        clips: N of them, each (F, S, S, 3).
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    others = [file for kind in ("built-in-*.npy", "embeddings-*.npy") for file in path.parent.glob(kind)]
    evict(others, Limit(num_bytes=LIMITS["drawn clips"].num_bytes - float(np.prod(shape, dtype=float))))
    with atomic_write(path) as partial, partial.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": shape})
        for clip in clips:
            file.write(np.ascontiguousarray(clip).data)


def embed_frames(
    encoder: Encoder, frames: NDArray[np.uint8] | StoredClips, progress: Progress, pools: bool = True
) -> NDArray[np.float32]:
    """Encode and pool the (N, F, S, S, 3) frames of clips: (N, D), L2-normalised, or whatever the encoder pools to.

    Args:
        pools: False for what `Encoder.pool` takes: (N, F, D).
    """
    embeddings = list[NDArray[np.float32]]()
    for start in range(0, len(frames), CHUNK):
        chunk = frames[start : start + CHUNK]
        of_frames = encoder.encode_frames(chunk.reshape(-1, *chunk.shape[2:]))
        of_clips = of_frames.reshape(*chunk.shape[:2], -1)
        embeddings.append(encoder.pool(of_clips) if pools else of_clips)
        progress(start + len(chunk), len(frames), "embedding clips")
    return np.concatenate(embeddings) if embeddings else np.empty((0, encoder.embed_dim), np.float32)


def embedded_once(frames: Path, card: Card, embed: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the (N, D) embeddings of the clips in a file of frames, cached per visual tower and pooling of a card.

    Args:
        frames: the file, which need not exist: its name identifies the content.
    """
    key = blake2b(f"{frames.stem} {card.visual_key} {card.pooling_key}".encode(), digest_size=12)
    path = frames.with_name(f"embeddings-{key.hexdigest()}.npy")
    embeddings = read_cached(path, lambda path: np.load(path, allow_pickle=False))
    if embeddings is None:
        embeddings = embed()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as partial:
                np.save(partial, embeddings)
        except OSError as error:
            logger.warning("Embeddings cannot be stored in %s (%s).", path.parent, reason_of(error))
    mark_used(path)
    return np.asarray(embeddings, np.float32)
