"""Sweeps: their runs, the order in which they train, and their table. A short script stands in for the trainer."""

import statistics
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nt2vr.cli import main
from nt2vr.errors import ConfigError
from nt2vr.evaluation.metric_names import Metrics
from tests.support.captioned_pictures import write_captioned_pictures
from tests.support.tiny_models import write_tiny
from tests.support.trainings import SMALL, go_on
from trainer.config import TrainConfig, load_config, save_config
from trainer.runs import sweep
from trainer.runs.run_folder import RunFolder, read_metrics
from trainer.runs.sweep import Label, SweepRun, difference_note, planned, runs_at

CONFIG = TrainConfig(name="CLIP-bnl", losses={"retrieval": {}, "bnl": {"weight": 1e-3}})
TRAINER = """
import json, os, pathlib, sys
run = pathlib.Path(sys.argv[3])
config = json.loads((run / "config.json").read_text())
m4 = config["losses"]["bnl"]["m4"]
with open(run.parent / "starts", "a") as starts:
    starts.write(run.name + "\\n")
with open(run / "metrics.jsonl", "w") as metrics:
    metrics.write(json.dumps({"epoch": 1, "step": 1, "retrieval": 1.0, "learning_rate": 1e-3}) + "\\n")
    for epoch, mir in ((1, 0.5), (2, 0.6 + config["seed"] / 10), (3, 0.55)):
        row = {"epoch": epoch, "step": epoch, "original/MIR": mir, "composed/MIR": mir + m4}
        if os.environ.get("MARGIN_HAS_NO_EFFECT"):
            row["composed/MIR"] = mir
        metrics.write(json.dumps(row) + "\\n")
state = {0.3: "finished", 0.4: "failed", 0.5: "stopped", 0.6: "finished"}[m4]
error = "It is broken." if state == "failed" else None
(run / "status.json").write_text(json.dumps({"state": state, "pid": os.getpid(), "error": error}))
"""


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have the script train; it lists what has started."""
    program = tmp_path / "python"
    (tmp_path / "trainer.py").write_text(TRAINER)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {tmp_path / "trainer.py"} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(program))
    save_config(CONFIG, tmp_path / "config.json")
    return tmp_path / "runs" / "starts"


def trained(folder: Path, *flags: str) -> int:
    return main(
        [
            "sweep",
            str(folder / "config.json"),
            "--out",
            str(folder / "runs"),
            "--device",
            "cpu",
            *flags,
        ]
    )


def runs_of(
    grid: Mapping[str, Sequence[Any]], seeds: int = 1, config: TrainConfig = CONFIG
) -> list[SweepRun]:
    return runs_at(config, planned(Path("config"), grid)[1], seeds, Path("runs"))


def test_combinations_and_seeds_are_trained_in_folders_of_their_own() -> None:
    grid = {"losses.bnl.m4": [0.3, 0.5], "learning_rate": [1e-6, 1e-5]}
    runs = runs_of(grid, seeds=3)
    configs = [run.config for run in runs]
    trained = {(c.objective.losses["bnl"]["m4"], c.rate.learning_rate, c.run.seed) for c in configs}
    assert trained == set(product((0.3, 0.5), (1e-6, 1e-5), range(3)))
    assert len({run.folder.path for run in runs}) == len(runs) == 12
    losses = {"retrieval": {}, "bnl": {"weight": 1e-3, "m4": 0.3}}
    assert runs[0].config == CONFIG.replace(losses=losses, learning_rate=1e-6)
    # Every point has one seed before any has two.
    assert [run.config.run.seed for run in runs[:5]] == [
        0,
        0,
        0,
        0,
        1,
    ]
    names = [run.folder.path.name for run in runs]
    assert names == [run.folder.path.name for run in runs_of(grid, seeds=3)]
    assert names[0] != runs_of(grid, config=CONFIG.replace(epochs=3))[0].folder.path.name


def test_a_ready_sweep_has_its_own_grid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="table-5"):
        planned(Path("table-5"), {"seed": [1, 2]})
    monkeypatch.chdir(tmp_path)
    save_config(CONFIG, tmp_path / "table-5")
    assert planned(Path("table-5"), {"seed": [1, 2]})[1][1] == (("2",), {"seed": 2})


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--grid", "losses.bnl.m9=1"], "no setting 'm9' of the loss bnl"),
        (["--grid", "epochs.many=1"], "epochs has no parts"),
        (["--grid", "epochs=few"], "epochs must be a whole number"),
        (["--grid", "epochs"], "KEY=VALUE,VALUE"),
        (["--seeds", "0"], "1 to 1000 runs"),
        (
            ["--seeds", "2", "--grid", "seed=5,6"],
            "The grid has seeds, so --seeds 2 cannot choose them",
        ),
    ],
)
def test_an_impossible_sweep_is_refused_before_any_run(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    started: Path,
    flags: list[str],
    message: str,
) -> None:
    assert trained(tmp_path, *flags) == 1
    assert message in capsys.readouterr().err
    assert not started.parent.exists()


def test_the_table_has_mean_and_deviation_of_best_epochs(
    tmp_path: Path, started: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        trained(tmp_path, "--grid", "losses.bnl.m4=.3,.6", "--seeds", "3", "--set", "patience=2")
        == 0
    )
    mirs = [0.6, 0.7, 0.8]
    spread = f"{statistics.stdev(mirs):.3f}"
    composed = [f"{statistics.mean(mirs) + m4:.3f} ± {spread}" for m4 in (0.3, 0.6)]
    assert capsys.readouterr().out == (
        "| losses.bnl.m4 | runs | best epoch | original/MIR | composed/MIR |\n"
        "| :-- | --: | --: | --: | --: |\n"
        f"| 0.3 | 3 | 2, 2, 2 | 0.700 ± {spread} | {composed[0]} |\n"
        f"| 0.6 | 3 | 2, 2, 2 | 0.700 ± {spread} | {composed[1]} |\n"
    )
    configs = (tmp_path / "runs").glob("clip-bnl-*/config.json")
    assert all(load_config(config).validation.patience == 2 for config in configs)


def test_folder_names_keep_signs_and_keys(
    tmp_path: Path,
) -> None:
    grid = {"losses.bnl.m4": [-0.1, 0.1], "learning_rate": [1e-5]}
    points = planned(Path("config"), grid)[1]
    runs = runs_at(CONFIG, points, 1, tmp_path)
    names = [run.folder.path.name.rpartition("-")[0] for run in runs]
    assert names == [f"clip-bnl-m4={m4}-learning-rate=1e-05-seed=0" for m4 in (-0.1, 0.1)]
    digest = runs[0].folder.path.name.rpartition("-")[2]
    before = tmp_path / f"clip-bnl-0.1-1e-05-seed=0-{digest}"
    before.mkdir()
    save_config(runs[0].config, before / "config.json")
    repeated = runs_at(CONFIG, points, 1, tmp_path)
    assert [run.folder.path for run in repeated] == [before, runs[1].folder.path]
    long = CONFIG.replace(name="A long name " * 5)
    assert "-seed=0-" in runs_at(long, points, 1, tmp_path)[0].folder.path.name


def test_a_note_says_that_points_do_not_differ(
    tmp_path: Path,
    started: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert trained(tmp_path, "--grid", "losses.bnl.m4=.3,.6") == 0
    assert "differ" not in capsys.readouterr().out
    monkeypatch.setenv("MARGIN_HAS_NO_EFFECT", "1")
    assert trained(tmp_path, "--grid", "losses.bnl.m4=.3,.6", "--set", "epochs=5") == 0
    assert (
        capsys.readouterr()
        .out.splitlines()[-1]
        .startswith("The points do not differ in any measure")
    )


def test_points_may_differ_by_less_than_their_seeds() -> None:
    def rows(*values: float) -> list[Metrics]:
        return [{"epoch": 1, "composed/MIR": value} for value in values]

    columns = ["composed/MIR"]
    near: dict[Label, list[Metrics]] = {("a",): rows(0.5, 0.6), ("b",): rows(0.52, 0.6)}
    assert "no more than the seeds" in difference_note(near, columns)
    assert difference_note({**near, ("c",): rows(0.8, 0.81)}, columns) == ""
    # One seed tells nothing.
    assert difference_note({("a",): rows(0.5), ("b",): rows(0.51)}, columns) == ""
    assert difference_note({("a",): rows(0.5), ("b",): []}, columns) == ""


def train_here(run: RunFolder, environment: Mapping[str, str]) -> Any:
    """Stand in for `start_process`: train in this process, and return one that has ended."""
    go_on(run)
    return nullcontext(SimpleNamespace(wait=lambda: 0, returncode=0))


def test_the_table_has_composed_queries_and_the_control(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sweep, "start_process", train_here)
    write_tiny(tmp_path / "base", "Tiny base")
    write_captioned_pictures(tmp_path / "set", count=40)
    sizes: dict[str, Any] = {
        "num_frames": 1,
        "num_clips": 100,
        "validation_clips": 100,
        "epochs": 1,
    }
    base: dict[str, Any] = {"base": str(tmp_path / "base"), "model": {}, "train": "text"}
    save_config(SMALL.replace(**base, **sizes, data=str(tmp_path / "set")), tmp_path / "tiny.json")
    command = [
        "sweep",
        str(tmp_path / "tiny.json"),
        "--out",
        str(tmp_path / "runs"),
        "--device",
        "cpu",
    ]
    assert main([*command, "--grid", "learning_rate=.01"]) == 0
    header, _, point, of_base, of_drop = (
        line.split(" | ") for line in capsys.readouterr().out.splitlines()
    )
    assert {"composed/MIR", "composed/hard_pairs"} <= {name.strip(" |") for name in header}
    assert [row[0] for row in (point, of_base, of_drop)] == ["| 0.01", "| base", "| base drop"]
    place = header.index("composed/MIR")
    metrics = read_metrics(next((tmp_path / "runs").glob("tiny-*/metrics.jsonl")))
    assert of_drop[place] == f"{metrics[0]['drop/composed/MIR']:.3f}"


def test_the_same_sweep_again_trains_only_what_has_not_finished(
    tmp_path: Path, started: Path
) -> None:
    for grid in (".3", ".3,.6", ".3,.6"):
        assert trained(tmp_path, "--grid", f"losses.bnl.m4={grid}") == 0
    first, second = started.read_text().splitlines()
    assert first.startswith("clip-bnl-m4=0.3-seed=0-")
    assert second.startswith("clip-bnl-m4=0.6-seed=0-")


def test_a_failed_run_leaves_a_gap_and_a_stop_stops(
    tmp_path: Path, started: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trained(tmp_path, "--grid", "losses.bnl.m4=.4,.3") == 1
    captured = capsys.readouterr()
    assert "| 0.4 | 0 of 1 | – | – | – |" in captured.out
    assert "| 0.3 | 1 | 2 |" in captured.out
    assert "failed: It is broken." in captured.err
    assert trained(tmp_path, "--grid", "losses.bnl.m4=.5,.6") == 130
    assert len(started.read_text().splitlines()) == 3
