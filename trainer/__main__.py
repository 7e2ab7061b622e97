"""`python -m trainer RUN_FOLDER`: train the run described by config.json. Ctrl+C stops cleanly.

An unfinished run resumes from its last save. The Train tab starts and resumes runs with this same
command.
"""

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.files import is_disk_full
from nt2vr.settings import Settings, prepare_environment, process_rank
from trainer.config import load_config, parse_change, preset_or_file
from trainer.runs.run_folder import FRAMES, RunFolder, refuse_second_training
from trainer.session import (
    FULL_DISK,
    Plan,
    check_new,
    follow,
    lower_rate_of,
    outcome_of,
    plan_new,
    plan_rest,
    train_here,
    use_only,
)
from trainer.teaching import announcement, estimate, new_teaching


def main(arguments: Sequence[str] | None = None) -> int:
    """Be `nt2vr train`; return the exit status: 0 finished or stopped, 1 failed, 2 misused."""
    from nt2vr.cli import main as command_line  # noqa: PLC0415  it imports this module

    if arguments is None:
        arguments = sys.argv[1:]
    return command_line(["train", *arguments])


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
        run_folder: folder of the run to resume, or to create with --config
        config: create RUN_FOLDER with this config: a file, or a preset such as clip-neg
        changes: KEY=VALUE, which overrides a value of that config (repeatable); for a run that is
            resumed after its loss became non-finite, a lower learning_rate
        cache: folder for frames; default: RUN_FOLDER/../.frames, and for the frames of videos of a
            run in DATA/runs, DATA/frames
        device: auto, cpu, cuda or cuda:1; auto is the first GPU
        as_json: print the outcome as JSON: state, last epoch, its checkpoint and measures
    """
    run = RunFolder(run_folder)

    def plan() -> Plan:
        settings = dict(map(parse_change, changes or ()))
        if config is None:
            return plan_rest(run, settings)
        return plan_new(run, load_config(preset_or_file(config), settings))

    return _train(run, plan, device=device, cache=cache, as_json=as_json)


def _train(
    run: RunFolder,
    plan: Callable[[], Plan],
    device: str,
    cache: Path | None = None,
    as_json: bool = False,
) -> int:
    """Train what is planned, and report failures as one sentence; return the exit status."""
    # Before torch is imported.
    prepare_environment()
    cache = cache or run.path.resolve().parent / FRAMES
    try:
        use_only(device)
        # Only the leading process prepares the run, writes files and reports the outcome.
        if process_rank() > 0:
            return follow(run, cache)
        state = train_here(run, plan(), cache)
        if as_json:
            sys.stdout.write(f"{json.dumps(outcome_of(run), ensure_ascii=False)}\n")
        return int(state == "failed")
    except Nt2vrError as error:
        sys.stderr.write(f"{error}\n")
    except OSError as error:
        if not is_disk_full(error):
            raise
        # Standard error may be a file on that disk.
        with suppress(OSError):
            sys.stderr.write(FULL_DISK.format(run.path.resolve()) + "\n")
    # It could not start.
    return 2


def teach(
    model: str,
    /,
    *,
    captions: Path | None = None,
    epochs: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
    data_dir: Path | None = None,
    device: str = "auto",
) -> int:
    """Teach a model negation by sentences alone; "MODEL taught" joins the models, and searches with the same indexes.

    Ctrl+C stops it; the same command goes on.

    Args:
        model: its name in the app, such as "ViT-B-32 / openai"
        captions: file of captions to learn from, besides those of the built-in world
        epochs: at most this many; default: 8
        data_dir: caches, runs and models; default: NT2VR_DATA, or ~/.cache/nt2vr
        device: auto, cpu, cuda or cuda:1; auto is the first GPU
    """
    prepare_environment()
    config, folder, is_new = new_teaching(Settings.read(data_dir), model, captions)
    use_only(device)
    run = RunFolder(folder)
    if not is_new:
        return _go_on_teaching(run, epochs, device)
    config = config.replace(epochs=epochs or config.batches.epochs)
    check_new(config, folder.parent)
    _announce(f"{announcement(config, estimate(config))} Ctrl+C stops; the same command goes on.")
    return _train(run, partial(plan_new, run, config), device)


def _go_on_teaching(run: RunFolder, epochs: int | None, device: str) -> int:
    """Say how long a teaching still takes, and resume it.

    If its loss became non-finite, it goes on at a lower learning rate.
    """
    config = load_config(run.config)
    if epochs not in (None, config.batches.epochs):
        raise ConfigError(
            f"{config.encoder.name} is being taught for {config.batches.epochs} epochs, which "
            f"cannot be changed. Leave --epochs out, or delete {run.path} to begin again."
        )
    refuse_second_training(run.path.parent)
    status = run.status()
    steps_done = status.step if status else 0
    rest = estimate(config, steps_done=steps_done)
    _announce(f"{announcement(config, rest, steps_done)} Ctrl+C stops; the same command goes on.")
    changes = lower_rate_of(run)
    if changes:
        rate = changes["learning_rate"]
        _announce(f"The loss became non-finite, so it goes on at learning_rate {rate:g}.")
    return _train(run, partial(plan_rest, run, changes), device)


def _announce(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
