"""TensorBoard's event files of a run."""

from dataclasses import replace
from pathlib import Path

import pytest

from nt2vr.errors import ConfigError
from tests.tiny import TINY
from trainer.config import TrainConfig
from trainer.learner import Start
from trainer.runs import run_folder as metrics
from trainer.runs.run_folder import MetricsWriter, RunFolder

CONFIG = TrainConfig(model=TINY, tensorboard=True)


def test_without_the_package_a_run_that_asks_for_event_files_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="package tensorboard"):
        Start.of(CONFIG)
    Start.of(replace(CONFIG, tensorboard=False))


def test_event_files_hold_what_metrics_hold_and_a_resumed_run_replaces_what_it_measures_again(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # noqa: PLC0415

    run = RunFolder(tmp_path)
    for first, value in ((0, 0.5), (20, 0.75)):  # the second resumes after step 20
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
