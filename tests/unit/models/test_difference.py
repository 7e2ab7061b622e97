"""Checkpoints stored as their difference from a base: they equal the whole model, and name a base that is missing."""

import gc
import json
import shutil
from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from safetensors.torch import load_file, save_file

from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.models.acquire import acquire
from nt2vr.models.card import CARD, DIFFERENCE, WEIGHTS, Card, read_card, write_card
from nt2vr.models.catalog import Catalog
from nt2vr.models.checkpoint import read_checkpoint, read_model, write_checkpoint
from nt2vr.models.difference import export_checkpoint
from nt2vr.models.open_clip_encoder import OpenClipEncoder
from nt2vr.models.options import AddOptions
from tests.support.paths import ROOT
from tests.support.running import here
from tests.support.tiny_models import RESNET, tiny_model, write_anew, write_tiny

TEXTS = ["a dog and not a cat", "a man playing the guitar"]
FRAMES = np.random.default_rng(0).integers(0, 255, (4, 64, 64, 3), dtype=np.uint8)


def write_tuned(
    folder: Path, base: Path | None, seed: int = 1, name: str = "Tuned", visual: bool = False
) -> Card:
    """Write the tiny model with another last layer of its text tower, or of both towers."""
    model = tiny_model(resnet=True).half().float()
    with torch.no_grad():
        model.text_projection += 0.1 * torch.randn(
            16, 16, generator=torch.Generator().manual_seed(seed)
        )
        if visual:
            model.visual.conv1.weight += 0.1
    return write_checkpoint(folder, model, RESNET, {}, Card(name, base="Base", frames=2), base=base)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    write_tiny(tmp_path / "models" / "base", "Base", resnet=True)
    return tmp_path / "models"


def assert_equal(one: OpenClipEncoder, other: OpenClipEncoder) -> None:
    np.testing.assert_array_equal(one.encode_text(TEXTS), other.encode_text(TEXTS))
    np.testing.assert_array_equal(one.encode_frames(FRAMES), other.encode_frames(FRAMES))


@pytest.mark.parametrize("visual", [False, True])
def test_a_difference_equals_the_whole_model(models: Path, tmp_path: Path, visual: bool) -> None:
    # It finds its base in models.
    run = tmp_path / "runs" / "night" / "checkpoints" / "epoch_001"
    card = write_tuned(run, models / "base", visual=visual)
    whole_card = write_tuned(tmp_path / "whole", None, visual=visual)
    assert not (run / WEIGHTS).exists()
    assert (
        sum(file.stat().st_size for file in run.iterdir())
        < 0.05 * (models / "base" / WEIGHTS).stat().st_size
    )
    for attribute in ("fingerprints", "visual_key", "text_key"):
        assert getattr(card, attribute) == getattr(whole_card, attribute)
    one = read_model(run)[0].state_dict()
    whole_weights = read_model(tmp_path / "whole")[0].state_dict()
    assert one.keys() == whole_weights.keys()
    for name in whole_weights:
        assert one[name].equal(whole_weights[name])
    assert_equal(
        read_checkpoint(run, verify=True), read_checkpoint(tmp_path / "whole", verify=True)
    )


def test_models_on_one_base_share_its_tensors_in_memory(models: Path) -> None:
    for seed in (1, 2):
        write_tuned(models / str(seed), models / "base", seed, f"Tuned {seed}")
    first, second, base = (read_checkpoint(models / name) for name in ("1", "2", "base"))
    for name, tensor in base._model.state_dict().items():
        changed = name in ("text_projection", "logit_scale") or name.endswith("num_batches_tracked")
        for encoder in (first, second):
            assert changed or encoder._model.state_dict()[name].data_ptr() == tensor.data_ptr()
    assert base.folded is first.folded is second.folded
    shared = first.shared
    del first, second, base
    gc.collect()
    # It stays as long as anybody uses it.
    assert read_checkpoint(models / "1").shared is shared
    trained = read_model(models / "1")[0]
    with torch.no_grad():
        # A training changes nobody else's.
        trained.token_embedding.weight += 1
    assert_equal(read_checkpoint(models / "1", verify=True), read_checkpoint(models / "1"))


def test_what_starts_from_a_difference_stands_on_the_whole_base(
    models: Path, tmp_path: Path
) -> None:
    write_tuned(models / "first", models / "base", 1, "First")
    card = write_tuned(models / "second", models / "first", 2, "Second")
    assert card.difference is not None
    assert card.difference.model == "Base"
    shutil.rmtree(models / "first")
    assert read_checkpoint(models / "second", verify=True).name == "Second"


def test_a_checkpoint_without_its_base_is_stored_whole(
    models: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    write_tuned(elsewhere / "tuned", models / "base")
    new = tiny_model(5, resnet=True)
    write_checkpoint(models / "new", new, RESNET, {}, Card("New", frames=2), base=models / "base")
    for folder in (elsewhere / "tuned", models / "new"):
        assert (folder / WEIGHTS).is_file()
        assert not read_card(folder).difference


def test_a_missing_or_changed_base_is_named(models: Path) -> None:
    write_tuned(models / "tuned", models / "base")
    card = read_card(models / "base")
    (models / "base").rename(models / ".base")
    with pytest.raises(CheckpointError, match="Base"):
        read_checkpoint(models / "tuned")
    write_anew(models / "base", "Base", seed=3, resnet=True)
    with pytest.raises(CheckpointError, match="Base"):
        read_model(models / "tuned")
    # The card does not tell.
    write_card(models / "base", card)
    with pytest.raises(CheckpointError):
        read_checkpoint(models / "tuned", verify=True)
    (models / "base" / CARD).write_text("[")
    (models / ".base").rename(models / "restored")
    read_checkpoint(models / "tuned", verify=True)


def test_a_base_in_use_is_removed_only_by_force(models: Path, tmp_path: Path) -> None:
    write_tuned(models / "tuned", models / "base")
    write_tuned(tmp_path / "runs" / "night" / "checkpoints" / "epoch_001", models / "base", 2)
    catalog = Catalog([models], runs=tmp_path / "runs")
    with pytest.raises(ConfigError, match=r"Base.*Tuned.*night"):
        catalog.remove("Base")
    assert catalog.load("Tuned").name == "Tuned"
    catalog.remove("Base", force=True)
    with pytest.raises(CheckpointError, match="Base"):
        catalog.load("Tuned")
    catalog.remove("Tuned")
    assert catalog.names() == ["night", "night · epoch 1"]


def test_an_exported_model_is_whole_and_open_clip_loads_it(models: Path, tmp_path: Path) -> None:
    write_tuned(models / "tuned", models / "base")
    export_checkpoint(models / "tuned", tmp_path / "out")
    write_tuned(tmp_path / "whole", None)
    exported, whole_weights = (load_file(tmp_path / name / WEIGHTS) for name in ("out", "whole"))
    assert exported.keys() == whole_weights.keys()
    for name in whole_weights:
        assert exported[name].equal(whole_weights[name])
    assert not read_card(tmp_path / "out").difference
    assert not (tmp_path / "out" / DIFFERENCE).exists()
    model, *_ = open_clip.create_model_and_transforms(f"local-dir:{tmp_path / 'out'}")
    encoded = model.eval().encode_text(
        open_clip.get_tokenizer(f"local-dir:{tmp_path / 'out'}")(TEXTS), normalize=True
    )
    np.testing.assert_allclose(
        encoded.detach(), read_checkpoint(models / "tuned").encode_text(TEXTS), atol=1e-6
    )
    with pytest.raises(CheckpointError, match="out"):
        export_checkpoint(models / "tuned", tmp_path / "out")


def test_a_shipped_model_keeps_its_tokenizer_when_it_is_exported(tmp_path: Path) -> None:
    shipped = ROOT / "assets" / "models" / "clip-neg"
    export_checkpoint(shipped, tmp_path / "out")
    assert read_card(tmp_path / "out") == read_card(shipped).replace(difference=None)
    one = read_checkpoint(shipped, verify=True)
    exported_model = read_checkpoint(tmp_path / "out", verify=True)
    np.testing.assert_array_equal(one.encode_text(TEXTS), exported_model.encode_text(TEXTS))


def test_an_imported_difference_needs_its_base(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nt2vr.models.untrusted.run_limited", here)
    write_tuned(run := tmp_path / "runs" / "night" / "checkpoints" / "epoch_001", models / "base")
    catalog = Catalog([models], runs=tmp_path / "runs")
    name = acquire(run, catalog, AddOptions("Mine", frames=2)).name
    np.testing.assert_array_equal(
        catalog.load(name).encode_text(TEXTS), read_checkpoint(run).encode_text(TEXTS)
    )
    assert (catalog.folder(name) / WEIGHTS).is_file()
    shutil.copytree(run, foreign := tmp_path / "elsewhere" / "tuned")
    (foreign_card := json.loads((foreign / CARD).read_text()))["difference"]["fingerprint"] = (
        "another"
    )
    (foreign / CARD).write_text(json.dumps(foreign_card))
    for path in (foreign, foreign / DIFFERENCE):
        with pytest.raises(CheckpointError, match="Base"):
            acquire(path, catalog, AddOptions())


def test_a_damaged_difference_is_refused(models: Path) -> None:
    write_tuned(models / "tuned", models / "base")
    file = models / "tuned" / DIFFERENCE
    save_file({**load_file(file), "text_projection": torch.full((16, 16), torch.nan)}, file)
    with pytest.raises(CheckpointError):
        read_checkpoint(models / "tuned")
    file.unlink()
    with pytest.raises(CheckpointError):
        read_checkpoint(models / "tuned")
