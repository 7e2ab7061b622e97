"""Run folder: the interface between a training process and its observers.

    runs/<run_id>/config.json     TrainConfig, written once, before the start
                  status.json     RunStatus, replaced atomically
                  metrics.jsonl   one object per line, appended: {"epoch": 1, "step": 200, "loss": 0.41}; a row with
                                  "learning_rate" alone says that a run which diverged went on from
                                  there at this one
                  train.log       the log
                  checkpoints/    epoch_003/  (a checkpoint folder), and best.json: {"epoch": 3}
                  resume.pt       state to resume from, see trainer/runs/resume.py
                  lock            held by the training process; lock.json names it meanwhile

    runs/.locks/cpu.lock          held by the training that uses the device; cpu.json names it

Knows nothing about training itself.
"""

import json
import math
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from nt2vr.errors import DeviceInUseError, RunError
from nt2vr.evaluation.metric_names import Metrics
from nt2vr.files import (
    is_disk_full,
    parse_json,
    read_with_schema,
    stored_json,
    with_schema,
    write_json,
)
from nt2vr.models.catalog import BEST
from nt2vr.progress import Progress
from nt2vr.settings import training_devices
from trainer.config.config import TrainConfig
from trainer.runs.loggers import loggers_of

# The folder of run folders in a data folder.
RUNS = "runs"
# Beside the runs: the folder of frames, and of what else trainings prepare.
FRAMES = ".frames"
# "stopping" and "interrupted" are never written: `RunManager` infers them.
State = Literal["preparing", "running", "stopping", "stopped", "finished", "failed", "interrupted"]
UNDER_WAY: tuple[State, ...] = ("preparing", "running", "stopping")
# What divides a learning rate at which the loss became non-finite, for the next one to try.
RATE_DIVISOR = 10
# Seconds between two writes of a preparation's progress.
WRITE_EVERY_S = 0.5
# How long to wait for a lock: `holder` takes a free one briefly, so `hold` waits longer than that.
HOLD_S = 0.2
LOOK_S = 0.02
POLL_S = 0.005


@dataclass(frozen=True)
class Holder:
    """The training that holds a lock, with the process id of its leading process."""

    run: str
    folder: str
    pid: int

    @classmethod
    def here(cls, folder: Path) -> "Holder":
        return cls(folder.name, str(folder.resolve()), os.getpid())


@dataclass(frozen=True)
class Lock:
    """A file to lock, until its holder exits or is killed.

    Locking empties the file, so a note beside it names the holder.
    """

    path: Path

    @contextmanager
    def hold(self, holder: Holder) -> Iterator[None]:
        """Hold the lock inside a `with` block, not in child processes.

        Raises:
            BlockingIOError: if somebody else holds it.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        note = self.path.with_suffix(".json")
        lock = FileLock(self.path, mode=0o600)
        try:
            lock.acquire(timeout=HOLD_S, poll_interval=POLL_S)
        except Timeout:
            raise BlockingIOError(f"{self.path} is locked.") from None
        try:
            write_json(note, asdict(holder))
            yield
        finally:
            note.unlink(missing_ok=True)
            lock.release()

    def holder(self) -> Holder | None:
        """Return the holder of the lock; None if it is free."""
        note = self.path.with_suffix(".json")
        try:
            holder = Holder(**stored_json(note))
        except (OSError, ValueError, TypeError):
            return None

        # If the lock is free, the holder was killed.
        lock = FileLock(self.path, mode=0o600)
        with suppress(Timeout), lock.acquire(timeout=LOOK_S, poll_interval=POLL_S):
            return None
        return holder


@dataclass(frozen=True)
class RunStatus:
    """How far a run is.

    Attributes:
        pid: of the leading process.
        epoch: the current one, counted from 1.
        step: steps taken, over all epochs.
        eta_s: estimated seconds left.
        doing: the current part of the preparation, or what came of a finished run.
        done: units of that part that are done.
        total: all units of that part or, once training has begun, all steps; 0 if unknown.
        diverged_rate: the learning rate at which the loss became non-finite; None unless that ended
            the run.
    """

    state: State
    pid: int
    epoch: int = 0
    step: int = 0
    eta_s: float | None = None
    error: str | None = None
    doing: str = ""
    done: int = 0
    total: int = 0
    diverged_rate: float | None = None

    @property
    def lower_rate(self) -> float | None:
        """The learning rate to try after the loss became non-finite; None for other runs."""
        if self.diverged_rate is None:
            return None
        return float(f"{self.diverged_rate / RATE_DIVISOR:.3g}")


class RunFolder:
    """Paths of the files above, with readers and writers for them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.json"
        self.log = path / "train.log"
        self.metrics = path / "metrics.jsonl"
        self.resume = path / "resume.pt"
        self._status = path / "status.json"
        self.lock = Lock(path / "lock")

    @property
    def data_dir(self) -> Path | None:
        """The data folder that the run is in; None outside of one."""
        folder = self.path.resolve()
        return folder.parents[1] if folder.parent.name == RUNS else None

    def checkpoint(self, epoch: int) -> Path:
        return self.path / "checkpoints" / f"epoch_{epoch:03d}"

    def checkpoint_epochs(self) -> list[int]:
        """Return the epochs whose checkpoints are there, in any order."""
        folders = self.path.glob("checkpoints/epoch_*")
        return [int(folder.name.removeprefix("epoch_")) for folder in folders]

    def keep_checkpoints(self, epoch: int, best: int, count: int) -> None:
        """Note the best epoch, and delete all others but the `count` newest.

        Args:
            best: 0 for none.
            count: 0 deletes none.
        """
        if best:
            write_json(self.path / "checkpoints" / BEST, {"epoch": best})
        if not count:
            return
        for number in range(1, epoch - count + 1):
            folder = self.checkpoint(number)
            if number != best and folder.is_dir():
                # From here on, it does not count as a checkpoint.
                doomed = folder.with_name(f".{folder.name}.partial")
                folder.rename(doomed)
                shutil.rmtree(doomed)

    def status(self) -> RunStatus | None:
        """Read the status; None before the first start or after a power cut.

        Raises:
            RunError: if a newer nT2VR wrote it.
        """
        try:
            stored = read_with_schema(self._status, RunError)
            known = RunStatus.__dataclass_fields__
            return RunStatus(**{name: stored[name] for name in stored if name in known})
        except (FileNotFoundError, AttributeError, TypeError, ValueError):
            return None

    @property
    def is_finished(self) -> bool:
        status = self.status()
        return status is not None and status.state == "finished"

    def write_status(self, status: RunStatus) -> None:
        """Replace the status, atomically; on a full disk in place, which takes no space."""
        fields = with_schema(asdict(status))
        try:
            write_json(self._status, fields)
        except OSError as error:
            if not (is_disk_full(error) and self._status.exists()):
                raise
            with self._status.open("r+", encoding="utf-8") as file:
                file.write(json.dumps(fields) + "\n")
                file.truncate()

    def preparing(self, status: RunStatus) -> Progress:
        """Return a callable that writes the progress of a preparation into the run's status.

        Each part of the preparation is written when it begins.
        """
        last_step = ("", 0)
        written_s = 0.0

        def report(done: int, total: int, doing: str) -> None:
            nonlocal last_step, written_s
            step = (doing, total)
            if step != last_step or time.monotonic() - written_s >= WRITE_EVERY_S:
                last_step = step
                written_s = time.monotonic()
                self.write_status(replace(status, doing=doing, done=done, total=total))

        return report

    @contextmanager
    def training(self) -> Iterator[None]:
        """Hold the locks of this process's devices and of the run inside a `with` block.

        Raises:
            RunError: if the run, or one on the same device, is training already.
        """
        holder = Holder.here(self.path)
        with ExitStack() as stack:
            try:
                for lock in device_locks(self.path.parent).values():
                    stack.enter_context(lock.hold(holder))
                stack.enter_context(self.lock.hold(holder))
            except BlockingIOError:
                refuse_second_training(self.path.parent)
                raise RunError(
                    f"{self.path.name} is already training. Wait for it, or stop it first."
                ) from None
            yield


def data_dir_of(cache: Path) -> Path | None:
    """Return the data folder whose runs prepare their data in `cache`; None outside of one."""
    if cache.parts[-2:] == (RUNS, FRAMES):
        return cache.parents[1]
    return None


def device_locks(runs: Path, devices: Sequence[str] = ()) -> dict[str, Lock]:
    """Return a lock per device, by default this process's: each device trains one run at a time."""
    locks = {}
    for device in devices or training_devices():
        file_name = f"{device.replace(':', '-')}.lock"
        locks[device] = Lock(runs / ".locks" / file_name)
    return locks


def refuse_second_training(runs: Path, devices: Sequence[str] = ()) -> None:
    """Raise a DeviceInUseError if a run in the folder `runs` is training on one of the devices."""
    for device, lock in device_locks(runs, devices).items():
        holder = lock.holder()
        if holder is not None:
            raise DeviceInUseError(
                f"{holder.run} is still training on {device} (folder {holder.folder}, "
                f"process {holder.pid}), and a device trains one run at a time. Wait for it, or stop it first."
            )


class MetricsWriter:
    """Appends to metrics.jsonl, and passes the metrics on to the loggers that the config names."""

    def __init__(self, run: RunFolder, config: TrainConfig, steps: int) -> None:
        self._path = run.metrics
        self._loggers = loggers_of(run.path, config, steps)

    def append(self, values: Metrics) -> None:
        """Append a row with "epoch" and "step"."""
        measures = dict(values)
        line = json.dumps(measures)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        measures.pop("epoch")
        step = int(measures.pop("step"))
        for logger in self._loggers:
            logger.log(step, measures)

    def close(self) -> None:
        for logger in self._loggers:
            logger.close()


def read_metrics(path: Path) -> list[Metrics]:
    """Return the rows of metrics.jsonl: finite numbers by name, without a line that a crash cut off."""
    if not path.exists():
        return []
    rows = []
    for line in path.read_bytes().splitlines():
        with suppress(ValueError, AttributeError):
            row = {}
            for name, value in parse_json(line.decode()).items():
                if isinstance(value, int | float) and math.isfinite(value):
                    row[name] = value
            rows.append(row)
    return rows
