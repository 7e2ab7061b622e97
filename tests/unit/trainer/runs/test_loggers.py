"""Where a run's metrics go besides its own file."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from nt2vr.errors import ConfigError
from tests.support.tiny_models import TINY
from trainer.config import TrainConfig
from trainer.runs import loggers
from trainer.runs.run_folder import MetricsWriter, RunFolder
from trainer.start import Start

CONFIG = TrainConfig(model=TINY, tensorboard=True)


def test_event_files_without_their_package_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loggers, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="tensorboard"):
        Start.of(CONFIG)
    Start.of(CONFIG.replace(tensorboard=False))


def test_a_resumed_run_replaces_its_events(
    tmp_path: Path,
) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # noqa: PLC0415

    run = RunFolder(tmp_path)
    # The second resumes after step 20.
    for first, value in ((0, 0.5), (20, 0.75)):
        writer = MetricsWriter(run, CONFIG, first)
        for step in range(first + 10, 41, 10):
            writer.append({"epoch": 1, "step": step, "contrastive": value, "original/MIR": 0.25})
        writer.close()
    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert sorted(events.Tags()["scalars"]) == ["contrastive", "original/MIR"]
    assert [(event.step, event.value) for event in events.Scalars("contrastive")] == [
        (10, 0.5),
        (20, 0.5),
        (30, 0.75),
        (40, 0.75),
    ]
    assert len(run.metrics.read_text().splitlines()) == 6


def stand_in(package: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """Install a package that records its calls, and return these."""
    calls: list[tuple[object, ...]] = []
    module = ModuleType(package)
    module.init = lambda **options: calls.append(("init", options))  # type: ignore[attr-defined]
    module.log = lambda values, step: calls.append(("log", step, values))  # type: ignore[attr-defined]
    module.finish = lambda: calls.append(("finish",))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, package, module)
    return calls


@pytest.mark.parametrize("package", ["trackio", "wandb"])
def test_a_tracker_gets_every_row_and_knows_a_resumed_run(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = stand_in(package, monkeypatch)
    run = RunFolder(tmp_path / "mine")
    run.path.mkdir()
    config = CONFIG.replace(tensorboard=False, logger=package, name="Mine")
    for step in (10, 20):
        writer = MetricsWriter(run, config, step - 10)
        writer.append({"epoch": 1, "step": step, "contrastive": 0.5})
        writer.close()
    assert [call[0] for call in calls] == ["init", "log", "finish"] * 2
    assert calls[0] == calls[3]
    options: Any = calls[0][1]
    assert options["name"] == "mine"
    assert options["resume"] == "allow"
    assert options["config"]["name"] == "Mine"
    assert ("id" in options) == (package == "wandb")
    assert calls[4] == ("log", 20, {"contrastive": 0.5})
    assert len(run.metrics.read_text().splitlines()) == 2


def test_a_missing_tracker_is_refused_before_any_import() -> None:
    config = CONFIG.replace(tensorboard=False, logger="trackio")
    with pytest.raises(ConfigError, match="trackio"):
        Start.of(config)
