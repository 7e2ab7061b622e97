"""Losses and datasets of one's own, known in this process by their names."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import nt2vr
from nt2vr.datasets.load import DATASETS, load_dataset
from nt2vr.errors import ConfigError, DatasetError
from tests.support.own_loss import WordOrderLoss
from tests.support.trainings import SMALL, go_on, run_training, stop_at
from trainer.inputs import EmbeddedBatch, Parts, Video
from trainer.losses import LOSSES, build_losses
from trainer.runs.run_folder import RunFolder


@dataclass(frozen=True)
class Pull:
    """Pull captions towards their videos."""

    strength: float = 2.0
    inputs = (Video,)

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        assert batch.video is not None
        return self.strength * (1 - (batch.video * batch.caption).sum(dim=-1)).mean()


@pytest.fixture(autouse=True)
def unregistered() -> Iterator[None]:
    yield
    for registry in (LOSSES, DATASETS):
        for name in registry.added:
            del registry[name]


def test_a_registered_loss_is_built_from_settings_and_summed() -> None:
    nt2vr.register_loss("pull", Pull)
    losses = build_losses({"pull": {"weight": 0.5, "strength": 4.0}})
    assert [type(loss_input) for loss_input in losses.inputs] == [Video]
    videos = torch.eye(2)
    batch = EmbeddedBatch(video=videos, caption=videos.flip(0), logit_scale=torch.tensor(1.0))
    total, values = losses(batch)
    assert values == {"pull": 4.0}
    assert total.item() == 2.0


@dataclass(frozen=True)
class WithoutDefault:
    size: int
    inputs = (Video,)

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        return batch.caption.sum()


@pytest.mark.parametrize(
    ("name", "loss"),
    [("contrastive", Pull), ("Two Words", Pull), ("mine", Pull()), ("mine", WithoutDefault)],
)
def test_a_loss_that_a_config_could_not_use_is_refused(name: str, loss: Any) -> None:
    with pytest.raises(ConfigError):
        nt2vr.register_loss(name, loss)


@pytest.mark.parametrize("given_inputs", ["video", ("video",), (dict,), None])
def test_a_loss_whose_inputs_are_none_is_refused(given_inputs: Any) -> None:
    @dataclass(frozen=True)
    class Misnamed:
        inputs = given_inputs

        def __call__(self, batch: EmbeddedBatch) -> Tensor:
            return batch.caption

    with pytest.raises(ConfigError):
        nt2vr.register_loss("mine", Misnamed)


def metrics_of(run: RunFolder) -> list[str]:
    return run.metrics.read_text().splitlines()


@pytest.mark.slow
def test_a_loss_with_its_own_input_trains_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nt2vr.register_loss("word-order", WordOrderLoss)
    config = SMALL.replace(losses={"contrastive": {}, "word-order": {"weight": 0.5}})
    uninterrupted = run_training(config, tmp_path / "whole")
    assert all(
        json.loads(line)["word-order"] > 0
        for line in metrics_of(uninterrupted)
        if "contrastive" in line
    )

    stop_at(monkeypatch, step=3)
    cut = run_training(config, tmp_path / "cut", "stopped")
    assert metrics_of(go_on(cut)) == metrics_of(uninterrupted)


def test_built_in_inputs_come_first_and_once() -> None:
    nt2vr.register_loss("word-order", WordOrderLoss)
    losses = build_losses({"distill": {}, "composed": {}, "bnl": {}})
    with_own = build_losses({"word-order": {}, "composed": {}, "bnl": {}, "distill": {"keep": 0.0}})
    names = "Video Negated Denied Truth Parts".split()
    assert [type(loss_input).__name__ for loss_input in losses.inputs] == names
    assert [type(loss_input).__name__ for loss_input in with_own.inputs] == [*names, "Shuffled"]
    assert losses.inputs.of(Parts).with_captions
    assert not with_own.inputs.of(Parts).with_captions


def rows(path: Path) -> Iterator[dict[str, str]]:
    for line in path.read_text().splitlines():
        name, _, caption = line.partition(" = ")
        yield {"path": name, "caption": caption, "split": "test" if name == "b.png" else "train"}


def test_a_dataset_of_ones_own_is_read_by_its_name(tmp_path: Path) -> None:
    for name in ("a.png", "b.png", "c.png"):
        (tmp_path / name).touch()
    file = tmp_path / "captions.own"
    file.write_text("a.png = a dog\nb.png = a cat\nc.png = a cow\n")
    nt2vr.register_dataset("own", rows)
    (video,) = load_dataset(f"own:{file}", "test").videos
    assert (video.path, video.captions) == (tmp_path / "b.png", ("a cat",))
    assert len(load_dataset(f"own:{file}", "all").videos) == 3
    (tmp_path / "captions.json").write_text(json.dumps([{"path": "a.png", "caption": "x"}]))
    # It is known only by its name.
    assert len(load_dataset(tmp_path).videos) == 1


def test_rows_that_name_no_video_are_refused(tmp_path: Path) -> None:
    nt2vr.register_dataset("own", lambda path: [{"caption": "a dog"}])
    with pytest.raises(DatasetError, match="row 1"):
        load_dataset(f"own:{tmp_path}")
    with pytest.raises(ConfigError):
        nt2vr.register_dataset("own", "a path")  # type: ignore[arg-type]
    with pytest.raises(ConfigError):
        nt2vr.register_dataset("vatex", rows)
