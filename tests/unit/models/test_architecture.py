"""Inference of architectures from shapes."""

from typing import Any

import open_clip
import pytest
import torch

from nt2vr.errors import ConfigError
from nt2vr.models.foreign_architecture import infer
from nt2vr.models.open_clip_model import build_model
from tests.support.tiny_models import RESNET

# A model of sound, and one of frames of any size.
OF_OPEN_CLIP_4 = {
    "CLAP-HTSAT-base": {
        "embed_dim": 512,
        "audio_cfg": {"model_name": "base"},
        "text_cfg": {"layers": 12},
    },
    "naflexclip": {
        "embed_dim": 512,
        "vision_cfg": {"naflex": True, "in_chans": 3},
        "text_cfg": {"layers": 12},
    },
}
KNOWN = {
    **OF_OPEN_CLIP_4,
    **{name: open_clip.get_model_config(name) for name in open_clip.list_models()},
}
VIT = {
    **RESNET,
    "embed_dim": 32,
    "vision_cfg": {"image_size": 64, "layers": 2, "width": 64, "patch_size": 16},
}
WIDE = {**RESNET["text_cfg"], "width": 128, "heads": 2}


def weights_of(config: dict[str, Any]) -> dict[str, torch.Tensor]:
    """Build a model without memory, with the names that a file is read by."""
    with torch.device("meta"):
        model = build_model(config, {}, "meta")
    return {name.removeprefix("text."): tensor for name, tensor in model.state_dict().items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["ViT-B-32", "ViT-H-14", "RN50", "ViT-B-16-SigLIP-384", "coca_ViT-B-32", "EVA02-B-16"]
)
def test_a_known_architecture_is_inferred_from_its_shapes(name: str) -> None:
    """ViT-H-14 has heads of 80, which no shape shows."""
    assert infer(weights_of(KNOWN[name]), KNOWN) == (name, KNOWN[name])


@pytest.mark.parametrize(
    "vision", [VIT["vision_cfg"], {**VIT["vision_cfg"], "mlp_ratio": 3.0}, RESNET["vision_cfg"]]
)
def test_an_unknown_architecture_is_inferred_from_its_shapes(vision: dict[str, Any]) -> None:
    config = {**VIT, "vision_cfg": vision, "text_cfg": WIDE}
    name, inferred = infer(weights_of(config), KNOWN)
    assert (name, inferred) == ("", config)


def test_a_known_model_determines_the_heads_of_others() -> None:
    with pytest.raises(ConfigError, match="width 16"):
        infer(weights_of(RESNET), KNOWN)
    assert infer(weights_of(RESNET), {**KNOWN, "mine": RESNET}) == ("mine", RESNET)


def test_a_model_that_is_not_a_clip_is_one_sentence() -> None:
    weights = weights_of(VIT)
    for name in (
        "text_projection",
        "visual.positional_embedding",
        "visual.transformer.resblocks.0.mlp.c_fc.weight",
    ):
        rest = {key: tensor for key, tensor in weights.items() if key != name}
        with pytest.raises(ConfigError, match=name.split(".0.")[0].rsplit(".", 1)[-1]):
            infer(rest, KNOWN)
    with pytest.raises(ConfigError, match="positions"):
        # 13 places do not make a square.
        infer({**weights, "visual.positional_embedding": torch.empty(14, 64)}, KNOWN)


@pytest.mark.parametrize("layers", [20_000, [3, 4, 6, 20_000]])
def test_a_model_of_20_000_layers_is_refused(layers: Any) -> None:
    vision = {"image_size": 32, "layers": layers, "width": 64, "patch_size": 16}
    with pytest.raises(ConfigError, match=r"vision_cfg .*20,\d\d\d .*500"):
        build_model({"embed_dim": 16, "vision_cfg": vision, "text_cfg": {"layers": 2}}, {})
