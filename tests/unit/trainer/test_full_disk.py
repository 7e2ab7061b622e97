"""A training on a disk that fills up: a sentence in its status, and no partial file."""

import shutil
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from nt2vr.errors import ConfigError
from tests.support.disks import mounted
from tests.support.trainings import SMALL, go_on, run_training
from trainer.config import TrainConfig
from trainer.runs import manager as manager_module
from trainer.runs.manager import RunManager
from trainer.runs.run_folder import RunFolder

CONFIG = SMALL.replace(num_frames=1)


# Stops at frames, checkpoint, state.
@pytest.mark.parametrize("free", [100_000, 1_000_000, 4_000_000, 12_000_000])
def test_a_full_disk_leaves_no_partial_file(tmp_path: Path, free: int) -> None:
    runs = tmp_path / "disk"
    runs.mkdir()
    with mounted(runs, f"size={free}"):
        run = run_training(CONFIG, runs / "tiny", "failed")
        status = run.status()
        assert status
        assert status.error
        assert (
            status.error
            == f"The disk of {runs / 'tiny'} is full. Free some space, then resume the run."
        )
        assert not [path for path in runs.rglob(".*partial*")]


def test_a_run_goes_on_once_there_is_space(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with mounted(tmp_path / "runs", "size=40m"):
        ballast = tmp_path / "runs" / "ballast"
        ballast.write_bytes(bytes(38_000_000))
        run = run_training(CONFIG, tmp_path / "runs" / "tiny", "failed")
        ballast.unlink()
        go_on(run)
        assert run.checkpoint(1).is_dir()


@pytest.mark.parametrize(("epochs", "starts"), [(2, True), (300, False)])
def test_a_run_that_would_fill_the_disk_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, epochs: int, starts: bool
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2_000_000_000))
    started: list[RunFolder] = []
    monkeypatch.setattr(manager_module, "_launch", lambda run, _: started.append(run))
    # 25 MB each, 12 times that for saved states, 0.3 GB of frames.
    config = TrainConfig(name="Long", epochs=epochs)
    refusal = pytest.raises(ConfigError, match=r"300 epochs .*Long.* 8\.1 GB.* 2\.0 GB")
    with nullcontext() if starts else refusal:
        RunManager(tmp_path / "runs").start(config)
    assert bool(started) == starts == bool(list(tmp_path.glob("runs/*")))
