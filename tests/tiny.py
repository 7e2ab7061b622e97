"""A real open_clip model, small enough for tests: random weights, CLIP's own tokenizer, BatchNorm in its tower."""

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


def tiny_model(seed: int = 0) -> Any:
    """Build it; equal seeds give equal weights. Its BatchNorm has seen something: train and eval mode differ."""
    return deepcopy(_built(seed))


@cache
def _built(seed: int) -> Any:
    torch.manual_seed(seed)
    model, _ = build_model(TINY, {})
    model.train()
    with torch.no_grad():
        model.encode_image(torch.randn(8, 3, 64, 64) * 2 + 1)
    return model


def write_tiny(folder: Path, name: str = "tiny", seed: int = 0, fp16: bool = True) -> Card:
    """Write it as a checkpoint folder."""
    return write_checkpoint(folder, tiny_model(seed), TINY, {}, Card(name, frames=2), fp16)
