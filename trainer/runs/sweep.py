"""`nt2vr sweep CONFIG --grid losses.bnl.m4=-.1,-.15 --seeds 3`, or `nt2vr sweep table-5`: a grid of settings.

Every point of the grid is trained with every seed, each run in a folder of its own, as many at once as there are
devices. The same command again resumes what was stopped and skips what has finished.
"""

import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from nt2vr.errors import ConfigError, RunError
from nt2vr.files import atomic_write, check_writable, parse_json
from nt2vr.settings import Settings
from trainer.config import TrainConfig
from trainer.config_file import anchored, build_config, changed, load_config, parse_change, parse_choices, save_config
from trainer.presets import SWEEPS, preset_or_file, ready_sweeps
from trainer.runs.manager import ROOT, log_tail
from trainer.runs.run_folder import RunFolder
from trainer.runs.sweep_chart import chart
from trainer.runs.sweep_table import latex, markdown, tabulated


@dataclass(frozen=True)
class Point:
    """One combination of settings, as changes of the config, and what the table says of it for each key."""

    label: tuple[str, ...]
    changes: Mapping[str, Any]


POLL_S = 0.2  # between two looks at whether a run still prepares
MAX_RUNS = 1000


@dataclass(frozen=True)
class SweepRun:
    """One training, in a folder named by model, point and seed, and by a hash of its config."""

    point: tuple[str, ...]
    config: TrainConfig
    folder: RunFolder

    @property
    def is_finished(self) -> bool:
        """True if no steps are left."""
        status = self.folder.status()
        return status is not None and status.state == "finished"


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
    """Train a grid of settings with several seeds, write its table and print it.

    Args:
        config: a config file, a preset such as clip-bnl, or a sweep of a paper: table-5
        grid: KEY=VALUE,VALUE: values of a key, such as losses.bnl.m4; of several keys, all combinations are trained
            (repeatable)
        changes: KEY=VALUE, which overrides a value in all runs (repeatable)
        seeds: seeds per point, from the config's on
        out: folder for the runs and the table; default: the app's runs
        data_dir: caches, runs and downloaded models; default: NT2VR_DATA, or ~/.cache/nt2vr
        device: auto, cpu, cuda or cuda:1; default: NT2VR_DEVICE, or auto: all GPUs, otherwise the processor
    """
    settings = Settings.read(data_dir, device)
    out = out or settings.data_dir / "runs"
    check_writable(out)
    keys, points, file, before = planned(config, dict(map(parse_choices, grid or ())))
    base = load_config(preset_or_file(file), {**before, **dict(map(parse_change, changes or ()))})
    runs = runs_at(anchored(base, settings.data_dir), points, seeds, out)
    out.mkdir(parents=True, exist_ok=True)
    table = out / f"sweep-{_digest([each.folder.path.name for each in runs])}.md"
    failed = Sweep(runs, keys, table).train(devices(settings.device))
    sys.stdout.write(table.read_text(encoding="utf-8"))
    said = [f"The table is in {table} and {table.with_suffix('.tex')}.", *failed]
    if (drawn := table.with_suffix(".svg")).exists():
        said.insert(1, f"The curves are in {drawn}.")
    sys.stderr.writelines(f"{line}\n" for line in said)
    return 1 if failed else 0


def planned(config: Path, grid: Mapping[str, Sequence[Any]]) -> tuple[list[str], list[Point], Path, Mapping[str, Any]]:
    """Return the keys that are varied, the points, the config's name or file, and what is changed in it first."""
    if config.exists() or str(config) not in ready_sweeps():
        return list(grid), points_of(grid), config, {}
    if grid:
        raise ConfigError(f"{config} has a grid of its own. Leave --grid out, or name a config.")
    ready = parse_json((SWEEPS / f"{config}.json").read_text(encoding="utf-8"))
    assert isinstance(ready, dict), "shipped"
    if "grid" in ready:
        return list(ready["grid"]), points_of(ready["grid"]), Path(ready["config"]), ready["set"]
    points = [Point(tuple(point["label"]), point["set"]) for point in ready["points"]]
    return ready["keys"], points, Path(ready["config"]), {}


def points_of(grid: Mapping[str, Sequence[Any]]) -> list[Point]:
    """Return all combinations of a grid's values."""
    return [Point(tuple(map(str, values)), dict(zip(grid, values, strict=True))) for values in product(*grid.values())]


def runs_at(config: TrainConfig, points: Sequence[Point], seeds: int, out: Path) -> list[SweepRun]:
    """List the runs of a sweep, one seed of all points after the other."""
    from trainer.losses import losses_of  # noqa: PLC0415  imports torch

    if seeds > 1 and any("seed" in point.changes for point in points):
        raise ConfigError(f"The grid has seeds, so --seeds {seeds} cannot choose them. Leave one of the two out.")
    if not 1 <= seeds * len(points) <= MAX_RUNS:
        raise ConfigError(f"A sweep trains 1 to {MAX_RUNS} runs, not {seeds * len(points)}. Change seeds or grid.")
    runs = []
    for seed, point in product(range(config.seed, config.seed + seeds), points):
        each = build_config(changed(asdict(config), {"seed": seed, **point.changes}), "The sweep")
        if not each.fusion:
            losses_of(each)
        settings = [
            f"{key.rpartition('.')[2]}={value}" for key, value in point.changes.items() if not isinstance(value, dict)
        ] or list(point.label)
        words = re.sub(r"[^a-z0-9.=]+", "-", " ".join([each.name, *settings, f"seed={each.seed}"]).lower())
        folder = RunFolder(out / f"{words.strip('-.')[:56]}-{_digest(asdict(each))}")
        runs.append(SweepRun(point.label, each, folder))
    return list({each.folder.path: each for each in runs}.values())


def _digest(data: Any) -> str:
    return blake2b(json.dumps(data, sort_keys=True).encode(), digest_size=4).hexdigest()


def devices(device: str) -> list[str]:
    """Return the devices to train on: all visible GPUs or the processor, unless one is named that can train."""
    if device not in ("auto", "mps"):  # as in `training_environment`
        return [device]
    import torch  # noqa: PLC0415  the command's help needs none

    return [f"cuda:{number}" for number in range(torch.cuda.device_count())] or ["cpu"]


class Sweep:
    """Trains runs, each as `python -m trainer` in a process of its own, and rewrites the table after each."""

    def __init__(self, runs: Sequence[SweepRun], keys: Sequence[str], table: Path) -> None:
        """Start nothing; `keys` are for the head of the table, a .md file with LaTeX and curves next to it."""
        self._runs, self._keys, self._table = runs, keys, table
        self._waiting: Iterator[SweepRun] = iter([])
        self._failed: list[str] = []
        self._processes: list[subprocess.Popen[bytes]] = []
        self._preparing, self._changing = threading.Lock(), threading.Lock()
        self._stop = threading.Event()

    def train(self, devices: Sequence[str]) -> list[str]:
        """Train all runs that have not finished; return a sentence per run that failed.

        Raises:
            KeyboardInterrupt: if stopped; the runs under way are saved first.
        """
        self._waiting = iter([each for each in self._runs if not each.is_finished])
        self.write_table()
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            with ThreadPoolExecutor(len(devices), "device") as threads:
                working = [threads.submit(self._work, device) for device in devices]
                try:
                    for each in working:
                        each.result()
                except BaseException:
                    self._end()
                    raise
        finally:
            signal.signal(signal.SIGTERM, before)
        if self._stop.is_set():
            raise KeyboardInterrupt
        return self._failed

    def _end(self) -> None:
        """Have the runs under way save and stop, and start no more."""
        self._stop.set()
        for process in self._processes:
            if process.poll() is None:
                process.terminate()

    def _work(self, device: str) -> None:
        """Train one run after the other on a device."""
        while not self._stop.is_set():
            with self._changing:
                each = next(self._waiting, None)
            if each is None:
                return
            self._train_one(each, device)

    def _train_one(self, each: SweepRun, device: str) -> None:
        start_s, name = time.monotonic(), each.folder.path.name
        if not each.folder.config.exists():
            each.folder.path.mkdir(parents=True, exist_ok=True)
            save_config(each.config, each.folder.config)
        with each.folder.log.open("ab") as log:
            with self._preparing:  # the next run finds the frames that this one draws or decodes
                process = subprocess.Popen(
                    command(each.folder, device), cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log
                )
                self._processes.append(process)
                while process.poll() is None and not _has_begun(each.folder, process.pid):
                    time.sleep(POLL_S)
            process.wait()
        status = each.folder.status()
        state = status.state if status and status.pid == process.pid else "failed"
        if process.returncode == 2:
            raise RunError(log_tail(each.folder, 1) or f"{name} could not start.")
        if state == "stopped":
            self._stop.set()
        minutes = (time.monotonic() - start_s) / 60
        with self._changing:
            if state == "failed":
                reason = status.error if status and status.error else log_tail(each.folder, 1)
                self._failed.append(f"{name} failed: {reason}")
            sys.stderr.write(f"{name} on {device}: {state} after {minutes:.1f} minutes\n")
            self.write_table()

    def write_table(self) -> None:
        """Write the results so far, as Markdown and as LaTeX, and of one number as curves."""
        rows = tabulated([(each.point, each.folder, each.config.monitor) for each in self._runs])
        for path, form in ((self._table, markdown), (self._table.with_suffix(".tex"), latex)):
            with atomic_write(path) as partial:
                partial.write_text(form(self._keys, rows), encoding="utf-8")
        if curves := chart(self._keys, rows):
            with atomic_write(self._table.with_suffix(".svg")) as partial:
                partial.write_text(curves, encoding="utf-8")


def command(run: RunFolder, device: str) -> list[str]:
    """Return the command that trains a run."""
    return [sys.executable, "-m", "trainer", str(run.path.resolve()), "--device", device]


def _has_begun(run: RunFolder, pid: int) -> bool:
    status = run.status()
    return status is not None and status.pid == pid and status.state != "preparing"
