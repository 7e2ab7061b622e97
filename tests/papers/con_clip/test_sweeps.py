"""The sweep of CoN-CLIP's Table 6."""

from pathlib import Path

from trainer.config import load_config, preset_or_file
from trainer.runs.sweep import planned, runs_at


def test_the_sweep_of_con_clips_table_has_its_rows() -> None:
    _, points, file, before = planned(Path("con-clip-table-6"), {})
    runs = runs_at(load_config(preset_or_file(file), before), points, 1, Path("runs"))
    losses = [run.config.objective.losses["con"] for run in runs]
    # The paper calls them L1, L2 and L3.
    assert [loss["images"] for loss in losses] == [True, False, True, True]
    assert [loss["captions"] for loss in losses] == [False, True, True, True]
    assert [loss["distractors"] for loss in losses] == [False, False, False, True]
