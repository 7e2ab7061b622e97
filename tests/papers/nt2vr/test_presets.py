"""Presets and sweeps of “Learn to Understand Negation in Video Retrieval”."""

from pathlib import Path

import pytest

from nt2vr.presets import preset_files
from trainer.config import load_config, preset_or_file
from trainer.losses import build_losses
from trainer.optimizer import rate_at
from trainer.runs.sweep import SweepRun, planned, runs_at


def test_the_paper_s_setting_is_the_paper_s() -> None:
    """Section 5.1, and additions in the public implementation."""
    bnl = load_config(preset_files()["paper-bnl"])
    assert bnl.encoder.train == "all"
    assert bnl.batches.batch_size == 64
    assert (bnl.frames.num_frames, bnl.frames.frames_per_step, bnl.frames.flip) == (8, 8, False)
    assert bnl.optimization.optimizer == "rmsprop"
    assert bnl.optimization.max_grad_norm == 2
    assert bnl.optimization.weight_decay == 0
    assert bnl.validation.patience == 2
    assert bnl.rate.schedule == "exponential"
    assert bnl.rate.learning_rate == 1e-6
    epoch = bnl.steps_per_epoch
    assert [rate_at(step, bnl) for step in (0, epoch - 1, epoch)] == [1, 1, 0.99]


def test_the_paper_s_losses_differ_in_their_auxiliary_term() -> None:
    star = load_config(preset_files()["paper-star"])
    snl = load_config(preset_files()["paper-snl"])
    bnl = load_config(preset_files()["paper-bnl"])
    retrieval = {"retrieval": {"weight": 1.0, "margin": 0.2}}
    snl_term = {"weight": 1e-3, "margin": 0.1}
    bnl_term = {"weight": 1e-3, "m1": 0.1, "m2": 0.6, "m3": 0.1, "m4": 0.3}
    assert star == bnl.replace(name=star.encoder.name, losses=retrieval)
    assert snl == star.replace(name=snl.encoder.name, losses={**retrieval, "snl": snl_term})
    assert bnl.objective.losses == {**retrieval, "bnl": bnl_term}
    for _, loss in build_losses({**retrieval, "bnl": bnl_term, "snl": snl_term}).terms.values():
        assert getattr(loss, "reduction", None) == "sum"
        assert getattr(loss, "detach_video", True)
        assert getattr(loss, "rescale", True)


def test_the_paper_s_setting_takes_every_caption_once_per_epoch() -> None:
    """Also those of MS-COCO: 113,287 training pictures with five captions or more, and 5,000 held-out ones."""
    bnl = load_config(preset_files()["paper-bnl"])
    assert bnl.batches.passes == 1
    assert bnl.dataset.num_captions > 113_287 * 5
    assert bnl.dataset.num_clips > 113_287
    assert bnl.validation.validation_clips >= 5_000


@pytest.mark.parametrize("name", ["star", "snl", "bnl"])
def test_presets_as_code_differ_where_the_code_does(name: str) -> None:
    """GradScaler's scale, pooling, positions, and at most 10 epochs."""
    paper = load_config(preset_files()[f"paper-{name}"])
    code = load_config(preset_files()[f"paper-{name}-as-code"])
    differing = {"loss_scale": 2.0**16, "pooling": "raw_mean", "positions": "ends", "epochs": 10}
    assert code == paper.replace(name=f"{paper.encoder.name} (as code)", **differing)


@pytest.mark.parametrize(
    ("name", "count"), [("table-5", 6), ("table-7", 5), ("table-8", 17), ("figure-4", 6)]
)
def test_a_ready_sweep_has_the_rows_of_the_papers_table(name: str, count: int) -> None:
    keys, points, file, before = planned(Path(name), {})
    config = load_config(
        preset_or_file(file), {**before, "base": "", "data": "world", "num_captions": 0}
    )
    runs = runs_at(config, points, 1, Path("runs"))
    assert len(runs) == count
    assert len({run.folder.path for run in runs}) == count
    assert all(len(run.label) == len(keys) for run in runs)
    match name:
        case "table-5":
            assert [auxiliary_of(run) for run in runs] == ["", "snl", "snl", "bnl", "bnl", "bnl"]
            margins = load_config(preset_files()["paper-bnl-as-code"]).objective.losses["bnl"]
            both_pivots = {**margins, "video_pivot": True, "query_pivot": True}
            assert runs[5].config.objective.losses["bnl"] == both_pivots
        case "table-7":
            # The first has no auxiliary loss.
            losses = [run.config.objective.losses["snl"] for run in runs[1:]]
            rows = [(loss["pivot"], loss["weight"]) for loss in losses]
            assert rows == [("video", 1e-3), ("video", 1e-2), ("query", 1e-3), ("query", 1e-2)]
        case "table-8":
            for run in runs[1:]:
                loss = run.config.objective.losses["bnl"]
                margin = "m2" if loss["video_pivot"] else "m4"
                assert run.label == (f"{margin} {loss[margin]}", str(loss["weight"]))
        case "figure-4":
            losses = [run.config.objective.losses["bnl"] for run in runs]
            assert [loss["m4"] for loss in losses] == [0.2, 0.3, 0.4, 0.5, 0.6, 0.9]
            assert not any(loss["video_pivot"] for loss in losses)


def auxiliary_of(run: SweepRun) -> str:
    """Return the loss that is added to retrieval's."""
    return " ".join(name for name in run.config.objective.losses if name != "retrieval")
