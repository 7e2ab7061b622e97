"""The run folder: all that a training writes, and all that others read of it.

    runs/<run_id>/config.json     TrainConfig, written once, before the start
                  status.json     RunStatus, replaced whole
                  metrics.jsonl   one object a line, appended: {"epoch": 1, "step": 200, "loss": 0.41}
                  train.log       what happened, in words
                  checkpoints/    epoch_003/  (a checkpoint folder)
                  resume.pt       what it takes to go on, see trainer/resume.py
                  lock            held by the process that trains; lock.json names it meanwhile

    runs/.locks/cpu.lock          held by the training that uses a device; cpu.json names it

It knows nothing about training.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from nt2vr.errors import RunError
from nt2vr.files import is_disk_full, with_schema, without_schema, write_json
from nt2vr.settings import training_devices
from trainer.lock import Holder, Lock

# "stopping" and "interrupted" are never written: others conclude them, see `RunManager`
State = Literal["preparing", "running", "stopping", "stopped", "finished", "failed", "interrupted"]
UNDER_WAY: tuple[State, ...] = ("preparing", "running", "stopping")


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

    @property
    def resume(self) -> Path:
        """What it takes to go on."""
        return self.path / "resume.pt"

    @property
    def lock(self) -> Lock:
        """Held by the process that trains."""
        return Lock(self.path / "lock")

    def checkpoint(self, epoch: int) -> Path:
        """Where the checkpoint of an epoch goes."""
        return self.path / "checkpoints" / f"epoch_{epoch:03d}"

    @property
    def _status(self) -> Path:
        return self.path / "status.json"

    def status(self) -> RunStatus | None:
        """How far the run is; None before its first start, or where a power cut left nothing that can be read.

        Raises:
            RunError: if a newer nT2VR wrote it.
        """
        try:
            data = json.loads(self._status.read_text(encoding="utf-8"))
            return RunStatus(**without_schema(data, self._status, RunError))
        except (FileNotFoundError, AttributeError, TypeError, ValueError):
            return None

    def write_status(self, status: RunStatus) -> None:
        """Replace the status, atomically; on a full disk in place, which takes no space."""
        try:
            write_json(self._status, with_schema(asdict(status)))
        except OSError as error:
            if not (is_disk_full(error) and self._status.exists()):
                raise
            content = (json.dumps(with_schema(asdict(status))) + "\n").encode()
            with self._status.open("r+b") as file:
                file.write(content)
                file.truncate()

    def append_metrics(self, values: Mapping[str, float]) -> None:
        """Add a line of measured values."""
        with self.metrics.open("a", encoding="utf-8") as file:
            file.write(json.dumps(dict(values)) + "\n")

    @contextmanager
    def training(self) -> Iterator[None]:
        """Hold the run, and the devices it trains on, for the time of a `with`.

        Raises:
            RunError: if one of them is taken.
        """
        holder = Holder.here(self.path)
        with ExitStack() as held:
            try:
                for lock in device_locks(self.path.parent).values():
                    held.enter_context(lock.hold(holder))
                held.enter_context(self.lock.hold(holder))
            except BlockingIOError:
                refuse_second_training(self.path.parent)
                raise RunError(f"{self.path.name} is training already. Wait for it, or stop it first.") from None
            yield


def device_locks(runs: Path) -> dict[str, Lock]:
    """Return the locks of the devices that a training in the folder `runs` would use: one training per device."""
    return {device: Lock(runs / ".locks" / f"{device.replace(':', '-')}.lock") for device in training_devices()}


def refuse_second_training(runs: Path) -> None:
    """Refuse if a training in the folder `runs` uses the device that a new one would use.

    Raises:
        RunError: which names that training, its folder and its process.
    """
    for device, lock in device_locks(runs).items():
        if (holder := lock.holder()) is not None:
            raise RunError(
                f"{holder.run} is still training on {device} (folder {holder.folder}, process {holder.pid}), "
                "and a device trains one run at a time. Wait for it, or stop it first."
            )
