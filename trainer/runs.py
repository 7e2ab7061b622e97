"""The run folder: all that a training writes, and all that others read of it.

    runs/<run_id>/config.json     TrainConfig, written once, before the start
                  status.json     RunStatus, replaced whole
                  metrics.jsonl   one object a line, appended: {"epoch": 1, "step": 200, "loss": 0.41}
                  train.log       what happened, in words
                  checkpoints/    epoch_003/  (a checkpoint folder)

It knows nothing about training.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

State = Literal["preparing", "running", "stopped", "finished", "failed"]


@dataclass(frozen=True)
class RunStatus:
    """How far a run is.

    Attributes:
        state: what it does, or how it ended.
        pid: of the process that wrote this.
        epoch: the one under way, 1 is the first.
        step: steps done, over all epochs.
        eta_s: seconds left, as far as one can tell.
        error: why it failed.
    """

    state: State
    pid: int
    epoch: int = 0
    step: int = 0
    eta_s: float | None = None
    error: str | None = None


@dataclass(frozen=True)
class RunFolder:
    """Where things are in a run's folder, and how they are written."""

    path: Path

    @property
    def config(self) -> Path:
        """What the run does."""
        return self.path / "config.json"

    @property
    def log(self) -> Path:
        """What happened, in words."""
        return self.path / "train.log"

    @property
    def metrics(self) -> Path:
        """Measured values."""
        return self.path / "metrics.jsonl"

    def checkpoint(self, epoch: int) -> Path:
        """Where the checkpoint of an epoch goes."""
        return self.path / "checkpoints" / f"epoch_{epoch:03d}"

    def status(self) -> RunStatus | None:
        """How far the run is; None before its first start."""
        try:
            return RunStatus(**json.loads((self.path / "status.json").read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None

    def write_status(self, status: RunStatus) -> None:
        """Replace the status, whole."""
        partial = self.path / ".status.json.partial"
        partial.write_text(json.dumps(asdict(status)) + "\n", encoding="utf-8")
        os.replace(partial, self.path / "status.json")

    def append_metrics(self, values: Mapping[str, float]) -> None:
        """Add a line of measured values."""
        with self.metrics.open("a", encoding="utf-8") as file:
            file.write(json.dumps(dict(values)) + "\n")
