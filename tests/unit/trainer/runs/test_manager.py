"""Runs as separate processes: started, stopped, killed and resumed, one at a time; and reading their metrics."""

import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nt2vr.errors import ConfigError, RunError
from nt2vr.media.limits import bytes_in
from tests.support.paths import ROOT
from trainer import session
from trainer.__main__ import main
from trainer.config import TrainConfig, save_config
from trainer.runs import manager as manager_module
from trainer.runs import run_folder as run_folder_module
from trainer.runs.manager import Run, RunManager
from trainer.runs.run_folder import Holder, Lock, RunFolder, RunStatus, State, device_locks

# The built-in model, whose steps are slow enough to stop between two.
CONFIG = TrainConfig(
    name="Tiny*",
    num_clips=64,
    num_frames=1,
    validation_clips=8,
    batch_size=2,
    epochs=1,
    warmup_steps=2,
    log_every=1,
)
SET = ("--set", "epochs=7", "--set", "name=A=b", "--set", "losses.contrastive.weight=.5")
STEPS = 32
# A busy machine is slow, not wrong.
PATIENCE_S = 300


@pytest.fixture
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunManager]:
    """Manager of one run folder shared by all tests, so that clips are rendered once."""
    manager = RunManager(tmp_path_factory.getbasetemp() / "runs")
    yield manager
    for run in manager.runs():
        if run.is_under_way:
            manager.stop(run.run_id, at_once=True)
            wait_for(manager, run.run_id, lambda run: not run.is_under_way)
        manager.delete(run.run_id)


def wait_for(manager: RunManager, run_id: str, is_so: Callable[[Run], bool]) -> Run:
    """Return a run once something is so."""
    deadline_s = time.monotonic() + PATIENCE_S
    while True:
        run = manager.get(run_id)
        if is_so(run):
            return run
        assert time.monotonic() < deadline_s, f"{run}\n{manager.log_tail(run_id)}"
        time.sleep(0.01)


def wait_for_end(manager: RunManager, run_id: str, expected: State) -> Run:
    """Wait for a run to end; fail with its log unless it ended in the expected state."""
    run = wait_for(manager, run_id, lambda run: not run.is_under_way)
    assert run.status.state == expected, f"{run.status}\n{manager.log_tail(run_id, 100)}"
    return run


def put(folder: Path, run_id: str, state: str | None = None) -> RunFolder:
    """Create a run that no process is training."""
    run = RunFolder(folder / run_id)
    run.path.mkdir(parents=True)
    save_config(CONFIG, run.config)
    if state:
        run.write_status(RunStatus(state, 1, epoch=1, step=9, eta_s=4))  # type: ignore[arg-type]
    return run


@pytest.mark.slow
def test_a_run_is_started_stopped_killed_and_resumed(
    manager: RunManager, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_id = manager.start(CONFIG)
    assert run_id.startswith("tiny-")
    assert manager.get(run_id).is_under_way
    holder = manager.folder.joinpath(run_id).resolve()
    refusal = f"{run_id} .*{holder}.*{manager.get(run_id).status.pid}"
    with pytest.raises(RunError, match=refusal):
        manager.start(CONFIG)
    save_config(CONFIG, tmp_path / "config.json")
    assert main([str(manager.folder / "by-hand"), "--config", str(tmp_path / "config.json")]) == 2
    assert re.search(refusal, capsys.readouterr().err)
    assert not (manager.folder / "by-hand").exists()
    with pytest.raises(RunError):
        manager.delete(run_id)

    wait_for(manager, run_id, lambda run: run.status.step > 2)
    manager.stop(run_id)
    stopped = wait_for_end(manager, run_id, "stopped")
    assert 2 < stopped.status.step < STEPS
    assert manager.metrics(run_id)[0]["step"] == 1
    with pytest.raises(RunError):
        manager.stop(run_id)

    manager.resume(run_id)
    wait_for(manager, run_id, lambda run: run.status.state == "running")
    assert "Resuming after step" in manager.log_tail(run_id, 100)
    manager.stop(run_id, at_once=True)
    killed = wait_for_end(manager, run_id, "interrupted")
    # The same is seen after a restart of the app.
    assert RunManager(manager.folder).get(run_id) == killed

    manager.resume(run_id)
    assert wait_for_end(manager, run_id, "finished").status.step == STEPS
    with pytest.raises(RunError, match="finished"):
        manager.resume(run_id)
    manager.delete(run_id)
    assert manager.runs() == []
    (trashed,) = (manager.folder / ".trash").glob(f"{run_id}-*")
    assert (trashed / "checkpoints").is_dir()


@pytest.mark.slow
def test_a_failed_run_says_why_and_leaves_nothing(
    manager: RunManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = put(manager.folder, "by-hand", "stopped").path.name
    save_config(CONFIG.replace(losses={"triplet": {}}), manager.folder / run_id / "config.json")
    manager.resume(run_id)
    failed = wait_for_end(manager, run_id, "failed")
    assert "Unknown loss 'triplet'" in str(failed.status.error)
    assert failed.can_resume
    # Each line stands there once, though standard error is the log, too.
    log = manager.log_tail(run_id, 1000)
    # At the end of the traceback, and as the reason.
    assert log.count("Choose one of: bnl, composed") == 2

    # Two people click at the same time.
    monkeypatch.setattr(manager_module, "refuse_second_training", lambda *_: None)
    (device,) = device_locks(manager.folder).values()
    with (
        device.hold(Holder("other", "runs/other", 1)),
        pytest.raises(RunError, match="other"),
    ):
        manager.start(CONFIG)
    assert [run.run_id for run in manager.runs()] == [run_id]


def test_runs_train_on_the_device_that_the_app_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # `start` imports it, with the loader that is patched here.
    pytest.importorskip("torch")
    # This stands for a CUDA driver.
    monkeypatch.setattr(ctypes, "CDLL", lambda name: None)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1")
    for device in ("cuda:1", "cpu"):
        (other_lock,) = device_locks(tmp_path, [device]).values()
        with other_lock.hold(Holder("other", str(tmp_path / "other"), 1)):
            with pytest.raises(RunError, match=f"other .*{device}"):
                RunManager(tmp_path, device).start(CONFIG)
            assert RunManager(tmp_path, device).under_way() == "other"
            # The run is on cuda:3.
            assert RunManager(tmp_path).under_way() == ""
    with pytest.raises(ConfigError, match=r"cuda:2.* 2 "):
        RunManager(tmp_path, "cuda:2").start(CONFIG)
    assert RunManager(tmp_path, "mps").under_way() == ""


def test_a_slow_stop_may_be_ended_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = RunManager(tmp_path)
    run = put(tmp_path, "a", "running")
    signals: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: signals.append(number))
    with run.lock.hold(Holder.here(run.path)):
        assert manager.get("a").status.state == "running"
        manager.stop("a")
        assert (manager.get("a").status.state, manager.get("a").may_end_at_once) == (
            "stopping",
            False,
        )
        monkeypatch.setattr(manager_module, "PATIENCE_S", 0)
        assert manager.get("a").may_end_at_once
    assert signals == [signal.SIGTERM]
    assert manager.get("a").status.state == "interrupted"


def test_a_deleted_run_is_kept_until_the_trash_is_emptied(tmp_path: Path) -> None:
    manager = RunManager(tmp_path)
    for run in (put(tmp_path, "a", "stopped"), put(tmp_path, "a-1", "stopped")):
        run.log.write_bytes(bytes(1_000_000))
        manager.delete(run.path.name)
    assert manager.runs() == []
    assert bytes_in(manager.trash) > 2_000_000
    (tmp_path / ".trash" / "not-a-run").mkdir()
    manager.empty_trash()
    assert [path.name for path in (tmp_path / ".trash").iterdir()] == ["not-a-run"]


@pytest.mark.parametrize("state", [None, "preparing", "running"])
def test_what_nobody_trains_is_interrupted_whatever_its_status_says(
    tmp_path: Path, state: str | None
) -> None:
    put(tmp_path, "a", state)
    status = RunManager(tmp_path).get("a").status
    assert (status.state, status.eta_s) == ("interrupted", None)


@pytest.mark.parametrize(
    "run_id", ["", ".", "..", "../other", "a/../../other", "/", "a/lock", ".frames", "link"]
)
def test_no_run_id_leads_out_of_the_folder(tmp_path: Path, run_id: str) -> None:
    put(tmp_path, "other", "stopped")
    put(tmp_path / "runs", "a", "stopped").checkpoint(1).mkdir(parents=True)
    put(tmp_path / "runs", ".frames")
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "other")
    manager = RunManager(tmp_path / "runs")
    for act in (
        manager.delete,
        manager.stop,
        manager.resume,
        manager.metrics,
        manager.log_tail,
        manager.get,
    ):
        with pytest.raises(ConfigError):
            act(run_id)
    assert (tmp_path / "other" / "config.json").exists()
    assert [run.run_id for run in manager.runs()] == ["a"]


def test_an_unreadable_run_does_not_hide_the_others(
    tmp_path: Path,
) -> None:
    for age, run_id in enumerate(("new", "broken", "old")):
        run = put(tmp_path, run_id, "finished")
        os.utime(run.config, (1000 - age, 1000 - age))
    (tmp_path / "broken" / "config.json").write_text('{"colour": 1}')
    (tmp_path / "broken" / "status.json").write_text("")
    os.utime(tmp_path / "broken" / "config.json", (999, 999))
    runs = RunManager(tmp_path).runs()
    assert [(run.run_id, run.name, run.status.state) for run in runs] == [
        ("new", "Tiny*", "finished"),
        ("broken", "broken", "interrupted"),
        ("old", "Tiny*", "finished"),
    ]
    assert not runs[1].can_resume
    assert RunManager(tmp_path / "none").runs() == []


def test_runs_of_one_name_and_second_get_two_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manager_module, "_launch", lambda *_: None)
    manager = RunManager(tmp_path)
    ids = {manager.start(CONFIG.replace(name=name)) for name in ("A b/../c", "A b/../c", "猫")}
    assert len(ids) == 3
    assert {run_id.rpartition("-2")[0].rstrip("-0123456789") for run_id in ids} == {"a-b-c", "run"}
    assert {run.run_id for run in manager.runs()} == ids


def test_changed_metrics_are_read_again_without_broken_lines(
    tmp_path: Path,
) -> None:
    manager = RunManager(tmp_path)
    run = put(tmp_path, "a")
    assert manager.metrics("a") == []
    run.metrics.write_text('{"step": 1}\n{"st')
    assert manager.metrics("a") == [{"step": 1}]
    run.metrics.write_text(
        '{"step": 1}\n{"step": 2}\n{"step": 3, "loss": NaN}\n{"step": 4, "lo{"step": 5}\n[6]\n'
    )
    os.utime(run.metrics, ns=(1, 1))
    assert manager.metrics("a") == [{"step": 1}, {"step": 2}, {"step": 3}]
    # A run that was resumed cuts it back.
    run.metrics.write_text('{"step": 1}\n')
    assert manager.metrics("a") == [{"step": 1}]


def test_a_log_of_any_length_has_a_short_tail(tmp_path: Path) -> None:
    run = put(tmp_path, "a")
    manager = RunManager(tmp_path)
    assert manager.log_tail("a") == ""
    run.log.write_bytes(b"\xff\n" + b"x\n" * 100_000 + b"last\n")
    assert manager.log_tail("a", 2) == "x\nlast"


HOLD = """
import sys, time
from pathlib import Path
from trainer.runs.run_folder import Holder, Lock
with Lock(Path(sys.argv[1])).hold(Holder("a", "runs/a", 7)):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
def test_a_lock_is_held_until_its_holder_is_killed(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "lock")
    command = [sys.executable, "-c", HOLD, str(lock.path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        holder = lock.holder()
        assert holder is not None
        assert holder.pid == 7
        with pytest.raises(BlockingIOError), lock.hold(Holder("b", "runs/b", 8)):
            pass
        process.kill()
    assert lock.holder() is None
    with lock.hold(Holder("b", "runs/b", 8)):
        assert lock.holder() == Holder("b", "runs/b", 8)
    assert lock.holder() is None


def test_runs_of_other_folders_and_devices_do_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = put(tmp_path / "mine", "a")
    two = put(tmp_path / "mine", "b")
    three = put(tmp_path / "yours", "c")
    with one.training(), three.training():
        with (
            pytest.raises(RunError, match=r"^a .*folder .*a, process \d+"),
            two.training(),
        ):
            pass
        monkeypatch.setattr(run_folder_module, "training_devices", lambda: ("cuda:1", "cuda:2"))
        with two.training():
            monkeypatch.setattr(run_folder_module, "training_devices", lambda: ("cuda:2",))
            with (
                pytest.raises(RunError, match=r"^b .*cuda:2"),
                put(tmp_path / "mine", "d").training(),
            ):
                pass


def test_values_of_a_new_run_can_be_set_by_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    save_config(CONFIG, tmp_path / "config.json")
    config = ("--config", str(tmp_path / "config.json"))
    for wrong, sentence in (
        ("epochs=many", "epochs must be a whole number"),
        ("epoch=2", "no setting 'epoch'"),
        ("x", "KEY=VALUE"),
    ):
        assert main([str(tmp_path / "run"), *config, "--set", wrong]) == 2
        assert sentence in capsys.readouterr().err
        assert not (tmp_path / "run").exists()
    (device,) = device_locks(tmp_path).values()
    with device.hold(Holder("other", "runs/other", 1)):
        assert main([str(tmp_path / "run"), *config, *SET]) == 2
    assert not (tmp_path / "run").exists()
    # Nothing is trained.
    monkeypatch.setattr(session, "_lead", lambda *_, **__: "stopped")
    assert main([str(tmp_path / "run"), *config, *SET]) == 0
    written = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (written["epochs"], written["name"]) == (7, "A=b")
    assert written["losses"]["contrastive"]["weight"] == 0.5
    capsys.readouterr()
    assert main([str(tmp_path / "run"), "--set", "epochs=8"]) == 2
    assert "Name its --config too" in capsys.readouterr().err
