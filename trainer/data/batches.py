"""Training batches: a pure function of seed, epoch and step. Each process reads only its share."""

import math
import random
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from trainer.config import TrainConfig
from trainer.data.clips import Clips
from trainer.data.sentences import fixed_key
from trainer.distributed import share, world_size
from trainer.inputs.base import Draw, Drawing, Input

T = TypeVar("T")


@dataclass(frozen=True)
class Batch:
    """One process's share of b clips; row i of each belongs together."""

    frames: (
        NDArray[np.uint8] | None
    )  # (b, F, S, S, 3) uint8 RGB; None where the visual tower is not trained
    captions: list[str]  # b sentences, or fewer, those that `keep_share` leaves
    rows: NDArray[np.int64] | None = None  # (B,) which clips, of all processes
    drawn: Mapping[type[Input[Any, Any]], Any] = field(
        default_factory=dict
    )  # what each input has drawn, in order

    def of(self, kind: type[Input[T, Any]]) -> T:
        """Return what an input of the batch has drawn."""
        drawn: T = self.drawn[kind]
        return drawn


def epoch_batches(
    clips: Clips,
    config: TrainConfig,
    epoch: int,
    start: int = 0,
    inputs: Iterable[Input[Any, Any]] = (),
) -> Generator[Batch]:
    """Yield an epoch's batches from number `start` on, with the losses' inputs, which have been prepared."""
    if epoch <= config.negation.not_epochs:
        config = config.replace(sentences={"not": 1.0})
    drawn_epoch = _Epoch(clips, config, epoch, tuple(inputs))
    draws = drawn_epoch.draws()
    size = config.batches.batch_size
    for step in range(start, config.steps_per_epoch * config.batches.accumulate):
        yield drawn_epoch.batch(draws[step * size : (step + 1) * size], step)


@dataclass(frozen=True)
class _Epoch:
    clips: Clips
    config: TrainConfig
    epoch: int
    inputs: tuple[Input[Any, Any], ...]

    def draws(self) -> list[Draw]:
        """Draw the epoch's clips or captions in order, each at most once per pass; a smaller last batch is dropped."""
        full = (
            self.config.batches_per_epoch
            // self.config.batches.passes
            * self.config.batches.batch_size
        )
        return [
            draw
            for number in range(self.config.batches.passes)
            for draw in self._pass(number)[:full]
        ]

    def _pass(self, number: int) -> list[Draw]:
        clips, config, prefix = self.clips, self.config, f"{self.config.run.seed} {self.epoch}"
        again, mark = (
            ((number, 2), f" {number}") if number else ((), "")
        )  # nothing in the first pass
        rng = np.random.default_rng((config.run.seed, self.epoch, *again))
        if config.dataset.num_captions:
            counts = np.array([clips.sentences.num_captions(row) for row in range(len(clips))])
            numbered = zip(*(some.tolist() for some in every_caption(counts, rng)), strict=True)
            return [Draw(row, n, f"{prefix} {row} caption {n}{mark}") for row, n in numbered]
        rows = rng.permutation(len(clips)).tolist()
        if any(loss_input.fixes_captions for loss_input in self.inputs) and not clips.num_captions:
            return [Draw(row, None, fixed_key(config.run.seed, row)) for row in rows]
        return [Draw(row, None, f"{prefix} {row}{mark}") for row in rows]

    def batch(self, draws: Sequence[Draw], step: int) -> Batch:
        """Draw this process's share of a batch: the same rows as one process alone would draw for it."""
        config = self.config
        num_kept = math.ceil(config.objective.keep_share * len(draws) / world_size()) * world_size()
        source = self.clips.sentences
        captions = [
            source.draw(row, random.Random(key), number)
            for row, number, key in draws[share(num_kept)]
        ]
        drawn: dict[type[Input[Any, Any]], Any] = {}
        drawing = Drawing(self.clips, config, self.epoch, step, draws, captions, drawn)
        for loss_input in self.inputs:
            drawn[type(loss_input)] = loss_input.draw(drawing)
        frames = self._frames(drawing) if config.encoder.trains_visual else None
        return Batch(frames, [caption.text for caption in captions], drawing.rows, drawn)

    def _frames(self, drawing: Drawing) -> NDArray[np.uint8]:
        stored = self.clips.frames
        config = self.config
        rows = drawing.rows
        mine = drawing.share
        rng = np.random.default_rng(drawing.seed())
        order = rng.random((len(rows), stored.shape[1])).argsort(axis=1)
        frames = stored[
            rows[mine, None], np.sort(order[mine, : config.frames.frames_per_step])
        ]  # (b, f, S, S, 3)
        if config.frames.flip:
            flipped = (rng.random(len(rows)) < 0.5)[mine]
            frames[flipped] = frames[flipped][:, :, :, ::-1]
        return frames


def every_caption(
    counts: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Order all captions at random, those of one clip evenly spread over the epoch, so that batches rarely repeat one.

    Of (N,) `counts` of the clips' captions, return the clip of each caption and its number among
    those of the clip.
    """
    rows = np.repeat(np.arange(len(counts)), counts)
    starts = np.repeat(counts.cumsum() - counts, counts)
    numbers = np.lexsort((rng.random(len(rows)), rows)) - starts  # shuffled within each clip
    turns = np.arange(len(rows)) - starts  # of the clip
    order = np.argsort((turns + rng.random(len(rows))) / counts[rows])
    return rows[order], numbers[order]
