"""The new-run form: completeness, presets and validation."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nt2vr.errors import ConfigError
from nt2vr.presets import preset_files
from nt2vr.settings import resolve_path
from nt2vr.ui.train import presets as presets_module
from nt2vr.ui.train.fields import config_fields, in_words
from nt2vr.ui.train.form import bases, read_form
from nt2vr.ui.train.losses_table import loss_fields, losses_view
from nt2vr.ui.train.presets import TEACHING, presets, presets_view
from tests.support.tiny_models import write_tiny
from trainer.config import TrainConfig, load_config, resolved
from trainer.losses import LOSSES, build_losses
from trainer.runs.manager import ROOT
from trainer.teaching import changes_by_depth


def filled(preset: str, **changes: Any) -> dict[str, Any]:
    """Form values as a page sends them: JSON as text, and every number as a float."""
    values = {key: value for key, value in presets()[preset].items() if key != "losses"} | changes
    return {
        key: json.dumps(value)
        if isinstance(value, Mapping)
        else float(value)
        if type(value) is int
        else value
        for key, value in values.items()
    }


def table(preset: str, **changes: Any) -> dict[str, Any]:
    """Table of losses, with values of its first selected loss changed."""
    view = losses_view(presets()[preset]["losses"])
    row = next(row for row in view["losses"] if row["is_on"])
    for cell in row["fields"]:
        cell.update({"value": changes.get(cell["key"], cell.get("value"))})
    return view


def test_every_value_of_a_config_has_its_help() -> None:
    assert [field.key for field in config_fields()] == list(TrainConfig().flat())
    assert [field.key for field in config_fields() if not field.help] == []
    losses = loss_fields()
    assert losses.keys() == LOSSES.keys()
    for name, (_, fields) in losses.items():
        for field in fields:
            assert field.help, f"{name} {field.key}"


@pytest.mark.parametrize("file", preset_files().values(), ids=lambda file: file.name)
def test_a_filled_preset_is_the_config_of_its_file(file: Path, tmp_path: Path) -> None:
    config = load_config(file)
    if file.stem == TEACHING:
        config = config.with_changes(changes_by_depth(resolve_path(config.encoder.base)))
    # It has to be downloaded first.
    if not config.encoder.base.startswith("assets/"):
        config = config.replace(base="assets/models/clip")
    # The user is to fill it in.
    if config.dataset.data.startswith("path/to/"):
        config = config.replace(data="assets/gallery" if config.objective.losses else str(tmp_path))
    (tmp_path / "triplets.jsonl").touch()
    values = filled(config.encoder.name, base=config.encoder.base, data=config.dataset.data)
    read = read_form(values, losses_view(presets()[config.encoder.name]["losses"]))
    read_values = read.flat()
    for key, expected in config.flat().items():
        if key != "losses":
            assert read_values[key] == expected
            assert type(read_values[key]) is type(expected) or isinstance(expected, int | float)
    if config.objective.losses:
        assert (
            build_losses(read.objective.losses).terms == build_losses(config.objective.losses).terms
        )


def test_values_a_base_and_losses_that_cannot_be_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"epochs .*2\.5"):
        read_form(filled("CLIP-neg", epochs=2.5), table("CLIP-neg"))
    with pytest.raises(ConfigError, match="Model"):
        read_form(filled("CLIP-neg") | {"model": "{"}, table("CLIP-neg"))
    with pytest.raises(ConfigError, match="no-such-folder"):
        resolved(read_form(filled("CLIP-neg", base="no-such-folder"), table("CLIP-neg")))
    with pytest.raises(ConfigError, match=r"contrastive .*much"):
        read_form(filled("CLIP"), table("CLIP", weight="much"))
    with pytest.raises(ConfigError):
        read_form(filled("CLIP*"), table("CLIP*", weight="0"))
    with pytest.raises(ConfigError):
        read_form(filled("CLIP"), {"losses": []})


def test_models_are_named_as_in_configs(
    tmp_path: Path,
) -> None:
    write_tiny(tmp_path / "runs" / "tiny-1" / "checkpoints" / "epoch_003", "Tiny")
    (tmp_path / "models" / "broken").mkdir(parents=True)
    (tmp_path / "models" / "broken" / "nt2vr.json").write_text("{")
    base_names = bases(
        [
            ROOT / "assets" / "models",
            tmp_path / "models",
            tmp_path / "runs" / "tiny-1" / "checkpoints",
        ]
    )
    assert base_names["random weights"] == ""
    assert base_names["CLIP4Clip"] == presets()["CLIP-neg"]["base"]
    assert base_names["tiny-1, epoch 0"] == str(
        tmp_path / "runs" / "tiny-1" / "checkpoints" / "epoch_003"
    )
    for name in base_names:
        assert "broken" not in name


def test_presets_for_own_data_come_last() -> None:
    names = [card["name"] for card in presets_view(presets(), "CLIP-bnl")["presets"]]
    expected = ["Learns not (stage)", "CLIP taught", "Own videos", "CLIP-bnl", "CLIP-neg"]
    assert names == expected == list(presets())[: len(expected)]
    needs = ["path/to" in config["data"] for config in list(presets().values())[len(expected) :]]
    assert needs == sorted(needs)
    assert any(needs)


def test_the_live_training_states_its_measured_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        presets_module, "gflops_per_second", lambda device: presets_module.BENCHMARKED
    )
    cards = presets_view(presets(), "Learns not (stage)", "cpu")["presets"]
    assert cards[0]["title"] == "Watch it learn"
    assert cards[0]["time"] == "about 3 min here"
    assert cards[0]["chosen"] is True
    assert [card["chosen"] for card in cards[1:]] == [False] * 4


def test_a_refusal_names_fields_as_the_form_does() -> None:
    sentence = "batch_size (128) is above num_clips (8), and clip_x stays."
    assert (
        in_words(sentence) == "“Batch size” (128) is above “Number of clips” (8), and clip_x stays."
    )
