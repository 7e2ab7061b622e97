"""`nt2vr evaluate`, with a real model of random weights."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nt2vr.cli import main
from nt2vr.evaluation.stored_reports import load_report
from nt2vr.evaluation.tables import aligned
from tests.support.tiny_models import write_tiny


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    write_tiny(tmp_path / "data" / "models" / "tiny")
    return tmp_path / "data"


def evaluate(data_dir: Path, out: Path, systems: str, *more: str) -> int:
    arguments = [
        "--systems",
        systems,
        "--out",
        str(out),
        "--data-dir",
        str(data_dir),
        "--clips",
        "30",
        *more,
    ]
    return main(["evaluate", *arguments, "--data", "world"])


def test_the_command_writes_a_report_and_shows_its_table(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(data_dir, tmp_path / "out", "TINY boolean alpha 0.25,Tiny") == 0
    report = load_report(tmp_path / "out")
    assert list(report.metrics) == ["tiny", "tiny drop", "tiny boolean α 0.25"]
    assert len(report.video_ids) == 30 and report.source["seed"] == 7
    table = (tmp_path / "out" / "table.md").read_text()
    assert capsys.readouterr().out == aligned(table)
    assert (
        "| tiny boolean α 0.25 (zero-shot) | – |" in table
        and "| oracle (reads the scenes) |" in table
    )
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {
        "table.csv",
        "table.tex",
        "report.json",
    }

    frames = {path: path.stat().st_ino for path in (data_dir / "evaluation").rglob("*.np*")}
    assert evaluate(data_dir, tmp_path / "again", "tiny drop") == 0
    assert {path: path.stat().st_ino for path in (data_dir / "evaluation").rglob("*.np*")} == frames
    assert load_report(tmp_path / "again").metrics["tiny drop"] == report.metrics["tiny drop"]


def test_a_task_is_evaluated_on_its_files(
    data_dir: Path,
    tmp_path: Path,
    write_video: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_video("dark.avi", [0, 0])
    write_video("light.avi", [255, 255])
    (tmp_path / "damaged.avi").write_bytes(b"no video")
    (tmp_path / "task.csv").write_text(
        "path,captions\ndark.avi,['no light']\nlight.avi,['light']\ndamaged.avi,['lost']\n",
        encoding="utf-8",
    )
    data = ["--data", str(tmp_path / "task.csv"), "--data-dir", str(data_dir)]
    assert main(["evaluate", *data, "--systems", "tiny", "--out", str(tmp_path / "out")]) == 0
    report = load_report(tmp_path / "out")
    assert report.video_ids == ("dark.avi", "light.avi")
    assert sorted(report.row(place).ranks["tiny"] for place in (0, 1))[0] == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("1 of 3 videos cannot be read: damaged.avi (")
    assert "They are left out, and 1 of 3 queries with them.\n" in captured.err
    assert "NegBench retrieval R@1 |" in captured.out.splitlines()[0] and captured.out.endswith(
        "\n2 queries, 2 videos.\n"
    )


def test_a_bad_output_folder_is_refused_before_measuring(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert evaluate(data_dir, tmp_path / "file" / "out", "tiny") == 1
    assert (
        capsys.readouterr().err
        == f"{tmp_path}/file/out cannot be written to. Name another folder.\n"
    )
    assert not (data_dir / "evaluation").exists()


@pytest.mark.slow
def test_the_measures_are_printed_as_json(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(data_dir, tmp_path / "out", "tiny", "--json") == 0
    assert json.loads(capsys.readouterr().out) == load_report(tmp_path / "out").metrics
