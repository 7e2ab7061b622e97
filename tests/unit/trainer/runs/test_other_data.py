"""Runs that are resumed after their data has changed."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

from tests.support.tiny_models import write_tiny
from tests.support.trainings import SMALL, go_on, run_training, stop_at
from tests.support.triplet_files import write_triplets
from trainer.config import TrainConfig
from trainer.runs.run_folder import RunFolder

Rows = list[tuple[str, str]]
CONFIG = SMALL.replace(num_frames=1, epochs=3, validation_clips=3)
ROWS: Rows = [(f"{number}.png", f"a man sings song {number}") for number in range(30)]
# Units of red from one picture to the next.
COLOURS = 7


def write_pictures(folder: Path, rows: Rows, added_red: int = 0) -> None:
    folder.mkdir(exist_ok=True)
    for name, _ in rows:
        red = COLOURS * int(name.removesuffix(".png")) + added_red
        Image.new("RGB", (48, 48), (red, 90, 200)).save(folder / name)
    write_rows(folder, rows)


def write_rows(folder: Path, rows: Rows) -> None:
    with (folder / "captions.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("path", "caption"), *rows])


@pytest.fixture
def stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[TrainConfig], RunFolder]:
    """Return a function that trains a run for three steps."""

    def train(config: TrainConfig) -> RunFolder:
        with monkeypatch.context() as patch:
            stop_at(patch, 3)
            return run_training(config, tmp_path / "runs" / "mine", "stopped")

    return train


def refusal(run: RunFolder) -> str:
    """Resume a run that is refused; return why."""
    saved = run.resume.read_bytes()
    status = go_on(run, "failed").status()
    assert status
    assert status.step == 3
    assert run.resume.read_bytes() == saved
    assert run.log.read_text().splitlines()[-1].endswith(str(status.error))
    return str(status.error)


def exchange(folder: Path) -> None:
    write_pictures(
        folder, [(f"{number}.png", f"a man sings song {number}") for number in range(10, 36)][:30]
    )


def remove(folder: Path) -> None:
    write_rows(folder, ROWS[:20])


def edit_a_caption(folder: Path) -> None:
    write_rows(folder, [(name, text.replace("song 4", "song 40")) for name, text in ROWS])


def repaint(folder: Path) -> None:
    write_pictures(folder, ROWS[:1], added_red=9)
    write_rows(folder, ROWS)


def damage(folder: Path) -> None:
    (folder / "4.png").write_bytes(b"no picture any more")


def reverse(folder: Path) -> None:
    write_rows(folder, ROWS[::-1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "share"),
    [
        (remove, " of 30 clips"),
        (exchange, " of 30 clips"),
        (edit_a_caption, "1 of 30 clips"),
        (repaint, "1 of 30 clips"),
        (damage, "1 of 30 clips"),
    ],
)
def test_a_run_whose_data_has_changed_is_refused(
    change: Callable[[Path], None],
    share: str,
    tmp_path: Path,
    stopped: Callable[[TrainConfig], RunFolder],
) -> None:
    data = tmp_path / "set"
    write_pictures(data, ROWS)
    run = stopped(CONFIG.replace(data=str(data), num_clips=100))
    change(data)
    text = refusal(run)
    assert text.startswith("The data of mine has changed since the run was started: ")
    assert share in text
    assert str(data) in text
    assert "config" not in text
    write_pictures(data, ROWS)
    # Batches do not depend on the order of a table's rows.
    reverse(data)
    go_on(run)


def test_edited_captions_of_a_text_tower_are_noticed(
    tmp_path: Path, stopped: Callable[[TrainConfig], RunFolder]
) -> None:
    write_tiny(tmp_path / "base", "Tiny base")
    captions = tmp_path / "captions.txt"
    lines = []
    for subject in ("man", "girl", "dog", "cat"):
        for action in ("singing", "running", "eating"):
            lines.append(f"a {subject} is {action}")
    captions.write_text("\n".join(lines))
    changes: dict[str, Any] = {"base": str(tmp_path / "base"), "model": {}, "train": "text"}
    changes["losses"] = {"distill": {}}
    run = stopped(CONFIG.replace(**changes, data=str(captions)))
    captions.write_text("\n".join([*lines[:-1], "a cat is sleeping"]))
    assert "1 of 9 clips or their captions differ" in refusal(run)
    captions.write_text("\n".join(lines))
    go_on(run)


@pytest.mark.slow
@pytest.mark.parametrize("change", ["text", "picture"])
def test_changed_triplets_of_a_fusion_are_noticed(
    change: str, tmp_path: Path, stopped: Callable[[TrainConfig], RunFolder]
) -> None:
    write_tiny(tmp_path / "base", "Tiny base")
    data = tmp_path / "triplets"
    write_triplets(data)
    changes: dict[str, Any] = {"base": str(tmp_path / "base"), "model": {}, "data": str(data)}
    settings: dict[str, Any] = {"train": "fusion", "losses": {}, "monitor": "fusion/R@1"}
    settings["fusion"] = {"iterate": "triplets", "random_clips": 3}
    run = stopped(CONFIG.replace(**changes, **settings, num_clips=80))
    file = data / "my-triplets.jsonl"
    before = file.read_text()
    lines = before.splitlines()
    if change == "text":
        lines[0] = json.dumps({**json.loads(lines[0]), "text": "make it large"})
        file.write_text("\n".join(lines))
    else:
        Image.new("RGB", (32, 32), (1, 2, 3)).save(data / "v3.png")
    text = refusal(run)
    assert "The data of mine has changed" in text
    assert "config" not in text


def test_a_config_that_asks_for_fewer_clips_is_still_named(
    tmp_path: Path, stopped: Callable[[TrainConfig], RunFolder]
) -> None:
    data = tmp_path / "set"
    write_pictures(data, ROWS)
    run = stopped(CONFIG.replace(data=str(data), num_clips=100))
    written = json.loads(run.config.read_text())
    run.config.write_text(json.dumps({**written, "num_clips": 20}))
    assert "config differs in num_clips" in refusal(run)


@pytest.mark.slow
def test_a_run_saved_without_digests_continues(
    tmp_path: Path, stopped: Callable[[TrainConfig], RunFolder]
) -> None:
    data = tmp_path / "set"
    write_pictures(data, ROWS)
    run = stopped(CONFIG.replace(data=str(data), num_clips=100))
    state = torch.load(run.resume, weights_only=True)
    for field in ("data", "changes"):
        del state[field]
    torch.save(state, run.resume)
    remove(data)
    text = refusal(run)
    assert "it had 27 clips and now has 18" in text
    assert "config" not in text
    write_rows(data, ROWS)
    go_on(run)
