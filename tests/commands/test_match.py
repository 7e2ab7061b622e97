"""`nt2vr match` on the shipped gallery and models."""

import json
from pathlib import Path
from typing import Any

import pytest

import nt2vr
from nt2vr.cli import main


def check_table(table: str, system: dict[str, Any]) -> None:
    """Check that a table of two sentences has a system's scores, and an arrow at its choice."""
    name, first_row, second_row = table.split("\n")
    assert name == system["name"]
    assert "false  an elephant sleeps" in first_row
    first_score, second_score = system["scores"]
    assert f"{first_score:.4f}" in first_row
    assert f"{second_score:.4f}" in second_row
    has_arrow = [first_row.startswith("→"), second_row.startswith("→")]
    assert has_arrow.count(True) == 1
    assert has_arrow.index(True) == system["best"]


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
        check_table(table, system)
