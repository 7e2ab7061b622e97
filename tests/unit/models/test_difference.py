"""Checkpoints stored as their difference from a base: they equal the whole model, and name a base that is missing."""

import gc
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

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
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        model.text_projection += 0.1 * torch.randn(16, 16, generator=generator)
        if visual:
            model.visual.conv1.weight += 0.1
    return write_checkpoint(folder, model, RESNET, {}, Card(name, base="Base", frames=2), base=base)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    write_tiny(tmp_path / "models" / "base", "Base", resnet=True)
    return tmp_path / "models"


def assert_equal(first: OpenClipEncoder, second: OpenClipEncoder) -> None:
    np.testing.assert_array_equal(first.encode_text(TEXTS), second.encode_text(TEXTS))
    np.testing.assert_array_equal(first.encode_frames(FRAMES), second.encode_frames(FRAMES))


def assert_same_weights(first: Mapping[str, Tensor], second: Mapping[str, Tensor]) -> None:
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        assert tensor.equal(second[name]), name


@pytest.mark.parametrize("visual", [False, True])
def test_a_difference_equals_the_whole_model(models: Path, tmp_path: Path, visual: bool) -> None:
    # It finds its base in models.
    run = tmp_path / "runs" / "night" / "checkpoints" / "epoch_001"
    whole_folder = tmp_path / "whole"
    card = write_tuned(run, models / "base", visual=visual)
    whole_card = write_tuned(whole_folder, None, visual=visual)
    assert not (run / WEIGHTS).exists()
    num_bytes = sum(file.stat().st_size for file in run.iterdir())
    assert num_bytes < 0.05 * (models / "base" / WEIGHTS).stat().st_size
    for attribute in ("fingerprints", "visual_key", "text_key"):
        assert getattr(card, attribute) == getattr(whole_card, attribute)
    assert_same_weights(read_model(run)[0].state_dict(), read_model(whole_folder)[0].state_dict())
    assert_equal(read_checkpoint(run, verify=True), read_checkpoint(whole_folder, verify=True))


def test_models_on_one_base_share_its_tensors_in_memory(models: Path) -> None:
    for seed in (1, 2):
        write_tuned(models / str(seed), models / "base", seed, f"Tuned {seed}")
    first, second, base = (read_checkpoint(models / name) for name in ("1", "2", "base"))
    weights = base._model.state_dict()
    # Scalars are not shared: the scale of the logits, and what counts batches.
    unshared = {name for name, tensor in weights.items() if not tensor.ndim} | {"text_projection"}
    for name in weights.keys() - unshared:
        for encoder in (first, second):
            assert encoder._model.state_dict()[name].data_ptr() == weights[name].data_ptr(), name
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
    out = tmp_path / "out"
    whole_folder = tmp_path / "whole"
    export_checkpoint(models / "tuned", out)
    write_tuned(whole_folder, None)
    assert_same_weights(load_file(out / WEIGHTS), load_file(whole_folder / WEIGHTS))
    assert not read_card(out).difference
    assert not (out / DIFFERENCE).exists()

    model, *_ = open_clip.create_model_and_transforms(f"local-dir:{out}")
    tokens = open_clip.get_tokenizer(f"local-dir:{out}")(TEXTS)
    encoded = model.eval().encode_text(tokens, normalize=True)
    expected = read_checkpoint(models / "tuned").encode_text(TEXTS)
    np.testing.assert_allclose(encoded.detach(), expected, atol=1e-6)

    with pytest.raises(CheckpointError, match="out"):
        export_checkpoint(models / "tuned", out)


def test_a_shipped_model_keeps_its_tokenizer_when_it_is_exported(tmp_path: Path) -> None:
    shipped = ROOT / "assets" / "models" / "clip-neg"
    export_checkpoint(shipped, tmp_path / "out")
    assert read_card(tmp_path / "out") == read_card(shipped).replace(difference=None)
    original = read_checkpoint(shipped, verify=True)
    exported = read_checkpoint(tmp_path / "out", verify=True)
    np.testing.assert_array_equal(original.encode_text(TEXTS), exported.encode_text(TEXTS))


def test_an_imported_difference_needs_its_base(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nt2vr.models.untrusted.run_limited", here)
    run = tmp_path / "runs" / "night" / "checkpoints" / "epoch_001"
    write_tuned(run, models / "base")
    catalog = Catalog([models], runs=tmp_path / "runs")
    name = acquire(run, catalog, AddOptions("Mine", frames=2)).name
    expected = read_checkpoint(run).encode_text(TEXTS)
    np.testing.assert_array_equal(catalog.load(name).encode_text(TEXTS), expected)
    assert (catalog.folder(name) / WEIGHTS).is_file()

    foreign = tmp_path / "elsewhere" / "tuned"
    shutil.copytree(run, foreign)
    card = json.loads((foreign / CARD).read_text())
    card["difference"]["fingerprint"] = "another"
    (foreign / CARD).write_text(json.dumps(card))
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
