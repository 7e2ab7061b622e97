"""Training batches: a pure function of seed, epoch and step. Each process reads only its share."""

import math
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

from nt2vr.models.encoder import Frames
from trainer.config import TrainConfig
from trainer.data.clips import Clips
from trainer.data.sentences import DrawnCaption, fixed_key
from trainer.distributed import share, world_size
from trainer.inputs.base import AnyInput, ByInput, Draw, Drawing, Numbers


@dataclass(frozen=True)
class Batch:
    """One process's share of b clips; row i of each belongs together.

    Attributes:
        frames: (b, F, S, S, 3) uint8 RGB; None where the visual tower is not trained.
        captions: b sentences, or fewer, those that `keep_share` leaves.
        rows: (B,), the clips of all processes.
        drawn: what each input has drawn, in order.
    """

    frames: Frames | None
    captions: list[str]
    rows: Numbers | None = None
    drawn: ByInput = field(default_factory=dict)


def epoch_batches(
    clips: Clips,
    config: TrainConfig,
    epoch: int,
    start: int = 0,
    inputs: Iterable[AnyInput] = (),
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
        first = step * size
        yield drawn_epoch.batch(draws[first : first + size], step)


@dataclass(frozen=True)
class _Epoch:
    clips: Clips
    config: TrainConfig
    epoch: int
    inputs: tuple[AnyInput, ...]

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
        seed = [self.config.run.seed, self.epoch]
        suffix = ""
        # The first pass has the seed and the keys of an epoch without passes.
        if number:
            seed += [number, 2]
            suffix = f" {number}"

        rng = np.random.default_rng(seed)
        if self.config.dataset.num_captions:
            return self._all_captions(rng, suffix)
        rows = rng.permutation(len(self.clips)).tolist()
        fixes_captions = any(loss_input.fixes_captions for loss_input in self.inputs)
        if fixes_captions and not self.clips.num_captions:
            return [Draw(row, None, fixed_key(self.config.run.seed, row)) for row in rows]
        return [Draw(row, None, self._key(f"{row}{suffix}")) for row in rows]

    def _all_captions(self, rng: np.random.Generator, suffix: str) -> list[Draw]:
        clip_rows = range(len(self.clips))
        counts = list(map(self.clips.sentences.num_captions, clip_rows))
        rows, numbers = every_caption(np.array(counts), rng)
        draws = []
        for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
            key = self._key(f"{row} caption {number}{suffix}")
            draws.append(Draw(row, number, key))
        return draws

    def _key(self, name: str) -> str:
        return f"{self.config.run.seed} {self.epoch} {name}"

    def batch(self, draws: Sequence[Draw], step: int) -> Batch:
        """Draw this process's share of a batch: the rows that one process alone would draw for it."""
        drawn: ByInput = {}
        captions = self._captions(draws)
        drawing = Drawing(
            clips=self.clips,
            config=self.config,
            epoch=self.epoch,
            step=step,
            draws=draws,
            captions=captions,
            drawn=drawn,
        )
        for loss_input in self.inputs:
            drawn[type(loss_input)] = loss_input.draw(drawing)
        frames = None
        if self.config.encoder.trains_visual:
            frames = self._frames(drawing)
        return Batch(
            frames=frames,
            captions=[caption.text for caption in captions],
            rows=drawing.rows,
            drawn=drawn,
        )

    def _captions(self, draws: Sequence[Draw]) -> list[DrawnCaption]:
        """Draw this process's captions, or fewer, those that `keep_share` leaves."""
        num_processes = world_size()
        kept_per_process = self.config.objective.keep_share * len(draws) / num_processes
        num_kept = math.ceil(kept_per_process) * num_processes
        captions = []
        for row, number, key in draws[share(num_kept)]:
            captions.append(self.clips.sentences.draw(row, Random(key), number))
        return captions

    def _frames(self, drawing: Drawing) -> Frames:
        """Read frames of this process's clips, drawn as one process would for all clips."""
        rng = np.random.default_rng(drawing.seed())
        numbers = self._frame_numbers(drawing, rng)  # (b, f)
        rows = drawing.rows[drawing.share, None]  # (b, 1)
        frames = self.clips.frames[rows, numbers]  # (b, f, S, S, 3)
        if self.config.frames.flip:
            is_flipped = rng.random(len(drawing.draws)) < 0.5  # (B,)
            own_flipped = is_flipped[drawing.share]  # (b,)
            frames[own_flipped] = np.flip(frames[own_flipped], axis=3)
        return frames

    def _frame_numbers(self, drawing: Drawing, rng: np.random.Generator) -> Numbers:
        """Draw frames of each clip of this process, in their order: (b, f)."""
        num_clips = len(drawing.draws)
        num_frames = self.clips.frames.shape[1]
        order = rng.random((num_clips, num_frames)).argsort(axis=1)
        numbers = order[drawing.share, : self.config.frames.frames_per_step]
        return np.sort(numbers)


def every_caption(counts: Numbers, rng: np.random.Generator) -> tuple[Numbers, Numbers]:
    """Order all captions at random.

    Those of one clip are evenly spread over the epoch, so that batches rarely repeat one.

    Args:
        counts: (N,), numbers of the clips' captions.
        rng: draws the order.

    Returns:
        The clip of each caption, and its number among those of the clip.
    """
    rows = np.repeat(np.arange(len(counts)), counts)  # (C,), C captions in all
    num_captions = len(rows)
    firsts_of_clips = counts.cumsum() - counts  # (N,)
    firsts = firsts_of_clips[rows]  # (C,)

    # Captions are shuffled within each clip.
    shuffled = np.lexsort((rng.random(num_captions), rows))
    numbers = shuffled - firsts

    # Each takes a random moment of its share of the epoch, which is 1 / the captions of its clip.
    turns = np.arange(num_captions) - firsts
    moments = (turns + rng.random(num_captions)) / counts[rows]
    order = moments.argsort()
    return rows[order], numbers[order]
