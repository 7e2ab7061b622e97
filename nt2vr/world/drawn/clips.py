"""Clips of the world as arrays: drawn on all cores, cached with their embeddings."""

import json
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.models.encoder import Encoder
from nt2vr.models.framing import Framing
from nt2vr.models.spawn import WithoutMain
from nt2vr.progress import Progress, silent, tracked
from nt2vr.world.drawn.frame_file import embed_frames, embedded_once, read_frames, write_frames
from nt2vr.world.drawn.render import render
from nt2vr.world.scenes import Scene, SceneSplit

LOOK = 2  # cache version: raise it when scenes are drawn differently
CHUNK = 64  # clips per task of a process: 10 MB of frames


@dataclass(frozen=True)
class ClipFile:
    """Cache file for the frames of some scenes."""

    path: Path  # .npy file of (N, F, S, S, 3) uint8 RGB frames, named by a hash of everything that affects them
    scenes: Sequence[Scene]
    num_frames: int
    framing: Framing  # S is its size

    @classmethod
    def of(
        cls, split: SceneSplit, scenes: Sequence[Scene], num_frames: int, framing: Framing, cache: Path
    ) -> "ClipFile":
        """Return the cache file in the folder `cache`, without drawing anything."""
        looks = [LOOK, num_frames, framing.key, [scene.to_dict() for scene in scenes]]
        key = blake2b(json.dumps(looks).encode(), digest_size=8)
        return cls(cache / f"built-in-{split}-{key.hexdigest()}.npy", scenes, num_frames, framing)

    def frames(self, progress: Progress = silent) -> NDArray[np.uint8]:
        """Return the memory-mapped frames, drawing them first if necessary."""
        frames = read_frames(self.path)
        if frames is None:
            self._draw(progress)
            frames = np.load(self.path, mmap_mode="r")
        return frames

    def embeddings(
        self, encoder: Encoder, progress: Progress = silent, keeps_frames: bool = False
    ) -> NDArray[np.float32]:
        """Return the clips' L2-normalised embeddings (N, D), cached per visual tower, next to the frames if kept.

        A pooling that learns pools `frame_embeddings`.
        """
        if encoder.card.head:
            return encoder.pool(self.frame_embeddings(encoder, progress))

        def embed() -> NDArray[np.float32]:
            if keeps_frames:
                self.frames(progress)
            return self._embed(encoder, True, progress)

        return embedded_once(self.path, encoder.card, embed)

    def frame_embeddings(self, encoder: Encoder, progress: Progress = silent) -> NDArray[np.float32]:
        """Return what `Encoder.pool` takes (N, F, D), cached once for all poolings, without keeping the frames."""
        card = encoder.card.unpooled
        return embedded_once(self.path, card, lambda: self._embed(encoder, False, progress))

    def _embed(self, encoder: Encoder, pools: bool, progress: Progress) -> NDArray[np.float32]:
        """Embed the frames on disk, or draw them without keeping them."""
        if self.path.is_file():
            return embed_frames(encoder, self.frames(), progress, pools)
        drawn = tracked(self._drawn(), len(self.scenes), "drawing clips", progress)
        chunks = iter(lambda: list(islice(drawn, CHUNK)), [])
        embedded = [embed_frames(encoder, np.stack(chunk), silent, pools) for chunk in chunks]
        return np.concatenate(embedded) if embedded else np.zeros((0, encoder.embed_dim), np.float32)

    def _draw(self, progress: Progress) -> None:
        count = len(self.scenes)
        progress(0, count, "drawing clips")  # the processes take seconds to start
        clips = tracked(self._drawn(), count, "drawing clips", progress)
        write_frames(self.path, (count, self.num_frames, self.framing.size, self.framing.size, 3), clips)

    def _drawn(self) -> Iterator[NDArray[np.uint8]]:
        """Yield the frames of each scene, drawn by one process per core."""
        chunks = [self.scenes[start : start + CHUNK] for start in range(0, len(self.scenes), CHUNK)]
        draw = partial(draw_clips, num_frames=self.num_frames, framing=self.framing)
        if len(chunks) == 1:
            yield from draw(chunks[0])
            return
        # spawn, because torch's threads do not survive a fork; the parent handles SIGINT
        ignoring = signal.signal, (signal.SIGINT, signal.SIG_IGN)
        with ProcessPoolExecutor(os.cpu_count(), WithoutMain(), *ignoring) as pool_:
            try:
                for clips in pool_.map(draw, chunks):
                    yield from clips
            finally:
                pool_.shutdown(cancel_futures=True)


def draw_clips(scenes: Sequence[Scene], num_frames: int, framing: Framing) -> NDArray[np.uint8]:
    """Draw clips: (N, F, S, S, 3)."""
    return np.stack([render(scene, framing.size, num_frames) for scene in scenes])
