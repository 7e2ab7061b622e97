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
    match = ["match", clip, "an elephant sleeps", "a dog", "--data-dir", str(gallery_data)]
    assert main([*match, "--json"]) == 0
    systems = json.loads(capsys.readouterr().out)["systems"]
    assert len(systems) == 2

    assert main(match) == 0

    tables = capsys.readouterr().out.strip().split("\n\n")
    for table, system in zip(tables, systems, strict=True):
        name, *rows = table.split("\n")
        assert name == system["name"]
        assert "false  an elephant sleeps" in rows[0]
        for number, (row, score) in enumerate(zip(rows, system["scores"], strict=True)):
            assert f"{score:.4f}" in row
            is_best = number == system["best"]
            assert row.startswith("→") == is_best
