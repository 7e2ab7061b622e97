"""A start that waits for the run in its way: when it begins, and what becomes of it otherwise."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from nt2vr.errors import ConfigError, DeviceInUseError, RunError
from tests.support.trainings import SMALL
from trainer.config import TrainConfig
from trainer.runs import manager as manager_module
from trainer.runs import waiting as waiting_module
from trainer.runs.manager import RunManager
from trainer.runs.run_folder import Holder, device_locks

PATIENCE_S = 60
A_FEW_POLLS_S = 0.2
# of 2,000 steps: it is stopped, and does not end by itself
LONG = SMALL.replace(name="Long", epochs=1, passes=1000, num_frames=1)


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunManager:
    monkeypatch.setattr(waiting_module, "POLL_S", 0.01)
    return RunManager(tmp_path / "runs", "cpu")


@pytest.fixture
def in_the_way(manager: RunManager) -> Iterator[ExitStack]:
    """A run that is in the way until this is closed."""
    with ExitStack() as stack:
        for lock in device_locks(manager.folder, ["cpu"]).values():
            stack.enter_context(
                lock.hold(Holder("first", str(manager.folder / "first"), os.getpid()))
            )
        yield stack


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the runs that are started, whose processes are not."""
    run_ids: list[str] = []
    monkeypatch.setattr(
        manager_module, "_launch", lambda run, environment: run_ids.append(run.path.name)
    )
    return run_ids


def wait_until(condition: Callable[[], object]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def starting(manager: RunManager, config: TrainConfig = SMALL) -> Callable[[], str]:
    return lambda: manager.start(config, "mine")


def test_it_starts_once_the_other_run_has_ended(
    manager: RunManager, in_the_way: ExitStack, launched: list[str]
) -> None:
    waiting = manager.start_later("Tiny", starting(manager), "mine")
    time.sleep(A_FEW_POLLS_S)
    assert waiting.is_waiting
    assert launched == []
    in_the_way.close()
    wait_until(lambda: not waiting.is_waiting)
    assert launched == [waiting.run_id] == [run.run_id for run in manager.runs()]
    assert manager.get(waiting.run_id).session == "mine"
    with pytest.raises(RunError, match="Tiny"):
        manager.take_back_start()
    time.sleep(A_FEW_POLLS_S)
    assert len(launched) == 1


def test_what_is_taken_back_never_starts(
    manager: RunManager, in_the_way: ExitStack, launched: list[str]
) -> None:
    waiting = manager.start_later("Tiny", starting(manager))
    manager.take_back_start()
    in_the_way.close()
    time.sleep(A_FEW_POLLS_S)
    assert launched == []
    assert not waiting.is_waiting
    assert manager.waiting is None
    with pytest.raises(RunError):
        manager.take_back_start()


def test_only_one_start_waits_until_it_is_taken_back(
    manager: RunManager, in_the_way: ExitStack, launched: list[str]
) -> None:
    first = manager.start_later("First", starting(manager))
    with pytest.raises(RunError, match="First"):
        manager.start_later("Second", starting(manager))
    assert manager.waiting is first
    manager.take_back_start()
    second = manager.start_later("Second", starting(manager))
    in_the_way.close()
    wait_until(lambda: not second.is_waiting)
    assert launched == [second.run_id]


def test_a_late_refusal_is_kept_until_it_is_read(
    manager: RunManager, in_the_way: ExitStack, launched: list[str], tmp_path: Path
) -> None:
    waiting = manager.start_later(
        "Tiny", starting(manager, SMALL.replace(data=str(tmp_path / "gone")))
    )
    in_the_way.close()
    wait_until(lambda: not waiting.is_waiting)
    assert isinstance(waiting.error, ConfigError)
    assert "gone" in str(waiting.error)
    assert manager.waiting is waiting
    assert launched == []
    manager.take_back_start()
    assert manager.waiting is None


def test_a_failure_that_nobody_foresaw_is_kept_too(manager: RunManager) -> None:
    def fail() -> str:
        raise ZeroDivisionError

    waiting = manager.start_later("Tiny", fail)
    wait_until(lambda: not waiting.is_waiting)
    assert isinstance(waiting.error, ZeroDivisionError)


def test_it_waits_on_if_another_run_was_faster(manager: RunManager) -> None:
    attempts: list[float] = []

    def start() -> str:
        attempts.append(time.monotonic())
        if len(attempts) == 1:
            raise DeviceInUseError("other is still training on cpu.")
        return "run"

    waiting = manager.start_later("Tiny", start)
    wait_until(lambda: not waiting.is_waiting)
    assert waiting.run_id == "run"
    assert waiting.error is None
    assert len(attempts) == 2


def test_a_config_is_checked_while_it_waits(
    manager: RunManager, in_the_way: ExitStack, tmp_path: Path
) -> None:
    manager.check_config(SMALL)
    with pytest.raises(ConfigError, match="gone"):
        manager.check_config(SMALL.replace(data=str(tmp_path / "gone")))
    with pytest.raises(DeviceInUseError):
        manager.check(SMALL)


@pytest.mark.slow
def test_a_run_starts_after_one_that_is_stopped(manager: RunManager) -> None:
    first = manager.start(LONG)
    with pytest.raises(DeviceInUseError, match=first):
        manager.start(SMALL)
    waiting = manager.start_later("Tiny", starting(manager))
    wait_until(lambda: manager.get(first).status.step > 0)
    assert waiting.is_waiting
    manager.stop(first)
    wait_until(lambda: not waiting.is_waiting)
    assert waiting.error is None
    assert manager.get(first).status.state == "stopped"
    wait_until(lambda: not manager.get(waiting.run_id).is_under_way)
    assert manager.get(waiting.run_id).status.state == "finished"
