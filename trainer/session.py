"""One run in this process: planned and checked before anything is written, then trained to an end or a stop."""

import logging
import os
import shlex
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tqdm import tqdm

from nt2vr.errors import ConfigError, DivergedError, LineFormatter, Nt2vrError, RunError
from nt2vr.files import JsonObject, check_writable, is_disk_full
from nt2vr.models.card import read_card
from nt2vr.models.catalog import Catalog, best_checkpoint
from nt2vr.presets import preset_files
from nt2vr.progress import Progress, silent, stoppable
from nt2vr.settings import Settings, use_device
from trainer.config import (
    ConfigChanges,
    TrainConfig,
    load_config,
    resolved,
    save_config,
)
from trainer.runs.run_folder import RunFolder, RunStatus, State, refuse_second_training
from trainer.teaching import add_model
from trainer.trainings import training_of

logger = logging.getLogger("trainer")
FULL_DISK = "The disk of {} is full. Free some space, then resume the run."


def use_only(device: str) -> None:
    """Leave only this device visible, and refuse a GPU that does not exist."""
    use_device(device)
    if device.startswith("cuda"):
        import torch  # noqa: PLC0415  not otherwise needed to refuse a config

        if not torch.cuda.is_available():
            raise ConfigError(f"There is no {device} here. Leave --device out, or choose another.")


@dataclass(frozen=True)
class Plan:
    """What a command is to train."""

    config: TrainConfig
    is_new: bool
    # The learning rate to resume at; None for that of the config.
    lower_rate: float | None = None


def plan_new(run: RunFolder, config: TrainConfig) -> Plan:
    """Plan a new run, without writing anything; an Nt2vrError says why it cannot start."""
    if run.config.exists():
        raise ConfigError(
            f"{run.config} already exists. Leave --config out, or name another folder."
        )
    folder = run.path.resolve()
    check_writable(folder)
    config = resolved(config, run.data_dir)
    check_new(config, folder.parent)
    return Plan(config, is_new=True)


def plan_rest(run: RunFolder, changes: ConfigChanges) -> Plan:
    """Plan the rest of a run, with at most a lower learning rate among the changes."""
    if not run.config.exists():
        raise ConfigError(
            f"{run.path} has no run. Name the --config of a new one: {', '.join(preset_files())}."
        )
    config = load_config(run.config)
    lower_rate = _lower_rate(run, config, changes) if changes else None
    return Plan(config, is_new=False, lower_rate=lower_rate)


def lower_rate_of(run: RunFolder) -> dict[str, float]:
    """Return the change that a run whose loss became non-finite should go on with; none for other runs."""
    status = run.status()
    if status is None or status.lower_rate is None:
        return {}
    return {"learning_rate": status.lower_rate}


def _write_new(run: RunFolder, config: TrainConfig) -> None:
    """Write the config of a new run, whose folder has only its lock; a full disk leaves no folder."""
    try:
        save_config(config, run.config)
    except OSError:
        shutil.rmtree(run.path, ignore_errors=True)
        raise


def check_new(config: TrainConfig, runs: Path) -> None:
    """Raise an Nt2vrError if no run with this config can start in a folder of runs."""
    from trainer.checks import check_start  # noqa: PLC0415  imports torch

    refuse_second_training(runs)
    check_start(config)


def _lower_rate(run: RunFolder, config: TrainConfig, changes: ConfigChanges) -> float:
    """Read the learning rate that a run is to be resumed at.

    Raises:
        ConfigError: if it is not a lower one, or if anything else is to change.
    """
    status = run.status()
    if status is None or status.diverged_rate is None:
        raise ConfigError(
            "--set applies only to a new run, or as a lower learning_rate to one whose loss became "
            "non-finite. Name its --config too."
        )
    refused = [key for key in changes if key != "learning_rate"]
    if refused:
        raise ConfigError(
            f"{', '.join(refused)} cannot be changed in a run that has begun, only learning_rate "
            "can. Leave --set out, or start a new run."
        )
    rate = config.with_changes(changes).rate.learning_rate
    if rate >= status.diverged_rate:
        raise ConfigError(
            f"At a learning_rate of {status.diverged_rate:g}, the loss became non-finite. Set one "
            f"below it, not {rate:g}."
        )
    return rate


def follow(run: RunFolder, cache: Path) -> int:
    """Train a run in a process of torchrun that does not lead; return the exit status."""
    from trainer.distributed import join  # noqa: PLC0415
    from trainer.runs.resume import read_state, resumed_config  # noqa: PLC0415

    with suppress(InterruptedError):
        try:
            # This returns once the leader joins too, in `_train`: its config is written by then.
            join()
            config = resumed_config(run, load_config(run.config), read_state(run))
            with _stop_on_signals() as stop:
                _train(run, config, cache, stop)
        # The leading process reports it.
        except Nt2vrError:
            return 1
    return 0


@contextmanager
def _stop_on_signals() -> Iterator[threading.Event]:
    """Yield an event that Ctrl+C and SIGTERM set within the block, if this is the main thread."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = {number: signal.signal(number, lambda *_: stop.set()) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def train_here(run: RunFolder, plan: Plan, cache: Path) -> State:
    """Train a run in this process; return its state, "failed" if its status has an error.

    Ctrl+C and SIGTERM stop it cleanly. Messages go to its log and to standard error.

    Raises:
        RunError: if the run, or one on the same device, is training already, or has finished.
        OSError: if the run's folder cannot be written to.
    """
    with run.training():
        if plan.is_new:
            _write_new(run, plan.config)
        before = run.status() or RunStatus("preparing", 0)
        if before.state == "finished":
            raise RunError(
                f"{run.path} has finished, with nothing left to train. Name another folder."
            )
        status = replace(before, state="preparing", pid=os.getpid(), eta_s=None, error=None)
        run.preparing(status)(0, 0, "loading PyTorch")
        with _logging_to(run.log), _stop_on_signals() as stop:
            return _lead(run, plan=plan, status=status, cache=cache, stop=stop)


def _lead(
    run: RunFolder, plan: Plan, status: RunStatus, cache: Path, stop: threading.Event
) -> State:
    """Train a run to its end, and write what became of it into its status and its log."""
    config = plan.config
    state: State = "failed"
    model = ""
    error_text: str | None = None
    diverged_rate: float | None = None
    try:
        config, status = _resume(run, config, status, lower_rate=plan.lower_rate)
        report = run.preparing(status)
        report(0, 0, "loading the model")
        ended = _train(run, config, cache, stop, report)
        if ended == "finished" and config.run.add_model and run.data_dir is not None:
            model, outcome = add_model(run.path)
            logger.info("%s", outcome)
            run.write_status(replace(run.status() or status, doing=outcome))
        # A model that cannot be added fails the run.
        state = ended
    except InterruptedError:
        state = "stopped"
    except DivergedError as error:
        diverged_rate = config.rate.learning_rate
        error_text = str(error)
        logger.error("%s", error_text)
    except Exception as error:
        logger.exception("The training failed.")
        error_text = _error_text(run, error)
        logger.error("%s", error_text)

    last = replace(run.status() or status, state=state, eta_s=None, error=error_text)
    if diverged_rate is not None:
        last = replace(last, diverged_rate=diverged_rate)
    run.write_status(last)
    _log_end(run, config, last, model)
    return state


def _log_end(run: RunFolder, config: TrainConfig, status: RunStatus, model: str) -> None:
    """Log how a run has ended; a failed one has logged its error."""
    if status.state == "stopped" and status.step:
        logger.info("The run has stopped after step %d.", status.step)
    elif status.state == "finished":
        logger.info("The run has finished. %s", _use_of(run, config, model))
    elif status.state != "failed":
        logger.info("The run has %s.", status.state)


def _error_text(run: RunFolder, error: Exception) -> str:
    """Return what the status of a failed run says: the message, with its class if unexpected."""
    if is_disk_full(error):
        return FULL_DISK.format(run.path.resolve())
    if isinstance(error, Nt2vrError):
        return str(error)
    return f"{type(error).__name__}: {error}"


def _use_of(run: RunFolder, config: TrainConfig, model: str) -> str:
    """Say what the model of a finished run is called, and the command that uses it.

    `model` is its name if it was added to the models. Outside of a data folder, it has no name.
    """
    folder = run.path.resolve()
    data_dir = run.data_dir
    if data_dir is None:
        checkpoint = best_checkpoint(folder / "checkpoints")
        command = ["nt2vr", "export", str(checkpoint), "FOLDER"]
        return f"Its model is in {checkpoint}: {shlex.join(command)}"
    name = model or Catalog.of(Settings.read(data_dir)).name_of_run(folder)
    command = ["nt2vr", "search", "a dog and not a cat", "--systems", name]
    training = training_of(config)
    if training is not None:
        command += training.search_options
    if Settings.read().data_dir.resolve() != data_dir:
        command += ["--data-dir", str(data_dir)]
    return f"Its model is “{name}”: {shlex.join(command)}"


def _resume(
    run: RunFolder, config: TrainConfig, status: RunStatus, lower_rate: float | None
) -> tuple[TrainConfig, RunStatus]:
    """Return the config and the status with which a run goes on from where it was saved.

    A lower learning rate is recorded.
    """
    from trainer.runs.resume import change_learning_rate, read_state, resumed_config  # noqa: PLC0415

    if lower_rate is not None:
        change_learning_rate(run, config, lower_rate)
        status = replace(status, diverged_rate=None)
    saved = read_state(run)
    if saved is None:
        return config, replace(status, step=0, epoch=0)
    if not saved.position.finished:
        status = replace(status, step=saved.steps, epoch=saved.last_epoch)
    return resumed_config(run, config, saved), status


@contextmanager
def _logging_to(log: Path) -> Iterator[None]:
    """Log to a file, and to standard error.

    In runs that the page or a sweep starts, standard error is that file.
    """
    file = logging.FileHandler(log, encoding="utf-8")
    file.setFormatter(LineFormatter("%(asctime)s %(message)s"))
    handlers: list[logging.Handler] = [file, _AboveBar()]
    # Standard error may be closed, or not a file of the system.
    with suppress(OSError, ValueError):
        if os.path.samestat(os.fstat(sys.stderr.fileno()), log.stat()):
            handlers.pop()
    root = logging.getLogger()
    handlers_before = root.handlers
    level_before = logger.level
    # Whoever has set up logging before would write each line a second time.
    root.handlers = handlers
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.handlers = handlers_before
        logger.setLevel(level_before)
        file.close()


class _AboveBar(logging.Handler):
    """Writes messages, but no tracebacks, above the progress bar, if there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        if not record.exc_info:
            tqdm.write(record.getMessage(), file=sys.stderr)


def outcome_of(run: RunFolder) -> JsonObject:
    """Describe an ended run: its state, its last epoch's checkpoint, and the measures on its card."""
    status = run.status()
    assert status, "a run that was led has one"
    outcome: JsonObject = {
        "run": str(run.path.resolve()),
        "state": status.state,
        "error": status.error,
        "epoch": max(run.checkpoint_epochs(), default=0),
        "checkpoint": None,
        "metrics": {},
    }
    if outcome["epoch"]:
        folder = run.checkpoint(outcome["epoch"])
        outcome["checkpoint"] = str(folder.resolve())
        outcome["metrics"] = dict(read_card(folder).metrics)
    return outcome


def _train(
    run: RunFolder,
    config: TrainConfig,
    cache: Path,
    stop: threading.Event,
    progress: Progress = silent,
) -> State:
    # Processes that render clips import this module, too, and do not need torch.
    from trainer.data.clip_loader import ClipLoader  # noqa: PLC0415
    from trainer.distributed import in_turn, join  # noqa: PLC0415
    from trainer.learner import Learner  # noqa: PLC0415
    from trainer.loop import train as train_loop  # noqa: PLC0415
    from trainer.start import Start, new_text_side  # noqa: PLC0415

    join()
    training = training_of(config)
    if training is not None:
        return training.train(run, config, cache, stop.is_set, progress)
    # This comes first: it refuses what cannot be trained before any clip is rendered or decoded.
    start = Start.of(config)
    logger.info("Preparing clips for %s.", config.encoder.name)
    with in_turn():
        loader = ClipLoader(
            config,
            cache,
            reading=start.losses.reading,
            progress=stoppable(progress, stop.is_set),
        )
        clips = loader.load("train")
        validation = loader.load("validation")

    text_side = new_text_side(config, clips)
    # A dataset may have fewer clips and captions than configured.
    num_captions = min(config.dataset.num_captions, clips.num_captions)
    counted_config = config.replace(num_clips=len(clips), num_captions=num_captions)
    learner = Learner(counted_config, start, text_side)
    logger.info(
        "Training %s on %s, %d %s.", config.encoder.name, clips.name, len(clips), clips.unit
    )
    return train_loop(
        learner,
        run=run,
        clips=clips,
        validation=validation,
        should_stop=stop.is_set,
        progress=progress,
        cache=cache,
    )
