"""Curves and progress on the Train tab."""

import shlex
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from nt2vr.ui.train.view import (
    MAX_POINTS,
    base_name,
    comparable,
    finished_text,
    lower_rate_label,
    run_names,
    run_view,
    runs_view,
    series,
    trash_text,
)
from tests.support.tiny_models import write_tiny
from trainer.config import TrainConfig
from trainer.runs.manager import Run
from trainer.runs.run_folder import RunStatus

ROWS = [
    {
        "epoch": 0,
        "step": 0,
        "base/original/MIR": 0.88,
        "drop/composed/MIR": 0.75,
        "base/composed/MIR": 0.5,
    },
    {"epoch": 1, "step": 20, "contrastive": 3.0},
    {"epoch": 1, "step": 40, "contrastive": 2.0},
    {"epoch": 1, "step": 40, "original/MIR": 0.8},
    # It is measured again after a resume.
    {"epoch": 1, "step": 40, "contrastive": 1.0},
]
# 40 steps.
CONFIG = TrainConfig(name="A", num_clips=100, batch_size=10, epochs=4)
FIRST = "a-20261130-075701"
TWIN = "a-20261130-075740"
LATER = "a-20261130-081200"


def test_repeated_measurements_count_once_and_long_lines_are_thinned() -> None:
    assert series(ROWS, "contrastive", "step") == [(20, 3.0), (40, 1.0)]
    assert series(ROWS, "bnl", "step") == []
    long = series([{"step": step, "loss": step / 2} for step in range(1001)], "loss", "step")
    assert len(long) <= MAX_POINTS
    assert long[-1] == (1000, 500)
    assert long == sorted(long)


def test_a_run_is_compared_with_all_readable_runs() -> None:
    run, later_run = (Run(run_id, RunStatus("finished", 1), CONFIG) for run_id in (FIRST, LATER))
    broken = Run("broken", RunStatus("finished", 1), None)
    assert comparable([run, later_run, broken], run) == [("a (30 Nov 08:12)", LATER)]
    assert not comparable([run], None)


def test_runs_of_one_minute_are_named_by_their_ids() -> None:
    first, later, twin = (
        Run(run_id, RunStatus("finished", 1), CONFIG) for run_id in (FIRST, LATER, TWIN)
    )
    assert run_names([first, later]) == ["a (30 Nov 07:57)", "a (30 Nov 08:12)"]
    assert run_names([first, later]) == [run_view(run)["name"] for run in (first, later)]
    assert run_names([first, twin]) == [FIRST, TWIN]


def test_a_run_shows_progress_and_failure() -> None:
    run = Run("a-1", RunStatus("failed", 1, epoch=2, step=10, error="No <disk> /home/ann."), CONFIG)
    view = run_view(run, lambda error: error.replace(" /home/ann", ""))
    assert view["share"] == "25.0"
    assert view["progress"] == "epoch 2 of 4 · step 10 of 40"
    assert view["error"] == "No <disk>."
    unreadable = Run("b-2", RunStatus("interrupted", 1, step=3), None)
    assert run_view(unreadable)["share"] == "0"
    assert [row["chosen"] for row in runs_view([run, unreadable], unreadable)["runs"]] == [
        False,
        True,
    ]
    status = RunStatus("preparing", 1, 2, 1200, doing="drawing clips", done=250, total=1000)
    view = run_view(Run("a", status, CONFIG))
    assert (view["progress"], view["share"]) == (
        "drawing clips: 250 of 1,000 · resumes after step 1,200",
        "25.0",
    )


def test_a_run_s_page_names_its_data_and_uses(
    tmp_path: Path,
) -> None:
    write_tiny(tmp_path / "base", "Tiny / random")
    losses = {"contrastive": {"weight": 1.0}, "distill": {"weight": 5.0, "alpha": 0.65}}
    changes: dict[str, Any] = {
        "base": str(tmp_path / "base"),
        "train": "text",
        "losses": losses,
        "seed": 3,
    }
    config = CONFIG.replace(**changes, data=str(tmp_path / "clips"), monitor="composed/hard_pairs")
    rows: list[dict[str, float]] = [{"epoch": 0, "step": 0}]
    rows += [
        {"epoch": epoch, "step": 10 * epoch, "composed/hard_pairs": value}
        for epoch, value in ((1, 60.0), (2, 72.5), (3, 72.5))
    ]
    view = run_view(Run("a-1", RunStatus("finished", 1), config), rows=rows, system="a-1 · best")
    assert {fact["term"]: fact["text"] for fact in view["facts"]} == {
        "Data": "clips",
        "Base": "Tiny / random",
        "Losses": "contrastive 1, distill 5 (alpha 0.65)",
        "Seed": "3",
        "Best epoch": "2 (Hard pairs 72.5)",
    }
    assert str(tmp_path) not in str(view)
    assert parse_qs(view["search"].removeprefix("?")) == {"systems": ["a-1 · best"]}
    assert shlex.split(view["export"]) == ["nt2vr", "export", "a-1 · best", "FOLDER"]


def test_a_finished_run_leads_to_a_comparison() -> None:
    rows = [
        {"epoch": 0, "step": 0, "base/composed/hard_pairs": 35.6},
        {"epoch": 3, "step": 30, "composed/hard_pairs": 81.1, "original/MIR": 0.9},
        {"epoch": 4, "step": 40, "composed/hard_pairs": 83.0, "original/MIR": 0.8},
    ]
    run = Run("a-1", RunStatus("finished", 1, 4, 40), CONFIG)
    view = run_view(run, rows=rows, system="a-1 · best", base="CLIP")
    assert view["finished"] == (
        "Finished after 4 epochs. When a query excludes something, its model ranks a clip with it above one without "
        "it in 19 of 100 pairs; before the training, in 64."
    )
    assert parse_qs(view["compare"].removeprefix("?")) == {"systems": ["CLIP|a-1 · best"]}
    assert finished_text(run, rows[1:]) == "Finished after 4 epochs."
    running = Run("a-1", RunStatus("running", 1, 3, 30), CONFIG)
    assert run_view(running, rows=rows, system="a-1")["finished"] == ""


@pytest.mark.parametrize(
    ("folder", "name"),
    [("", "random weights"), ("runs/b/checkpoints/epoch_003", "b · epoch 003"), ("gone", "gone")],
)
def test_a_run_s_base_is_named_even_when_gone(folder: str, name: str) -> None:
    assert base_name(CONFIG.replace(base=folder)) == name


@pytest.mark.parametrize(
    ("status", "label"),
    [
        (RunStatus("failed", 1, step=2, diverged_rate=1e-3), "Resume at learning rate 0.0001"),
        (RunStatus("stopped", 1, step=2, diverged_rate=3e-6), "Resume at learning rate 3e-07"),
        (RunStatus("preparing", 1, step=2, diverged_rate=1e-3), "Resume"),
        (RunStatus("failed", 1, step=2), "Resume"),
    ],
)
def test_a_lower_rate_is_offered_only_after_divergence(status: RunStatus, label: str) -> None:
    run = Run("a-1", status, CONFIG)
    assert lower_rate_label(run) == label
    assert (run.lower_rate is not None) == (label != "Resume")


def test_the_trash_s_size_is_rounded_unless_empty() -> None:
    assert trash_text(0) == ""
    assert trash_text(1).startswith("Trash: 1 MB,")
    assert trash_text(2_345_000_000).startswith("Trash: 2.3 GB,")
