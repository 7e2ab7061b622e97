"""`nt2vr match` on the shipped gallery and models."""

import json
from pathlib import Path

import pytest

import nt2vr
from nt2vr.cli import main


def test_a_table_per_system_marks_its_choice_and_the_truth(
    gallery_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with nt2vr.open_searcher(gallery_data) as searcher:
        clip = searcher.video_ids[0]
    with_json = [
        "match",
        clip,
        "an elephant sleeps",
        "a dog",
        "--data-dir",
        str(gallery_data),
        "--json",
    ]
    assert main(with_json) == 0
    answer = json.loads(capsys.readouterr().out)
    assert main(with_json[:-1]) == 0
    tables = capsys.readouterr().out.split("\n\n")
    assert len(tables) == len(answer["systems"]) == 2
    for table, system in zip(tables, answer["systems"], strict=True):
        name, *rows = table.strip("\n").split("\n")
        assert name == system["name"]
        assert [row.startswith("→") for row in rows] == [
            place == system["best"] for place in (0, 1)
        ]
        assert [
            f"{score:.4f}" in row for row, score in zip(rows, system["scores"], strict=True)
        ] == [True, True]
        assert "false  an elephant sleeps" in rows[0]
