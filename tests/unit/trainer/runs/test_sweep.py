"""Sweeps: their runs, the order in which they train, and their table. A short script stands in for the trainer."""

import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from nt2vr.cli import main
from nt2vr.errors import ConfigError
from tests.tiny import TINY
from trainer.config import TrainConfig
from trainer.config_file import load_config, save_config
from trainer.presets import PRESETS, preset_or_file
from trainer.runs import sweep
from trainer.runs.run_folder import RunFolder
from trainer.runs.sweep import planned, points_of, runs_at
from trainer.runs.sweep_chart import chart
from trainer.runs.sweep_table import PointResult

CONFIG = TrainConfig(name="CLIP-bnl", losses={"retrieval": {}, "bnl": {"weight": 1e-3}})
TRAINER = """
import json, os, pathlib, sys, time
run, others = pathlib.Path(sys.argv[1]), int(sys.argv[2])
config = json.loads((run / "config.json").read_text())
def status(state):
    text = json.dumps({"state": state, "pid": os.getpid(), "error": "It is broken." if state == "failed" else None})
    (run / "new").write_text(text)
    os.replace(run / "new", run / "status.json")
status("preparing")
with open(run.parent / "starts", "a") as starts:
    starts.write(run.name + " " + sys.argv[3] + "\\n")
status("running")
for _ in range(1500):  # until as many train at once as there should
    if len((run.parent / "starts").read_text().splitlines()) >= others:
        break
    time.sleep(0.01)
else:
    sys.exit(3)
with open(run / "metrics.jsonl", "w") as metrics:
    metrics.write(json.dumps({"epoch": 1, "step": 1, "retrieval": 1.0, "learning_rate": 1e-3}) + "\\n")
    for epoch, mir in ((1, 0.5), (2, 0.6 + config["seed"] / 10), (3, 0.55)):
        m4 = config["losses"]["bnl"]["m4"]
        row = {"epoch": epoch, "step": epoch, "original/MIR": mir, "composed/MIR": mir + m4}
        metrics.write(json.dumps(row) + "\\n")
status({0.3: "finished", 0.4: "failed", 0.5: "stopped", 0.6: "finished"}[config["losses"]["bnl"]["m4"]])
"""


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have the script train; it lists what has started."""
    (tmp_path / "trainer.py").write_text(TRAINER)

    def command(run: RunFolder, device: str) -> list[str]:
        return [sys.executable, str(tmp_path / "trainer.py"), str(run.path), "1", device]

    monkeypatch.setattr(sweep, "command", command)
    save_config(CONFIG, tmp_path / "config.json")
    return tmp_path / "runs" / "starts"


def trained(folder: Path, *flags: str) -> int:
    return main(["sweep", str(folder / "config.json"), "--out", str(folder / "runs"), "--device", "cpu", *flags])


def runs_of(grid: dict[str, Sequence[Any]], seeds: int = 1) -> list[sweep.SweepRun]:
    return runs_at(CONFIG, points_of(grid), seeds, Path("runs"))


def test_every_combination_is_trained_with_every_seed_each_in_a_folder_of_its_own() -> None:
    runs = runs_of({"losses.bnl.m4": [0.3, 0.5], "learning_rate": [1e-6, 1e-5]}, seeds=3)
    trained = {(run.config.losses["bnl"]["m4"], run.config.learning_rate, run.config.seed) for run in runs}
    assert trained == {(m4, rate, seed) for m4 in (0.3, 0.5) for rate in (1e-6, 1e-5) for seed in range(3)}
    assert len({run.folder.path for run in runs}) == len(runs) == 12
    assert runs[0].config == replace(
        CONFIG, losses={"retrieval": {}, "bnl": {"weight": 1e-3, "m4": 0.3}}, learning_rate=1e-6
    )
    assert runs[0].folder.path.name.startswith("clip-bnl-m4=0.3-learning-rate=1e-06-seed=0-")
    assert [run.config.seed for run in runs[:5]] == [0, 0, 0, 0, 1]  # every point has one seed before any has two


@pytest.mark.parametrize(("name", "count"), [("table-5", 6), ("table-7", 5), ("table-8", 17), ("figure-4", 6)])
def test_a_ready_sweep_has_the_rows_of_the_papers_table(name: str, count: int) -> None:
    keys, points, file, before = planned(Path(name), {})
    config = load_config(preset_or_file(file), {**before, "data": "/data/msrvtt3k"})
    runs = runs_at(config, points, 1, Path("runs"))
    assert len(runs) == count == len({run.folder.path for run in runs})
    assert all(len(run.point) == len(keys) for run in runs)
    auxiliary = [{name: loss for name, loss in run.config.losses.items() if name != "retrieval"} for run in runs]
    weights = [loss["weight"] for losses in auxiliary for loss in losses.values()]
    match name:
        case "table-5":
            assert [[*losses] for losses in auxiliary] == [[], ["snl"], ["snl"], ["bnl"], ["bnl"], ["bnl"]]
            assert set(weights) == {1e-3}
            margins = load_config(PRESETS / "paper-bnl-as-code.json").losses["bnl"]
            assert auxiliary[5]["bnl"] == {**margins, "video_pivot": True, "query_pivot": True}
        case "table-7":
            rows = [(losses["snl"]["pivot"], losses["snl"]["weight"]) for losses in auxiliary[1:]]
            assert rows == [("video", 1e-3), ("video", 1e-2), ("query", 1e-3), ("query", 1e-2)]
        case "table-8":
            bnl = [losses["bnl"] for losses in auxiliary[1:]]
            rows = [("m2" if each["video_pivot"] else "m4", each) for each in bnl]
            assert [run.point for run in runs[1:]] == [(f"{m} {e[m]}", str(e["weight"])) for m, e in rows]
            assert all(each["video_pivot"] != each["query_pivot"] for each in bnl)
        case "figure-4":
            assert [losses["bnl"]["m4"] for losses in auxiliary] == [0.2, 0.3, 0.4, 0.5, 0.6, 0.9]
            assert not any(losses["bnl"]["video_pivot"] for losses in auxiliary)


def test_the_sweep_of_con_clips_table_has_its_rows() -> None:
    keys, points, file, before = planned(Path("con-clip-table-6"), {})
    runs = runs_at(load_config(preset_or_file(file), before), points, 1, Path("runs"))
    names = {"images": "L1", "captions": "L2", "distractors": "L3"}
    terms = [[name for term, name in names.items() if run.config.losses["con"][term]] for run in runs]
    assert terms == [["L1"], ["L2"], ["L1", "L2"], ["L1", "L2", "L3"]]
    assert [run.point for run in runs] == [("L1",), ("L2",), ("L1 + L2",), ("all",)]
    assert keys == ["terms of con"]


def test_a_ready_sweep_has_a_grid_of_its_own_and_a_file_of_that_name_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="table-5 has a grid of its own"):
        planned(Path("table-5"), {"seed": [1, 2]})
    monkeypatch.chdir(tmp_path)
    save_config(CONFIG, tmp_path / "table-5")
    assert planned(Path("table-5"), {"seed": [1, 2]})[0] == ["seed"]


def results(point: str, *values: float) -> PointResult:
    return PointResult((point,), len(values), tuple({"epoch": 1.0, "composed/MIR": value} for value in values))


def test_curves_have_a_point_per_number_and_a_band_of_a_standard_deviation() -> None:
    drawn = chart(["losses.bnl.m4"], [results("0.6", 0.3, 0.5), results("0.2", 0.7), results("0.4")])
    root = fromstring(drawn)
    titles = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")]
    assert titles[1:] == ["Composed MIR .700", "Composed MIR .400 ± .141"]  # from left to right; .4 is not measured
    circles = list(root.iter("{http://www.w3.org/2000/svg}circle"))
    assert float(circles[0].attrib["cx"]) < float(circles[1].attrib["cx"])
    assert float(circles[0].attrib["cy"]) < float(circles[1].attrib["cy"])  # higher is better, and up


@pytest.mark.parametrize(
    ("keys", "rows"),
    [
        (["a", "b"], [results("0.2", 0.5), results("0.3", 0.6)]),
        (["a"], [results("–", 0.5), results("0.3", 0.6)]),
        (["a"], [results("0.2", 0.5), results("0.3")]),
        ([], []),
    ],
)
def test_only_one_measured_number_is_drawn_as_curves(keys: list[str], rows: list[PointResult]) -> None:
    assert chart(keys, rows) == ""


def test_another_config_never_shares_a_folder_and_the_same_one_always_does() -> None:
    names = [run.folder.path.name for run in runs_of({"losses.bnl.m4": [0.3]})]
    assert names == [run.folder.path.name for run in runs_of({"losses.bnl.m4": [0.3]})]
    (other,) = runs_at(replace(CONFIG, epochs=3), points_of({"losses.bnl.m4": [0.3]}), 1, Path("runs"))
    assert other.folder.path.name not in names


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--grid", "losses.bnl.m9=1"], "losses.bnl has no setting 'm9'"),
        (["--grid", "epochs.many=1"], "epochs has no parts"),
        (["--grid", "depth=1"], "unknown keys: depth"),
        (["--grid", "epochs=few"], "epochs must be like"),
        (["--grid", "epochs"], "KEY=VALUE,VALUE"),
        (["--grid", "base="], "no value of"),
        (["--set", "epochs"], "KEY=VALUE"),
        (["--seeds", "0"], "1 to 1000 runs"),
        (["--seeds", "2", "--grid", "seed=5,6"], "The grid has seeds, so --seeds 2 cannot choose them"),
    ],
)
def test_what_cannot_be_swept_is_refused_in_one_sentence_before_any_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], started: Path, flags: list[str], message: str
) -> None:
    assert trained(tmp_path, *flags) == 2
    assert message in capsys.readouterr().err
    assert not started.parent.exists()


def test_seeds_go_on_from_the_one_that_is_set(tmp_path: Path, started: Path) -> None:
    assert trained(tmp_path, "--seeds", "3", "--set", "seed=5") == 0
    assert sorted(load_config(run / "config.json").seed for run in started.parent.glob("clip-bnl-*")) == [5, 6, 7]


def test_the_table_has_the_mean_and_deviation_of_each_point_s_best_epochs(
    tmp_path: Path, started: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trained(tmp_path, "--grid", "losses.bnl.m4=.3,.6", "--seeds", "3", "--set", "patience=2") == 0
    mirs = [0.6, 0.7, 0.8]
    spread = f"{statistics.stdev(mirs):.3f}"
    composed = [f"{statistics.mean(mirs) + m4:.3f} ± {spread}" for m4 in (0.3, 0.6)]
    assert capsys.readouterr().out == (
        "| losses.bnl.m4 | runs | best epoch | Original MIR | Composed MIR |\n"
        "| :-- | --: | --: | --: | --: |\n"
        f"| 0.3 | 3 | 2, 2, 2 | 0.700 ± {spread} | {composed[0]} |\n"
        f"| 0.6 | 3 | 2, 2, 2 | 0.700 ± {spread} | {composed[1]} |\n"
    )
    (tex,) = (tmp_path / "runs").glob("sweep-*.tex")
    line = f"0.3 & 3 & 2, 2, 2 & 0.700 ± {spread} & {composed[0]} ".replace("±", r"$\pm$")
    assert line + "\\\\" in tex.read_text()
    assert all(load_config(run / "config.json").patience == 2 for run in (tmp_path / "runs").glob("clip-bnl-*"))


def test_the_same_sweep_again_trains_only_what_has_not_finished(tmp_path: Path, started: Path) -> None:
    assert trained(tmp_path, "--grid", "losses.bnl.m4=.3") == 0
    assert trained(tmp_path, "--grid", "losses.bnl.m4=.3,.6") == 0
    assert trained(tmp_path, "--grid", "losses.bnl.m4=.3,.6") == 0
    first, second = started.read_text().splitlines()
    assert "m4=0.3" in first and "m4=0.6" in second


def test_a_run_that_fails_leaves_a_gap_and_the_others_train(
    tmp_path: Path, started: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trained(tmp_path, "--grid", "losses.bnl.m4=.4,.3") == 1
    shown = capsys.readouterr()
    assert "| 0.4 | 0 of 1 | – | – | – |" in shown.out and "| 0.3 | 1 | 2 |" in shown.out
    assert "failed: It is broken." in shown.err


def test_a_run_that_is_stopped_stops_the_sweep(tmp_path: Path, started: Path) -> None:
    assert trained(tmp_path, "--grid", "losses.bnl.m4=.5,.3") == 130
    assert len(started.read_text().splitlines()) == 1


def test_as_many_runs_train_at_once_as_there_are_devices(
    tmp_path: Path, started: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def command(run: RunFolder, device: str) -> list[str]:  # each ends only once both have started
        return [sys.executable, str(tmp_path / "trainer.py"), str(run.path), "2", device]

    monkeypatch.setattr(sweep, "command", command)
    monkeypatch.setattr(sweep, "devices", lambda device: ["cuda:0", "cuda:1"])
    assert trained(tmp_path, "--grid", "losses.bnl.m4=.3,.6") == 0
    assert {line.rpartition(" ")[2] for line in started.read_text().splitlines()} == {"cuda:0", "cuda:1"}


@pytest.mark.parametrize(("gpus", "expected"), [(0, ["cpu"]), (2, ["cuda:0", "cuda:1"])])
def test_where_nothing_can_be_trained_a_sweep_takes_other_devices(
    monkeypatch: pytest.MonkeyPatch, gpus: int, expected: list[str]
) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: gpus)
    assert sweep.devices("mps") == sweep.devices("auto") == expected
    assert sweep.devices("cuda:1") == ["cuda:1"]


@pytest.mark.slow
def test_a_sweep_as_a_person_starts_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = TrainConfig(
        model=TINY, num_clips=8, num_frames=2, validation_clips=4, batch_size=4, epochs=2, learning_rate=5e-3
    )
    save_config(small, tmp_path / "config.json")
    assert trained(tmp_path, "--grid", "learning_rate=.005,.001") == 0
    table = capsys.readouterr().out.splitlines()
    assert len(table) == 4 and "Original MIR" in table[0]
    measured = {
        json.loads(path.read_text())["metrics"]["validation/original/MIR"] for path in tmp_path.rglob("nt2vr.json")
    }
    assert all(any(f"{value:.3f}" in line for value in measured) for line in table[2:])
