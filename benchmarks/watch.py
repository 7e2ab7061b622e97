"""Time from “Watch it learn” to each checkpoint: `python -m benchmarks.watch [--set KEY=VALUE …] [--check]`.

It starts a run of the preset `stage` as the page does, in an empty data folder. It prints when each
step of the preparation began, and for each checkpoint the seconds since the start and the hard pairs
on the run's own validation clips. `--check` also measures the last checkpoint on the 1,000 validation
clips of docs/lab/results.md. The page shows a checkpoint up to two seconds later.
"""

import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness import arguments, write_head, write_row
from nt2vr.evaluation.metric_names import (
    COMPOSED_HARD_PAIRS,
    COMPOSED_MIR,
    NOT_AUC,
    ORIGINAL_MIR,
    WITHOUT_HARD_PAIRS,
)
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.presets import PRESETS
from nt2vr.settings import prepare_environment
from trainer.config import TrainConfig, load_config, parse_change
from trainer.data.clip_loader import ClipLoader
from trainer.runs.manager import RunManager
from trainer.runs.run_folder import RunFolder
from trainer.validator import validate

POLL_S = 0.01
MEASURES = (COMPOSED_HARD_PAIRS, WITHOUT_HARD_PAIRS, NOT_AUC, COMPOSED_MIR, ORIGINAL_MIR)


def watch(manager: RunManager, config: TrainConfig) -> RunFolder:
    """Print the table of one run, and return its folder.

    Raises:
        RuntimeError: if it fails.
    """
    start_s = time.perf_counter()
    run = RunFolder(manager.folder / manager.start(config))
    last_step = ""
    epoch = 0
    write_head("s", "step", *MEASURES)
    while True:
        status = manager.get(run.path.name).status
        rows = manager.metrics(run.path.name)
        now_s = time.perf_counter() - start_s
        step = status.doing if status.state == "preparing" else status.state
        if step != last_step:
            _print(now_s, step, {})
            last_step = step
        if run.checkpoint(epoch + 1).is_dir():
            epoch += 1
            row = next(row for row in rows if row["epoch"] == epoch and ORIGINAL_MIR in row)
            _print(now_s, f"epoch {epoch}, step {row['step']:.0f}", row)
        if status.state in ("failed", "interrupted"):
            raise RuntimeError(status.error or manager.log_tail(run.path.name))
        if status.state == "finished" and not run.checkpoint(epoch + 1).is_dir():
            return run
        time.sleep(POLL_S)


def _print(now_s: float, step: str, measures: dict[str, float]) -> None:
    cells = [f"{measures[name]:.3g}" if name in measures else "" for name in MEASURES]
    write_row(f"{now_s:.1f}", step, *cells)


def check(run: RunFolder, config: TrainConfig, cache: Path) -> None:
    """Measure the last checkpoint on the validation clips that other results are of."""
    clips = ClipLoader(config.replace(validation_clips=1000), cache).load("validation")
    encoder = read_checkpoint(run.checkpoint(config.batches.epochs))
    _print(0, f"on {len(clips)} clips", validate(encoder, clips))


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
