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
from trainer.data.sentences import DrawnCaption, fixed_key
from trainer.distributed import share, world_size
from trainer.inputs.base import Draw, Drawing, Input

T = TypeVar("T")


@dataclass(frozen=True)
class Batch:
    """One process's share of b clips; row i of each belongs together.

    Attributes:
        frames: (b, F, S, S, 3) uint8 RGB; None where the visual tower is not trained.
        captions: b sentences, or fewer, those that `keep_share` leaves.
        rows: (B,), the clips of all processes.
        drawn: what each input has drawn, in order.
    """

    frames: NDArray[np.uint8] | None
    captions: list[str]
    rows: NDArray[np.int64] | None = None
    drawn: Mapping[type[Input[Any, Any]], Any] = field(default_factory=dict)

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
    """Yield an epoch's batches from number `start` on, with the losses' prepared inputs."""
    if epoch <= config.negation.not_epochs:
        config = config.replace(sentences={"not": 1.0})
    drawn_epoch = _Epoch(
        clips=clips,
        config=config,
        epoch=epoch,
        inputs=tuple(inputs),
    )
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
        """Draw the epoch's clips or captions in order, each at most once per pass.

        A smaller last batch is dropped.
        """
        batches = self.config.batches
        batches_per_pass = self.config.batches_per_epoch // batches.passes
        draws = []
        for number in range(batches.passes):
            draws += self._pass(number)[: batches_per_pass * batches.batch_size]
        return draws

    def _pass(self, number: int) -> list[Draw]:
        config = self.config
        prefix = f"{config.run.seed} {self.epoch}"
        seed = [config.run.seed, self.epoch]
        suffix = ""
        # The first pass has the seed and the keys of an epoch without passes.
        if number:
            seed += [number, 2]
            suffix = f" {number}"

        rng = np.random.default_rng(seed)
        if config.dataset.num_captions:
            return self._all_captions(rng, prefix, suffix)
        rows = rng.permutation(len(self.clips)).tolist()
        fixes_captions = any(loss_input.fixes_captions for loss_input in self.inputs)
        if fixes_captions and not self.clips.num_captions:
            return [Draw(row, None, fixed_key(config.run.seed, row)) for row in rows]
        return [Draw(row, None, f"{prefix} {row}{suffix}") for row in rows]

    def _all_captions(self, rng: np.random.Generator, prefix: str, suffix: str) -> list[Draw]:
        sentences = self.clips.sentences
        counts = np.array([sentences.num_captions(row) for row in range(len(self.clips))])
        rows, numbers = every_caption(counts, rng)
        draws = []
        for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
            draws.append(Draw(row, number, f"{prefix} {row} caption {number}{suffix}"))
        return draws

    def batch(self, draws: Sequence[Draw], step: int) -> Batch:
        """Draw this process's share of a batch: the rows that one process alone would draw for it."""
        config = self.config
        num_processes = world_size()
        kept_per_process = config.objective.keep_share * len(draws) / num_processes
        num_kept = math.ceil(kept_per_process) * num_processes
        captions = self._captions(draws[share(num_kept)])

        drawn: dict[type[Input[Any, Any]], Any] = {}
        drawing = Drawing(self.clips, config, self.epoch, step, draws, captions, drawn)
        for loss_input in self.inputs:
            drawn[type(loss_input)] = loss_input.draw(drawing)
        frames = None
        if config.encoder.trains_visual:
            frames = self._frames(drawing)
        return Batch(
            frames=frames,
            captions=[caption.text for caption in captions],
            rows=drawing.rows,
            drawn=drawn,
        )

    def _captions(self, draws: Sequence[Draw]) -> list[DrawnCaption]:
        captions = []
        for row, number, key in draws:
            captions.append(self.clips.sentences.draw(row, random.Random(key), number))
        return captions

    def _frames(self, drawing: Drawing) -> NDArray[np.uint8]:
        stored = self.clips.frames
        config = self.config
        rows = drawing.rows
        mine = drawing.share
        rng = np.random.default_rng(drawing.seed())
        order = rng.random((len(rows), stored.shape[1])).argsort(axis=1)
        numbers = np.sort(order[mine, : config.frames.frames_per_step])
        frames = stored[rows[mine, None], numbers]  # (b, f, S, S, 3)
        if config.frames.flip:
            is_flipped = (rng.random(len(rows)) < 0.5)[mine]
            frames[is_flipped] = frames[is_flipped][:, :, :, ::-1]
        return frames


def every_caption(
    counts: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Order all captions at random.

    Those of one clip are evenly spread over the epoch, so that batches rarely repeat one.

    Args:
        counts: (N,), numbers of the clips' captions.
        rng: draws the order.

    Returns:
        The clip of each caption, and its number among those of the clip.
    """
    rows = np.repeat(np.arange(len(counts)), counts)
    starts = np.repeat(counts.cumsum() - counts, counts)
    # Captions are shuffled within each clip.
    numbers = np.lexsort((rng.random(len(rows)), rows)) - starts
    turns = np.arange(len(rows)) - starts
    order = np.argsort((turns + rng.random(len(rows))) / counts[rows])
    return rows[order], numbers[order]
