"""What is trained on: frames, made once and kept on disk, and captions, told anew each time.

Only this module knows where data comes from; another dataset is another function that returns a `ClipSet`.
"""

import json
import multiprocessing
import os
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

import nt2vr
from nt2vr.picture import fit
from nt2vr.world.captions import describe
from nt2vr.world.render import Renderer
from nt2vr.world.scenes import Scene, Split, sample_scenes
from nt2vr.world.sentences import Sentences

PICTURED = (
    "picture",
    "world/backdrops",
    "world/render",
    "world/sprites",
    "world/vocabulary",
)  # decide how frames look
CHUNK = 64  # clips a process renders at a time, 10 MB of frames to hand over


@dataclass(frozen=True)
class ClipSet:
    """Clips to train or to validate on.

    Attributes:
        frames: (N, F, S, S, 3) uint8 RGB, maybe on disk.
        describe: a caption of clip `row`, drawn with the generator given.
        sentences: draws sentences that deny something; None where there are only captions.
        path: where the frames are kept; None if nowhere.
    """

    frames: NDArray[np.uint8]
    describe: Callable[[int, random.Random], str]
    sentences: Sentences | None = None
    path: Path | None = None

    def __len__(self) -> int:
        """How many clips."""
        return len(self.frames)

    def captions(self, seed: str) -> list[str]:
        """One caption of each clip; the same seed gives the same ones."""
        return [self.describe(row, random.Random(f"{seed} {row}")) for row in range(len(self))]


def world_clips(
    split: Split,
    count: int,
    num_frames: int,
    size: int,
    seed: int,
    cache: Path,
    should_stop: Callable[[], bool] = lambda: False,
) -> ClipSet:
    """Clips of the built-in world; what was rendered once is read from `cache`.

    Raises:
        InterruptedError: if `should_stop` said so while they were rendered.
    """
    scenes = sample_scenes(split, count, seed)
    path = cache / f"built-in-{split}-{_key(scenes, num_frames, size)}.npy"
    if not path.is_file():
        _write_frames(path, scenes, num_frames, size, should_stop)
    frames = np.load(path, mmap_mode="r")
    return ClipSet(frames, lambda row, rng: describe(scenes[row], rng).text, Sentences(scenes), path)


def _key(scenes: Sequence[Scene], num_frames: int, size: int) -> str:
    key = blake2b(json.dumps([num_frames, size, [scene.to_dict() for scene in scenes]]).encode(), digest_size=8)
    for module in PICTURED:
        key.update((Path(nt2vr.__file__).parent / f"{module}.py").read_bytes())
    return key.hexdigest()


def _write_frames(
    path: Path, scenes: Sequence[Scene], num_frames: int, size: int, should_stop: Callable[[], bool]
) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial_path = path.with_name(f".{path.name}.{os.getpid()}.partial")
    shape = (len(scenes), num_frames, size, size, 3)
    try:
        frames = np.lib.format.open_memmap(partial_path, "w+", np.uint8, shape)
        rendered = tqdm(_rendered(scenes, num_frames, size), "rendering", len(scenes), unit="clip", disable=None)
        for row, clip in enumerate(rendered):
            if should_stop():
                raise InterruptedError
            frames[row] = clip
        frames.flush()
        partial_path.rename(path)
    finally:
        partial_path.unlink(missing_ok=True)


def _rendered(scenes: Sequence[Scene], num_frames: int, size: int) -> Iterator[NDArray[np.uint8]]:
    """Yield the frames of each scene, drawn by one process a core."""
    chunks = [scenes[start : start + CHUNK] for start in range(0, len(scenes), CHUNK)]
    render = partial(render_clips, num_frames=num_frames, size=size)
    if len(chunks) == 1:
        yield from render(chunks[0])
        return
    # spawn: threads of torch do not survive a fork. SIGINT is the parent's to handle
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), spawn, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        try:
            for clips in pool.map(render, chunks):
                yield from clips
        finally:
            pool.shutdown(cancel_futures=True)


@lru_cache(1)
def _renderer() -> Renderer:
    return Renderer()


def render_clips(scenes: Sequence[Scene], num_frames: int, size: int) -> NDArray[np.uint8]:
    """Draw clips as large as the gallery's and `fit` them, so that training sees what search will: (N, F, S, S, 3)."""
    clips = (_renderer().frames(scene, num_frames) for scene in scenes)
    return np.stack([[fit(frame, size) for frame in frames] for frames in clips])
