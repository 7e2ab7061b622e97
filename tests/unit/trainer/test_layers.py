"""Layers added to a base's text tower."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from nt2vr.models.card import WEIGHTS, Card, read_configs
from nt2vr.models.checkpoint import read_checkpoint, write_checkpoint
from nt2vr.models.open_clip_model import build_model
from nt2vr.models.tokenizer import load_tokenizer
from tests.support.tiny_models import TINY
from tests.support.trainings import run_training
from trainer.added_layers import deepened
from trainer.config import TrainConfig, deeper
from trainer.learner import Learner

TEXTS = ["a man sings", "a dog and not a cat", ""]
TWO_LAYERS: dict[str, Any] = {**TINY, "text_cfg": {**TINY["text_cfg"], "layers": 2}}
# A separate text tower module, and a visual tower whose layers have the same names.
VIT: dict[str, Any] = {
    **TWO_LAYERS,
    "vision_cfg": {"image_size": 64, "layers": 1, "width": 64, "patch_size": 32, "head_width": 32},
    "custom_text": True,
}


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    """Config with a base of two layers and a third to add."""
    torch.manual_seed(1)
    model = build_model(TWO_LAYERS, {})
    write_checkpoint(tmp_path / "base", model, TWO_LAYERS, {}, Card("Two layers", frames=2))
    return TrainConfig(
        base=str(tmp_path / "base"),
        train="text",
        added_layers=1,
        losses={"contrastive": {}},
        num_clips=20,
        validation_clips=10,
        num_frames=2,
        batch_size=10,
        epochs=1,
        warmup_steps=0,
    )


@pytest.mark.parametrize("model_cfg", [TWO_LAYERS, VIT], ids=["CLIP", "CustomTextCLIP with a ViT"])
@pytest.mark.parametrize(
    # The resulting positions of the base's two layers.
    ("added", "old"),
    [(1, [0, 1]), (2, [0, 2]), (3, [0, 2]), (4, [0, 3])],
)
def test_added_layers_stand_evenly_and_change_no_embedding(
    model_cfg: dict[str, Any], added: int, old: list[int]
) -> None:
    torch.manual_seed(1)
    base = build_model(model_cfg, {})
    tokenizer = load_tokenizer(None, model_cfg["text_cfg"])
    model = build_model(deeper(model_cfg, added), {})
    weights = base.state_dict()
    random = model.state_dict()
    model.load_state_dict(deepened(weights, random))
    tokens = tokenizer(TEXTS)
    torch.testing.assert_close(model.encode_text(tokens), base.encode_text(tokens), rtol=0, atol=0)

    prefix = "text." if "custom_text" in model_cfg else ""
    blocks = f"{prefix}transformer.resblocks"
    base_layers = [weights[f"{blocks}.{layer}.mlp.c_fc.weight"] for layer in range(2)]
    positions = []
    for position in range(2 + added):
        layer_weights = model.state_dict()[f"{blocks}.{position}.mlp.c_fc.weight"]
        if any(torch.equal(layer_weights, base_weights) for base_weights in base_layers):
            positions.append(position)
    assert positions == old


def test_added_layers_learn_and_their_checkpoint_has_them(
    tmp_path: Path, config: TrainConfig
) -> None:
    run = run_training(config, tmp_path / "run")
    trained = read_checkpoint(run.checkpoint(1), verify=True)
    assert read_configs(run.checkpoint(1))[0]["text_cfg"]["layers"] == 3
    base = read_checkpoint(Path(config.encoder.base))
    assert trained.visual_fingerprint == base.visual_fingerprint
    out = Learner(config).model.transformer.resblocks[2].attn.out_proj.weight
    assert not out.any()
    assert load_file(run.checkpoint(1) / WEIGHTS)[
        "transformer.resblocks.2.attn.out_proj.weight"
    ].any()
