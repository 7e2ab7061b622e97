"""The training loop: epochs, reports and saves. Knows nothing about single steps or data sources."""

import logging
import math
import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from nt2vr.errors import CheckpointError, reason_of
from nt2vr.models.pooling import Mean
from nt2vr.negation.generate.denials import Denial
from nt2vr.progress import Progress, ShouldStop, silent, stoppable, tracked
from trainer.data.batches import Batch, draw_sentence, epoch_batches
from trainer.data.clips import Clips
from trainer.data.sentences import captions_of, pairs_of
from trainer.distributed import agree, in_turn, rank, world_size
from trainer.learner import Learner
from trainer.optimizer import Steps
from trainer.runs.resume import Losses, Saved, Saver, read_saved, rewind
from trainer.runs.run_folder import MetricsWriter, RunFolder, RunStatus, State
from trainer.teacher import FrozenTexts, Miner, Teacher
from trainer.validation import Validator

logger = logging.getLogger(__name__)
SAMPLE = 2048  # captions, and sentences made of captions, averaged for the teacher's mean embeddings
AHEAD = 2  # batches drawn in advance while a GPU computes


def train(
    learner: Learner,
    run: RunFolder,
    clips: Clips,
    validation: Clips,
    should_stop: ShouldStop = lambda: False,
    progress: Progress = silent,
) -> State:
    """Train to the end of the learner's config, with a checkpoint per epoch; resume from the saved state, if any.

    It is saved and stops once `should_stop`, polled after each step, returns True. Only the leading process writes.
    """
    saved = read_saved(run, learner.config)
    if saved.position.finished:
        return "finished"
    prepare(learner, clips, should_stop, progress)
    validator = partial(Validator, learner, validation, progress, clips.verbs.shifts if clips.verbs else {})

    def draw(epoch: int, done: int) -> Generator[Any]:
        return epoch_batches(clips, learner.config, epoch, done, learner.losses.needs)

    return go_on(learner, run, saved, validator, draw, should_stop)


class Validates(Protocol):
    """Measures what a run trains, and writes its checkpoints."""

    controls: dict[str, float]  # measures of what it is compared with
    held_out: str  # what it measures on, such as "1 held-out clip"

    def measure(self) -> dict[str, float]:
        """Measure what has been trained so far."""

    def write(self, epoch: int, folder: Path, metrics: Mapping[str, float]) -> None:
        """Write a checkpoint folder, atomically, with these metrics on its card."""


Draw = Callable[[int, int], Generator[Any]]  # batches of an epoch, after the first `done`


def go_on(
    learner: Steps,
    run: RunFolder,
    saved: Saved,
    validator: Callable[[], Validates],
    draw: Draw,
    should_stop: ShouldStop,
) -> State:
    """Take the steps that a run still lacks; return "finished" or "stopped"."""
    if saved.learner:
        try:
            learner.load_state_dict(saved.learner)
        except (KeyError, RuntimeError, ValueError) as error:
            raise CheckpointError(
                f"{run.resume} was saved by another version of nT2VR ({reason_of(error)}). "
                "The run's curves and checkpoints stay; start a new run."
            ) from error
        logger.info("Resuming after step %d.", learner.steps)
    books = Books(run, learner, saved, validator) if rank() == 0 else None
    if saved.learner:
        learner.load_random_state(saved.learner)  # the books have built the base, for its controls
    try:
        return take_steps(learner, draw, saved.position.epoch, books, should_stop)
    finally:
        if books:
            books.close()


def take_steps(learner: Steps, draw: Draw, first_epoch: int, books: "Books | None", should_stop: ShouldStop) -> State:
    """Take all steps from `first_epoch` on, except those of it that the learner has already taken."""
    config = learner.config
    for epoch in range(first_epoch, config.epochs + 1):
        learner.start_epoch()
        done = (learner.steps - (epoch - 1) * config.steps_per_epoch) * config.accumulate
        drawn = draw(epoch, done)
        with closing(prefetched(drawn) if learner.device == "cuda" else drawn) as batches:
            while learner.steps < epoch * config.steps_per_epoch:
                losses = learner.step(islice(batches, config.accumulate))
                if books:
                    books.step(epoch, losses)
                if agree(should_stop()):
                    if books:
                        books.save()
                    return "stopped"
        if agree(books is not None and books.finish_epoch(epoch)):
            break
    return "finished"


def pinned(batch: Batch) -> Batch:
    if batch.frames is None:
        return batch
    return replace(batch, frames=torch.from_numpy(batch.frames).pin_memory().numpy())


def prefetched(batches: Iterator[Batch], ready: Callable[[Batch], Batch] = pinned) -> Generator[Batch]:
    """Yield the same batches in the same order, the next ones being drawn meanwhile; closing it ends the thread."""

    def take() -> Batch | None:
        batch = next(batches, None)
        return None if batch is None else ready(batch)

    with ThreadPoolExecutor(1, "batches") as thread:
        pending = deque(thread.submit(take) for _ in range(AHEAD))
        while (batch := pending.popleft().result()) is not None:
            pending.append(thread.submit(take))
            yield batch


def prepare(learner: Learner, clips: Clips, should_stop: ShouldStop, progress: Progress = silent) -> None:
    """Set up token rows, the embeddings of a frozen visual tower, and the teacher, who sees means of frames."""
    config, key = learner.config, f"{learner.config.seed} tokens"

    @cache
    def denial(row: int) -> Denial:
        return draw_sentence(clips, config, row, f"{key} {row}")

    rows = range(rank(), len(clips), world_size())
    progress(0, 0, "drawing captions")
    texts = own_captions(learner, clips, key)
    if "denied" in learner.losses.needs:
        texts += [denial(row).text for row in tracked(rows, len(rows), "drawing sentences", progress)]
    learner.prepare_tokens(texts)
    if config.trains_visual:
        return
    with in_turn():
        if clips.has_videos:
            videos = store_embeddings(learner, clips, stoppable(progress, should_stop))
        if "distractors" in learner.losses.needs:
            learner.miner = Miner(FrozenTexts.of_base(config, learner.device), videos, learner.device)
        if "parts" in learner.losses.needs:
            progress(0, 0, "embedding the teacher's texts")
            base = FrozenTexts.of_base(config, learner.device)
            first = range(min(SAMPLE, len(clips)))
            if not clips.has_videos:
                videos = base.encode_text(captions_of(clips.sentences, key, first))
            sentences = map(denial, first if clips.sentences.parses_captions else range(len(clips)))
            learner.teacher = Teacher(base, sentences, videos, learner.device)


def store_embeddings(learner: Learner, clips: Clips, progress: Progress) -> NDArray[np.float32]:
    """Set the embeddings that the learner looks up; return the teacher's, which are of clips, or means of frames."""
    encoder = learner.frozen_encoder()
    if "ordered" in learner.losses.needs and learner.head is not learner.pooling:
        frames = clips.embedded_once(encoder.unpooled(), progress)
        videos = encoder.pool(frames)
        learner.use_videos(videos, frames)
    else:
        videos = clips.embedded_once(encoder, progress)
        learner.use_videos(videos)
    return Mean()(torch.from_numpy(videos)).numpy() if videos.ndim > 2 else videos


def own_captions(learner: Learner, clips: Clips, key: str) -> list[str]:
    """Draw this process's stripe of the captions, with their negations if a loss needs these."""
    rows = range(rank(), len(clips), world_size())
    if "negated" in learner.losses.needs:
        pairs = pairs_of(clips.sentences, key, rows)
        texts = [text for pair in pairs for text in pair if text is not None]
    else:
        texts = captions_of(clips.sentences, key, rows)
    if clips.verbs:
        texts += clips.verbs.texts(rows)
    return texts + clips.all_captions(rows) if learner.config.num_captions else texts


class Books:
    """Everything the leading process writes: metrics, checkpoints, and the state to resume from."""

    def __init__(self, run: RunFolder, learner: Steps, saved: Saved, validator: Callable[[], Validates]) -> None:
        config = learner.config
        self._run, self._learner, self._position = run, learner, saved.position
        rewind(run, saved.metrics_bytes)
        self._metrics = MetricsWriter(run, config, learner.steps)
        self._validator = validator()
        if config.base_folder and not saved.metrics_bytes:
            self._metrics.append({"epoch": 0, "step": 0, **self._validator.controls})
        self._saver = Saver(run, learner)
        self._recent = Losses(saved.recent)  # of the steps since the last line of metrics
        self._total, self._first = config.epochs * config.steps_per_epoch, learner.steps
        self._bar = tqdm(desc="training", total=self._total, initial=self._first, unit="step", disable=None)
        self._started = time.monotonic()

    def step(self, epoch: int, losses: dict[str, float]) -> None:
        """Report a step in the progress bar, every `log_every` steps in the run folder, and save the run if due."""
        learner = self._learner
        self._bar.update()
        self._recent.append(losses)
        due = learner.steps % learner.config.log_every == 0
        if due:
            means = {name: sum(step[name] for step in self._recent) / len(self._recent) for name in losses}
            self._recent.clear()
            self._bar.set_postfix(means, epoch=epoch)
            self._metrics.append({"epoch": epoch, "step": learner.steps, **means, **learner.state})
        taken = learner.steps - self._first
        if due or taken == 1:  # the preparation is over
            step_s = (time.monotonic() - self._started) / taken
            left_s = round((self._total - learner.steps) * step_s)
            self._run.write_status(RunStatus("running", os.getpid(), epoch, learner.steps, left_s, total=self._total))
        if self._saver.due:
            self.save()

    def save(self) -> None:
        self._saver.save(self._position, self._recent)

    def close(self) -> None:
        self._bar.close()
        self._metrics.close()

    def finish_epoch(self, epoch: int) -> bool:
        """Validate, write the checkpoint, and return whether the run has ended."""
        config, controls, measured = self._learner.config, self._validator.controls, self._validator.measure()
        self._metrics.append({"epoch": epoch, "step": self._learner.steps, **measured})
        shown = ", ".join(f"{name} {value:.3f}" for name, value in measured.items())
        logger.info("epoch %d of %d: %s (%s)", epoch, config.epochs, shown, self._validator.held_out)
        if not (folder := self._run.checkpoint(epoch)).exists():  # otherwise killed before saving; it would be equal
            metrics = {f"validation/{name}": value for name, value in {**measured, **controls}.items()}
            self._validator.write(epoch, folder, metrics)
        self._position = position = self._position.after_epoch(measured.get(config.monitor, math.nan), config)
        self._run.keep_checkpoints(epoch, position.best_epoch, config.keep_checkpoints)
        if position.finished and epoch < config.epochs:
            logger.info(
                "%s has not improved for %d epochs; it was best after epoch %d (%.4f). The run stops early.",
                *(config.monitor, config.patience, position.best_epoch, position.best),
            )
        self.save()
        return position.finished
