"""The training loop: epochs, reports, validation and saves. Knows nothing about single steps or data sources."""

import logging
import math
import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import torch
from tqdm import tqdm

from nt2vr.errors import CheckpointError, reason_of
from nt2vr.evaluation.metric_names import Metrics
from nt2vr.progress import Progress, ShouldStop, hides_bars, silent, stoppable
from trainer.data.batches import Batch, epoch_batches
from trainer.data.clips import Clips
from trainer.data.digests import digests_of
from trainer.distributed import agree, rank
from trainer.learner import Learner
from trainer.optimizer import Trainable, mean_values
from trainer.preparation import prepare, prepare_inputs
from trainer.runs.resume import Losses, Saved, Saver, read_saved, rewind
from trainer.runs.run_folder import MetricsWriter, RunFolder, RunStatus, State
from trainer.validator import Validator, with_former_queries

logger = logging.getLogger(__name__)
# Batches drawn in advance while a GPU computes.
AHEAD = 2


def train(
    learner: Learner,
    run: RunFolder,
    clips: Clips,
    validation: Clips,
    should_stop: ShouldStop = lambda: False,
    progress: Progress = silent,
    cache: Path | None = None,
) -> State:
    """Train to the end of the learner's config, or go on from the saved state, if any.

    Each epoch ends with a checkpoint. The run is saved and stops once `should_stop`, polled after
    each step, returns True. Only the leading process writes. Embeddings that the preparation
    computes are stored in `cache`, if one is given.
    """
    prepare_inputs(learner, clips, stoppable(progress, should_stop))
    inputs = learner.losses.inputs
    saved = read_saved(run, learner.config, digests_of(clips, validation, inputs))
    if saved.position.finished:
        return "finished"
    if not saved.asks_as_evaluation:
        validation = replace(validation, queries=with_former_queries(validation))
    prepare(learner, clips, should_stop=should_stop, progress=progress, cache=cache)
    validator = partial(
        Validator,
        learner=learner,
        clips=validation,
        progress=progress,
        changes=saved.changes,
    )
    return go_on(
        learner,
        run=run,
        saved=saved,
        validator=validator,
        draw_batches=partial(epoch_batches, clips, learner.config, inputs=inputs),
        should_stop=should_stop,
    )


class Validates(Protocol):
    """Measures what a run trains, and writes its checkpoints.

    Attributes:
        controls: measures of what it is compared with.
        held_out: what it measures on, such as "1 held-out clip".
    """

    controls: Metrics
    held_out: str

    def measure(self) -> Metrics: ...

    def write(self, epoch: int, folder: Path, metrics: Metrics) -> None: ...


# Draws the batches of an epoch, given its number and how many of its batches to leave out.
DrawBatches = Callable[[int, int], Generator[Any]]


def go_on(
    learner: Trainable,
    run: RunFolder,
    saved: Saved,
    validator: Callable[[], Validates],
    draw_batches: DrawBatches,
    should_stop: ShouldStop,
) -> State:
    """Take the steps that a run still lacks; return "finished" or "stopped".

    The `validator` is called in the leading process alone.
    """
    if saved.learner:
        _load_state(learner, saved.learner, run)
        logger.info("Resuming after step %d.", learner.steps)

    logging_run: AbstractContextManager[RunLogger | None] = nullcontext()
    if rank() == 0:
        logging_run = closing(RunLogger(run, learner, saved, validator))
    with logging_run as run_logger:
        # The logger has built the base, to measure it, which draws random numbers.
        if saved.learner:
            learner.load_random_state(saved.learner)
        for epoch in range(saved.position.epoch, learner.config.batches.epochs + 1):
            learner.start_epoch()
            state = _take_epoch(
                learner,
                draw_batches=draw_batches,
                epoch=epoch,
                run_logger=run_logger,
                should_stop=should_stop,
            )
            if state == "stopped":
                return state
            has_ended = run_logger is not None and run_logger.finish_epoch(epoch)
            # Only the leading process knows whether the run ends early.
            if agree(has_ended):
                break
    return "finished"


def _load_state(learner: Trainable, state: Mapping[str, Any], run: RunFolder) -> None:
    """Load a saved state; raise a CheckpointError for one that cannot be trained further."""
    try:
        learner.load_state_dict(state)
    except (KeyError, RuntimeError, ValueError) as error:
        raise CheckpointError(
            f"{run.resume} was saved by another version of nT2VR ({reason_of(error)}). "
            "The run's curves and checkpoints stay; start a new run."
        ) from error
    if not learner.is_finite:
        raise CheckpointError(
            f"{run.resume} has weights that are not finite, as an earlier version of nT2VR saved "
            "them. The run's curves and checkpoints stay; start a new run with a lower "
            "learning_rate."
        )


def _take_epoch(
    learner: Trainable,
    draw_batches: DrawBatches,
    epoch: int,
    run_logger: "RunLogger | None",
    should_stop: ShouldStop,
) -> State:
    """Take the steps of an epoch that the learner still lacks; return "running" or "stopped"."""
    config = learner.config
    accumulate = config.batches.accumulate
    last_step = epoch * config.steps_per_epoch
    steps_taken = learner.steps - (last_step - config.steps_per_epoch)
    batches = draw_batches(epoch, steps_taken * accumulate)
    if learner.device == "cuda":
        batches = prefetched(batches)

    with closing(batches):
        while learner.steps < last_step:
            losses = learner.step(islice(batches, accumulate))
            if run_logger:
                run_logger.step(epoch, losses)
            if agree(should_stop()):
                if run_logger:
                    run_logger.save()
                return "stopped"
    return "running"


def prefetched(batches: Iterator[Batch], pins: bool = True) -> Generator[Batch]:
    """Yield the same batches in the same order, while a thread draws the next ones.

    Closing the generator ends the thread. With `pins`, frames lie in pinned memory.
    """

    def take() -> Batch | None:
        batch = next(batches, None)
        if batch is None or batch.frames is None or not pins:
            return batch
        pinned = torch.from_numpy(batch.frames).pin_memory()
        return replace(batch, frames=pinned.numpy())

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
        # Losses of the steps since the last line of metrics.
        self._recent = Losses(saved.recent)
        self._num_steps = config.total_steps
        self._steps_before = learner.steps
        # The step of the last status that was written; -1 before the first.
        self._reported_step = -1
        self._bar = tqdm(
            desc="training",
            total=self._num_steps,
            initial=self._steps_before,
            unit="step",
            disable=hides_bars(),
        )
        self._started = time.monotonic()

    def step(self, epoch: int, losses: Metrics) -> None:
        """Report a step: in the progress bar, and when due in the run folder; save the run if due."""
        learner = self._learner
        self._bar.update()
        self._recent.append(losses)
        is_logged = learner.steps % learner.config.run.log_every == 0
        if is_logged:
            self._log_recent(epoch)

        # The first status says that the preparation is over.
        is_first = learner.steps == self._steps_before + 1
        is_last = learner.steps == self._num_steps
        if is_logged or is_first or is_last:
            self._write_status()
        if self._saver.due:
            self.save()

    def _log_recent(self, epoch: int) -> None:
        """Append a line of metrics with the mean losses since the last one."""
        learner = self._learner
        means = mean_values(self._recent)
        self._recent.clear()
        self._bar.set_postfix(means, epoch=epoch)
        plotted = learner.plotted_values
        self._metrics.append({"epoch": epoch, "step": learner.steps, **means, **plotted})

    def save(self) -> None:
        """Save the state to resume from.

        Raises:
            DivergedError: if it is not finite; the last saved state stays.
        """
        self._learner.check_finite()
        self._saver.save(self._position, self._recent)

    def close(self) -> None:
        """Write the step at which the run ends, whatever ends it."""
        self._bar.close()
        self._metrics.close()
        if self._reported_step != self._learner.steps:
            self._write_status()

    def _write_status(self) -> None:
        learner = self._learner
        eta_s = None
        steps_taken = learner.steps - self._steps_before
        if steps_taken:
            step_s = (time.monotonic() - self._started) / steps_taken
            eta_s = round((self._num_steps - learner.steps) * step_s)
        status = RunStatus(
            "running",
            pid=os.getpid(),
            epoch=learner.epoch,
            step=learner.steps,
            eta_s=eta_s,
            total=self._num_steps,
        )
        self._run.write_status(status)
        self._reported_step = learner.steps

    def finish_epoch(self, epoch: int) -> bool:
        """Validate, write the checkpoint, and return whether the run has ended."""
        self._learner.check_finite()
        config = self._learner.config
        metrics = self._validator.measure()
        self._report_validation(epoch, metrics)

        # A checkpoint exists if the run was killed before saving; a new one would be equal.
        checkpoint = self._run.checkpoint(epoch)
        if not checkpoint.exists():
            measured = {**metrics, **self._validator.controls}
            on_card = {f"validation/{name}": value for name, value in measured.items()}
            self._validator.write(epoch, checkpoint, on_card)

        monitored = metrics.get(config.validation.monitor, math.nan)
        position = self._position.after_epoch(monitored, config)
        self._position = position
        self._run.keep_checkpoints(epoch, position.best_epoch, config.validation.keep_checkpoints)
        if position.finished and epoch < config.batches.epochs:
            logger.info(
                "%s has not improved for %d epochs; it was best after epoch %d (%.4f). "
                "The run stops early.",
                config.validation.monitor,
                config.validation.patience,
                position.best_epoch,
                position.best,
            )
        self.save()
        return position.finished

    def _report_validation(self, epoch: int, metrics: Metrics) -> None:
        self._metrics.append({"epoch": epoch, "step": self._learner.steps, **metrics})
        measures = [f"{name} {value:.3f}" for name, value in metrics.items()]
        logger.info(
            "epoch %d of %d: %s (%s)",
            epoch,
            self._learner.config.batches.epochs,
            ", ".join(measures),
            self._validator.held_out,
        )
