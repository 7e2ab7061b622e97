"""Frames of many clips in one .npy file, and their embeddings beside it, made once for each visual tower."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from nt2vr.files import atomic_write
from nt2vr.models.encoder import Encoder

CHUNK = 64  # clips embedded at a time, between two looks at `should_stop`
Progress = Callable[[int, int], None]  # clips done, clips in all


def write_frames(
    path: Path, shape: tuple[int, ...], clips: Iterable[NDArray[np.uint8] | None], should_stop: Callable[[], bool]
) -> None:
    """Write clips as they come into one file, which is there whole or not at all.

    Args:
        path: a .npy file.
        shape: (N, F, S, S, 3).
        clips: N times (F, S, S, 3), or None for a clip that is left out: fewer than N are written then.
        should_stop: asked after each clip.

    Raises:
        InterruptedError: if `should_stop` said so.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with atomic_write(path) as partial, partial.open("wb") as file:
        _write_header(file, shape)
        for clip in clips:
            if should_stop():
                raise InterruptedError
            if clip is not None:
                file.write(np.ascontiguousarray(clip).data)
                count += 1
        file.seek(0)
        _write_header(file, (count, *shape[1:]))  # as long as before: NumPy leaves room for the first number


def _write_header(file: IO[bytes], shape: tuple[int, ...]) -> None:
    np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": shape})


def embed_frames(
    encoder: Encoder,
    frames: NDArray[np.uint8],
    progress: Progress,
    should_stop: Callable[[], bool],
) -> NDArray[np.float32]:
    """Encode the (N, F, S, S, 3) frames of clips, pooled: (N, D), L2-normalised.

    Raises:
        InterruptedError: if `should_stop` said so.
    """
    embeddings = np.empty((len(frames), encoder.embed_dim), np.float32)
    for start in range(0, len(frames), CHUNK):
        if should_stop():
            raise InterruptedError
        chunk = frames[start : start + CHUNK]
        of_frames = encoder.encode_frames(chunk.reshape(-1, *chunk.shape[2:]))
        embeddings[start : start + CHUNK] = encoder.pool(of_frames.reshape(*chunk.shape[:2], -1))
        progress(start + len(chunk), len(frames))
    return embeddings


def embedded_once(frames: Path, encoder: Encoder, embed: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the (N, D) embeddings of the clips in a file of frames, kept beside it for each visual tower.

    Args:
        frames: the file, whose name tells what is in it.
        encoder: whose visual tower.
        embed: makes them, where they are not kept.
    """
    path = frames.with_name(f"{frames.stem}-{encoder.visual_fingerprint}.npy")
    if not path.is_file():
        embeddings = embed()
        with atomic_write(path) as partial:
            np.save(partial, embeddings)
        return embeddings
    return np.asarray(np.load(path), np.float32)
