"""Time from “Watch it learn” to each checkpoint: `python -m benchmarks.watch [--set KEY=VALUE …] [--check]`.

Starts a run of the preset `stage` as the page does, in an empty data folder. Prints when each step
of the preparation began, and for each checkpoint the seconds since the start and the hard pairs on
the run's own validation clips. `--check` measures the last one on the 1,000 validation clips of
docs/lab/results.md too. The page shows a checkpoint up to two seconds later.
"""

import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness import arguments, write_head, write_row
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.presets import PRESETS
from nt2vr.settings import prepare_environment
from trainer.config import TrainConfig, load_config, parse_change
from trainer.data.clip_loader import ClipLoader
from trainer.runs.manager import RunManager
from trainer.runs.run_folder import RunFolder
from trainer.validator import validate

POLL_S = 0.01
MEASURES = ("composed/hard_pairs", "without/hard_pairs", "not/auc", "composed/MIR", "original/MIR")


def watch(manager: RunManager, config: TrainConfig) -> RunFolder:
    """Print the table of one run, and return its folder.

    Raises:
        RuntimeError: if it fails.
    """
    start_s = time.perf_counter()
    run = RunFolder(manager.folder / manager.start(config))
    last, seen = "", 0
    write_head("s", "step", *MEASURES)
    while True:
        status, rows = manager.get(run.path.name).status, manager.metrics(run.path.name)
        now_s = time.perf_counter() - start_s
        doing = status.doing if status.state == "preparing" else status.state
        if doing != last:
            last = _print(now_s, doing, {})
        if run.checkpoint(seen + 1).is_dir():
            seen += 1
            measured = next(row for row in rows if row["epoch"] == seen and "original/MIR" in row)
            _print(now_s, f"epoch {seen}, step {measured['step']:.0f}", measured)
        if status.state in ("failed", "interrupted"):
            raise RuntimeError(status.error or manager.log_tail(run.path.name))
        if status.state == "finished" and not run.checkpoint(seen + 1).is_dir():
            return run
        time.sleep(POLL_S)


def _print(now_s: float, step: str, measured: dict[str, float]) -> str:
    write_row(
        f"{now_s:.1f}",
        step,
        *(f"{measured[name]:.3g}" if name in measured else "" for name in MEASURES),
    )
    return step


def check(run: RunFolder, config: TrainConfig, cache: Path) -> None:
    """Measure the last checkpoint on the validation clips that other results are of."""
    clips = ClipLoader(config.replace(validation_clips=1000), cache).load("validation")
    _print(
        0,
        f"on {len(clips)} clips",
        validate(read_checkpoint(run.checkpoint(config.batches.epochs)), clips),
    )


def main() -> None:
    """Print a table per run."""
    parser = arguments("watch", __doc__)
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change the preset"
    )
    parser.add_argument(
        "--check", action="store_true", help="measure the last checkpoint on 1,000 clips"
    )
    flags = parser.parse_args()
    prepare_environment()
    config = load_config(PRESETS / "stage.json", dict(map(parse_change, flags.set)))
    with TemporaryDirectory() as folder:
        manager = RunManager(Path(folder) / "runs")
        sys.stdout.write(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
        run = watch(manager, config)
        if flags.check:
            check(run, config, manager.folder / ".frames")


if __name__ == "__main__":
    main()
