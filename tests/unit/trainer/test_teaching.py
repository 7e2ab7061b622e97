"""Teaching a model "not" by sentences of the built-in world: the command, and the model that it leaves."""

import json
from pathlib import Path

import pytest

from nt2vr.cli import main
from nt2vr.errors import ConfigError
from nt2vr.models.card import Card, read_card, write_card
from nt2vr.models.catalog import Catalog
from nt2vr.models.checkpoint import read_checkpoint, write_checkpoint
from nt2vr.models.open_clip_model import build_model
from nt2vr.settings import Settings
from tests.support.tiny_models import TINY, write_tiny
from trainer import session, teaching
from trainer.config import TrainConfig, load_config, save_config
from trainer.config.encoder import text_layers
from trainer.data import clip_loader
from trainer.data.caption_clips import world_captions
from trainer.data.clip_loader import ClipLoader, Reading
from trainer.runs.run_folder import RunFolder, read_metrics
from trainer.text_measures import TextMeasures

SMALL = {
    "num_clips": 40,
    "batch_size": 8,
    "validation_clips": 12,
    "epochs": 2,
    "warmup_steps": 0,
    "log_every": 1,
}


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a data folder with one model, which a small preset teaches."""
    write_tiny(tmp_path / "models" / "tiny", "Tiny / random")
    preset = tmp_path / "small.json"
    preset.write_text(json.dumps({**json.loads(teaching.PRESET.read_text()), **SMALL}))
    monkeypatch.setattr(teaching, "PRESET", preset)
    monkeypatch.setattr(teaching, "FOR_NEW_LAYERS", {"learning_rate": 1e-3, "num_clips": 48})
    monkeypatch.setattr(clip_loader, "world_clips", lambda *_, **__: pytest.fail("looked at clips"))
    return tmp_path


@pytest.mark.slow
def test_a_command_teaches_without_data_and_continues_when_repeated(
    data_dir: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["teach", "tiny/random", "--data-dir", str(data_dir)]
    measured = TextMeasures.__call__
    # As if in the second epoch's validation, after both measures of the base.
    with monkeypatch.context() as killed:
        killed.setattr(TextMeasures, "__call__", lambda self, encoder: fails(self, encoder))
        calls = 0

        def fails(measures: TextMeasures, encoder: object) -> dict[str, float]:
            nonlocal calls
            calls += 1
            if calls == 3:
                raise OSError("killed")
            return {**measured(measures, encoder), "text/kept": 1.0}  # type: ignore[arg-type]

        assert main(command) == 1
    output = capsys.readouterr().out
    assert output.startswith(
        "The text tower has 1 layer; four are added, which changes no embedding before training."
    )
    assert "Tiny / random taught: 12 steps, about" in output
    monkeypatch.setattr(
        TextMeasures,
        "__call__",
        lambda self, encoder: {**measured(self, encoder), "text/kept": 1.0},
    )
    assert main(command) == 0
    assert "Tiny / random taught: 6 of 12 steps are left, about" in capsys.readouterr().out
    catalog = Catalog.of(Settings.read(data_dir))
    folder = catalog.folder("Tiny / random taught")
    base = data_dir / "models" / "tiny"
    before = read_card(base)
    after = read_card(folder)
    assert after.difference is not None
    assert after.difference.model == "Tiny / random"
    assert after.visual.fingerprint == before.visual.fingerprint
    assert after.text.fingerprint == read_checkpoint(folder, verify=True).card.text.fingerprint
    assert after.text.fingerprint != before.text.fingerprint
    run = RunFolder(data_dir / "runs" / "tiny-random-taught")
    status = run.status()
    assert status
    assert status.doing == "Tiny / random taught is among the models."
    rows = read_metrics(run.metrics)
    assert [row["epoch"] for row in rows if "text/order" in row] == [1, 2]
    assert main(command) == 1
    assert "is here already" in capsys.readouterr().err


@pytest.mark.slow
def test_the_number_of_epochs_is_chosen_at_the_start_only(
    data_dir: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["teach", "tiny/random", "--data-dir", str(data_dir), "--epochs"]
    # Nothing is trained.
    monkeypatch.setattr(session, "_lead", lambda *_, **__: "stopped")
    assert main([*command, "0"]) == 2
    assert main([*command, "3"]) == 0
    assert "taught: 18 steps, about" in capsys.readouterr().out
    run = RunFolder(data_dir / "runs" / "tiny-random-taught")
    assert load_config(run.config).batches.epochs == 3
    assert main([*command, "4"]) == 1
    assert "3 epochs" in capsys.readouterr().err
    assert main([*command, "3"]) == 0


def test_a_command_continues_only_its_own_run(data_dir: Path) -> None:
    runs = data_dir / "runs"
    config = teaching.teaching(Catalog.of(Settings.read(data_dir)), "tiny/random")
    cat = config.replace(name="кот taught")
    dog = config.replace(name="пёс taught")
    assert teaching.run_of(runs, cat) == (runs / "taught", True)
    (runs / "taught").mkdir(parents=True)
    save_config(cat, runs / "taught" / "config.json")
    assert teaching.run_of(runs, cat) == (runs / "taught", False)
    for other_config in (dog, cat.replace(data="/captions.txt")):
        assert teaching.run_of(runs, other_config) == (runs / "taught-2", True)


def test_a_stale_model_is_dropped_and_equal_names_numbered(
    data_dir: Path,
) -> None:
    run = RunFolder(data_dir / "runs" / "a")
    write_tiny(run.checkpoint(1), "Tiny")
    card = read_card(run.checkpoint(1)).replace(base="Tiny")
    write_card(run.checkpoint(1), card.replace(metrics={"validation/text/kept": 0.97}))
    name, reason = teaching.add_model(run.path)
    assert name == ""
    assert reason.startswith("No model was added")
    assert Catalog.of(Settings.read(data_dir)).named("Tiny taught") is None
    write_card(run.checkpoint(1), card)
    names = [teaching.add_model(run.path)[0] for _ in range(3)]
    assert names == ["Tiny taught", "Tiny taught 2", "Tiny taught 3"]


def test_own_captions_are_filled_up_with_those_of_the_world(tmp_path: Path) -> None:
    own_captions = []
    for colour in ("red", "blue", "green"):
        for thing in ("car", "boat", "hat", "kite"):
            own_captions.append(f"a {colour} {thing}")
    (tmp_path / "captions.txt").write_text("\n".join(own_captions))
    small = TrainConfig(losses={"distill": {}}, num_clips=48, batch_size=8).replace(
        data=str(tmp_path / "captions.txt")
    )
    alone, filled = (
        ClipLoader(small.replace(add_world=adds), tmp_path, Reading(videos=False, denials=True))
        .load("train")
        .captions("x")
        for adds in (False, True)
    )
    assert set(alone) < set(own_captions)
    assert filled[: len(alone)] == alone
    assert len(filled) == 48
    world = world_captions("train", 48, small.run.seed)
    assert set(filled[len(alone) :]) <= set(world)
    assert len(set(world)) == len(world)
    assert (
        world
        == world_captions("train", 48, small.run.seed)
        != world_captions("validation", 48, small.run.seed)
    )


def test_a_model_here_is_taught_by_its_name(data_dir: Path) -> None:
    catalog = Catalog.of(Settings.read(data_dir))
    assert {"Tiny / random", "CLIP"} <= set(teaching.teachable(catalog))
    config = teaching.teaching(catalog, "tiny/random")
    assert (config.encoder.name, config.encoder.base_folder) == (
        "Tiny / random taught",
        data_dir / "models" / "tiny",
    )
    with pytest.raises(ConfigError, match="no such model"):
        teaching.teaching(catalog, "no such model")


@pytest.mark.parametrize(("num_layers", "added"), [(2, 3), (4, 1), (5, 0), (12, 0)])
def test_a_shallow_text_tower_gets_the_layers_that_it_lacks(
    data_dir: Path, num_layers: int, added: int
) -> None:
    model_cfg = {**TINY, "text_cfg": {**TINY["text_cfg"], "layers": num_layers}}
    folder = data_dir / "models" / "other"
    write_checkpoint(folder, build_model(model_cfg, {}), model_cfg, {}, Card("Other"))
    config = teaching.teaching(Catalog.of(Settings.read(data_dir)), "Other")
    assert config.encoder.added_layers == added
    assert text_layers(config.encoder.model_cfg) == num_layers + added
    preset = load_config(teaching.PRESET)
    assert (config.rate.learning_rate > preset.rate.learning_rate) == (added > 0)
    assert (config.dataset.num_clips > preset.dataset.num_clips) == (added > 0)


def test_the_memory_of_a_teaching_counts_the_added_layers(data_dir: Path) -> None:
    config = teaching.teaching(Catalog.of(Settings.read(data_dir)), "tiny/random")
    shallow = config.replace(added_layers=0)
    width = TINY["text_cfg"]["width"]
    # 4 w² of attention and 8 w² of the MLP, with biases 9 w and two norms 4 w, in float32
    layer_bytes = 4 * (12 * width**2 + 13 * width)
    # the weights, their gradients, two moments of AdamW, and the base, counted as if it were as
    # large
    difference = teaching.estimate(config).num_bytes - teaching.estimate(shallow).num_bytes
    assert difference == pytest.approx(5 * config.encoder.added_layers * layer_bytes, rel=0.01)
