"""Which CLIP tensors belong to, told by their shapes."""

import open_clip
import pytest
import torch

from nt2vr.errors import ConfigError
from nt2vr.models.architecture import Shapes, infer
from nt2vr.models.checkpoint import build_model
from tests.tiny import TINY

KNOWN = {name: open_clip.get_model_config(name) for name in open_clip.list_models()}
VIT = {**TINY, "embed_dim": 32, "vision_cfg": {"image_size": 64, "layers": 2, "width": 64, "patch_size": 16}}
WIDE = {**TINY["text_cfg"], "width": 128, "heads": 2}


def shapes_of(config: dict) -> Shapes:  # type: ignore[type-arg]
    with torch.device("meta"):
        model, _ = build_model(config, {}, "meta")
    return {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}


@pytest.mark.parametrize("name", ["ViT-B-32", "ViT-L-14-336", "ViT-H-14", "RN50", "RN101"])
def test_a_known_architecture_is_told_by_its_shapes(name: str) -> None:
    """Of ViT-H-14, heads of 80: no shape tells that."""
    assert infer(shapes_of(KNOWN[name]), KNOWN) == (name, KNOWN[name])


@pytest.mark.parametrize("vision", [VIT["vision_cfg"], {**VIT["vision_cfg"], "mlp_ratio": 3.0}, TINY["vision_cfg"]])
def test_an_unknown_one_has_the_shapes_it_was_told_by(vision: dict) -> None:  # type: ignore[type-arg]
    config = {**VIT, "vision_cfg": vision, "text_cfg": WIDE}
    name, inferred = infer(shapes_of(config), KNOWN)
    assert (name, inferred) == ("", config)


def test_a_model_that_is_there_tells_the_heads_of_others_like_it() -> None:
    with pytest.raises(ConfigError, match=r"text tower of width 16 .* Name the architecture"):
        infer(shapes_of(TINY), KNOWN)
    assert infer(shapes_of(TINY), {**KNOWN, "mine": TINY}) == ("mine", TINY)
    odd = {**TINY, "vision_cfg": {**TINY["vision_cfg"], "image_size": 80}}  # 2.5 places a side, as the built-in's 3.5
    assert infer(shapes_of(odd), {"mine": odd}) == ("mine", odd)


def test_what_is_no_clip_is_said() -> None:
    shapes = dict(shapes_of(VIT))
    for name in ("text_projection", "visual.positional_embedding", "visual.transformer.resblocks.0.mlp.c_fc.weight"):
        rest = {key: shape for key, shape in shapes.items() if key != name}
        with pytest.raises(ConfigError, match=name.split(".0.")[0].rsplit(".", 1)[-1]):
            infer(rest, KNOWN)
    with pytest.raises(ConfigError, match=r"visual\.positional_embedding"):
        infer({**shapes, "visual.positional_embedding": (14, 64)}, KNOWN)  # 13 places are no square
