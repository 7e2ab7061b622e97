"""Frames of many clips in one .npy file. Pooled embeddings are cached next to it."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from nt2vr.files import atomic_write
from nt2vr.media.cache import Cache
from nt2vr.media.frame_store import StoredClips
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, ShouldStop

CACHE = "content"  # folder of the cache, among the files of frames
CHUNK = 64  # clips embedded between two calls of `should_stop`


def write_frames(path: Path, shape: tuple[int, ...], clips: Iterable[NDArray[np.uint8]]) -> None:
    """Write clips to one file as they arrive, atomically: an exception of the iterator leaves no file.

    Args:
        path: a .npy file.
        shape: (N, F, S, S, 3).
        clips: N or fewer, each (F, S, S, 3); the file has as many.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with atomic_write(path) as partial, partial.open("wb") as file:
        _write_header(file, shape)
        for clip in clips:
            file.write(np.ascontiguousarray(clip).data)
            count += 1
        file.seek(0)
        _write_header(file, (count, *shape[1:]))  # as long as before: NumPy leaves room for the first number


def _write_header(file: IO[bytes], shape: tuple[int, ...]) -> None:
    np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": shape})


def embed_frames(
    encoder: Encoder, frames: NDArray[np.uint8] | StoredClips, progress: Progress, should_stop: ShouldStop
) -> NDArray[np.float32]:
    """Encode and pool the (N, F, S, S, 3) frames of clips: (N, D), L2-normalised.

    Raises:
        InterruptedError: if stopped.
    """
    embeddings = np.empty((len(frames), encoder.embed_dim), np.float32)
    for start in range(0, len(frames), CHUNK):
        if should_stop():
            raise InterruptedError
        chunk = frames[start : start + CHUNK]
        of_frames = encoder.encode_frames(chunk.reshape(-1, *chunk.shape[2:]))
        embeddings[start : start + CHUNK] = encoder.pool(of_frames.reshape(*chunk.shape[:2], -1))
        progress(start + len(chunk), len(frames), "embedding clips")
    return embeddings


def embedded_once(frames: Path, encoder: Encoder, embed: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the (N, D) embeddings of the clips in a file of frames, cached per visual tower and pooling.

    Args:
        frames: the file, or the name of such in the cache's folder, which identifies the content.
        encoder: the model.
        embed: computes what is not cached.
    """
    model = f"{encoder.card.visual_key} {encoder.card.pooling}"
    with Cache(frames.parent / CACHE) as cache:
        embeddings = cache.get_embeddings(frames.stem, model)
        if embeddings is None:
            embeddings = embed()
            cache.put_embeddings(frames.stem, model, embeddings)
        return embeddings
