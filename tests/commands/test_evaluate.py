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
    """Evaluate systems on thirty clips of the built-in world."""
    folders = ["--out", str(out), "--data-dir", str(data_dir)]
    data = ["--data", "world", "--clips", "30"]
    return main(["evaluate", *data, "--systems", systems, *folders, *more])


def test_the_command_writes_a_report_and_shows_its_table(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"

    assert evaluate(data_dir, out, "TINY boolean alpha 0.25,Tiny") == 0

    report = load_report(out)
    assert list(report.metrics) == ["tiny", "tiny drop", "tiny boolean α 0.25"]
    assert len(report.video_ids) == 30
    assert report.source["seed"] == 7
    table = (out / "table.md").read_text()
    assert capsys.readouterr().out == aligned(table)
    assert "| tiny boolean α 0.25 (zero-shot) | – |" in table
    assert "| oracle (reads the scenes) |" in table
    for name in ("table.csv", "table.tex", "report.json"):
        assert (out / name).is_file()


def stored_arrays(data_dir: Path) -> dict[Path, int]:
    """Return which files hold frames and embeddings; one that is written again has another number."""
    return {path: path.stat().st_ino for path in (data_dir / "evaluation").rglob("*.np*")}


def test_a_second_evaluation_draws_and_embeds_nothing_anew(data_dir: Path, tmp_path: Path) -> None:
    assert evaluate(data_dir, tmp_path / "first", "tiny") == 0
    arrays = stored_arrays(data_dir)

    assert evaluate(data_dir, tmp_path / "second", "tiny drop") == 0

    assert stored_arrays(data_dir) == arrays
    first_metrics = load_report(tmp_path / "first").metrics
    second_metrics = load_report(tmp_path / "second").metrics
    assert second_metrics["tiny drop"] == first_metrics["tiny drop"]


TASK = """path,captions
dark.avi,['no light']
light.avi,['light']
damaged.avi,['lost']
"""


@pytest.fixture
def task(tmp_path: Path, write_video: Callable[..., Path]) -> Path:
    """A task of three videos, one of them damaged."""
    write_video("dark.avi", [0, 0])
    write_video("light.avi", [255, 255])
    (tmp_path / "damaged.avi").write_bytes(b"no video")
    table = tmp_path / "task.csv"
    table.write_text(TASK, encoding="utf-8")
    return table


def test_a_task_is_evaluated_on_its_files(
    data_dir: Path, tmp_path: Path, task: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    folders = ["--out", str(out), "--data-dir", str(data_dir)]

    assert main(["evaluate", "--data", str(task), "--systems", "tiny", *folders]) == 0

    report = load_report(out)
    assert report.video_ids == ("dark.avi", "light.avi")
    ranks = [report.row(0).ranks["tiny"], report.row(1).ranks["tiny"]]
    assert 1 in ranks
    printed = capsys.readouterr()
    assert printed.err.startswith("1 of 3 videos cannot be read: damaged.avi (")
    assert "They are left out, and 1 of 3 queries with them.\n" in printed.err
    head = printed.out.splitlines()[0]
    assert "NegBench retrieval R@1 |" in head
    assert printed.out.endswith("\n2 queries, 2 videos.\n")


def test_a_bad_output_folder_is_refused_before_measuring(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()

    assert evaluate(data_dir, tmp_path / "file" / "out", "tiny") == 1

    error = capsys.readouterr().err
    assert error == f"{tmp_path}/file/out cannot be written to. Name another folder.\n"
    assert not (data_dir / "evaluation").exists()


@pytest.mark.slow
def test_the_measures_are_printed_as_json(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(data_dir, tmp_path / "out", "tiny", "--json") == 0

    printed = json.loads(capsys.readouterr().out)
    assert printed == load_report(tmp_path / "out").metrics
