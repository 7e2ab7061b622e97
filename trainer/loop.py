"""The loop: epochs, reports, validation, checkpoints. It takes no step itself, nor knows where clips come from."""

import logging
import os
import random
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from nt2vr.checkpoint import Card, fingerprints, read_checkpoint, write_checkpoint
from nt2vr.encoder import Encoder
from nt2vr.world.negation import Sentence
from trainer.batches import draw_sentence, epoch_batches
from trainer.clips import ClipSet
from trainer.learner import Learner
from trainer.runs import RunFolder, RunStatus, State
from trainer.teacher import Teacher
from trainer.validation import control_metrics, validate
from trainer.videos import embed_once

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

    Raises:
        InterruptedError: if `should_stop` said so before the first step.
    """
    prepare(learner, clips, should_stop)
    validator = Validator(learner, run, validation)
    total = learner.config.epochs * learner.config.steps_per_epoch
    with tqdm(total=total, desc="training", unit="step", disable=None) as bar:
        report = Report(run, learner, bar)
        for epoch in range(1, learner.config.epochs + 1):
            learner.start_epoch()
            for batch in epoch_batches(clips, learner.config, epoch, needs=learner.losses.needs):
                report.add(epoch, learner.step(batch))
                if should_stop():
                    return "stopped"
            validator.finish_epoch(epoch)
    return "finished"


def prepare(learner: Learner, clips: ClipSet, should_stop: Callable[[], bool]) -> None:
    """Do what comes before the first step: new tokens, and what a frozen tower and a teacher need."""
    config, needs = learner.config, learner.losses.needs
    key = f"{config.seed} tokens"
    texts, denied = clips.captions(key), list[Sentence]()
    if clips.sentences is not None:
        if "negated" in needs:
            texts += [clips.sentences.negated(row, random.Random(f"{key} {row}")).text for row in range(len(clips))]
        if "denied" in needs:
            denied = [draw_sentence(clips.sentences, config, row, f"{key} {row}") for row in range(len(clips))]
    learner.prepare_tokens(texts + [sentence.text for sentence in denied])
    if config.train == "text":
        videos = embed_once(encoder_of(learner), clips, should_stop)
        learner.use_videos(videos)
        if "parts" in needs:
            base = read_checkpoint(Path(config.base), learner.device)
            learner.teacher = Teacher(base, denied, videos, learner.device)


def encoder_of(learner: Learner, card: Card | None = None) -> Encoder:
    """Wrap the learner's model, which is in eval mode from here on; its card tells the towers by their weights."""
    visual, text = fingerprints(learner.model.state_dict())
    card = replace(card or Card(learner.config.name), visual_fingerprint=visual, text_fingerprint=text)
    return Encoder(learner.model, learner.tokenizer, card)


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


class Validator:
    """Ends epochs: measures, and writes checkpoints. What does not change is measured once."""

    def __init__(self, learner: Learner, run: RunFolder, clips: ClipSet) -> None:
        """Measure the base and its controls, where there is one."""
        self._learner, self._run, self._clips = learner, run, clips
        config = learner.config
        self._videos: NDArray[np.float32] | None = None
        self._controls: dict[str, float] = {}
        if config.train == "text":
            self._videos = embed_once(encoder_of(learner), clips)
        if config.base:
            self._controls = control_metrics(Path(config.base), clips, learner.device)
            run.append_metrics({"epoch": 0, "step": 0, **self._controls})

    def finish_epoch(self, epoch: int) -> None:
        """Validate, and write the checkpoint of an epoch."""
        learner, config = self._learner, self._learner.config
        card = Card(
            name=config.name,
            objective=" + ".join(config.losses),
            base=learner.base.name if learner.base else "",
            frames=config.num_frames,
            losses=config.losses,
            data=f"built-in world, {config.num_clips} clips",
            epoch=epoch,
        )
        measured = validate(encoder_of(learner, card), self._clips, self._videos)
        self._run.append_metrics({"epoch": epoch, "step": learner.steps, **measured})
        logger.info("epoch %d: %s", epoch, ", ".join(f"{name} {value:.3f}" for name, value in measured.items()))
        metrics = {f"validation/{name}": value for name, value in {**measured, **self._controls}.items()}
        card = replace(card, metrics=metrics)
        write_checkpoint(self._run.checkpoint(epoch), learner.model, config.model, learner.preprocess, card)
