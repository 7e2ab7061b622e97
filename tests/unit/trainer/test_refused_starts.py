"""Starts that are refused: each leaves nothing behind, so that the same name can start at once."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nt2vr.cli import main
from nt2vr.errors import Nt2vrError
from tests.support.captioned_pictures import write_captioned_pictures
from tests.support.tiny_models import TINY, write_tiny
from tests.support.trainings import SMALL
from tests.support.triplet_files import write_triplets
from trainer import teaching
from trainer.config import TrainConfig, save_config
from trainer.runs.manager import RunManager
from trainer.runs.run_folder import Holder, device_locks

Changes = dict[str, Any]


def text_tower(folder: Path) -> Changes:
    write_tiny(folder / "base", "Tiny base")
    return {"base": str(folder / "base"), "model": {}, "train": "text"}


def own_pictures(folder: Path, count: int = 40) -> Changes:
    write_captioned_pictures(folder / "set", count)
    return {"data": str(folder / "set"), "num_frames": 1}


def own_captions(folder: Path, count: int = 30) -> Changes:
    (folder / "captions.txt").write_text(
        "\n".join(f"a man is singing song {number}" for number in range(count))
    )
    return {**text_tower(folder), "data": str(folder / "captions.txt"), "losses": {"distill": {}}}


def without_pairs(folder: Path) -> Changes:
    changes = own_pictures(folder)
    names = [f"{number}.png" for number in range(40)]
    lines = ["path,caption", *(f"{name},a man is singing" for name in names)]
    (folder / "set" / "captions.csv").write_text("\n".join(lines))
    return {**changes, "monitor": "composed/hard_pairs"}


def few_triplets(folder: Path) -> Changes:
    write_triplets(folder / "triplets")
    settings: Changes = {
        "train": "fusion",
        "losses": {},
        "monitor": "fusion/R@1",
        "fusion": {"iterate": "triplets"},
    }
    return {
        **text_tower(folder),
        **settings,
        "data": str(folder / "triplets"),
        "num_clips": 5000,
        "batch_size": 4000,
    }


REFUSED: dict[str, Callable[[Path], Changes]] = {
    "an unknown loss": lambda _: {"losses": {"triplet": {}}},
    "a loss's unknown field": lambda _: {"losses": {"contrastive": {"m9": 1}}},
    "a loss that needs a frozen tower": lambda folder: {
        **text_tower(folder),
        "train": "all",
        "losses": {"distill": {}},
    },
    "no such data": lambda folder: {"data": str(folder / "nowhere")},
    "too few captions for a batch": lambda folder: own_captions(folder, count=3),
    "too few captions for accumulate": lambda folder: {
        **own_captions(folder),
        "num_clips": 100,
        "accumulate": 20,
    },
    "too few triplets": few_triplets,
    "a pooling that cannot be kept": lambda folder: {**text_tower(folder), "keep_head": True},
    "a head that learns nothing": lambda folder: {**text_tower(folder), "train": "head"},
    "the order of frames without such a pooling": lambda folder: {
        **text_tower(folder),
        "losses": {"order": {}},
    },
    "a monitor of the world for pictures": lambda folder: {
        **own_pictures(folder),
        "monitor": "not/auc",
    },
    "a monitor of texts for pictures": lambda folder: {
        **own_pictures(folder),
        "monitor": "text/order",
    },
    "a monitor of videos for captions": own_captions,
    "a monitor that the captions do not allow": without_pairs,
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_refused_start_leaves_nothing(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = SMALL.replace(**REFUSED[kind](tmp_path))
    save_config(config, tmp_path / "bad.json")
    run = tmp_path / "runs" / "mine"
    assert main(["train", str(run), "--config", str(tmp_path / "bad.json")]) == 2
    reason = capsys.readouterr().err.strip()
    assert reason
    assert "\n" not in reason
    with pytest.raises(Nt2vrError) as refusal:
        RunManager(tmp_path / "runs", "cpu").start(config)
    assert str(refusal.value) == reason
    assert not (tmp_path / "runs").exists()


def test_a_start_refused_beside_another_run_frees_its_name(
    tmp_path: Path,
) -> None:
    save_config(SMALL.replace(epochs=1), tmp_path / "tiny.json")
    run = tmp_path / "runs" / "mine"
    command = ["train", str(run), "--config", str(tmp_path / "tiny.json"), "--device", "cpu"]
    (device,) = device_locks(tmp_path / "runs", ["cpu"]).values()
    with device.hold(Holder("other", str(tmp_path / "runs" / "other"), os.getpid())):
        assert main(command) == 2
    assert not run.exists()
    assert main(command) == 0


def test_a_refused_sweep_starts_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_config(SMALL, tmp_path / "tiny.json")
    grid = "monitor=original/MIR,text/order"
    assert (
        main(
            ["sweep", str(tmp_path / "tiny.json"), "--grid", grid, "--out", str(tmp_path / "runs")]
        )
        == 1
    )
    assert "text/order" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_an_impossible_teaching_is_refused_before_timing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainer.__main__.estimate", lambda *_: pytest.fail("measured"))
    monkeypatch.setattr(teaching, "estimate", lambda *_: pytest.fail("measured"))
    write_tiny(tmp_path / "models" / "tiny", "Tiny")
    (tmp_path / "one.txt").write_text("a man is singing")
    command = ["teach", "tiny", "--data-dir", str(tmp_path)]
    assert main([*command, "--captions", str(tmp_path / "one.txt")]) == 1
    (device,) = device_locks(tmp_path / "runs", ["cpu"]).values()
    with device.hold(Holder("other", str(tmp_path / "runs" / "other"), os.getpid())):
        assert main([*command, "--device", "cpu"]) == 1
    assert "other is still training" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "runs").glob("[!.]*")] == []


def test_a_monitor_that_can_be_measured_is_taken(tmp_path: Path) -> None:
    config = SMALL.replace(**own_pictures(tmp_path), monitor="composed/hard_pairs")
    assert (
        RunManager(tmp_path / "runs", "cpu").check(config).validation.monitor
        == "composed/hard_pairs"
    )


def test_the_default_model_has_no_base_to_check() -> None:
    config = TrainConfig(model=TINY, num_clips=8, batch_size=4)
    assert RunManager(Path("runs"), "cpu").check(config) == config
