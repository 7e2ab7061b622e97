"""Validation on a dataset measures what `nt2vr evaluate` does of the same videos, negation included."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

import nt2vr
from nt2vr.cli import main
from nt2vr.evaluation.sources import Data
from tests.support.captioned_pictures import write_captioned_pictures
from tests.support.tiny_models import write_tiny
from tests.support.trainings import SMALL, go_on, run_training, stop_at
from trainer.config import TrainConfig
from trainer.runs.run_folder import RunFolder, read_metrics


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    write_tiny(tmp_path / "models" / "tiny", "Tiny base")
    write_captioned_pictures(tmp_path / "set", count=80)
    common: dict[str, Any] = {
        "base": str(tmp_path / "models" / "tiny"),
        "model": {},
        "train": "text",
    }
    return SMALL.replace(
        **common, data=str(tmp_path / "set"), num_clips=100, num_frames=1, validation_clips=100
    )


def epochs_of(run: RunFolder) -> list[dict[str, float]]:
    return [row for row in read_metrics(run.metrics) if "original/MIR" in row]


def losses_of(run: RunFolder) -> list[float]:
    return [row["contrastive"] for row in read_metrics(run.metrics) if "contrastive" in row]


def test_the_last_epoch_is_measured_as_evaluation_does(config: TrainConfig, tmp_path: Path) -> None:
    run = run_training(config.replace(monitor="composed/hard_pairs"), tmp_path / "runs" / "mine")
    last = epochs_of(run)[-1]
    data = Data(config.dataset.data, split="validation")
    metrics = nt2vr.evaluate(data, ["mine", "Tiny base drop"], data_dir=tmp_path).metrics
    of_run = metrics["mine"]
    of_control = metrics["Tiny base drop"]
    measures = [
        "original/MIR",
        "original/R@1",
        "negated/delta_MIR",
        "composed/MIR",
        "composed/hard_pairs",
    ]
    assert {name: last[name] for name in measures} == pytest.approx(
        {name: of_run[name] for name in measures}, abs=0.1
    )
    first = read_metrics(run.metrics)[0]
    for name in ("composed/MIR", "composed/hard_pairs"):
        assert first[f"drop/{name}"] == pytest.approx(of_control[name], abs=1e-3)
    # Both share them.
    assert len(list((tmp_path / "evaluation").glob("queries-*.json"))) == 1
    best = json.loads((run.path / "checkpoints" / "best.json").read_text())
    assert best == {
        "epoch": max(epochs_of(run), key=lambda row: row["composed/hard_pairs"])["epoch"]
    }


@pytest.mark.slow
def test_an_older_run_continues_and_gains_columns(
    config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uninterrupted = run_training(config, tmp_path / "runs" / "whole")
    with monkeypatch.context() as patch:
        stop_at(patch, 3)
        run = run_training(config, tmp_path / "runs" / "stopped", "stopped")
    state = torch.load(run.resume, weights_only=True)
    del state["asks_as_evaluation"]
    torch.save(state, run.resume)
    go_on(run)
    assert losses_of(run) == losses_of(uninterrupted)
    last = epochs_of(run)[-1]
    assert last["composed/MIR"] == epochs_of(uninterrupted)[-1]["composed/MIR"]
    # Still one caption per clip.
    assert last["original/MIR"] != epochs_of(uninterrupted)[-1]["original/MIR"]


def test_own_videos_train_and_keep_the_best_epoch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tiny(tmp_path / "models" / "tiny", "Tiny base")
    write_captioned_pictures(tmp_path / "set", count=80)
    command = ["train", str(tmp_path / "runs" / "mine"), "--config", "own-videos"]
    changes = (
        "base=Tiny base",
        f"data={tmp_path / 'set'}",
        "epochs=2",
        "passes=1",
        "num_frames=1",
        "batch_size=8",
    )
    for change in (*changes, "log_every=1"):
        command += ["--set", change]
    assert main(command) == 0
    run = RunFolder(tmp_path / "runs" / "mine")
    epochs = epochs_of(run)
    best = max(epochs, key=lambda row: row["composed/hard_pairs"])["epoch"]
    assert json.loads((run.path / "checkpoints" / "best.json").read_text()) == {"epoch": best}
    measured: set[str] = set()
    for row in read_metrics(run.metrics):
        measured.update(row)
    assert {"contrastive", "distill"} <= measured
    assert "“mine · best”" in capsys.readouterr().err.splitlines()[-1]
