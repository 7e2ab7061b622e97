"""Runs whose loss, gradients or weights become non-finite: where they stop, and how they go on."""

import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from nt2vr.errors import CheckpointError, DivergedError
from nt2vr.models.card import read_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.papers.covr.training import FusionLearner
from tests.support.tiny_models import TINY, write_tiny
from tests.support.trainings import SMALL, go_on, run_training, stop_at
from tests.support.triplet_files import write_triplets
from trainer.__main__ import main
from trainer.config import TrainConfig, save_config
from trainer.learner import Learner
from trainer.optimizer import Trainable, rate_at
from trainer.runs import resume
from trainer.runs.resume import read_state, write_saved
from trainer.runs.run_folder import RunFolder, read_metrics
from trainer.runs.sweep import sweep

# 4 steps an epoch.
CONFIG = SMALL.replace(num_clips=16, epochs=3, learning_rate=2e-3)


RATE = CONFIG.rate.learning_rate


def spoil(
    monkeypatch: pytest.MonkeyPatch, step: int, rate: float = RATE, kind: Any = Learner
) -> None:
    """Make the loss of a step NaN in runs that still have this learning rate."""
    loss_of = kind.loss

    def loss(self: Any, batch: Any) -> tuple[Tensor, dict[str, float]]:
        loss, values = loss_of(self, batch)
        if self.steps + 1 == step and self.config.rate.learning_rate == rate:
            return loss * math.nan, dict.fromkeys(values, math.nan)
        return loss, values

    monkeypatch.setattr(kind, "loss", loss)


def save_after_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resume, "SAVE_EVERY_S", 0.0)
    monkeypatch.setattr(resume, "SAVE_SHARE", math.inf)


def text_alone(folder: Path) -> dict[str, Any]:
    return {"base": str(folder / "base"), "model": {}, "train": "text", "losses": {"distill": {}}}


def fusion(folder: Path) -> dict[str, Any]:
    write_triplets(folder / "triplets")
    settings = {"iterate": "triplets", "random_clips": 3}
    changes = {
        "base": str(folder / "base"),
        "model": {},
        "data": str(folder / "triplets"),
        "losses": {},
    }
    return {
        **changes,
        "train": "fusion",
        "fusion": settings,
        "monitor": "fusion/R@1",
        "num_clips": 80,
    }


KINDS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "both towers": lambda _: {"accumulate": 2, "passes": 2},
    "sentences alone": text_alone,
    "fusion": fusion,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_nan_loss_stops_the_run_at_that_step(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tiny(tmp_path / "base", "Tiny base")
    save_after_each_step(monkeypatch)
    spoil(monkeypatch, step=3, kind=FusionLearner if kind == "fusion" else Learner)
    config = CONFIG.replace(**KINDS[kind](tmp_path))
    run = run_training(config, tmp_path / "runs" / "one", "failed")

    status = run.status()
    assert status
    assert status.epoch == 1
    assert status.step == 3
    assert status.diverged_rate == config.rate.learning_rate
    assert (
        status.error
        == "The loss became non-finite at step 3 of epoch 1. Try a lower learning_rate."
    )
    assert run.log.read_text().splitlines()[-1].endswith(status.error)
    assert [row["step"] for row in read_metrics(run.metrics) if row["step"]] == [1, 2]
    saved = read_state(run)
    assert saved
    assert saved.learner
    assert saved.steps == 2
    assert not list(run.path.glob("checkpoints/*"))

    written = run.config.read_bytes()
    assert main([str(run.path), "--set", "learning_rate=1e-3"]) == 0
    assert run.config.read_bytes() == written
    change = {"epoch": 1, "step": 2, "learning_rate": 1e-3}
    rows = read_metrics(run.metrics)
    assert rows.count(change) == 1
    assert [row["step"] for row in rows] == sorted(row["step"] for row in rows)
    expected_rate = 1e-3 * rate_at(3, TrainConfig(**saved.config))
    assert rows[rows.index(change) + 1]["learning_rate"] == pytest.approx(expected_rate)
    assert read_card(run.checkpoint(3)).training.changes == (change,)
    finished = run.status()
    assert finished
    assert (finished.state, finished.diverged_rate) == ("finished", None)


@pytest.mark.slow
def test_a_lower_rate_holds_for_all_later_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The changed run, stopped twice, ends as one that was not stopped after the change."""
    runs = [RunFolder(tmp_path / "runs" / name) for name in ("whole", "stopped")]
    with monkeypatch.context() as patch:
        save_after_each_step(patch)
        spoil(patch, step=7)
        for run in runs:
            run_training(CONFIG, run.path, "failed")
    uninterrupted, stopped = runs
    assert main([str(uninterrupted.path), "--set", "learning_rate=5e-4"]) == 0
    for step in (8, 10):
        with monkeypatch.context() as patch:
            stop_at(patch, step)
            changes = ["--set", "learning_rate=5e-4"] if step == 8 else []
            assert main([str(stopped.path), *changes]) == 0
        status = stopped.status()
        assert status
        assert status.state == "stopped"
        assert status.step == step
        assert status.epoch == math.ceil(step / 4)
        assert stopped.log.read_text().splitlines()[-1].endswith(f"stopped after step {step}.")
    go_on(stopped)
    assert stopped.metrics.read_text() == uninterrupted.metrics.read_text()
    one, two = (read_checkpoint(run.checkpoint(3), verify=True).card for run in runs)
    assert one.replace(created="") == two.replace(created="")
    rates = []
    for row in read_metrics(uninterrupted.metrics):
        if row["step"] == 8 and "contrastive" in row:
            rates.append(row["learning_rate"])
    assert rates == [pytest.approx(5e-4 * rate_at(8, CONFIG))]


@pytest.mark.slow
def test_an_early_lower_rate_survives_a_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tiny(tmp_path / "base", "Tiny base")
    config = CONFIG.replace(base=str(tmp_path / "base"), model={})
    spoil(monkeypatch, step=2)
    run = run_training(config, tmp_path / "runs" / "one", "failed")
    assert not run.resume.exists()
    with monkeypatch.context() as patch:
        patch.setattr("trainer.session._train", lambda *_: (_ for _ in ()).throw(InterruptedError))
        assert main([str(run.path), "--set", "learning_rate=1e-4"]) == 0
    status = run.status()
    assert status
    assert status.state == "stopped"
    assert status.step == 0
    assert status.error is None
    go_on(run)
    rows = read_metrics(run.metrics)
    assert rows[0] == {"epoch": 1, "step": 0, "learning_rate": 1e-4}
    # It is measured before the first step.
    assert "base/original/MIR" in rows[1]
    assert [row["step"] for row in rows if "contrastive" in row] == [*range(1, 13)]
    assert max(row["learning_rate"] for row in rows if "contrastive" in row) <= 1e-4


@pytest.mark.parametrize("value", ["gradient", "sum of the losses", "weights"])
def test_what_is_not_finite_is_noticed_though_each_loss_is(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_after_each_step(monkeypatch)
    loss_of = Learner.loss
    take_step = Trainable.step

    def loss(self: Learner, batch: Any) -> tuple[Tensor, dict[str, float]]:
        loss, values = loss_of(self, batch)
        if value == "gradient" and self.steps == 2:
            loss.register_hook(lambda gradient: gradient * math.inf)  # type: ignore[no-untyped-call]
        return (
            (loss * math.inf, values)
            if value == "sum of the losses" and self.steps == 2
            else (loss, values)
        )

    def step(self: Trainable, batches: Iterable[Any]) -> dict[str, float]:
        values = take_step(self, batches)
        if value == "weights" and self.steps == 3:
            self.optimizer.state[self.parameters[0]]["exp_avg"].view(-1)[0] = math.inf
        return values

    monkeypatch.setattr(Learner, "loss", loss)
    monkeypatch.setattr(Trainable, "step", step)
    run = run_training(CONFIG, tmp_path / "runs" / "one", "failed")
    status = run.status()
    assert status
    assert (status.step, status.epoch) == (3, 1)
    assert "non-finite at step 3 of epoch 1" in str(status.error)
    assert status.diverged_rate == CONFIG.rate.learning_rate
    saved = read_state(run)
    assert saved
    assert saved.learner
    assert saved.steps == 2
    assert all(bool(tensor.isfinite().all()) for tensor in saved.learner["model"].values())


def test_a_spoilt_epoch_writes_no_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_step = Trainable.step

    def step(self: Trainable, batches: Iterable[Any]) -> dict[str, float]:
        values = take_step(self, batches)
        if self.steps == 8:
            with torch.no_grad():
                self.parameters[0].view(-1)[0] = math.nan
        return values

    monkeypatch.setattr(Trainable, "step", step)
    run = run_training(CONFIG, tmp_path / "runs" / "one", "failed")
    assert [path.name for path in run.path.glob("checkpoints/epoch_*")] == ["epoch_001"]
    saved = read_state(run)
    assert saved
    assert saved.steps == 4


def test_only_a_lower_rate_is_accepted_after_divergence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        stop_at(patch, 2)
        run = run_training(CONFIG, tmp_path / "runs" / "one", "stopped")
    saved = run.resume.read_bytes()
    assert main([str(run.path), "--set", "learning_rate=1e-5"]) == 2
    assert "to one whose loss became non-finite" in capsys.readouterr().err
    spoil(monkeypatch, step=3)
    go_on(run, "failed")
    capsys.readouterr()
    refused = {
        "epochs=2": "epochs",
        "losses.contrastive.weight=.5": "losses.contrastive.weight",
        "learning_rate=0.002": "0.002",
        "learning_rate=0": "learning_rate must be above 0",
        "learning_rate=fast": "'fast'",
    }
    for change, expected in refused.items():
        assert main([str(run.path), "--set", change]) == 2
        assert expected in capsys.readouterr().err
    assert main([str(run.path), "--set", "learning_rate=1e-4", "--set", "seed=3"]) == 2
    assert run.resume.read_bytes() == saved


def test_a_saved_state_with_nan_weights_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        stop_at(patch, 2)
        run = run_training(CONFIG, tmp_path / "runs" / "one", "stopped")
    saved = read_state(run)
    assert saved
    assert saved.learner
    next(iter(saved.learner["model"].values())).fill_(math.nan)
    write_saved(run, saved)
    go_on(run, "failed")
    status = run.status()
    assert status
    assert "not finite" in str(status.error)
    assert "start a new run" in str(status.error)


def test_a_learner_that_diverged_keeps_its_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = Learner(TrainConfig(model=TINY, num_clips=8, batch_size=4))
    before = [parameter.clone() for parameter in learner.parameters]
    nothing = learner.model.logit_scale * math.nan
    monkeypatch.setattr(Learner, "loss", lambda self, batch: (nothing, {"contrastive": math.nan}))
    with pytest.raises(DivergedError):
        learner.step([None])  # type: ignore[list-item]
    assert all(torch.equal(*pair) for pair in zip(before, learner.parameters, strict=True))
    assert not issubclass(DivergedError, CheckpointError)


@pytest.mark.slow
def test_a_sweep_continues_after_a_diverged_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_config(CONFIG.replace(epochs=1, max_grad_norm=math.inf), tmp_path / "tiny.json")
    arguments: dict[str, Any] = {"grid": ["learning_rate=1e30,1e-3"], "out": tmp_path / "runs"}
    assert sweep(tmp_path / "tiny.json", **arguments, data_dir=tmp_path, device="cpu") == 1
    captured = capsys.readouterr()
    assert "0 of 1" in captured.out
    assert captured.err.count("failed:") == 1
    assert "became non-finite" in captured.err
    failed_runs = []
    for path in tmp_path.glob("runs/*/status.json"):
        if json.loads(path.read_text())["state"] == "failed":
            failed_runs.append(RunFolder(path.parent))
    (failed,) = failed_runs
    assert main([str(failed.path), "--set", "learning_rate=1e-3"]) == 0
    assert sweep(tmp_path / "tiny.json", **arguments, data_dir=tmp_path, device="cpu") == 0
    captured = capsys.readouterr()
    assert "0 of 1" in captured.out
    assert failed.path.name in captured.err
