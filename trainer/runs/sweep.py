"""`nt2vr sweep CONFIG --grid losses.bnl.m4=-.1,-.15 --seeds 3`, or `nt2vr sweep table-5`: a grid of settings.

Every point of the grid is trained with every seed, each run in a folder of its own. The same
command again resumes what was stopped and skips what has finished.
"""

import json
import re
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import product
from pathlib import Path
from statistics import mean, stdev
from typing import Annotated, Any

from cyclopts import Parameter

from nt2vr.errors import ConfigError, RunError, quoted
from nt2vr.files import atomic_write, check_writable, parse_json
from nt2vr.presets import sweep_files
from nt2vr.settings import Settings, training_devices, training_environment
from trainer.config import (
    METRICS,
    TrainConfig,
    load_config,
    parse_change,
    parse_value,
    preset_or_file,
    resolved,
    save_config,
)
from trainer.runs.manager import log_tail, start_process
from trainer.runs.run_folder import RunFolder, read_metrics, refuse_second_training

MAX_RUNS = 1000
MODEL_CHARS, POINT_CHARS = 24, 60  # of a model's and a point's name in that of a folder
# prefixes of the metrics of what a model is compared with -> what the table calls it
CONTROLS = {"base": "base", "drop": "base drop", "parts": "parts"}
Label = tuple[
    str, ...
]  # what the table says of a combination of settings, for each key that is varied
Point = tuple[Label, Mapping[str, Any]]  # with the changes of the config


@dataclass(frozen=True)
class SweepRun:
    """One training, in a folder named by model, point and seed, and by a hash of its config."""

    label: Label
    config: TrainConfig
    folder: RunFolder

    @property
    def is_finished(self) -> bool:
        return (status := self.folder.status()) is not None and status.state == "finished"

    @property
    def has_changed(self) -> bool:
        """True if the run diverged and was resumed at another learning rate, which is not that of its point."""
        return any(
            row.keys() == {"epoch", "step", "learning_rate"}
            for row in read_metrics(self.folder.metrics)
        )

    @property
    def best_epoch(self) -> Mapping[str, float] | None:
        """Metrics of a finished run's best epoch; the newest where the watched metric is not measured.

        None for a run that has not finished as its config says.
        """
        rows = (
            read_metrics(self.folder.metrics) if self.is_finished and not self.has_changed else []
        )
        epochs = [row for row in rows if row["epoch"] > 0 and "learning_rate" not in row]
        return max(
            epochs,
            key=lambda row: row.get(self.config.validation.monitor, row["epoch"]),
            default=None,
        )


def sweep(
    config: Path,
    /,
    *,
    grid: list[str] | None = None,
    changes: Annotated[list[str] | None, Parameter("--set")] = None,
    seeds: int = 1,
    out: Path | None = None,
    data_dir: Path | None = None,
    device: str | None = None,
) -> int:
    """Train a grid of settings with several seeds, one run after the other; write a table and print it.

    Args:
        config: a config file, a preset such as clip-bnl, or a sweep of a paper: table-5
        grid: KEY=VALUE,VALUE: values of a key, such as losses.bnl.m4; of several keys, all
            combinations are trained (repeatable)
        changes: KEY=VALUE, which overrides a value in all runs (repeatable)
        seeds: seeds per point, from the config's on
        out: folder for the runs and the table; default: the app's runs
        data_dir: caches, runs and downloaded models; default: NT2VR_DATA, or ~/.cache/nt2vr
        device: auto, cpu, cuda or cuda:1; default: NT2VR_DEVICE, or auto: the first GPU, otherwise
            the processor
    """
    settings = Settings.read(data_dir, device)
    out = out or settings.data_dir / "runs"
    check_writable(out)
    keys, points, file, before = planned(config, dict(map(parse_choices, grid or ())))
    base = load_config(preset_or_file(file), {**before, **dict(map(parse_change, changes or ()))})
    runs = runs_at(base, points, seeds, out, settings.data_dir)
    check_runs(runs, settings.device)
    table = out / f"sweep-{_digest([each.folder.path.name for each in runs])}.md"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    failed = []
    for run in runs:
        if not run.is_finished and (reason := train(run, settings.device)):
            failed.append(f"{run.folder.path.name} failed: {reason}")
        with atomic_write(table) as partial:
            partial.write_text(markdown(keys, runs), encoding="utf-8")
    sys.stdout.write(table.read_text(encoding="utf-8"))
    notes = [f"The table is in {table}."]
    for run in runs:
        if run.has_changed:
            notes.append(
                f"The table leaves out {run.folder.path.name}, resumed at another learning_rate."
            )
    sys.stderr.writelines(f"{note}\n" for note in (*notes, *failed))
    return 1 if failed else 0


def parse_choices(text: str) -> tuple[str, list[Any]]:
    key, equals, values = text.partition("=")
    if not (key and equals and values):
        raise ConfigError(f"Expected KEY=VALUE,VALUE, not {quoted(text)}.")
    return key, [parse_value(each) for each in values.split(",")]


def planned(
    config: Path, grid: Mapping[str, Sequence[Any]]
) -> tuple[list[str], list[Point], Path, dict[str, Any]]:
    """Return the keys that are varied, the points, the config's name or file, and what is changed in it first."""
    changes: dict[str, Any] = {}
    ready = sweep_files().get(str(config))
    if ready is not None and not config.exists():
        if grid:
            raise ConfigError(
                f"{config} has a grid of its own. Leave --grid out, or name a config."
            )
        sweep = parse_json(ready.read_text(encoding="utf-8"))
        config, changes, grid = Path(sweep["config"]), sweep.get("set", {}), sweep.get("grid", {})
        if "points" in sweep:
            return (
                sweep["keys"],
                [(tuple(each["label"]), each["set"]) for each in sweep["points"]],
                config,
                changes,
            )
    combined = product(*grid.values())
    points: list[Point] = [
        (tuple(map(str, some)), dict(zip(grid, some, strict=True))) for some in combined
    ]
    return list(grid), points, config, changes


def runs_at(
    config: TrainConfig,
    points: Sequence[Point],
    seeds: int,
    out: Path,
    data_dir: Path | None = None,
) -> list[SweepRun]:
    """List the runs of a sweep, one seed of all points after the other."""
    if seeds > 1 and any("seed" in changes for _, changes in points):
        raise ConfigError(
            f"The grid has seeds, so --seeds {seeds} cannot choose them. Leave one of the two out."
        )
    if not 1 <= seeds * len(points) <= MAX_RUNS:
        raise ConfigError(
            f"A sweep trains 1 to {MAX_RUNS} runs, not {seeds * len(points)}. Change seeds or grid."
        )
    runs = dict[Path, SweepRun]()
    for seed, (label, changes) in product(range(config.run.seed, config.run.seed + seeds), points):
        each = resolved(config.with_changes({"seed": seed, **changes}), data_dir)
        path = _folder_of(each, _point_name(label, changes), out)
        runs[path] = SweepRun(label, each, RunFolder(path))
    return list(runs.values())


def _point_name(label: Label, changes: Mapping[str, Any]) -> str:
    """Name a point by its label; of a grid, each value with the last part of its key: "m4=-0.1"."""
    if label != tuple(map(str, changes.values())):
        return " ".join(label)
    return " ".join(
        f"{key.rpartition('.')[2]}={value}" for key, value in zip(changes, label, strict=True)
    )


def _folder_of(config: TrainConfig, point: str, out: Path) -> Path:
    """Return the folder of a run: that of an earlier version, which named runs otherwise, if it is there."""
    digest = _digest(config.flat())
    for folder in sorted(out.glob(f"*-{digest}")):
        if (folder / "config.json").is_file():
            return folder
    words = [
        _slug(config.encoder.name, MODEL_CHARS),
        _slug(point, POINT_CHARS),
        f"seed={config.run.seed}",
        digest,
    ]
    return out / "-".join(filter(None, words))


def _slug(text: str, max_chars: int) -> str:
    """Return a text as part of a file's name, with the signs of its numbers: "m4=-0.1"."""
    words = re.sub(r"[^a-z0-9.=-]+", "-", text.lower())
    words = re.sub(r"(?<!=)-+", "-", words)
    return words[:max_chars].strip("-.")


def check_runs(runs: Sequence[SweepRun], device: str) -> None:
    """Raise an Nt2vrError if a run that is still to be started would be refused; other seeds are refused alike."""
    from trainer.checks import check_start  # noqa: PLC0415  imports torch

    unfinished = [run for run in runs if not run.is_finished]
    if not unfinished:
        return
    refuse_second_training(
        runs[0].folder.path.parent, training_devices(training_environment(device))
    )
    checked: list[TrainConfig] = []
    for run in unfinished:
        of_any_seed = run.config.replace(seed=0)
        if not run.folder.config.exists() and of_any_seed not in checked:
            check_start(run.config)
            checked.append(of_any_seed)


def train(each: SweepRun, device: str) -> str:
    """Train a run in a process of its own; return why it failed, "" if it did not. Stopped, it is saved first."""
    folder = each.folder
    is_new = not folder.config.exists()
    if is_new:
        folder.path.mkdir(parents=True, exist_ok=True)
        save_config(each.config, folder.config)
    process = start_process(folder, training_environment(device))
    try:
        process.wait()
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise
    finally:
        if process.stdin is not None:
            process.stdin.close()
    if process.returncode == 2:
        reason = log_tail(folder, 1) or f"{folder.path.name} could not start."
        if is_new:
            shutil.rmtree(folder.path)
        raise RunError(reason)
    status = folder.status()
    if status and status.state == "stopped":
        raise KeyboardInterrupt
    return "" if each.is_finished else (status and status.error) or log_tail(folder, 1)


def markdown(keys: Sequence[str], runs: Sequence[SweepRun]) -> str:
    """Return the table of the results so far: mean ± standard deviation over seeds of each point's best epochs.

    Below the points, if all start from the same base, are the base itself and `drop`, the control
    that leaves out what a sentence denies; below the table, a note if the points do not differ.
    """
    points: dict[Label, list[Mapping[str, float] | None]] = {}
    for run in runs:
        points.setdefault(run.label, []).append(run.best_epoch)
    measured = {name for rows in points.values() for row in rows for name in row or ()}
    columns = [name for name in METRICS if name in measured]

    lines = [
        [*keys, "runs", "best epoch", *columns],
        [":--"] * len(keys) + ["--:"] * (2 + len(columns)),
    ]
    for label, rows in points.items():
        finished = [row for row in rows if row]
        done = str(len(rows)) if len(finished) == len(rows) else f"{len(finished)} of {len(rows)}"
        epochs = ", ".join(f"{row['epoch']:.0f}" for row in finished) or "–"
        lines.append([*label, done, epochs, *(_mean(finished, name) for name in columns)])
    for name, controls in _controls(runs).items():
        cells = [f"{controls[column]:.3f}" if column in controls else "–" for column in columns]
        others = ["–"] * (len(keys) + 1)
        lines.append([name, *others, *cells])

    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    note = difference_note(
        {label: [row for row in rows if row] for label, rows in points.items()}, columns
    )
    return f"{table}\n{note}\n" if note else table


def _controls(runs: Sequence[SweepRun]) -> dict[str, dict[str, float]]:
    """Return what the runs measured of their base and of `drop` before training, if they have one base and data."""
    configs = [run.config for run in runs]
    if len({(c.encoder.base, c.dataset.data, c.validation.validation_clips) for c in configs}) > 1:
        return {}
    first_rows = [rows[0] for run in runs if (rows := read_metrics(run.folder.metrics))]
    controls: dict[str, dict[str, float]] = {}
    for prefix, name in CONTROLS.items():
        for key, value in first_rows[0].items() if first_rows else ():
            if key.startswith(f"{prefix}/"):
                controls.setdefault(name, {})[key.removeprefix(f"{prefix}/")] = value
    return controls


def difference_note(
    points: Mapping[Label, Sequence[Mapping[str, float]]], columns: Sequence[str]
) -> str:
    """Say so if the points of a sweep do not differ, or by no more than their seeds; "" if they do."""
    finished = [rows for rows in points.values() if rows]
    if len(finished) < 2 or not columns:
        return ""
    cells = {tuple(_mean(rows, name) for name in columns) for rows in finished}
    if len(cells) == 1:
        return "The points do not differ in any measure: what is varied has no effect here."
    if any(len(rows) < 2 for rows in finished):
        return ""
    if any(_gap(finished, name) > _largest_deviation(finished, name) for name in columns):
        return ""
    return "The points differ by no more than the seeds of one point do, in every measure."


def _gap(points: Sequence[Sequence[Mapping[str, float]]], name: str) -> float:
    """Return how far the highest mean of a measure is above the lowest."""
    means = [mean(row[name] for row in rows) for rows in points if all(name in row for row in rows)]
    return max(means, default=0.0) - min(means, default=0.0)


def _largest_deviation(points: Sequence[Sequence[Mapping[str, float]]], name: str) -> float:
    return max(
        (stdev(row[name] for row in rows) for rows in points if all(name in row for row in rows)),
        default=0.0,
    )


def _mean(rows: Sequence[Mapping[str, float]], name: str) -> str:
    values = [row[name] for row in rows if name in row]
    if not values:
        return "–"
    spread = f" ± {stdev(values):.3f}" if len(values) > 1 else ""
    return f"{mean(values):.3f}{spread}"


def _digest(data: Any) -> str:
    return blake2b(json.dumps(data, sort_keys=True).encode(), digest_size=4).hexdigest()
