"""Clips of the world as arrays: drawn on all cores, cached with their embeddings."""

import json
import logging
import math
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import reason_of
from nt2vr.files import atomic_write, hash_text
from nt2vr.media.limits import LIMITS, Limit, evict, mark_used
from nt2vr.media.resize import Pixels, fit
from nt2vr.media.store import read_cached
from nt2vr.models.card import Card, StoredNames
from nt2vr.models.encoder import Encoder
from nt2vr.models.framing import Framing
from nt2vr.models.spawn import WithoutMain
from nt2vr.progress import Progress, silent, tracked
from nt2vr.world.drawn.render import render
from nt2vr.world.scenes import Scene, SceneSplit

logger = logging.getLogger(__name__)

Embeddings = NDArray[np.float32]
# Cache version: raise it when scenes are drawn differently.
LOOK = 2
# Clips per task of a process, and encoded at once: 10 MB of frames.
CHUNK = 64
_load = partial(np.load, allow_pickle=False)


@dataclass(frozen=True)
class ClipFile:
    """Clips of some scenes, which are drawn when their frames are needed, and their cache file.

    Indexed as an array of frames, all are drawn; by a single row, only that one.

    Attributes:
        path: .npy file of (N, F, S, S, 3) uint8 RGB frames, named by a hash of everything that
            affects them.
        scenes: what is drawn.
        num_frames: of each clip.
        framing: S is its size.
    """

    path: Path
    scenes: Sequence[Scene]
    num_frames: int
    framing: Framing

    @classmethod
    def of(
        cls,
        split: SceneSplit,
        scenes: Sequence[Scene],
        num_frames: int,
        framing: Framing,
        cache: Path,
    ) -> Self:
        """Return the cache file in the folder `cache`, without drawing anything."""
        looks = [LOOK, num_frames, framing.key, [scene.key_data for scene in scenes]]
        path = cache / f"built-in-{split}-{hash_text(json.dumps(looks), 8)}.npy"
        return cls(path, scenes, num_frames, framing)

    @property
    def shape(self) -> tuple[int, ...]:
        """(N, F, S, S, 3)."""
        return len(self), self.num_frames, *self.framing.shape, 3

    def __len__(self) -> int:
        return len(self.scenes)

    def __getitem__(self, index: Any) -> Pixels:
        clips: Pixels
        if isinstance(index, int) and not self.path.is_file():
            clips = draw_clips([self.scenes[index]], self.num_frames, self.framing)[0]
        else:
            clips = self.frames()[index]
        return clips

    def frames(self, progress: Progress = silent) -> Pixels:
        """Return the memory-mapped frames, drawing them first if necessary."""
        mark_used(self.path)
        load_mapped = partial(_load, mmap_mode="r")
        frames: Pixels | None = read_cached(self.path, load_mapped)
        if frames is None:
            self._draw(progress)
            frames = np.asanyarray(load_mapped(self.path))
        return frames

    def embeddings(
        self, encoder: Encoder, progress: Progress = silent, keeps_frames: bool = False
    ) -> Embeddings:
        """Return the clips' L2-normalised embeddings (N, D), cached per visual tower.

        They are next to the frames if these are kept. A pooling that learns pools
        `frame_embeddings`.
        """
        if encoder.card.pooling.head:
            return encoder.pool(self.frame_embeddings(encoder, progress))
        embed = partial(self._embed, encoder, progress, keeps_frames=keeps_frames)
        return embedded_once(self.path, encoder=encoder, card=encoder.card, embed=embed)

    def frame_embeddings(self, encoder: Encoder, progress: Progress = silent) -> Embeddings:
        """Return what `Encoder.pool` takes (N, F, D), cached once for all poolings.

        The frames are not kept.
        """
        embed = partial(self._embed, encoder, progress, pools=False)
        return embedded_once(self.path, encoder, card=encoder.card.unpooled, embed=embed)

    def _embed(
        self,
        encoder: Encoder,
        progress: Progress,
        keeps_frames: bool = False,
        pools: bool = True,
    ) -> Embeddings:
        if keeps_frames or self.path.is_file():
            clips: Iterable[Pixels] = self.frames(progress)
            activity = "embedding clips"
        else:
            clips = self._drawn()
            activity = "drawing clips"
        return embed_frames(
            encoder, tracked(clips, total=len(self), doing=activity, progress=progress), pools
        )

    def _draw(self, progress: Progress) -> None:
        # Progress is reported now, since the processes take seconds to start.
        progress(0, len(self), "drawing clips")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        _make_room(self.path.parent, math.prod(self.shape))
        with atomic_write(self.path) as partial_path, partial_path.open("wb") as file:
            header = {"descr": "|u1", "fortran_order": False, "shape": self.shape}
            np.lib.format.write_array_header_1_0(file, header)
            for clip in tracked(
                self._drawn(), total=len(self), doing="drawing clips", progress=progress
            ):
                file.write(np.ascontiguousarray(clip).data)

    def _drawn(self) -> Iterator[Pixels]:
        """Yield the frames of each scene, drawn by one process per core."""
        draw = partial(draw_clips, num_frames=self.num_frames, framing=self.framing)
        chunks = [self.scenes[start : start + CHUNK] for start in range(0, len(self), CHUNK)]
        if len(chunks) == 1:
            yield from draw(chunks[0])
            return

        # Torch's threads do not survive a fork.
        processes = ProcessPoolExecutor(
            os.cpu_count(),
            mp_context=WithoutMain(),
            # The parent handles SIGINT.
            initializer=signal.signal,
            initargs=(signal.SIGINT, signal.SIG_IGN),
        )
        with processes:
            try:
                for clips in processes.map(draw, chunks):
                    yield from clips
            finally:
                processes.shutdown(cancel_futures=True)


def draw_clips(scenes: Sequence[Scene], num_frames: int, framing: Framing) -> Pixels:
    """Draw clips: (N, F, H, W, 3)."""
    clips = [render(scene, max(framing.shape), num_frames) for scene in scenes]
    if framing.width:
        clips = [np.stack([fit(frame, framing) for frame in clip]) for clip in clips]
    return np.stack(clips)


def _make_room(folder: Path, num_bytes: float) -> None:
    """Delete what was used least lately, so that a file of this size fits into the limit."""
    files = [*folder.glob("built-in-*.npy"), *folder.glob("embeddings-*.npy")]
    evict(files, Limit(num_bytes=LIMITS["drawn clips"].num_bytes - num_bytes))


def embed_frames(encoder: Encoder, clips: Iterable[Pixels], pools: bool = True) -> Embeddings:
    """Encode clips of (F, S, S, 3) frames, and pool them, L2-normalised: (N, D).

    Without pooling, they are (N, F, D).
    """
    remaining = iter(clips)
    embeddings = []
    while chunk := list(islice(remaining, CHUNK)):
        chunk_embeddings = encoder.encode_video(np.stack(chunk))
        if pools:
            chunk_embeddings = encoder.pool(chunk_embeddings)
        embeddings.append(chunk_embeddings)
    if not embeddings:
        return np.zeros((0, encoder.embed_dim), np.float32)
    return np.concatenate(embeddings)


def embedded_once(
    frames: Path, encoder: Encoder, card: Card, embed: Callable[[], Embeddings]
) -> Embeddings:
    """Return the (N, D) embeddings of the clips in a file of frames.

    They are cached per visual tower and pooling of a card. The file need not exist: its name
    identifies the content. Where a pooling that learns has had the embeddings of the frames
    cached, these are pooled, and `embed` is not called.
    """
    path = _embeddings_of(frames, card)
    embeddings = read_cached(path, _load)
    if embeddings is None:
        of_frames = read_cached(_embeddings_of(frames, card.unpooled), _load)
        if of_frames is None:
            embeddings = embed()
        else:
            embeddings = encoder.pool(of_frames)
        _store(embeddings, path)
    mark_used(path)
    return np.asarray(embeddings, np.float32)


def _store(embeddings: Embeddings, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_room(path.parent, embeddings.nbytes)
        with atomic_write(path) as partial_path:
            np.save(partial_path, embeddings)
    except OSError as error:
        logger.warning("Embeddings cannot be stored in %s (%s).", path.parent, reason_of(error))


def _embeddings_of(frames: Path, card: Card) -> Path:
    names = StoredNames.of(card.visual_key)
    key = hash_text(f"{frames.stem} {names.of_given_frames}")
    return frames.with_name(f"embeddings-{key}.npy")
