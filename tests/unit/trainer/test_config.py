"""Configs: complete on disk, strictly validated, rejected in one sentence."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from nt2vr.errors import ConfigError
from nt2vr.evaluation.columns import GROUPS
from nt2vr.models.card import read_configs
from nt2vr.presets import preset_files
from nt2vr.settings import ASSETS
from tests.support.paths import ROOT
from tests.support.tiny_models import write_tiny
from tests.support.training_fields import PAGE, reference
from trainer.config import (
    FIELDS,
    FOR_CAPTIONS,
    FOR_VIDEOS,
    SECTIONS,
    SMALL_MODEL,
    TrainConfig,
    load_config,
    preset_or_file,
    resolved,
    save_config,
)
from trainer.config.validation import OF_DENYING, OF_VIDEOS
from trainer.losses import build_losses


@pytest.mark.parametrize("path", preset_files().values(), ids=lambda path: path.name)
def test_shipped_configs_can_be_trained(path: Path) -> None:
    config = load_config(path)
    assert config.encoder.name
    if config.encoder.trains_towers:
        assert build_losses(config.objective.losses).terms.keys() == config.objective.losses.keys()
    # The others have to be downloaded first.
    if config.encoder.base.startswith("assets/"):
        model_cfg = read_configs(ROOT / config.encoder.base)[0]
        model_cfg["text_cfg"]["layers"] += config.encoder.added_layers
        assert config.encoder.model_cfg == model_cfg


def test_the_reference_of_fields_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(), (
        "Run python -m tests.support.training_fields --write"
    )


def test_a_base_needs_no_copy_of_its_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = {**SMALL_MODEL, "vision_cfg": {**SMALL_MODEL["vision_cfg"], "image_size": 48}}
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "open_clip_config.json").write_text(
        json.dumps({"model_cfg": model, "preprocess_cfg": {}})
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    assert TrainConfig(base="~/base").encoder.image_size == 48
    assert TrainConfig(base="~/base").encoder.base_folder == tmp_path / "base"
    assert TrainConfig(base="~/base", model=SMALL_MODEL).encoder.image_size == 112
    assert TrainConfig().encoder.model_cfg == SMALL_MODEL
    with pytest.raises(ConfigError, match="~/gone"):
        _ = TrainConfig(base="~/gone").encoder.image_size


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"epoch": 3}, "epoch.* accumulate"),
        ({"epochs": True}, "epochs .*True"),
        ({"epochs": 2.5}, "epochs .*2.5"),
        ({"epochs": 0}, "epochs .*1.* 0"),
        ({"flip": 1}, "flip .*1"),
        ({"batch_size": 1}, "batch_size .*2 "),
        (
            {"batch_size": 64, "num_clips": 32},
            r"batch_size .*2 .*\(32\)",
        ),
        ({"frames_per_step": 5}, "frames_per_step"),
        ({"learning_rate": 0}, "learning_rate .*0"),
        ({"decay": float("inf")}, "decay "),
        ({"keep_share": 2.0}, "keep_share .*1"),
        ({"precision": "fp8"}, "precision .*auto.*fp32.*bf16.*fp8"),
        ({"train": "text"}, "train .*base|text .*base"),
        ({"keep_tokens": True}, "keep_tokens .*base"),
        (
            {"keep_head": True, "base": "x", "train": "head"},
            "keep_head .*base",
        ),
        ({"data": ""}, "world"),
        ({"num_captions": 40_000}, "num_captions .*batch_size"),
        ({"sentences": {"fragment": 1, "not": 0}}, "fragment"),
        (
            {"num_clips": 100, "batch_size": 20, "accumulate": 6},
            r"accumulate \(6\) .*\(5\)",
        ),
        ({"monitor": "loss"}, "monitor .*original/MIR.* 'loss'"),
        ({"sentences": {"never": 1}}, "sentences.never .*'negated', 'composed'"),
        ({"sentences": {"not": "1"}}, "sentences.not "),
        ({"sentences": {"not": 0}}, "sentences"),
        (
            {"not_epochs": 1, "sentences": {"composed": 1}},
            'not_epochs .*"not"',
        ),
        ({"losses": {"bnl": 3}}, "losses.bnl"),
        ({"model": {"embed_dim": 8}}, "embed_dim, vision_cfg and text_cfg"),
        ({"name": " "}, "1 to 100"),
        ([], "JSON"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_sentence(
    tmp_path: Path, data: Any, message: str
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(data))
    with pytest.raises(ConfigError, match=message) as caught:
        load_config(path)
    assert "\n" not in str(caught.value)


def test_presets_are_checked_against_own_videos_before_torch_is_imported(
    tmp_path: Path, write_video: Any
) -> None:
    write_tiny(tmp_path / "base")
    (tmp_path / "data").mkdir()
    for number in range(10):
        write_video(f"data/{number}.avi", [50])
    rows = ["path,caption", *(f"{number}.avi,a man sings" for number in range(10))]
    (tmp_path / "data" / "captions.csv").write_text("\n".join(rows))
    code = f"""
import sys
from pathlib import Path
from trainer.config import load_config, preset_or_file, resolved
changes = {{"data": {str(tmp_path / "data")!r}, "base": {str(tmp_path / "base")!r}, "batch_size": 4, "model": {{}}}}
for preset in {("clip", "clip-neg", *FOR_VIDEOS)!r}:
    try:
        resolved(load_config(preset_or_file(Path(preset)), changes))
        print("fits")
    except Exception as error:
        print(error)
assert "torch" not in sys.modules
"""
    output = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    clip, neg, *other_lines = output.splitlines()
    for sentence in (clip, neg):
        assert (
            "which only the built-in world says. For data, choose the preset own-videos or clip-star"
            in sentence
        )
    assert other_lines == ["fits"] * len(FOR_VIDEOS)


def test_captions_alone_fit_the_preset_that_is_named(tmp_path: Path) -> None:
    write_tiny(tmp_path / "base")
    (tmp_path / "captions.txt").write_text("a man sings\na dog runs\n")
    config = TrainConfig(
        base=str(tmp_path / "base"), train="text", data=str(tmp_path / "captions.txt")
    )
    with pytest.raises(ConfigError, match=r"contrastive.*teach-text"):
        resolved(config)
    resolved(config.replace(losses=load_config(preset_files()[FOR_CAPTIONS[0]]).objective.losses))


def test_relative_paths_start_at_the_run_s_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_tiny(tmp_path / "mine" / "epoch_001")
    write_tiny(tmp_path / "data" / "models" / "ViT-B-32--openai", "ViT-B-32 / openai")
    config = resolved(TrainConfig(base="mine/epoch_001"))
    assert config.encoder.base == str(tmp_path / "mine" / "epoch_001")
    assert resolved(config) == config
    for unchanged in (TrainConfig(base="assets/models/clip"), TrainConfig()):
        assert resolved(unchanged) == unchanged
    # Both are the name of a model.
    for typed in ("vit-b-32/openai", "ViT-B-32 / openai"):
        base = resolved(TrainConfig(base=typed), tmp_path / "data").encoder.base
        assert base == str(tmp_path / "data" / "models" / "ViT-B-32--openai")
    assert resolved(TrainConfig(base="clip"), tmp_path / "data").encoder.base == str(
        ASSETS / "models" / "clip"
    )
    with pytest.raises(ConfigError, match="CLIP-neq"):
        resolved(TrainConfig(base="CLIP-neq"), tmp_path / "data")
    # It hides no preset.
    (tmp_path / "clip-neg").mkdir()
    assert preset_or_file(Path("clip-neg")) == preset_files()["clip-neg"]
    with pytest.raises(ConfigError, match=r"clip-bln.*clip, clip-bnl, "):
        preset_or_file(Path("clip-bln"))


def test_monitors_are_measures_of_a_report() -> None:
    measures: set[str] = set()
    for group in GROUPS:
        measures |= {column.key for column in group.columns}
    assert measures.issuperset({*OF_VIDEOS, *OF_DENYING})


def test_changing_one_part_of_a_value_keeps_the_others(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"losses": {"retrieval": {}, "bnl": {"m1": 0.5}}}')
    config = load_config(tmp_path / "config.json", {"losses.bnl.m4": -0.1, "sentences.idiom": 0.2})
    assert config.objective.losses == {"retrieval": {}, "bnl": {"m1": 0.5, "m4": -0.1}}
    assert config.negation.sentences == {**TrainConfig().negation.sentences, "idiom": 0.2}
    assert "idiom" not in TrainConfig().negation.sentences


def test_each_setting_is_in_one_section_and_has_a_description() -> None:
    keys: list[str] = []
    for section in SECTIONS.values():
        keys += section.model_fields
    assert len(keys) == len(set(keys))
    assert sorted(keys) == sorted(TrainConfig().flat())
    assert [key for key, field in FIELDS.items() if not field.description] == []


def test_values_stay_as_they_are_written(tmp_path: Path) -> None:
    """Folders of sweeps are named by a hash of the config, in which 2 and 2.0 differ."""
    config = TrainConfig(max_grad_norm=2, losses={"bnl": {"weight": 1}}, sentences={"not": 1})
    save_config(config, tmp_path / "config.json")
    written = json.loads((tmp_path / "config.json").read_text())
    assert written.pop("schema") == 1
    assert json.dumps(written) == json.dumps(config.flat())
    assert type(written["max_grad_norm"]) is int
    assert type(written["sentences"]["not"]) is int
    assert load_config(tmp_path / "config.json") == config


def test_a_config_cannot_be_changed_from_outside() -> None:
    config = TrainConfig()
    config.flat()["losses"]["bnl"] = {}
    assert config.objective.losses == {"contrastive": {"weight": 1.0}}
    with pytest.raises(ValidationError):
        config.rate.learning_rate = 1.0
    with pytest.raises(ConfigError, match=r"epochs .*1"):
        config.replace(epochs=0)


@pytest.mark.parametrize(
    "text", [None, "", "{", "\udcff"], ids=["missing", "empty", "cut off", "no text"]
)
def test_a_file_that_is_no_config_is_refused(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "config.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ConfigError, match=r"config.json"):
        load_config(tmp_path / "config.json")
