"""Configs: complete on disk, strictly validated, rejected in one sentence."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nt2vr.errors import ConfigError
from nt2vr.models.checkpoint import read_configs
from nt2vr.settings import ASSETS
from tests.paths import ROOT
from tests.tiny import write_tiny
from trainer.config import SMALL_MODEL, TrainConfig
from trainer.config_file import anchored, load_config, save_config
from trainer.losses import build_losses
from trainer.optimizer import rate_at
from trainer.presets import PRESETS, preset_or_file

SHIPPED = sorted((ROOT / "trainer" / "configs").glob("*.json"))


def test_a_config_survives_the_disk(tmp_path: Path) -> None:
    config = TrainConfig(name="CLIP*", epochs=3, losses={"contrastive": {"weight": 0.5}})
    save_config(config, tmp_path / "config.json")
    assert load_config(tmp_path / "config.json") == config


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_shipped_configs_can_be_trained(path: Path) -> None:
    config = load_config(path)
    assert config.name
    if config.train != "fusion":
        assert build_losses(config.losses).terms.keys() == config.losses.keys()
    if config.base and not config.base.startswith("~"):  # has to be downloaded first
        model_cfg = read_configs(ROOT / config.base)[0]
        model_cfg["text_cfg"]["layers"] += config.added_layers
        assert config.model_cfg == model_cfg


def test_the_paper_s_setting_is_the_paper_s() -> None:
    """FACTS: Wang et al., section 5.1, and additions in their public implementation."""
    star, snl, bnl = (
        load_config(ROOT / "trainer" / "configs" / f"paper-{name}.json") for name in ("star", "snl", "bnl")
    )
    assert star == replace(bnl, name=star.name, losses={"retrieval": {"weight": 1.0, "margin": 0.2}})
    assert snl == replace(star, name=snl.name, losses={**star.losses, "snl": {"weight": 1e-3, "margin": 0.1}})
    margins = {"m1": 0.1, "m2": 0.6, "m3": 0.1, "m4": 0.3}
    assert bnl.losses == {**star.losses, "bnl": {"weight": 1e-3, **margins}}
    for _, loss in build_losses({**bnl.losses, **snl.losses}).terms.values():
        assert (
            getattr(loss, "reduction", None) == "sum"
            and getattr(loss, "detach_video", True)
            and getattr(loss, "rescale", True)
        )
    assert (bnl.train, bnl.num_frames, bnl.frames_per_step, bnl.flip, bnl.batch_size) == ("all", 8, 8, False, 64)
    assert (bnl.optimizer, bnl.schedule, bnl.patience, bnl.max_grad_norm) == ("rmsprop", "exponential", 2, 2)
    assert [rate_at(step, bnl) for step in (0, bnl.steps_per_epoch - 1, bnl.steps_per_epoch)] == [1, 1, 0.99]
    assert (bnl.learning_rate, bnl.weight_decay) == (1e-6, 0)
    assert bnl.passes == 1 and bnl.num_captions > 113_287 * 5  # every caption once per epoch, also MS-COCO's
    assert bnl.num_clips > 113_287 and bnl.validation_clips >= 5_000


@pytest.mark.parametrize("name", ["star", "snl", "bnl"])
def test_a_preset_as_code_differs_from_the_paper_s_where_the_code_does(name: str) -> None:
    """FACTS, "Checked against the authors' code": GradScaler's scale, pooling, positions, at most 10 epochs."""
    paper, code = (load_config(ROOT / "trainer" / "configs" / f"paper-{name}{end}.json") for end in ("", "-as-code"))
    differing = {"loss_scale": 2.0**16, "pooling": "raw_mean", "positions": "ends", "epochs": 10}
    assert code == replace(paper, name=f"{paper.name} (as code)", **differing)  # type: ignore[arg-type]


def test_a_base_needs_no_copy_of_its_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = {**SMALL_MODEL, "vision_cfg": {**SMALL_MODEL["vision_cfg"], "image_size": 48}}
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "open_clip_config.json").write_text(json.dumps({"model_cfg": model, "preprocess_cfg": {}}))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert TrainConfig(base="~/base").image_size == 48
    assert TrainConfig(base="~/base").base_folder == tmp_path / "base"
    assert TrainConfig(base="~/base", model=SMALL_MODEL).image_size == 112
    assert TrainConfig().model_cfg == SMALL_MODEL
    with pytest.raises(ConfigError, match=r"The base ~/gone cannot be read .* Choose a checkpoint folder"):
        _ = TrainConfig(base="~/gone").image_size


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"epoch": 3}, "unknown keys: epoch"),
        ({"epochs": "3"}, 'epochs must be like 16, not "3"'),
        ({"epochs": True}, "epochs must be like 16, not true"),
        ({"epochs": 2.5}, "epochs must be like 16, not 2.5"),
        ({"flip": 1}, "flip must be like true, not 1"),
        ({"epochs": 0}, "epochs must be at least 1, not 0"),
        ({"batch_size": 1}, "batch_size must be from 2 to num_clips"),
        ({"batch_size": 64, "num_clips": 32}, "batch_size must be from 2 to num_clips"),
        ({"frames_per_step": 5}, "frames_per_step"),
        ({"learning_rate": 0}, "learning_rate must be above 0"),
        ({"learning_rate": float("nan")}, "learning_rate must be above 0"),
        ({"learning_rate": float("inf")}, "learning_rate must be above 0 and finite, not inf"),
        ({"head_learning_rate": float("inf")}, "head_learning_rate must not be below 0 or infinite, but is inf"),
        ({"weight_decay": float("inf")}, "weight_decay must not be below 0 or infinite"),
        ({"decay": float("inf")}, "decay must be above 0 and finite"),
        ({"loss_scale": float("inf")}, "loss_scale must be above 0 and finite"),
        ({"weight_decay": -1}, "weight_decay must not be below 0"),
        ({"precision": "fp8"}, "precision must be one of auto, fp32, bf16, not 'fp8'"),
        ({"train": "image", "base": "x"}, "train must be one of all, text, visual, head, fusion, not 'image'"),
        ({"train": "text"}, "needs a base whose visual tower"),
        ({"train": "visual"}, "needs a base whose text tower"),
        ({"keep_tokens": True}, "needs a base whose tokens"),
        ({"keep_head": True, "base": "x", "train": "head"}, "needs a base whose pooling can be frozen while"),
        ({"keep_head": True}, "needs a base whose pooling can be frozen while"),
        ({"added_layers": -1, "base": "x"}, "added_layers must not be below 0"),
        ({"data": ""}, "Enter world, or the path"),
        ({"num_captions": 40_000}, "num_captions is for datasets and at least batch_size"),
        ({"sentences": {"fragment": 1, "not": 0}}, "grammar makes no fragments. Add another kind"),
        ({"accumulate": 0}, "accumulate must be at least 1"),
        ({"num_clips": 100, "batch_size": 20, "accumulate": 6}, r"accumulate \(6\) must not exceed .* \(5\)"),
        ({"passes": 0}, "passes must be at least 1"),
        ({"patience": -1}, "patience must not be below 0"),
        ({"monitor": "loss"}, "monitor must be one of original/MIR, .*, not 'loss'"),
        ({"optimizer": "sgd"}, "optimizer must be one of adamw, rmsprop"),
        ({"schedule": "linear"}, "schedule must be one of cosine, exponential"),
        ({"decay": 0}, "decay must be above 0"),
        ({"pool_clips": -1}, "pool_clips must not be below 0"),
        (
            {"sentences": {"never": 1}},
            "no sentences of the kind never. Choose among: negated, composed, without, not.",
        ),
        ({"sentences": {"not": "1"}}, "share of not sentences must be like"),
        ({"sentences": {"not": 0}}, "at least one of them above 0"),
        ({"sentences": {"not": -1, "composed": 2}}, "numbers from 0 up"),
        ({"not_epochs": -1}, "not_epochs must not be below 0"),
        ({"not_epochs": 1, "sentences": {"composed": 1}}, 'not_epochs needs sentences of the kind "not"'),
        ({"model": {"embed_dim": 8}}, "lacks text_cfg, vision_cfg"),
        ({"name": " "}, "name of the model is empty"),
        ([], "one JSON object"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_sentence(tmp_path: Path, data: Any, message: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(data))
    with pytest.raises(ConfigError, match=message) as caught:
        load_config(path)
    assert "\n" not in str(caught.value)


def test_gradients_need_not_be_clipped(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"max_grad_norm": Infinity}')
    assert load_config(tmp_path / "config.json").max_grad_norm == float("inf")


def test_a_whole_number_is_a_number(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"learning_rate": 1}')
    assert load_config(tmp_path / "config.json").learning_rate == 1


def test_relative_paths_are_those_of_the_folder_in_which_a_run_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine" / "epoch_001").mkdir(parents=True)
    config = anchored(TrainConfig(base="mine/epoch_001", data="videos"))
    assert (config.base, config.data) == (str(tmp_path / "mine" / "epoch_001"), str(tmp_path / "videos"))
    assert anchored(config) == config
    verbs = anchored(TrainConfig(data="msrvtt1k:videos", verb_changes="verbs.jsonl"))
    assert (verbs.data, verbs.verb_changes) == (f"msrvtt1k:{tmp_path / 'videos'}", str(tmp_path / "verbs.jsonl"))
    assert anchored(verbs) == verbs
    for kept in (
        TrainConfig(base="assets/models/clip"),
        TrainConfig(base="~/mine", data="~/videos"),
        TrainConfig(data="vatex:~/v"),
    ):
        assert anchored(kept) == kept
    for kept in (TrainConfig(), TrainConfig(verb_changes="antonym"), TrainConfig(verb_changes="~/verbs.jsonl")):
        assert anchored(kept) == kept


def test_a_base_may_be_the_name_of_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_tiny(tmp_path / "data" / "models" / "ViT-B-32--openai", "ViT-B-32 / openai")
    for typed in ("vit-b-32/openai", "ViT-B-32 / openai"):
        config = anchored(TrainConfig(base=typed), tmp_path / "data")
        assert config.base == str(tmp_path / "data" / "models" / "ViT-B-32--openai")
    assert anchored(TrainConfig(base="clip"), tmp_path / "data").base == str(ASSETS / "models" / "clip")
    with pytest.raises(ConfigError, match=r"'CLIP-neq'. Did you mean 'CLIP-neg'"):
        anchored(TrainConfig(base="CLIP-neq"), tmp_path / "data")


def test_neither_a_wrong_name_nor_a_folder_hides_the_presets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clip-neg").mkdir()
    (tmp_path / "mine").write_text("{}")
    assert preset_or_file(Path("clip-neg")) == PRESETS / "clip-neg.json"
    assert preset_or_file(Path("mine")) == Path("mine")
    with pytest.raises(ConfigError, match=r"Did you mean 'clip-bnl'.* one of: clip, clip-bnl, "):
        preset_or_file(Path("clip-bln"))
    with pytest.raises(ConfigError, match=r"is a folder, .* one of: clip, clip-bnl, "):
        preset_or_file(tmp_path)


def test_a_part_of_a_value_is_changed_and_its_other_parts_stay(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"losses": {"retrieval": {}, "bnl": {"m1": 0.5}}}')
    config = load_config(tmp_path / "config.json", {"losses.bnl.m4": -0.1, "sentences.idiom": 0.2})
    assert config.losses == {"retrieval": {}, "bnl": {"m1": 0.5, "m4": -0.1}}
    assert config.sentences == {**TrainConfig().sentences, "idiom": 0.2}
    assert "idiom" not in TrainConfig().sentences


@pytest.mark.parametrize("text", [None, "", "{", "\udcff"], ids=["missing", "empty", "cut off", "no text"])
def test_a_file_that_is_no_config_is_refused(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "config.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ConfigError, match="cannot be read as JSON"):
        load_config(tmp_path / "config.json")


@pytest.mark.parametrize("name", ["x" * 101, "a\ud800", "a\nb"])
def test_a_name_that_cannot_be_shown_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="at most 100 printable characters"):
        TrainConfig(name=name)
