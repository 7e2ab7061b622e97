"""`python -m trainer RUN_FOLDER [--config FILE]`: train what the folder's config.json says; Ctrl+C ends it cleanly."""

import argparse
import logging
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from tqdm.contrib.logging import logging_redirect_tqdm

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.settings import prepare_environment
from trainer.clips import world_clips
from trainer.config import TrainConfig, load_config, save_config
from trainer.runs import RunFolder, RunStatus, State

logger = logging.getLogger("trainer")


def main(arguments: Sequence[str] | None = None) -> int:
    """Train; returns the exit status: 0 finished or stopped, 1 failed, 2 could not start."""
    parser = argparse.ArgumentParser(prog="python -m trainer", description="Train what RUN_FOLDER/config.json says.")
    parser.add_argument("run_folder", type=Path)
    parser.add_argument("--config", type=Path, help="make RUN_FOLDER with a copy of this config")
    parser.add_argument("--cache", type=Path, help="where rendered frames are kept (default: RUN_FOLDER/../.frames)")
    options = parser.parse_args(arguments)
    prepare_environment()  # before torch is imported
    run = RunFolder(options.run_folder)
    try:
        config = _prepare(run, options.config)
    except Nt2vrError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    logging.basicConfig(filename=run.log, encoding="utf-8", format="%(asctime)s %(message)s", force=True)
    logger.setLevel(logging.INFO)
    with logging_redirect_tqdm() if sys.stderr.isatty() else nullcontext():  # at a terminal, the log is there too
        return _run(run, config, options.cache or run.path.resolve().parent / ".frames")


def _prepare(run: RunFolder, config_file: Path | None) -> TrainConfig:
    """Read the run's config, or write it first where one is given."""
    if (status := run.status()) is not None:
        raise ConfigError(f"{run.path} has been used ({status.state}). Name another folder.")
    if config_file is not None:
        config = load_config(config_file)
        if run.config.exists():
            raise ConfigError(f"{run.config} is there already. Leave --config out, or name another folder.")
        run.path.mkdir(parents=True, exist_ok=True)
        save_config(config, run.config)
    return load_config(run.config)


def _run(run: RunFolder, config: TrainConfig, cache: Path) -> int:
    """Train, and leave in status.json how it ended."""
    status = RunStatus("preparing", os.getpid())
    run.write_status(status)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        state = _train(run, config, cache, stop)
    except InterruptedError:
        state = "stopped"
    except Exception as error:
        logger.exception("The training failed.")
        reason = str(error) if isinstance(error, Nt2vrError) else f"{type(error).__name__}: {error}"
        run.write_status(replace(run.status() or status, state="failed", eta_s=None, error=reason))
        return 1
    run.write_status(replace(run.status() or status, state=state, eta_s=None))
    logger.info("The run has %s.", state)
    return 0


def _train(run: RunFolder, config: TrainConfig, cache: Path, stop: threading.Event) -> State:
    # The processes that render import this file too, and need no torch
    from trainer.learner import Learner  # noqa: PLC0415
    from trainer.loop import train  # noqa: PLC0415

    learner = Learner(config)  # first, since it refuses what cannot be trained
    size, frames = config.image_size, config.num_frames
    clips = world_clips("train", config.num_clips, frames, size, config.seed, cache, stop.is_set)
    validation = world_clips("validation", config.validation_clips, frames, size, config.seed, cache, stop.is_set)
    logger.info("Training %s on %d clips.", config.name, len(clips))
    return train(learner, run, clips, validation, stop.is_set)


if __name__ == "__main__":
    sys.exit(main())
