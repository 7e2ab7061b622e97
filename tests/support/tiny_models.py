"""Real open_clip models, small enough for tests: random weights, CLIP's own tokenizer.

RESNET has BatchNorm, and takes three times as long as TINY; SMALL_VIT has the frame size and text
length of CLIP's ViT-B-32.
"""

import atexit
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from nt2vr.models.card import Card, read_configs
from nt2vr.models.checkpoint import read_model, write_checkpoint
from nt2vr.models.open_clip_encoder import token_embeddings
from nt2vr.models.open_clip_model import build_model
from tests.support.paths import ROOT

TINY: dict[str, Any] = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 64, "layers": 1, "width": 16, "head_width": 16, "patch_size": 32},
    "text_cfg": {"context_length": 16, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1},
}
RESNET: dict[str, Any] = {
    **TINY,
    "vision_cfg": {"image_size": 64, "layers": [1, 1, 1, 1], "width": 8},
}
SMALL_VIT: dict[str, Any] = {
    "embed_dim": 32,
    "vision_cfg": {"image_size": 224, "layers": 2, "width": 64, "patch_size": 32},
    "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 64, "heads": 1, "layers": 2},
}


def tiny_model(seed: int = 0, resnet: bool = False) -> Any:
    """Build TINY, or RESNET, whose BatchNorm has statistics, so that eval mode differs; equal seeds, equal weights."""
    return deepcopy(_built(seed, resnet))


@cache
def _built(seed: int, resnet: bool) -> Any:
    torch.manual_seed(seed)
    model = build_model(RESNET if resnet else TINY, {})
    model.train()
    with torch.no_grad():
        model.encode_image(torch.randn(8, 3, 64, 64) * 2 + 1)
    return model


def write_anew(
    folder: Path, name: str = "tiny", seed: int = 0, fp16: bool = True, resnet: bool = False
) -> Card:
    """Write a TINY model, or a RESNET, as a checkpoint folder."""
    config = RESNET if resnet else TINY
    return write_checkpoint(
        folder, tiny_model(seed, resnet), config, {}, Card(name, frames=2), fp16
    )


def write_tiny(
    folder: Path, name: str = "tiny", seed: int = 0, fp16: bool = True, resnet: bool = False
) -> Card:
    """Copy the folder that `write_anew` wrote first, in a tenth of its time."""
    first, card = _written(name, seed, fp16, resnet)
    shutil.copytree(first, folder, copy_function=shutil.copyfile)
    # Its time is copied, too.
    os.utime(folder)
    return card


@cache
def _written(name: str, seed: int, fp16: bool, resnet: bool) -> tuple[Path, Card]:
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    first = Path(folder.name) / "model"
    return first, write_anew(first, name, seed, fp16, resnet)


@contextmanager
def unknowing(
    models: Path, name: str = "Unknowing", words: Sequence[str] = ("ocean", "dogs")
) -> Iterator[str]:
    """Hold in a folder a copy of CLIP that never saw some words, each a token; it shares CLIP's embedded clips."""
    clip = ROOT / "assets" / "models" / "clip"
    model, tokenizer, card = read_model(clip)
    with torch.no_grad():
        for word in words:
            token_embeddings(model)[tokenizer.encode(word)] = 0
    card = card.replace(name=name, fusion={})
    write_checkpoint(models / name, model, *read_configs(clip), card, tokenizer=tokenizer)
    try:
        yield name
    finally:
        shutil.rmtree(models / name)
