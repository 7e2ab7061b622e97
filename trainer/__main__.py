"""`python -m trainer RUN_FOLDER`: train the run described by config.json. Ctrl+C stops cleanly.

An unfinished run resumes from its last save. The Train tab starts and resumes runs with this same command.
"""

import json
import logging
import os
import shutil
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from tqdm import tqdm

from nt2vr.errors import ConfigError, DivergedError, LineFormatter, Nt2vrError, RunError
from nt2vr.files import check_writable, is_disk_full
from nt2vr.models.card import read_card
from nt2vr.models.catalog import Catalog
from nt2vr.progress import Progress, silent, stoppable
from nt2vr.settings import Settings, prepare_environment, process_rank, use_device
from nt2vr.world import WORLD
from trainer.config import (
    TrainConfig,
    build_config,
    changed,
    load_config,
    parse_change,
    preset_names,
    preset_or_file,
    resolved,
    save_config,
)
from trainer.runs.run_folder import RunFolder, RunStatus, State, refuse_second_training
from trainer.teaching import PRESET, add_model, estimate_s, run_of, teaching, told_s

logger = logging.getLogger("trainer")
RUNS = "runs"  # folder of run folders in a data folder
FULL_DISK = "The disk of {} is full. Free some space, then resume the run."


def main(arguments: Sequence[str] | None = None) -> int:
    """Be `nt2vr train`; return the exit status: 0 finished or stopped, 1 failed, 2 misused."""
    from nt2vr.cli import main as command_line  # noqa: PLC0415  it imports this module

    return command_line(["train", *(sys.argv[1:] if arguments is None else arguments)])


def train(
    run_folder: Path,
    /,
    *,
    config: Path | None = None,
    changes: Annotated[list[str] | None, Parameter("--set")] = None,
    cache: Path | None = None,
    device: str = "auto",
    as_json: Annotated[bool, Parameter("--json")] = False,
) -> int:
    """Train the run that RUN_FOLDER/config.json describes, and report failures as one sentence.

    Args:
        run_folder: resumed, or created with --config
        config: create RUN_FOLDER with this config: a file, or a preset such as clip-neg
        changes: KEY=VALUE, which overrides a value of that config (repeatable); for a run that is resumed after its
            loss became non-finite, a lower learning_rate
        cache: folder for frames; default: RUN_FOLDER/../.frames; those of videos DATA/frames for a run in DATA/runs
        device: auto, cpu, cuda or cuda:1; auto is the first GPU
        as_json: print the outcome as JSON: state, last epoch, its checkpoint and measures
    """
    prepare_environment()  # before torch is imported
    run = RunFolder(run_folder)
    cache = cache or run.path.resolve().parent / ".frames"
    try:
        _use(device)
        if process_rank() > 0:  # only the leading process prepares the run, writes files and reports the outcome
            return _follow(run, cache)
        plan = _plan(run, config, dict(map(parse_change, changes or ())))
        with run.training():
            if plan.is_new:
                _write_new(run, plan.config)
            status = _lead(run, plan.config, cache, plan.lower_rate)
            if as_json:
                sys.stdout.write(f"{json.dumps(_outcome(run), ensure_ascii=False)}\n")
            return status
    except Nt2vrError as error:
        sys.stderr.write(f"{error}\n")
    except OSError as error:
        if not is_disk_full(error):
            raise
        with suppress(OSError):  # standard error may be a file on that disk
            sys.stderr.write(FULL_DISK.format(run.path.resolve()) + "\n")
    return 2  # it could not start


def teach(model: str, /, *, captions: Path | None = None, data_dir: Path | None = None, device: str = "auto") -> int:
    """Teach a model negation by sentences alone; "MODEL taught" joins the models, and searches with the same indexes.

    Ctrl+C stops it; the same command goes on.

    Args:
        model: its name in the app, such as "ViT-B-32 / openai"
        captions: file of captions to learn from, besides those of the built-in world
        data_dir: caches, runs and models; default: NT2VR_DATA, or ~/.cache/nt2vr
        device: auto, cpu, cuda or cuda:1; auto is the first GPU
    """
    prepare_environment()
    settings = Settings.read(data_dir)
    models = Catalog.of(settings)
    config = resolved(teaching(models, model, str(captions or WORLD)), settings.data_dir)
    if models.named(config.name):
        raise ConfigError(f"{config.name} is here already. To teach it again, remove it: nt2vr models remove.")
    run, is_new = run_of(settings.data_dir / RUNS, config)
    if not is_new:
        status = RunFolder(run).status()
        if status is None or status.lower_rate is None:
            return train(run, device=device)
        sys.stdout.write(f"The loss became non-finite, so it goes on at learning_rate {status.lower_rate:g}.\n")
        sys.stdout.flush()
        return train(run, changes=[f"learning_rate={status.lower_rate!r}"], device=device)
    _use(device)
    _check_start(config, run.parent)
    sys.stdout.write(f"{told_s(config, estimate_s(config))} Ctrl+C stops; the same command goes on.\n")
    sys.stdout.flush()
    changes = [f"{key}={getattr(config, key)}" for key in ("name", "base", "data")]
    return train(run, config=PRESET, changes=changes, device=device)


def _use(device: str) -> None:
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
    lower_rate: float | None = None  # the learning rate to resume at, if another one


def _plan(run: RunFolder, config_file: Path | None, changes: Mapping[str, Any]) -> Plan:
    """Plan a new run or the rest of one, without writing anything; an Nt2vrError says why it cannot start."""
    if config_file is None:
        return _plan_rest(run, changes)
    if run.config.exists():
        raise ConfigError(f"{run.config} already exists. Leave --config out, or name another folder.")
    folder = run.path.resolve()
    check_writable(folder)
    config = load_config(preset_or_file(config_file), changes)
    config = resolved(config, folder.parents[1] if folder.parent.name == RUNS else None)
    _check_start(config, folder.parent)
    return Plan(config, is_new=True)


def _plan_rest(run: RunFolder, changes: Mapping[str, Any]) -> Plan:
    if not run.config.exists():
        raise ConfigError(f"{run.path} has no run. Name the --config of a new one: {', '.join(preset_names())}.")
    config = load_config(run.config)
    if not changes:
        return Plan(config, is_new=False)
    return Plan(config, is_new=False, lower_rate=_lower_rate(run, config, changes))


def _write_new(run: RunFolder, config: TrainConfig) -> None:
    """Write the config of a new run, whose folder has only its lock; a full disk leaves no folder."""
    try:
        save_config(config, run.config)
    except OSError:
        shutil.rmtree(run.path, ignore_errors=True)
        raise


def _check_start(config: TrainConfig, runs: Path) -> None:
    """Raise an Nt2vrError if no run with this config can start in a folder of runs."""
    from trainer.checks import check_start  # noqa: PLC0415  imports torch

    refuse_second_training(runs)
    check_start(config)


def _lower_rate(run: RunFolder, config: TrainConfig, changes: Mapping[str, Any]) -> float:
    """Read the learning rate that a run is to be resumed at; a ConfigError refuses any other change of a run."""
    status = run.status()
    if status is None or status.diverged_rate is None:
        raise ConfigError(
            "--set applies only to a new run, or as a lower learning_rate to one whose loss became non-finite. "
            "Name its --config too."
        )
    if others := [key for key in changes if key != "learning_rate"]:
        raise ConfigError(
            f"{', '.join(others)} cannot be changed in a run that has begun, only learning_rate can. Leave --set out, "
            "or start a new run."
        )
    rate = build_config(changed(asdict(config), changes)).learning_rate
    if rate >= status.diverged_rate:
        raise ConfigError(
            f"At a learning_rate of {status.diverged_rate:g}, the loss became non-finite. Set one below it, "
            f"not {rate:g}."
        )
    return rate


def _follow(run: RunFolder, cache: Path) -> int:
    from trainer.distributed import join  # noqa: PLC0415
    from trainer.runs.resume import read_state, resumed_config  # noqa: PLC0415

    with suppress(InterruptedError):
        try:
            join()  # returns once the leader joins too, in `_train`, when the config and its changes are there
            config = resumed_config(run, load_config(run.config), read_state(run))
            _train(run, config, cache, _stop_on_signals())
        except Nt2vrError:  # the leader reports it
            return 1
    return 0


def _stop_on_signals() -> threading.Event:
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return stop


def _lead(run: RunFolder, config: TrainConfig, cache: Path, lower_rate: float | None = None) -> int:
    stop = _stop_on_signals()
    before = run.status() or RunStatus("preparing", 0)
    if before.state == "finished":
        raise RunError(f"{run.path} has finished, with nothing left to train. Name another folder.")
    status = replace(before, state="preparing", pid=os.getpid(), eta_s=None, error=None)
    run.preparing(status)(0, 0, "loading PyTorch")
    _log_to(run.log)
    state: State = "failed"
    error_text: str | None = None
    has_diverged = False
    try:
        config, status = _resume(run, config, status, lower_rate)
        report = run.preparing(status)
        report(0, 0, "loading the model")
        ended = _train(run, config, cache, stop, report)
        if ended == "finished" and config.add_model and run.path.resolve().parent.name == RUNS:
            logger.info("%s", outcome := add_model(run.path))
            run.write_status(replace(run.status() or status, doing=outcome))
        state = ended
    except InterruptedError:
        state = "stopped"
    except DivergedError as error:
        has_diverged = True
        error_text = str(error)
        logger.error("%s", error_text)
    except Exception as error:
        logger.exception("The training failed.")
        error_text = str(error) if isinstance(error, Nt2vrError) else f"{type(error).__name__}: {error}"
        if is_disk_full(error):
            error_text = FULL_DISK.format(run.path.resolve())
        logger.error("%s", error_text)
    last = replace(run.status() or status, state=state, eta_s=None, error=error_text)
    if has_diverged:
        last = replace(last, diverged_rate=config.learning_rate)
    run.write_status(last)
    if state == "stopped" and last.step:
        logger.info("The run has stopped after step %d.", last.step)
    elif state != "failed":
        logger.info("The run has %s.", state)
    return int(state == "failed")


def _resume(
    run: RunFolder, config: TrainConfig, status: RunStatus, lower_rate: float | None
) -> tuple[TrainConfig, RunStatus]:
    """Return the config and the status from which a run goes on, which is where it was saved; record a lower rate."""
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


def _log_to(log: Path) -> None:
    """Log to a file and to standard error, unless that is the file, as in runs that the page or a sweep starts."""
    file = logging.FileHandler(log, encoding="utf-8")
    file.setFormatter(LineFormatter("%(asctime)s %(message)s"))
    handlers = [file, _Shown()]
    with suppress(OSError, ValueError):  # it is closed, or none of the system's files
        if os.path.samestat(os.fstat(sys.stderr.fileno()), log.stat()):
            handlers.pop()
    logging.basicConfig(handlers=handlers, level=logging.WARNING, force=True)
    logger.setLevel(logging.INFO)


class _Shown(logging.Handler):
    """Writes messages, but no tracebacks, above the progress bar, if there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        if not record.exc_info:
            tqdm.write(record.getMessage(), file=sys.stderr)


def _outcome(run: RunFolder) -> dict[str, Any]:
    """Describe an ended run: its state, and the checkpoint of its last epoch with the measures on its card."""
    status, outcome = run.status(), dict[str, Any](epoch=0, checkpoint=None, metrics={})
    assert status, "a run that was led has one"
    if epochs := [int(folder.name.removeprefix("epoch_")) for folder in run.path.glob("checkpoints/epoch_*")]:
        last = run.checkpoint(max(epochs))
        outcome = {"epoch": max(epochs), "checkpoint": str(last.resolve()), "metrics": dict(read_card(last).metrics)}
    return {"run": str(run.path.resolve()), "state": status.state, "error": status.error, **outcome}


def _train(
    run: RunFolder, config: TrainConfig, cache: Path, stop: threading.Event, progress: Progress = silent
) -> State:
    # Rendering processes import this module too and do not need torch
    from trainer.data.clips import ClipLoader, words_for  # noqa: PLC0415
    from trainer.distributed import in_turn, join  # noqa: PLC0415
    from trainer.learner import Learner, Start  # noqa: PLC0415
    from trainer.loop import train as train_loop  # noqa: PLC0415

    join()
    if config.train == "fusion":
        from trainer.fusion import train_run  # noqa: PLC0415

        return train_run(run, config, cache, stop.is_set, progress)
    start = Start.of(config)  # refuses what cannot be trained before any clip is rendered or decoded
    logger.info("Preparing clips for %s.", config.name)
    with in_turn():
        loader = ClipLoader(config, cache, start.losses.needs, stoppable(progress, stop.is_set))
        clips, validation = loader.load("train"), loader.load("validation")
    num_captions = min(config.num_captions, clips.num_captions)  # a dataset may have fewer than configured
    words = words_for(config, clips)
    learner = Learner(replace(config, num_clips=len(clips), num_captions=num_captions), start, words)
    logger.info("Training %s on %s, %d %s.", config.name, clips.name, len(clips), clips.unit)
    return train_loop(learner, run, clips, validation, stop.is_set, progress)


if __name__ == "__main__":
    sys.exit(main())
