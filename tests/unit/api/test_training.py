"""Training from Python: what a run leaves, refuses and resumes."""

import logging
import signal
from pathlib import Path

import pytest

import nt2vr
from nt2vr.errors import ConfigError, RunError
from tests.support.trainings import SMALL
from trainer.runs.run_folder import RunFolder

SMALLEST = SMALL.replace(epochs=1, num_clips=4)


def test_training_leaves_the_process_as_it_was(tmp_path: Path) -> None:
    handlers = list(logging.getLogger().handlers)
    interrupt = signal.getsignal(signal.SIGINT)
    training = nt2vr.train(SMALLEST, run="mine", data_dir=tmp_path)
    assert (training.folder, training.state) == (tmp_path / "runs" / "mine", "finished")
    assert training.checkpoint == training.folder / "checkpoints" / "epoch_001"
    assert {"contrastive", "original/MIR"} <= set().union(*training.metrics)
    assert set(training.to_pandas()["step"]) == {0, 1} - {0}
    assert "original/MIR" in repr(training)
    assert training._repr_html_().count("<polyline") == 2
    assert nt2vr.load_model(training.checkpoint).name == "Tiny"
    assert logging.getLogger().handlers == handlers
    assert signal.getsignal(signal.SIGINT) is interrupt


def test_a_stopped_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr("trainer.session._train", interrupted)
        assert nt2vr.train(SMALLEST.flat(), run="mine", data_dir=tmp_path).state == "stopped"
    assert nt2vr.train(run="mine", data_dir=tmp_path).state == "finished"
    with pytest.raises(RunError):
        nt2vr.train(run="mine", data_dir=tmp_path)


@pytest.mark.parametrize(
    "arguments",
    [
        {"config": None},
        {"config": None, "run": "nowhere"},
        {"config": "no-such-preset"},
        {"config": {"lerning_rate": 1}},
        {"config": SMALLEST, "changes": {"batch_size": 3000}},
        {"config": SMALLEST, "device": "cuda:99x"},
    ],
)
def test_a_start_that_is_refused_writes_nothing(
    arguments: dict[str, object], tmp_path: Path
) -> None:
    with pytest.raises(ConfigError):
        nt2vr.train(**arguments, data_dir=tmp_path)  # type: ignore[arg-type]
    assert not list(tmp_path.glob("runs/*/config.json"))


def test_a_training_that_fails_is_an_error_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failed(*_: object) -> None:
        raise ConfigError("The base has lost its weights.")

    monkeypatch.setattr("trainer.session._train", failed)
    with pytest.raises(RunError):
        nt2vr.train(SMALLEST, run="mine", data_dir=tmp_path)
    status = RunFolder(tmp_path / "runs" / "mine").status()
    assert status is not None
    assert status.state == "failed"
