"""The loop: epochs, reports, validation, checkpoints. It takes no step itself, nor knows where clips come from."""

import logging
import os
import time
from collections.abc import Callable
from dataclasses import replace

from tqdm import tqdm

from nt2vr.checkpoint import Card, write_checkpoint
from nt2vr.encoder import Encoder
from trainer.batches import epoch_batches
from trainer.clips import ClipSet
from trainer.learner import PREPROCESS, Learner
from trainer.runs import RunFolder, RunStatus, State
from trainer.validation import validate

logger = logging.getLogger(__name__)


def train(
    learner: Learner,
    run: RunFolder,
    clips: ClipSet,
    validation: ClipSet,
    should_stop: Callable[[], bool] = lambda: False,
) -> State:
    """Take all the steps of the learner's config, with a checkpoint after each epoch.

    Args:
        learner: what learns.
        run: where to write.
        clips: what is learnt from.
        validation: what is searched after each epoch.
        should_stop: asked after each step.

    Returns:
        Whether it came to the end.
    """
    learner.clear_unused_tokens(clips.captions(f"{learner.config.seed} tokens"))
    total = learner.config.epochs * learner.config.steps_per_epoch
    with tqdm(total=total, desc="training", unit="step", disable=None) as bar:
        report = Report(run, learner, bar)
        for epoch in range(1, learner.config.epochs + 1):
            learner.model.train()
            for batch in epoch_batches(clips, learner.config, epoch):
                report.add(epoch, learner.step(batch))
                if should_stop():
                    return "stopped"
            finish_epoch(epoch, learner, run, validation)
    return "finished"


class Report:
    """Tells of the steps: in the progress bar, and every `log_every` steps in the run's folder."""

    def __init__(self, run: RunFolder, learner: Learner, bar: "tqdm[None]") -> None:
        """Start the clock."""
        self._run, self._learner, self._bar = run, learner, bar
        self._recent: list[dict[str, float]] = []
        self._started, self._first = time.monotonic(), learner.steps

    def add(self, epoch: int, losses: dict[str, float]) -> None:
        """Count a step."""
        self._bar.update()
        self._recent.append(losses)
        learner = self._learner
        if learner.steps % learner.config.log_every == 0:
            means = {name: sum(step[name] for step in self._recent) / len(self._recent) for name in losses}
            self._recent.clear()
            self._bar.set_postfix(means, epoch=epoch)
            self._run.append_metrics({"epoch": epoch, "step": learner.steps, **means, **learner.state})
            self._run.write_status(RunStatus("running", os.getpid(), epoch, learner.steps, self._seconds_left()))

    def _seconds_left(self) -> float:
        config, steps = self._learner.config, self._learner.steps
        step_s = (time.monotonic() - self._started) / (steps - self._first)
        return round((config.epochs * config.steps_per_epoch - steps) * step_s)


def finish_epoch(epoch: int, learner: Learner, run: RunFolder, validation: ClipSet) -> None:
    """Validate, and write the checkpoint of an epoch."""
    config = learner.config
    card = Card(
        name=config.name,
        objective=" + ".join(config.losses),
        frames=config.num_frames,
        losses=config.losses,
        data=f"built-in world, {config.num_clips} clips",
        epoch=epoch,
    )
    measured = validate(Encoder(learner.model, learner.tokenizer, card), validation)
    run.append_metrics({"epoch": epoch, "step": learner.steps, **measured})
    logger.info("epoch %d: %s", epoch, ", ".join(f"{name} {value:.3f}" for name, value in measured.items()))
    metrics = {f"validation/{name}": value for name, value in measured.items()}
    write_checkpoint(run.checkpoint(epoch), learner.model, config.model, PREPROCESS, replace(card, metrics=metrics))
