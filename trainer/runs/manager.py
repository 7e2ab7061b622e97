"""Run manager: starts, stops, resumes, deletes and reads runs. Their processes outlive the app.

Talks to runs only through their folders, signals and locks; knows nothing about training or the
page.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import trainer
from nt2vr.errors import CheckpointError, ConfigError, Nt2vrError, RunError
from nt2vr.evaluation.metric_names import Metrics
from nt2vr.files import check_free, slug
from nt2vr.media.limits import LIMITS, Limit, evict, used_s
from nt2vr.models.card import WEIGHTS, read_card
from nt2vr.models.difference import whole_folder
from nt2vr.registry import pick
from nt2vr.settings import training_devices, training_environment
from trainer.config import TrainConfig, load_config, resolved, save_config
from trainer.runs.run_folder import (
    UNDER_WAY,
    Holder,
    RunFolder,
    RunStatus,
    device_locks,
    read_metrics,
    refuse_second_training,
)
from trainer.runs.waiting import WaitingStart
from trainer.trainings import training_of

# Relative base and data paths in presets start here.
ROOT = Path(trainer.__file__).parent.parent
# A run still training this long after a stop request may be killed.
PATIENCE_S = 10.0
# Folder of deleted runs, in the folder of the runs.
TRASH = ".trash"
LOG_TAIL_BYTES = 8_192
LEAST_FREE_BYTES = 64 << 10
# Size of a checkpoint of the built-in model, in half precision.
BUILT_IN_BYTES = 25_000_000
# A saved state has weights and two moments in float32: this many times the size of a checkpoint.
STATE_FACTOR = 6
# Most runs that may start in one second under one name.
MAX_SAME_NAME = 1000
# Size of the frames of the built-in world's clips.
FRAMES_BYTES = 300_000_000


@dataclass(frozen=True)
class Run:
    """A run as its observers see it.

    Attributes:
        status: its state may be "stopping" or "interrupted", which only the manager can infer.
        config: None if it cannot be read.
        may_end_at_once: True if it has ignored a stop request for longer than `PATIENCE_S`.
        session: as it was started with; "" after a restart of the app.
    """

    run_id: str
    status: RunStatus
    config: TrainConfig | None
    may_end_at_once: bool = False
    session: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        if self.config:
            return self.config.encoder.name
        return self.run_id

    @property
    def is_under_way(self) -> bool:
        return self.status.state in UNDER_WAY

    @property
    def can_resume(self) -> bool:
        """True if it ended before its last step and its config can be read."""
        return self.status.state in ("stopped", "interrupted", "failed") and self.config is not None

    @property
    def lower_rate(self) -> float | None:
        """The learning rate to resume at if the loss became non-finite; None for other runs."""
        if self.can_resume:
            return self.status.lower_rate
        return None

    @property
    def num_steps(self) -> int:
        """Number of steps: the config's until the first step, as data may have fewer clips."""
        if self.status.total and (not self.status.doing or self.status.state == "finished"):
            return self.status.total
        if self.config:
            return self.config.total_steps
        return 0


class _CachedMetrics(NamedTuple):
    changed_ns: int
    rows: list[Metrics]


class _StopRequest(NamedTuple):
    pid: int
    requested_s: float  # by the monotonic clock


class RunManager:
    """The runs in one folder, created when the first one starts.

    Attributes:
        device: as `--device` of the app names it.
        waiting: the last start that had to wait, until it is taken back; it may have led to a run,
            or have been refused.
        trash: folder of deleted runs, each named with the time of its deletion.
    """

    def __init__(self, folder: Path, device: str = "auto") -> None:
        self.folder = folder
        self.device = device
        self.trash = folder / TRASH
        self.waiting: WaitingStart | None = None
        self._waiting_lock = threading.Lock()
        # By run id. Configs are cached, since they never change.
        self._configs: dict[str, TrainConfig] = {}
        self._metrics: dict[str, _CachedMetrics] = {}
        self._stop_requests: dict[str, _StopRequest] = {}
        self._sessions: dict[str, str] = {}
        self._evict()

    def start(self, config: TrainConfig, session: str = "") -> str:
        """Start a run and return its id; one that is refused, for whatever reason, leaves no folder.

        Args:
            session: says who started it, as long as this manager lives.
        """
        config = self.check(config)
        try:
            run = self._new_folder(config.encoder.name)
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        try:
            save_config(config, run.config)
            _launch(run, self.free_device())
        except OSError as error:
            shutil.rmtree(run.path)
            raise _unwritable(run.path, error) from error
        except Nt2vrError:
            shutil.rmtree(run.path)
            raise
        self._sessions[run.path.name] = session
        return run.path.name

    def check(self, config: TrainConfig) -> TrainConfig:
        """Return a config with absolute paths; raise an Nt2vrError if no run with it could start now."""
        self.free_device()
        return self.check_config(config)

    def check_config(self, config: TrainConfig) -> TrainConfig:
        """Do as `check`, but for a start on a free device."""
        from trainer.checks import check_start  # noqa: PLC0415  imports torch

        config = resolved(config, self.folder.parent)
        training = f"Training {config.batches.epochs} epochs of {config.encoder.name}"
        check_free(self.folder, _space_needed(config), training)
        check_start(config)
        return config

    def start_later(self, name: str, start: Callable[[], str], session: str = "") -> WaitingStart:
        """Have a run start once none is in its way; a RunError if another start waits already.

        Args:
            name: of the run.
            start: starts it, and returns its id.
            session: says who asks for it.
        """
        with self._waiting_lock:
            self.refuse_second_wait()
            self.waiting = WaitingStart(
                name=name,
                start=start,
                check_device=self.free_device,
                session=session,
            )
            return self.waiting

    def refuse_second_wait(self) -> None:
        """Raise a RunError if a start is waiting."""
        if self.waiting is not None and self.waiting.is_waiting:
            raise RunError(
                f"“{self.waiting.name}” is already waiting to start, and only one start can wait."
            )

    def take_back_start(self) -> None:
        """Let the start that waits never happen, or forget why it was refused.

        Raises:
            RunError: if there is none.
        """
        with self._waiting_lock:
            if self.waiting is None:
                raise RunError("No start is waiting.")
            self.waiting.take_back()
            self.waiting = None

    def resume(self, run_id: str, learning_rate: float | None = None, session: str = "") -> None:
        """Let a run go on from where it was saved.

        If its loss became non-finite, it may go on at a lower `learning_rate`.
        """
        run = self.get(run_id)
        folder = self._run_folder(run_id)
        load_config(folder.config)
        folder.status()
        if not run.can_resume:
            raise RunError(
                f"{run.name} cannot be resumed: it is {run.status.state}. Start a new run."
            )
        options = []
        if learning_rate is not None:
            options = ["--set", f"learning_rate={learning_rate!r}"]
        _launch(folder, self.free_device(), options)
        self._sessions[run_id] = session

    def free_device(self) -> dict[str, str]:
        """Return the environment of a process that trains.

        Raises:
            DeviceInUseError: if a process is already training on its devices.
        """
        environment = training_environment(self.device)
        refuse_second_training(self.folder, training_devices(environment))
        return environment

    def under_way(self) -> str:
        """Return the id of the run that blocks a new one on its devices; "" if none does."""
        devices = training_devices(training_environment(self.device))
        runs = self.folder.resolve()
        for lock in device_locks(self.folder, devices).values():
            holder = lock.holder()
            if holder and Path(holder.folder).parent == runs:
                return holder.run
        return ""

    def stop(self, run_id: str, at_once: bool = False) -> None:
        """Ask a run to finish its step, save and exit.

        Or kill it `at_once`, losing everything since its last save.
        """
        run = self._run_folder(run_id)
        holder = run.lock.holder()
        if holder is None:
            raise RunError(f"{run_id} is not training, so it cannot be stopped.")
        pid = holder.pid
        # The process may have just ended on its own.
        with suppress(ProcessLookupError):
            if not at_once:
                os.kill(pid, signal.SIGTERM)
            elif os.getpgid(pid) == pid:
                # This includes its rendering processes.
                os.killpg(pid, signal.SIGKILL)
            else:
                os.kill(pid, signal.SIGKILL)

        # A second request does not begin the patience again; a resumed run has another process.
        request = self._stop_requests.get(run_id)
        if request is None or request.pid != pid:
            self._stop_requests[run_id] = _StopRequest(pid, time.monotonic())

    def delete(self, run_id: str) -> None:
        run = self._run_folder(run_id)
        try:
            # Nobody can resume it while the lock is held.
            with run.lock.hold(Holder.here(run.path)):
                self.trash.mkdir(exist_ok=True)
                run.path.rename(self.trash / f"{run_id}-{time.time_ns()}")
        except BlockingIOError:
            raise RunError(f"{run_id} is still training. Stop it before you delete it.") from None
        except OSError as error:
            raise RunError(f"{run_id} cannot be moved to the trash ({error.strerror}).") from error
        self._evict()
        self._configs.pop(run_id, None)
        self._metrics.pop(run_id, None)
        self._stop_requests.pop(run_id, None)
        self._sessions.pop(run_id, None)

    def _evict(self, limit: Limit = LIMITS["trash"]) -> list[OSError]:
        """Delete runs in the trash for good that exceed the limit; return why some remain."""
        deleted_runs = [path for path in self.trash.glob("*") if _deletion_time(path).isdecimal()]
        return evict(deleted_runs, limit, lambda path: int(_deletion_time(path)) / 1e9)

    def empty_trash(self) -> None:
        """Delete all runs in the trash for good; a RunError names one that cannot be."""
        for error in self._evict(Limit(count=0)):
            raise RunError(
                f"{error.filename} cannot be deleted ({error.strerror}). Delete it by hand."
            ) from error

    def runs(self) -> list[Run]:
        folders = sorted(self._folders().values(), key=lambda run: used_s(run.config), reverse=True)
        return [self._observed(run) for run in folders]

    def get(self, run_id: str) -> Run:
        return self._observed(self._run_folder(run_id))

    def metrics(self, run_id: str) -> list[Metrics]:
        """Return a run's metrics so far: per row, finite numbers by name."""
        run = self._run_folder(run_id)
        changed_ns = 0
        if run.metrics.exists():
            changed_ns = run.metrics.stat().st_mtime_ns
        cached = self._metrics.get(run_id)
        if cached is None or cached.changed_ns != changed_ns:
            cached = _CachedMetrics(changed_ns, read_metrics(run.metrics))
            self._metrics[run_id] = cached
        return cached.rows

    def log_tail(self, run_id: str, lines: int = 12) -> str:
        return log_tail(self._run_folder(run_id), lines)

    def _folders(self) -> dict[str, RunFolder]:
        """Find runs directly inside the folder; without symlinks, no id can point outside it."""
        folders = {}
        for config in self.folder.glob("[!.]*/config.json"):
            path = config.parent
            if not path.is_symlink():
                folders[path.name] = RunFolder(path)
        return folders

    def _run_folder(self, run_id: str) -> RunFolder:
        return pick("run", run_id, self._folders())

    def _new_folder(self, name: str) -> RunFolder:
        for path in folders_for(self.folder, name):
            with suppress(FileExistsError):
                path.mkdir(parents=True)
                return RunFolder(path)
        raise RunError(f"{self.folder} has too many runs named {name}. Delete some.")

    def _observed(self, run: RunFolder) -> Run:
        """Return a run with the state that its lock and the stop requests imply."""
        run_id = run.path.name
        # The lock is read before the status: a run that ends in between has written how it ended.
        holder = run.lock.holder()
        try:
            status = run.status() or RunStatus("preparing", 0)
        except RunError as error:
            # A newer nT2VR wrote it.
            status = RunStatus("failed", 0, error=str(error))

        may_end_at_once = False
        request = self._stop_requests.get(run_id)
        if holder is None:
            if status.state in UNDER_WAY:
                status = replace(status, state="interrupted", eta_s=None)
        elif request is not None and request.pid == holder.pid:
            status = replace(status, state="stopping", eta_s=None)
            may_end_at_once = time.monotonic() - request.requested_s > PATIENCE_S

        if run_id not in self._configs:
            with suppress(ConfigError):
                self._configs[run_id] = load_config(run.config)
        config = self._configs.get(run_id)
        return Run(
            run_id=run_id,
            status=status,
            config=config,
            may_end_at_once=may_end_at_once,
            session=self._sessions.get(run_id, ""),
        )


def _unwritable(folder: Path, error: OSError) -> RunError:
    advice = "Free some space, or set another data folder."
    return RunError(f"{folder} cannot be written to ({error.strerror}). {advice}")


def _deletion_time(deleted_run: Path) -> str:
    _, _, time_ns = deleted_run.name.rpartition("-")
    return time_ns


def _space_needed(config: TrainConfig) -> int:
    """Return the bytes of a run's checkpoints, of its frames, and of two saved states.

    There are two while one replaces the other.
    """
    checkpoint_bytes = BUILT_IN_BYTES
    base = config.encoder.base_folder
    training = training_of(config)
    links_to_base = training is not None and training.links_to_base
    if base and not links_to_base:
        with suppress(OSError, CheckpointError):
            checkpoint_bytes = (whole_folder(base, read_card(base)) / WEIGHTS).stat().st_size
    num_checkpoints = config.batches.epochs
    if config.validation.keep_checkpoints:
        num_checkpoints = min(num_checkpoints, config.validation.keep_checkpoints + 2)
    return checkpoint_bytes * (num_checkpoints + 2 * STATE_FACTOR) + FRAMES_BYTES


def folders_for(runs: Path, name: str) -> Iterator[Path]:
    """Yield the folders that a new run of this name may have; most often the first one is free."""
    base = f"{slug(name) or 'run'}-{datetime.now():%Y%m%d-%H%M%S}"
    yield runs / base
    for number in range(2, MAX_SAME_NAME):
        yield runs / f"{base}-{number}"


def start_process(
    run: RunFolder,
    environment: Mapping[str, str],
    outlives: bool = False,
    options: Sequence[str] = (),
) -> subprocess.Popen[bytes]:
    """Start the process of a run.

    Unless it `outlives` this process, it is stopped and saved when this one ends.
    """
    module = "trainer" if outlives else "trainer.runs.attached"
    command = [sys.executable, "-m", module, str(run.path.resolve()), *options]
    stdin = subprocess.DEVNULL if outlives else subprocess.PIPE
    with run.log.open("ab") as log:
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=stdin,
            stdout=log,
            stderr=log,
            start_new_session=outlives,
        )


def _launch(run: RunFolder, environment: Mapping[str, str], options: Sequence[str] = ()) -> None:
    """Start a run's process and return once it has taken over the run.

    Raises:
        RunError: if it ends before that, with the last line of its log.
    """
    process = start_process(run, environment, outlives=True, options=options)
    # Unless a thread waits for it, the process stays a zombie.
    threading.Thread(target=process.wait, daemon=True).start()
    has_ended = False
    while not has_ended:
        has_ended = process.poll() is not None
        status = run.status()
        if status is not None and status.pid == process.pid:
            return
        if not has_ended:
            time.sleep(0.02)

    # On a full disk, the log says nothing.
    if shutil.disk_usage(run.path).free < LEAST_FREE_BYTES:
        raise RunError(f"{run.path} cannot be written to (the disk is full). Free some space.")
    raise RunError(
        log_tail(run, 1) or f"The training ended at once with status {process.returncode}."
    )


def log_tail(run: RunFolder, lines: int) -> str:
    if not run.log.exists():
        return ""
    with run.log.open("rb") as file:
        file.seek(max(0, run.log.stat().st_size - LOG_TAIL_BYTES))
        return "\n".join(file.read().decode(errors="replace").splitlines()[-lines:])
