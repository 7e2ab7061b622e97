"""nt2vr covr, on one query per kind of change."""

from pathlib import Path

import pytest

from nt2vr.__main__ import main
from tests.tiny import write_tiny


@pytest.mark.slow
def test_the_table_has_every_kind_and_system(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_tiny(tmp_path / "model")
    arguments = ["--model", str(tmp_path / "model"), "--queries", "1", "--data-dir", str(tmp_path / "data")]
    assert main(["covr", *arguments, "--device", "cpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| kind | system | R@1 | R@5 | R@10 | R@50 | violations@5 | mAP@10 |"
    rows = [line.split(" | ") for line in lines[2:]]
    assert {row[1] for row in rows} == {"picture", "text", "sum", "slerp", "parts", "caption"}
    assert {"| remove actor", "| two changes", "| unseen wordings", "| all kinds"} <= {row[0] for row in rows}


def test_the_former_name_says_the_new_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compose", "--queries", "1"]) == 2
    assert capsys.readouterr().err == "`nt2vr compose` is called `nt2vr covr` now. Its options are the same.\n"
