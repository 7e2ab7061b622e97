"""The sweep of CoN-CLIP's Table 6."""

from pathlib import Path

from trainer.config import load_config, preset_or_file
from trainer.runs.sweep import planned, runs_at


def test_the_sweep_of_con_clips_table_has_its_rows() -> None:
    _, points, file, before = planned(Path("con-clip-table-6"), {})
    runs = runs_at(load_config(preset_or_file(file), before), points, 1, Path("runs"))
    names = {"images": "L1", "captions": "L2", "distractors": "L3"}
    terms = [
        [name for term, name in names.items() if run.config.objective.losses["con"][term]]
        for run in runs
    ]
    assert terms == [["L1"], ["L2"], ["L1", "L2"], ["L1", "L2", "L3"]]
