"""`nt2vr sweep CONFIG --grid losses.bnl.m4=-.1,-.15 --seeds 3`, or `nt2vr sweep table-5`: a grid of settings.

Every point of the grid is trained with every seed, each run in a folder of its own. The same
command again resumes what was stopped and skips what has finished.
"""

import json
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from statistics import mean, stdev
from typing import Annotated, Any, NamedTuple

from cyclopts import Parameter

from nt2vr.errors import ConfigError, RunError, quoted
from nt2vr.evaluation.metric_names import Metrics
from nt2vr.evaluation.tables import markdown_table
from nt2vr.files import atomic_write, check_writable, hash_text, stored_json
from nt2vr.presets import sweep_files
from nt2vr.settings import Settings, training_devices, training_environment
from trainer.config import (
    METRICS,
    ConfigChanges,
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
# Most characters of a model's and of a point's name in the name of a folder.
MODEL_CHARS = 24
POINT_CHARS = 60
# What the table calls the controls, by the prefix of their metrics.
CONTROLS = {"base": "base", "drop": "base drop", "parts": "parts"}
UNKNOWN = "–"
# What the table says of a combination of settings, for each key that is varied.
Label = tuple[str, ...]
# A label, and the changes of the config.
Point = tuple[Label, ConfigChanges]


@dataclass(frozen=True)
class SweepRun:
    """One training, in a folder named by model, point and seed, and by a hash of its config."""

    label: Label
    config: TrainConfig
    folder: RunFolder

    @property
    def has_changed(self) -> bool:
        """True if the run diverged and was resumed at another learning rate than its point's."""
        rows = read_metrics(self.folder.metrics)
        return any(row.keys() == {"epoch", "step", "learning_rate"} for row in rows)

    @property
    def best_epoch(self) -> Metrics | None:
        """Metrics of a finished run's best epoch; of the newest if what it monitors is not measured.

        None for a run that has not finished as its config says.
        """
        if not self.folder.is_finished or self.has_changed:
            return None
        rows = read_metrics(self.folder.metrics)
        epochs = [row for row in rows if row["epoch"] > 0 and "learning_rate" not in row]
        monitor = self.config.validation.monitor
        return max(epochs, key=lambda row: row.get(monitor, row["epoch"]), default=None)


SweepRuns = Sequence[SweepRun]


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
        grid: KEY=VALUE,VALUE: values of a key, such as losses.bnl.m4; with several keys, all
            combinations are trained (repeatable)
        changes: KEY=VALUE, which overrides a value in all runs (repeatable)
        seeds: seeds per point, counted from the config's seed
        out: folder for the runs and the table; default: the app's runs
        data_dir: caches, runs and downloaded models; default: NT2VR_DATA, or ~/.cache/nt2vr
        device: auto, cpu, cuda or cuda:1; default: NT2VR_DEVICE, or auto: the first GPU, otherwise
            the processor
    """
    settings = Settings.read(data_dir, device)
    out = out or settings.data_dir / "runs"
    check_writable(out)
    choices = dict(map(parse_choices, grid or ()))
    plan = planned(config, choices)
    own_changes = dict(map(parse_change, changes or ()))
    base = load_config(preset_or_file(plan.config), {**plan.changes, **own_changes})
    runs = runs_at(base, plan.points, seeds, out, settings.data_dir)
    check_runs(runs, settings.device)
    folder_names = [run.folder.path.name for run in runs]
    table = out / f"sweep-{_digest(folder_names)}.md"
    # SIGTERM stops a sweep as Ctrl+C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)

    failures = _train_all(runs, plan.keys, table, settings.device)
    sys.stdout.write(table.read_text(encoding="utf-8"))
    for notice in [*_notices(table, runs), *failures]:
        sys.stderr.write(f"{notice}\n")
    return 1 if failures else 0


def _train_all(runs: SweepRuns, keys: Sequence[str], table: Path, device: str) -> list[str]:
    """Train all runs, writing the table after each one; return a sentence for each that failed."""
    failures = []
    for run in runs:
        if not run.folder.is_finished:
            reason = train(run, device)
            if reason:
                failures.append(f"{run.folder.path.name} failed: {reason}")
        with atomic_write(table) as partial:
            partial.write_text(markdown(keys, runs), encoding="utf-8")
    return failures


def _notices(table: Path, runs: SweepRuns) -> list[str]:
    notices = [f"The table is in {table}."]
    for run in runs:
        if run.has_changed:
            notices.append(
                f"The table leaves out {run.folder.path.name}, resumed at another learning_rate."
            )
    return notices


def parse_choices(text: str) -> tuple[str, list[Any]]:
    key, equals, values = text.partition("=")
    if not (key and equals and values):
        raise ConfigError(f"Expected KEY=VALUE,VALUE, not {quoted(text)}.")
    return key, [parse_value(value) for value in values.split(",")]


class SweepPlan(NamedTuple):
    """What a sweep varies.

    Attributes:
        keys: of the settings that are varied.
        points: combinations of their values.
        config: name of a preset, or a file.
        changes: of that config, for all points alike.
    """

    keys: list[str]
    points: list[Point]
    config: Path
    changes: ConfigChanges


def planned(config: Path, grid: Mapping[str, Sequence[Any]]) -> SweepPlan:
    """Plan the points of a grid, or of a sweep of a paper."""
    sweep_file = sweep_files().get(str(config))
    if sweep_file is None or config.exists():
        return SweepPlan(list(grid), _grid_points(grid), config, changes={})
    if grid:
        raise ConfigError(f"{config} has a grid of its own. Leave --grid out, or name a config.")

    planned_sweep = stored_json(sweep_file)
    if "points" in planned_sweep:
        keys = planned_sweep["keys"]
        points = [(tuple(point["label"]), point["set"]) for point in planned_sweep["points"]]
    else:
        own_grid = planned_sweep.get("grid", {})
        keys = list(own_grid)
        points = _grid_points(own_grid)
    return SweepPlan(
        keys=keys,
        points=points,
        config=Path(planned_sweep["config"]),
        changes=planned_sweep.get("set", {}),
    )


def _grid_points(grid: Mapping[str, Sequence[Any]]) -> list[Point]:
    """Combine all values of all keys."""
    points: list[Point] = []
    for values in product(*grid.values()):
        changes = dict(zip(grid, values, strict=True))
        points.append((tuple(map(str, values)), changes))
    return points


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
    num_runs = seeds * len(points)
    if not 1 <= num_runs <= MAX_RUNS:
        raise ConfigError(
            f"A sweep trains 1 to {MAX_RUNS} runs, not {num_runs}. Change seeds or grid."
        )
    runs = {}
    for number, (label, changes) in product(range(seeds), points):
        seed = config.run.seed + number
        run_config = resolved(config.with_changes({"seed": seed, **changes}), data_dir)
        path = _folder_of(run_config, _point_name(label, changes), out)
        runs[path] = SweepRun(label, run_config, RunFolder(path))
    return list(runs.values())


def _point_name(label: Label, changes: ConfigChanges) -> str:
    """Name a point by its label; of a grid, each value with the last part of its key: "m4=-0.1"."""
    if label != tuple(map(str, changes.values())):
        return " ".join(label)
    words = []
    for key, value in zip(changes, label, strict=True):
        _, _, last_part = key.rpartition(".")
        words.append(f"{last_part}={value}")
    return " ".join(words)


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


def check_runs(runs: SweepRuns, device: str) -> None:
    """Raise an Nt2vrError if a run that is still to be started would be refused.

    Runs that differ only in their seeds are refused alike.
    """
    from trainer.checks import check_start  # noqa: PLC0415  imports torch

    unfinished = [run for run in runs if not run.folder.is_finished]
    if not unfinished:
        return
    devices = training_devices(training_environment(device))
    refuse_second_training(runs[0].folder.path.parent, devices)
    checked = []
    for run in unfinished:
        of_any_seed = run.config.replace(seed=0)
        if not run.folder.config.exists() and of_any_seed not in checked:
            check_start(run.config)
            checked.append(of_any_seed)


def train(run: SweepRun, device: str) -> str:
    """Train a run in a process of its own; return why it failed, "" if it did not.

    If it is stopped, it is saved first.
    """
    folder = run.folder
    is_new = not folder.config.exists()
    if is_new:
        folder.path.mkdir(parents=True, exist_ok=True)
        save_config(run.config, folder.config)
    with start_process(folder, training_environment(device)) as process:
        try:
            process.wait()
        except KeyboardInterrupt:
            process.terminate()
            process.wait()
            raise
    if process.returncode == 2:
        reason = log_tail(folder, 1) or f"{folder.path.name} could not start."
        if is_new:
            shutil.rmtree(folder.path)
        raise RunError(reason)
    status = folder.status()
    if status is None:
        return log_tail(folder, 1)
    if status.state == "finished":
        return ""
    if status.state == "stopped":
        raise KeyboardInterrupt
    return status.error or log_tail(folder, 1)


def markdown(keys: Sequence[str], runs: SweepRuns) -> str:
    """Return the table of the results so far.

    Its cells are means ± standard deviations over seeds of each point's best epochs. Below the
    points, if all start from the same base, are the base itself and `drop`, the control that leaves
    out what a sentence denies; below the table, a note if the points do not differ.
    """
    finished = _best_epochs(runs)
    columns = _measured_columns(finished)

    lines = [[*keys, "runs", "best epoch", *columns]]
    num_runs = Counter(run.label for run in runs)
    for label, rows in finished.items():
        progress = _progress_cells(rows, num_runs[label])
        lines.append([*label, *progress, *_mean_cells(rows, columns)])
    lines += _control_lines(runs, len(keys), columns)

    table = markdown_table(lines, num_left=len(keys))
    note = difference_note(finished, columns)
    if not note:
        return table
    return f"{table}\n{note}\n"


def _best_epochs(runs: SweepRuns) -> dict[Label, list[Metrics]]:
    """Return the best epochs of each point's finished runs."""
    rows_by_label: dict[Label, list[Metrics]] = {}
    for run in runs:
        rows = rows_by_label.setdefault(run.label, [])
        best_epoch = run.best_epoch
        if best_epoch:
            rows.append(best_epoch)
    return rows_by_label


def _measured_columns(points: Mapping[Label, Sequence[Metrics]]) -> list[str]:
    rows = chain.from_iterable(points.values())
    measured = set(chain.from_iterable(rows))
    return [name for name in METRICS if name in measured]


def _progress_cells(finished: Sequence[Metrics], num_runs: int) -> list[str]:
    """Say how many runs of a point have finished, and their best epochs."""
    runs = str(num_runs)
    if len(finished) < num_runs:
        runs = f"{len(finished)} of {num_runs}"
    epochs = ", ".join(f"{row['epoch']:.0f}" for row in finished)
    return [runs, epochs or UNKNOWN]


def _mean_cells(rows: Sequence[Metrics], columns: Sequence[str]) -> list[str]:
    """Return the mean of each measure, and its standard deviation if there are several values."""
    cells = []
    for name in columns:
        values = _values(rows, name)
        if not values:
            cells.append(UNKNOWN)
        elif len(values) == 1:
            cells.append(f"{values[0]:.3f}")
        else:
            average = mean(values)
            deviation = stdev(values)
            cells.append(f"{average:.3f} ± {deviation:.3f}")
    return cells


def _values(rows: Sequence[Metrics], name: str) -> list[float]:
    return [row[name] for row in rows if name in row]


def _control_lines(runs: SweepRuns, num_keys: int, columns: Sequence[str]) -> list[list[str]]:
    """Return the lines of the controls, which have a name instead of values, runs and epochs."""
    unknown = [UNKNOWN] * (num_keys + 1)
    lines = []
    for name, measures in _controls(runs).items():
        if measures:
            lines.append([name, *unknown, *_mean_cells([measures], columns)])
    return lines


def _controls(runs: SweepRuns) -> dict[str, Metrics]:
    """Return what the runs measured of each control before training.

    Runs of several bases or data have none in common.
    """
    origins = set()
    for run in runs:
        config = run.config
        origins.add((config.encoder.base, config.dataset.data, config.validation.validation_clips))
    if len(origins) > 1:
        return {}

    rows = chain.from_iterable(read_metrics(run.folder.metrics) for run in runs)
    controls: dict[str, Metrics] = {name: {} for name in CONTROLS.values()}
    for key, value in next(rows, {}).items():
        prefix, _, measure = key.partition("/")
        if prefix in CONTROLS:
            controls[CONTROLS[prefix]][measure] = value
    return controls


def difference_note(points: Mapping[Label, Sequence[Metrics]], columns: Sequence[str]) -> str:
    """Say that the points of a sweep do not differ, or by no more than their seeds; "" if they do."""
    finished = [rows for rows in points.values() if rows]
    if len(finished) < 2 or not columns:
        return ""
    cells = [_mean_cells(rows, columns) for rows in finished]
    if all(of_point == cells[0] for of_point in cells):
        return "The points do not differ in any measure: what is varied has no effect here."
    if any(len(rows) < 2 for rows in finished):
        return ""
    if any(_exceeds_seeds(finished, name) for name in columns):
        return ""
    return "The points differ by no more than the seeds of one point do, in every measure."


def _exceeds_seeds(points: Sequence[Sequence[Metrics]], name: str) -> bool:
    """Return whether the means of a measure lie further apart than its values at one point deviate.

    Points where a run lacks the measure do not count.
    """
    means = []
    deviations = []
    for rows in points:
        values = _values(rows, name)
        if len(values) == len(rows):
            means.append(mean(values))
            deviations.append(stdev(values))
    if not means:
        return False
    return max(means) - min(means) > max(deviations)


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True)
    return hash_text(text, 4)
