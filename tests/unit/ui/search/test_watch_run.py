"""The preset `stage` and the runs that the Search tab starts of it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from benchmarks.clip_embeddings import BASE
from nt2vr.errors import RunError
from nt2vr.models.catalog import Catalog
from nt2vr.search.searcher import Searcher
from nt2vr.settings import Settings
from nt2vr.ui.search.formats import system_choices
from nt2vr.ui.search.watch import PRESET, Watch, short_run
from nt2vr.ui.train.view import run_view
from nt2vr.ui.web.permissions import Permissions
from nt2vr.world.drawn import clips as clips_module
from tests.support.tiny_models import write_tiny
from tests.support.trainings import run_training
from trainer.config import load_config, save_config
from trainer.runs.manager import RunManager
from trainer.runs.run_folder import Holder, RunFolder, RunStatus


def test_a_run_starts_from_the_chosen_model(
    tmp_path: Path,
) -> None:
    write_tiny(tmp_path / "models" / "real", "Real CLIP")
    models = Catalog.of(Settings.read(tmp_path))
    drawn = short_run(models, "CLIP")
    real = short_run(models, "Real CLIP")
    assert drawn.encoder.base_folder == BASE
    assert drawn.encoder.name == "CLIP learns not"
    assert "composed" in drawn.objective.losses
    assert real.encoder.base_folder == tmp_path / "models" / "real"
    assert [*real.objective.losses] == ["distill"]
    for config in (drawn, real):
        assert config.validation.keep_checkpoints == 0
        assert config.encoder.train == "text"


def test_the_run_under_way_is_found_whoever_started_it(tmp_path: Path) -> None:
    runs = RunManager(tmp_path / "runs")
    run = RunFolder(tmp_path / "runs" / "by-hand")
    assert runs.under_way() == ""
    run.path.mkdir(parents=True)
    run.config.write_text('{"name": "By hand"}')
    with run.training():
        run.write_status(
            RunStatus(
                "preparing", Holder.here(run.path).pid, doing="drawing clips", done=1, total=4
            )
        )
        assert runs.under_way() == "by-hand"
        training = run_view(runs.get("by-hand"))
        assert [training[key] for key in ("state_text", "progress", "share")] == [
            "preparing",
            "drawing clips: 1 of 4",
            "25.0",
        ]
        assert training["under_way"]
        assert RunManager(tmp_path / "other").under_way() == ""
    run.write_status(RunStatus("failed", 1, error="The disk is full."))
    ended = run_view(runs.get("by-hand"))
    assert runs.under_way() == ""
    assert not ended["under_way"]
    assert ended["error"] == "The disk is full."
    with pytest.raises(RunError):
        runs.stop("by-hand")


@pytest.mark.slow
def test_two_checkpoints_of_the_preset_learn_without_a_clip_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clips_module, "draw_clips", lambda *_, **__: pytest.fail("drawn"))
    config = load_config(PRESET, {"epochs": 2})
    run_training(config, tmp_path / "runs" / "stage")
    names = Catalog([], runs=tmp_path / "runs").names()
    assert {"stage", "stage · epoch 1", "stage · epoch 2"} <= set(names)
    base, *epochs = RunManager(tmp_path / "runs").metrics("stage")
    learned = [row["composed/hard_pairs"] for row in epochs if "composed/hard_pairs" in row]
    # 12 when it was recorded.
    assert len(learned) == 2
    assert learned[1] > base["base/composed/hard_pairs"] + 8


def test_a_run_is_listed_first_with_its_progress(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "runs" / "mine-20261122-120000")
    run.path.mkdir(parents=True)
    save_config(load_config(PRESET), run.config)
    write_tiny(run.checkpoint(7), "Mine")
    models = Catalog.of(Settings.read(tmp_path))
    searcher: Any = SimpleNamespace(models=models)
    names = Searcher.system_names(searcher, folds=True)
    assert names[0] == "mine-20261122-120000"
    assert system_choices(names)[0][0] == "mine (22 Nov 12:00)"

    galleries: Any = SimpleNamespace(built_in=searcher)
    permissions = Permissions("t" * 20, {"train": "everyone"})
    watch = Watch(galleries, permissions, RunManager(tmp_path / "runs"))
    with run.training():
        run.write_status(RunStatus("running", Holder.here(run.path).pid, epoch=7, step=60))
        assert watch.run_notes(gr.Request(session_hash="mine"))["runs"] == [
            {"name": "mine (22 Nov 12:00)", "note": "yours, epoch 7 of 15, training"}
        ]
