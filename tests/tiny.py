"""Real open_clip models, small enough for tests: random weights, CLIP's own tokenizer.

TINY has a ResNet, with BatchNorm; SMALL_VIT has the frame size and text length of CLIP's ViT-B-32.
"""

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import torch

from nt2vr.models.card import Card
from nt2vr.models.checkpoint import build_model, write_checkpoint

TINY: dict[str, Any] = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 64, "layers": [1, 1, 1, 1], "width": 8},
    "text_cfg": {"context_length": 16, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1},
}
SMALL_VIT: dict[str, Any] = {
    "embed_dim": 32,
    "vision_cfg": {"image_size": 224, "layers": 2, "width": 64, "patch_size": 32},
    "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 64, "heads": 1, "layers": 2},
}


def tiny_model(seed: int = 0) -> Any:
    """Build TINY; equal seeds give equal weights. Its BatchNorm has statistics, so that eval mode differs."""
    return deepcopy(_built(seed))


@cache
def _built(seed: int) -> Any:
    torch.manual_seed(seed)
    model = build_model(TINY, {})
    model.train()
    with torch.no_grad():
        model.encode_image(torch.randn(8, 3, 64, 64) * 2 + 1)
    return model


def write_tiny(folder: Path, name: str = "tiny", seed: int = 0, fp16: bool = True) -> Card:
    """Write a TINY model as a checkpoint folder."""
    return write_checkpoint(folder, tiny_model(seed), TINY, {}, Card(name, frames=2), fp16)
