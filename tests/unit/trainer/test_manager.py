"""Runs as processes of their own: started, stopped, killed, resumed, one at a time; and what is read of them."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nt2vr.errors import ConfigError, RunError
from trainer import manager as manager_module
from trainer.__main__ import main
from trainer.config import TrainConfig, save_config
from trainer.lock import Lock
from trainer.manager import MetricsReader, Run, RunManager
from trainer.run_folder import RunFolder, RunStatus, machine_lock

CONFIG = TrainConfig(
    name="Tiny*", num_clips=64, num_frames=1, validation_clips=8, batch_size=2, epochs=1, warmup_steps=2, log_every=1
)  # the built-in model: its steps take long enough to be stopped between two
STEPS = 32
PATIENCE_S = 60


@pytest.fixture(autouse=True)
def _own_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A place for a training of the test's own: another test, or a person, may be training on this machine."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


@pytest.fixture
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunManager]:
    """Runs of one folder for all tests: its clips are rendered once."""
    manager = RunManager(tmp_path_factory.getbasetemp() / "runs")
    yield manager
    for run in manager.runs():
        if run.is_under_way:
            manager.stop(run.run_id, at_once=True)
            wait_for(manager, run.run_id, lambda run: not run.is_under_way)
        manager.delete(run.run_id)


def wait_for(manager: RunManager, run_id: str, is_so: Callable[[Run], bool]) -> Run:
    deadline_s = time.monotonic() + PATIENCE_S
    while not is_so(run := manager.get(run_id)):
        assert time.monotonic() < deadline_s, f"{run}\n{manager.log_tail(run_id)}"
        time.sleep(0.01)
    return run


def put(folder: Path, run_id: str, state: str | None = None) -> RunFolder:
    """A run that no process trains."""
    run = RunFolder(folder / run_id)
    run.path.mkdir(parents=True)
    save_config(CONFIG, run.config)
    if state:
        run.write_status(RunStatus(state, 1, epoch=1, step=9, eta_s=4))  # type: ignore[arg-type]
    return run


def test_a_run_is_started_stopped_killed_and_resumed_to_its_end_and_no_other_starts_meanwhile(
    manager: RunManager, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_id = manager.start(CONFIG)
    assert run_id.startswith("tiny-")
    assert manager.get(run_id).is_under_way
    with pytest.raises(RunError, match=f"{run_id} is still training"):
        manager.start(CONFIG)
    save_config(CONFIG, tmp_path / "config.json")
    assert main([str(tmp_path / "by hand"), "--config", str(tmp_path / "config.json")]) == 2
    assert f"{run_id} is still training" in capsys.readouterr().err
    with pytest.raises(RunError, match="Stop it before you delete it"):
        manager.delete(run_id)

    wait_for(manager, run_id, lambda run: run.status.step > 2)
    manager.stop(run_id)
    stopped = wait_for(manager, run_id, lambda run: not run.is_under_way)
    assert stopped.status.state == "stopped"
    assert 2 < stopped.status.step < STEPS
    assert manager.metrics(run_id)[0]["step"] == 1
    with pytest.raises(RunError, match="is not training"):
        manager.stop(run_id)

    manager.resume(run_id)
    wait_for(manager, run_id, lambda run: run.status.state == "running")
    assert "Going on" in manager.log_tail(run_id, 100)
    manager.stop(run_id, at_once=True)
    killed = wait_for(manager, run_id, lambda run: not run.is_under_way)
    assert killed.status.state == "interrupted"
    assert RunManager(manager.folder).get(run_id) == killed  # as after a restart of the app

    manager.resume(run_id)
    finished = wait_for(manager, run_id, lambda run: not run.is_under_way)
    assert (finished.status.state, finished.status.step) == ("finished", STEPS)
    with pytest.raises(RunError, match="cannot be resumed, it is finished"):
        manager.resume(run_id)
    manager.delete(run_id)
    assert manager.runs() == []


def test_a_run_that_fails_says_why_and_one_that_cannot_start_leaves_nothing(
    manager: RunManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = manager.start(replace(CONFIG, losses={"triplet": {}}))
    failed = wait_for(manager, run_id, lambda run: not run.is_under_way)
    assert failed.status.state == "failed"
    assert "Unknown loss 'triplet'" in str(failed.status.error)
    assert failed.can_resume

    monkeypatch.setattr(manager_module, "refuse_second_training", lambda: None)  # two people click at the same time
    with machine_lock().hold("runs/other"), pytest.raises(RunError, match="other is still training"):
        manager.start(CONFIG)
    assert [run.run_id for run in manager.runs()] == [run_id]


def test_a_run_that_was_told_to_stop_may_be_ended_at_once_when_it_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager, run = RunManager(tmp_path), put(tmp_path, "a", "running")
    signals: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: signals.append(number))
    with run.lock.hold(str(os.getpid())):
        assert manager.get("a").status.state == "running"
        manager.stop("a")
        assert (manager.get("a").status.state, manager.get("a").may_end_at_once) == ("stopping", False)
        monkeypatch.setattr(manager_module, "PATIENCE_S", 0)
        assert manager.get("a").may_end_at_once
    assert signals == [signal.SIGTERM]
    assert manager.get("a").status.state == "interrupted"


@pytest.mark.parametrize("state", [None, "preparing", "running"])
def test_what_nobody_trains_is_interrupted_whatever_its_status_says(tmp_path: Path, state: str | None) -> None:
    put(tmp_path, "a", state)
    status = RunManager(tmp_path).get("a").status
    assert (status.state, status.eta_s) == ("interrupted", None)


@pytest.mark.parametrize("run_id", ["", ".", "..", "../other", "a/../../other", "/", "a/lock", ".frames", "link"])
def test_no_run_id_leads_out_of_the_folder(tmp_path: Path, run_id: str) -> None:
    put(tmp_path, "other", "stopped")
    put(tmp_path / "runs", "a", "stopped").checkpoint(1).mkdir(parents=True)
    put(tmp_path / "runs", ".frames")
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "other")
    manager = RunManager(tmp_path / "runs")
    for act in (manager.delete, manager.stop, manager.resume, manager.metrics, manager.log_tail, manager.get):
        with pytest.raises(ConfigError, match="Unknown run"):
            act(run_id)
    assert (tmp_path / "other" / "config.json").exists()
    assert [run.run_id for run in manager.runs()] == ["a"]


def test_runs_are_listed_newest_first_and_one_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    for age, run_id in enumerate(("new", "broken", "old")):
        run = put(tmp_path, run_id, "finished")
        os.utime(run.config, (1000 - age, 1000 - age))
    (tmp_path / "broken" / "config.json").write_text('{"colour": 1}')
    (tmp_path / "broken" / "status.json").write_text("")
    os.utime(tmp_path / "broken" / "config.json", (999, 999))
    runs = RunManager(tmp_path).runs()
    assert [(run.run_id, run.name, run.status.state) for run in runs] == [
        ("new", "Tiny*", "finished"), ("broken", "broken", "interrupted"), ("old", "Tiny*", "finished"),
    ]  # fmt: skip
    assert not runs[1].can_resume
    assert RunManager(tmp_path / "none").runs() == []


def test_two_runs_of_one_name_in_one_second_get_two_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manager_module, "_launch", lambda run: None)
    manager = RunManager(tmp_path)
    ids = {manager.start(replace(CONFIG, name=name)) for name in ("A b/../c", "A b/../c", "猫")}
    assert len(ids) == 3
    assert {run_id.rpartition("-2")[0].rstrip("-0123456789") for run_id in ids} == {"a-b-c", "run"}
    assert {run.run_id for run in manager.runs()} == ids


def test_a_half_written_line_of_metrics_waits_and_each_line_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    reader = MetricsReader(path)
    assert reader.rows() == []
    path.write_text('{"step": 1}\n{"st')
    assert reader.rows() == [{"step": 1}]
    with path.open("a") as file:
        file.write('ep": 2}\n{"step": 3, "loss": NaN}\n')
    assert reader.rows() == [{"step": 1}, {"step": 2}, {"step": 3}]
    with path.open("a") as file:
        file.write('{"step": 4, "lo{"step": 5}\n[6]\n{"step": 7}\n')  # a kill cut line 4 off
    assert reader.rows()[3:] == [{"step": 7}]
    path.write_text('{"step": 8}\n')  # another run of that name
    assert reader.rows() == [{"step": 8}]


def test_a_log_of_any_length_has_a_short_tail(tmp_path: Path) -> None:
    run = put(tmp_path, "a")
    manager = RunManager(tmp_path)
    assert manager.log_tail("a") == ""
    run.log.write_bytes(b"\xff\n" + b"x\n" * 100_000 + b"last\n")
    assert manager.log_tail("a", 2) == "x\nlast"


def test_a_lock_is_held_once_and_is_free_afterwards(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "lock")
    assert lock.holder() is None
    with lock.hold("a longer note"):
        assert lock.holder() == "a longer note"
        with pytest.raises(BlockingIOError), lock.hold("another"):
            pass
    assert lock.holder() is None
    with lock.hold("short"):
        assert lock.holder() == "short"


def test_values_of_a_new_run_can_be_set_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_config(CONFIG, tmp_path / "config.json")
    config = ("--config", str(tmp_path / "config.json"))
    for wrong, sentence in (("epochs=many", "epochs must be like"), ("epoch=2", "unknown keys"), ("x", "KEY=VALUE")):
        assert main([str(tmp_path / "run"), *config, "--set", wrong]) == 2
        assert sentence in capsys.readouterr().err
        assert not (tmp_path / "run").exists()
    with machine_lock().hold("runs/other"):
        assert main([str(tmp_path / "run"), *config, "--set", "epochs=7", "--set", "name=A=b"]) == 2
    written = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (written["epochs"], written["name"]) == (7, "A=b")
    capsys.readouterr()
    assert main([str(tmp_path / "run"), "--set", "epochs=8"]) == 2
    assert "Name its --config too" in capsys.readouterr().err
