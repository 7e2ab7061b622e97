"""The training loop: epochs, reports, validation and saves. Knows nothing about single steps or data sources."""

import logging
import math
import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol

import torch
from tqdm import tqdm

from nt2vr.errors import CheckpointError, reason_of
from nt2vr.progress import Progress, ShouldStop, hides_bars, silent, stoppable
from trainer.data.batches import Batch, epoch_batches
from trainer.data.clips import Clips
from trainer.data.digests import digests_of
from trainer.distributed import agree, rank
from trainer.learner import Learner
from trainer.optimizer import Trainable
from trainer.preparation import prepare, prepare_inputs
from trainer.runs.resume import Losses, Saved, Saver, read_saved, rewind
from trainer.runs.run_folder import MetricsWriter, RunFolder, RunStatus, State
from trainer.validator import Validator, with_former_queries

logger = logging.getLogger(__name__)
AHEAD = 2  # batches drawn in advance while a GPU computes


def train(
    learner: Learner,
    run: RunFolder,
    clips: Clips,
    validation: Clips,
    should_stop: ShouldStop = lambda: False,
    progress: Progress = silent,
    cache: Path | None = None,
) -> State:
    """Train to the end of the learner's config, with a checkpoint per epoch; resume from the saved state, if any.

    It is saved and stops once `should_stop`, polled after each step, returns True. Only the leading
    process writes. Embeddings that the preparation computes are stored in `cache`, if one is given.
    """
    prepare_inputs(learner, clips, stoppable(progress, should_stop))
    inputs = learner.losses.inputs
    saved = read_saved(run, learner.config, digests_of(clips, validation, inputs))
    if saved.position.finished:
        return "finished"
    if not saved.asks_as_evaluation:
        validation = replace(validation, queries=with_former_queries(validation))
    prepare(learner, clips, should_stop, progress, cache)
    card_fields = dict(
        chain.from_iterable(loss_input.card_fields().items() for loss_input in inputs)
    )
    validator = partial(Validator, learner, validation, progress, card_fields, saved.changes)
    draw = partial(epoch_batches, clips, learner.config, inputs=inputs)
    return go_on(learner, run, saved, validator, draw, should_stop)


class Validates(Protocol):
    """Measures what a run trains, and writes its checkpoints."""

    controls: dict[str, float]  # measures of what it is compared with
    held_out: str  # what it measures on, such as "1 held-out clip"

    def measure(self) -> dict[str, float]: ...

    def write(self, epoch: int, folder: Path, metrics: Mapping[str, float]) -> None: ...


Draw = Callable[[int, int], Generator[Any]]  # batches of an epoch, after the first `done`


def go_on(
    learner: Trainable,
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
        if not learner.is_finite:
            raise CheckpointError(
                f"{run.resume} has weights that are not finite, as an earlier version of nT2VR saved them. "
                "The run's curves and checkpoints stay; start a new run with a lower learning_rate."
            )
        logger.info("Resuming after step %d.", learner.steps)
    with (
        closing(RunLogger(run, learner, saved, validator))
        if rank() == 0
        else nullcontext() as run_logger
    ):
        if saved.learner:
            learner.load_random_state(
                saved.learner
            )  # the logger has built the base, for its controls
        return take_steps(learner, draw, saved.position.epoch, run_logger, should_stop)


def take_steps(
    learner: Trainable,
    draw: Draw,
    first_epoch: int,
    run_logger: "RunLogger | None",
    should_stop: ShouldStop,
) -> State:
    """Take all steps from `first_epoch` on, except those of it that the learner has already taken."""
    config = learner.config
    for epoch in range(first_epoch, config.batches.epochs + 1):
        learner.start_epoch()
        done = (learner.steps - (epoch - 1) * config.steps_per_epoch) * config.batches.accumulate
        drawn = draw(epoch, done)
        with closing(prefetched(drawn) if learner.device == "cuda" else drawn) as batches:
            while learner.steps < epoch * config.steps_per_epoch:
                losses = learner.step(islice(batches, config.batches.accumulate))
                if run_logger:
                    run_logger.step(epoch, losses)
                if agree(should_stop()):
                    if run_logger:
                        run_logger.save()
                    return "stopped"
        if agree(run_logger is not None and run_logger.finish_epoch(epoch)):
            break
    return "finished"


def prefetched(batches: Iterator[Batch], pins: bool = True) -> Generator[Batch]:
    """Yield the same batches in the same order, the next ones being drawn meanwhile; closing it ends the thread."""

    def take() -> Batch | None:
        batch = next(batches, None)
        if batch is None or batch.frames is None or not pins:
            return batch
        return replace(batch, frames=torch.from_numpy(batch.frames).pin_memory().numpy())

    with ThreadPoolExecutor(1, "batches") as thread:
        pending = deque(thread.submit(take) for _ in range(AHEAD))
        while (batch := pending.popleft().result()) is not None:
            pending.append(thread.submit(take))
            yield batch


class RunLogger:
    """Everything the leading process writes: metrics, checkpoints, and the state to resume from."""

    def __init__(
        self, run: RunFolder, learner: Trainable, saved: Saved, validator: Callable[[], Validates]
    ) -> None:
        config = learner.config
        self._run = run
        self._learner = learner
        self._position = saved.position
        rewind(run, saved.metrics_bytes)
        self._metrics = MetricsWriter(run, config, learner.steps)
        self._validator = validator()
        if config.encoder.base_folder and not saved.learner:
            self._metrics.append({"epoch": 0, "step": 0, **self._validator.controls})
        self._saver = Saver(run, learner, saved)
        self._recent = Losses(saved.recent)  # of the steps since the last line of metrics
        self._total = config.total_steps
        self._first = learner.steps
        self._reported = -1  # the step of the status; none yet
        self._bar = tqdm(
            desc="training",
            total=self._total,
            initial=self._first,
            unit="step",
            disable=hides_bars(),
        )
        self._started = time.monotonic()

    def step(self, epoch: int, losses: dict[str, float]) -> None:
        """Report a step in the progress bar, every `log_every` steps in the run folder, and save the run if due."""
        learner = self._learner
        self._bar.update()
        self._recent.append(losses)
        due = learner.steps % learner.config.run.log_every == 0
        if due:
            means = {
                name: sum(step[name] for step in self._recent) / len(self._recent)
                for name in losses
            }
            self._recent.clear()
            self._bar.set_postfix(means, epoch=epoch)
            self._metrics.append({"epoch": epoch, "step": learner.steps, **means, **learner.state})
        is_first = learner.steps == self._first + 1  # the preparation is over
        if due or is_first or learner.steps == self._total:
            self._write_status()
        if self._saver.due:
            self.save()

    def save(self) -> None:
        """Save the state to resume from, unless it is not finite: a DivergedError then leaves the last one."""
        self._learner.check_finite()
        self._saver.save(self._position, self._recent)

    def close(self) -> None:
        """Write the very step at which the run ends, whatever ends it."""
        self._bar.close()
        self._metrics.close()
        if self._reported != self._learner.steps:
            self._write_status()

    def _write_status(self) -> None:
        learner = self._learner
        left_s = None
        if taken := learner.steps - self._first:
            step_s = (time.monotonic() - self._started) / taken
            left_s = round((self._total - learner.steps) * step_s)
        status = RunStatus(
            "running", os.getpid(), learner.epoch, learner.steps, left_s, total=self._total
        )
        self._run.write_status(status)
        self._reported = learner.steps

    def finish_epoch(self, epoch: int) -> bool:
        """Validate, write the checkpoint, and return whether the run has ended."""
        self._learner.check_finite()
        config, controls, measured = (
            self._learner.config,
            self._validator.controls,
            self._validator.measure(),
        )
        self._metrics.append({"epoch": epoch, "step": self._learner.steps, **measured})
        shown = ", ".join(f"{name} {value:.3f}" for name, value in measured.items())
        logger.info(
            "epoch %d of %d: %s (%s)", epoch, config.batches.epochs, shown, self._validator.held_out
        )
        if not (
            folder := self._run.checkpoint(epoch)
        ).exists():  # otherwise killed before saving; it would be equal
            metrics = {
                f"validation/{name}": value for name, value in {**measured, **controls}.items()
            }
            self._validator.write(epoch, folder, metrics)
        monitored = measured.get(config.validation.monitor, math.nan)
        self._position = position = self._position.after_epoch(monitored, config)
        self._run.keep_checkpoints(epoch, position.best_epoch, config.validation.keep_checkpoints)
        if position.finished and epoch < config.batches.epochs:
            logger.info(
                "%s has not improved for %d epochs; it was best after epoch %d (%.4f). The run stops early.",
                *(
                    config.validation.monitor,
                    config.validation.patience,
                    position.best_epoch,
                    position.best,
                ),
            )
        self.save()
        return position.finished
