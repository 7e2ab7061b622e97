"""nt2vr covr, on one query per kind of change."""

import json
from pathlib import Path

import pytest
from PIL import Image

from nt2vr.cli import main
from tests.support.tiny_models import write_tiny


@pytest.mark.slow
def test_the_table_has_every_kind_and_system(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tiny(tmp_path / "model")
    arguments = [
        "--model",
        str(tmp_path / "model"),
        "--queries",
        "1",
        "--data-dir",
        str(tmp_path / "data"),
    ]
    assert main(["covr", *arguments, "--device", "cpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    heads, _, *rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")
    ]
    assert heads == ["kind", "system", "R@1", "R@5", "R@10", "R@50", "violations@5", "mAP@10"]
    assert {row[1] for row in rows} == {"picture", "text", "sum", "parts", "caption"}
    assert {"remove actor", "two changes", "unseen wordings", "all kinds"} <= {
        row[0] for row in rows
    }


def test_a_submission_is_written_without_being_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tiny(tmp_path / "model")
    data = tmp_path / "cirr"
    data.mkdir()
    for number in range(3):
        Image.new("RGB", (32, 32), (20 * number, 90, 90)).save(data / f"p{number}.png")
    names = ["p0", "p1", "p2"]
    (data / "split.rc2.test1.json").write_text(
        json.dumps({name: f"./{name}.png" for name in names})
    )
    entry = {"pairid": 12, "reference": "p0", "caption": "is red", "img_set": {"members": names}}
    (data / "cap.rc2.test1.json").write_text(json.dumps([entry]))
    arguments = [
        "--model",
        str(tmp_path / "model"),
        "--data",
        str(data),
        "--data-dir",
        str(tmp_path / "data"),
    ]
    arguments = ["covr", *arguments, "--device", "cpu"]
    assert main(arguments) == 1
    assert "targets of CIRR, test are not published" in capsys.readouterr().err
    assert main([*arguments, "--submit", str(tmp_path / "cirr.json"), "--system", "sum"]) == 0
    assert sorted(json.loads((tmp_path / "cirr.json").read_text())["12"]) == ["p1", "p2"]
    assert capsys.readouterr().out == f"{tmp_path / 'cirr.json'}\n{tmp_path / 'cirr_subset.json'}\n"
    assert main([*arguments, "--submit", str(tmp_path / "cirr.json"), "--system", "magic"]) == 1
    assert "no system 'magic'" in capsys.readouterr().err
    assert main([*arguments, "--submit", str(tmp_path / "none" / "cirr.json")]) == 1
    assert "The folder of" in capsys.readouterr().err
