"""Batches of clips: which clips, which of their frames, which captions. A pure function of seed, epoch and step."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trainer.clips import ClipSet
from trainer.config import TrainConfig


@dataclass(frozen=True)
class Batch:
    """Row i of each belongs together.

    Attributes:
        frames: (B, F, S, S, 3) uint8 RGB.
        captions: B sentences.
    """

    frames: NDArray[np.uint8]
    captions: list[str]


def epoch_batches(clips: ClipSet, config: TrainConfig, epoch: int, start: int = 0) -> Iterator[Batch]:
    """Yield the batches of an epoch from step `start` on; each clip comes at most once."""
    order = np.random.default_rng((config.seed, epoch)).permutation(len(clips))
    for step in range(start, config.steps_per_epoch):
        rows = order[step * config.batch_size : (step + 1) * config.batch_size]
        yield _draw(clips, config, rows, np.random.default_rng((config.seed, epoch, step)), epoch)


def _draw(clips: ClipSet, config: TrainConfig, rows: NDArray[np.int64], rng: np.random.Generator, epoch: int) -> Batch:
    order = rng.random((len(rows), clips.frames.shape[1])).argsort(axis=1)
    frames = clips.frames[rows[:, None], order[:, : config.frames_per_step]]  # (B, f, S, S, 3)
    if config.flip:
        flipped = rng.random(len(rows)) < 0.5
        frames[flipped] = frames[flipped][:, :, :, ::-1]
    captions = [clips.describe(row, random.Random(f"{config.seed} {epoch} {row}")) for row in rows.tolist()]
    return Batch(frames, captions)
