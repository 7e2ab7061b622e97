"""Trainings in tests, run as a person starts them; one that ends otherwise than expected shows its log."""

import os
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.support.tiny_models import TINY
from trainer.__main__ import main
from trainer.config import TrainConfig, save_config
from trainer.optimizer import Trainable
from trainer.runs.run_folder import RunFolder, State

# 2 steps an epoch.
SMALL = TrainConfig(
    name="Tiny",
    model=TINY,
    num_clips=8,
    num_frames=2,
    validation_clips=4,
    batch_size=4,
    epochs=2,
    warmup_steps=2,
    log_every=1,
)


def run_training(config: TrainConfig, folder: Path, expected: State = "finished") -> RunFolder:
    """Train in this process, in a new run folder."""
    folder.mkdir(parents=True)
    save_config(config, folder / "config.json")
    return go_on(RunFolder(folder), expected)


def go_on(run: RunFolder, expected: State = "finished") -> RunFolder:
    """Train what a run folder says, from where it was saved; leaves pytest's signal handlers as they are."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        main([str(run.path)])
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert_ended(run, expected)
    return run


def assert_ended(run: RunFolder, expected: State) -> None:
    """Fail with the run's status and log unless it ended as expected."""
    status = run.status()
    log = run.log.read_text(encoding="utf-8") if run.log.exists() else "(no log)"
    assert status is not None and status.state == expected, f"{status}\n{log}"


def stop_at(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Let a training be stopped after a step, as by Ctrl+C."""
    take_step = Trainable.step

    def interrupted(self: Trainable, batches: Iterable[Any]) -> dict[str, float]:
        values = take_step(self, batches)
        if self.steps == step:
            os.kill(os.getpid(), signal.SIGINT)
        return values

    monkeypatch.setattr(Trainable, "step", interrupted)
